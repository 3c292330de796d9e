/** Sessions over the life of several agent processes: what survives a kill, and what is left of one. */
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  agentFolders,
  type AgentFolders,
  type AgentProcess,
  startAgent,
} from '../../../test/support/agents/agent-process.ts';
import { type FakeModelServer, startFakeModelServer } from '../../../test/support/models/fake-model-server.ts';

let folders: AgentFolders;
let server: FakeModelServer;
beforeEach(async () => {
  folders = await agentFolders();
  server = await startFakeModelServer([]);
});
afterEach(async () => {
  await server.close();
  await folders.remove();
});

const start = (): Promise<AgentProcess> =>
  startAgent(folders, { MILLWRIGHT_AGENT_BASE_URL: `${server.url}/v1`, MILLWRIGHT_AGENT_MODEL: 'fake-1' });
const inWorkspace = (name: string): string => join(folders.workspace, name);
const transcript = (sessionId: string): string => join(folders.home, '.millwright-agent', `${sessionId}.jsonl`);
const again = (sessionId: string): { sessionId: string; cwd: string; mcpServers: [] } => ({
  sessionId,
  cwd: folders.workspace,
  mcpServers: [],
});

/** One whole turn, and another one that is killed in the middle of a command. Answers the session. */
async function killedInMidTurn(): Promise<string> {
  const agent = await start();
  const { sessionId } = await agent.open({ mode: 'auto', meta: { systemPrompt: 'You speak like a pirate.' } });
  server.script = [
    { text: 'Aye.' },
    { text: 'I look.', tools: [{ name: 'bash', input: { command: 'echo $$ > pid; sleep 1000' } }] },
  ];
  await agent.prompt(sessionId, 'Remember 4711');
  const turn = agent.prompt(sessionId, 'Look around').catch((error: unknown) => error);
  await agent.until(() => existsSync(inWorkspace('pid')) && readFileSync(inWorkspace('pid'), 'utf8').endsWith('\n'));
  agent.kill('SIGKILL');
  expect(await agent.ended).toBe('SIGKILL');
  await turn;
  // As whoever drives the agent would end what a killed one has left: its commands have a group of their own.
  process.kill(-Number(readFileSync(inWorkspace('pid'), 'utf8')), 'SIGKILL');
  return sessionId;
}

describe('after a kill in mid-turn', () => {
  it('a new process resumes with the conversation kept, and tells nothing twice', async () => {
    const sessionId = await killedInMidTurn();
    const agent = await start();
    expect(await agent.agent.request('session/resume', again(sessionId))).toMatchObject({
      modes: { currentModeId: 'auto' },
    });
    expect(agent.updates).toEqual([]);
    server.script = [{ text: 'It was 4711.' }];
    await agent.prompt(sessionId, 'Go on');
    const [request] = server.requests;
    expect(request?.system).toContain('You speak like a pirate.');
    expect(request?.messages.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Remember 4711'],
      ['assistant', 'Aye.'],
      ['user', 'Look around'],
      ['user', 'Go on'],
    ]);
    await agent.stop();
  });

  it('a new process loads it and tells what was before', async () => {
    const first = await start();
    const { sessionId } = await first.open({ mode: 'auto' });
    server.script = [
      {
        reasoning: 'Hm.',
        text: 'I write.',
        tools: [
          { name: 'write', input: { path: 'a.txt', content: 'a' } },
          { name: 'plan', input: { entries: [{ content: 'Done', status: 'completed' }] } },
        ],
      },
      { text: 'Done.' },
    ];
    await first.prompt(sessionId, [
      { type: 'text', text: 'Write' },
      { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
    ]);
    first.kill('SIGKILL');
    await first.ended;

    const agent = await start();
    await agent.agent.request('session/load', again(sessionId));
    expect(agent.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      'user_message_chunk',
      'user_message_chunk',
      'agent_thought_chunk',
      'agent_message_chunk',
      'tool_call',
      'tool_call_update',
      'tool_call',
      'tool_call_update',
      'plan',
      'agent_message_chunk',
    ]);
    expect(agent.calls()[0]).toEqual({
      ...first.calls()[0],
      update: expect.anything(),
      text: 'wrote 1 bytes to a.txt',
    });
    expect(agent.said()).toBe('I write.Done.');
    await agent.stop();
  });

  it('a torn last line is dropped, and what follows is read again', async () => {
    const sessionId = await killedInMidTurn();
    appendFileSync(transcript(sessionId), '{"kind":"message","message":{"role":"assi');
    const agent = await start();
    for (const prompt of ['One', 'Two']) {
      await agent.agent.request('session/resume', again(sessionId));
      server.script = [{ text: `${prompt}.` }];
      await agent.prompt(sessionId, prompt);
      await agent.agent.request('session/close', { sessionId });
    }
    await agent.stop();
    expect(server.requests[0]?.messages.slice(-3).map(({ text }) => text)).toEqual(['One', 'One.', 'Two']);
  });
});

describe('a session', () => {
  it('that is unknown, damaged or no session is refused in words, and the agent goes on', async () => {
    const sessionId = await killedInMidTurn();
    writeFileSync(
      transcript(sessionId),
      readFileSync(transcript(sessionId), 'utf8').replace('"kind":"message"', 'kind: message'),
    );
    const agent = await start();
    const resumed = (id: string): Promise<unknown> => agent.agent.request('session/resume', again(id));
    await expect(resumed('0198aaaa-0000-4000-8000-000000000000')).rejects.toMatchObject({ code: -32_002 });
    await expect(resumed('../../../etc/passwd')).rejects.toMatchObject({ code: -32_002 });
    await expect(resumed(sessionId)).rejects.toMatchObject({
      message: expect.stringMatching(/line \d+ of the session's transcript is damaged/),
    });
    await expect(agent.prompt('0198aaaa-0000-4000-8000-000000000000', 'x')).rejects.toMatchObject({ code: -32_002 });
    server.script = [{ text: 'ok' }];
    expect((await agent.prompt((await agent.open()).sessionId, 'x')).stopReason).toBe('end_turn');
    await agent.stop();
  });

  it('lies in files that only its owner can read', async () => {
    const agent = await start();
    const { sessionId } = await agent.open();
    expect(statSync(transcript(sessionId)).mode & 0o777).toBe(0o600);
    expect(statSync(join(folders.home, '.millwright-agent')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(folders.home, '.millwright-agent'))).toEqual([`${sessionId}.jsonl`]);
    await agent.agent.request('session/close', { sessionId });
    await expect(agent.prompt(sessionId, 'x')).rejects.toMatchObject({ code: -32_002 });
    await agent.stop();
  });

  it('that is resumed where it is open loses its running turn', async () => {
    const agent = await start();
    const { sessionId } = await agent.open();
    server.script = [{ fault: 'hang' }];
    const turn = agent.prompt(sessionId, 'x');
    await agent.until(() => server.requests.length === 1);
    await agent.agent.request('session/resume', again(sessionId));
    expect((await turn).stopReason).toBe('cancelled');
    await agent.stop();
  });
});

describe('the end of the process', () => {
  it.each<{ how: string; act: (agent: AgentProcess) => void }>([
    { how: 'its input is closed', act: (agent) => agent.closeInput() },
    { how: 'it is asked to end', act: (agent) => agent.kill('SIGTERM') },
  ])('in mid-turn, when $how: exits 0, leaves no process, and keeps the turn so far', async ({ act }) => {
    const agent = await start();
    const { sessionId } = await agent.open({ mode: 'auto' });
    server.script = [
      { text: 'I look.', tools: [{ name: 'bash', input: { command: 'sleep 1000 & echo $! $$ > pids; wait' } }] },
    ];
    const turn = agent.prompt(sessionId, 'Look').catch((error: unknown) => error);
    await agent.until(
      () => existsSync(inWorkspace('pids')) && readFileSync(inWorkspace('pids'), 'utf8').endsWith('\n'),
    );
    act(agent);
    expect(await agent.ended).toBe(0);
    await turn;
    expect(
      readFileSync(inWorkspace('pids'), 'utf8')
        .trim()
        .split(' ')
        .filter((pid) => existsSync(`/proc/${pid}`)),
    ).toEqual([]);
    expect(agent.errors()).toBe('');

    const next = await start();
    await next.agent.request('session/resume', again(sessionId));
    server.script = [{ text: 'ok' }];
    await next.prompt(sessionId, 'And?');
    expect(server.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    await next.stop();
  });
});
