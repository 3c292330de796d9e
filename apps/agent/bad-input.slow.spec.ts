/**
 * What the agent does with input that is no protocol, with requests that make no sense, and with a bad configuration.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import {
  agentFolders,
  type AgentFolders,
  type AgentProcess,
  startAgent,
} from '../../test/support/agents/agent-process.ts';

let folders: AgentFolders;
beforeAll(async () => {
  folders = await agentFolders();
});
afterAll(() => folders.remove());

describe('with input that is no protocol', () => {
  let agent: AgentProcess;
  let printed: jest.SpiedFunction<typeof console.error>;
  beforeAll(async () => {
    // Answers to nobody make our own side of the protocol wonder aloud.
    printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    agent = await startAgent(folders);
  });
  afterAll(async () => {
    printed.mockRestore();
    await agent.stop();
  });

  it.each<{ line: string; code: number; why: string }>([
    { line: 'hello', code: -32_700, why: 'no JSON' },
    { line: '{"jsonrpc": "2.0", "id": 7, "meth', code: -32_700, why: 'JSON that breaks off' },
    { line: '[{"jsonrpc": "2.0", "id": 7, "method": "initialize"}]', code: -32_600, why: 'a batch' },
    { line: '7', code: -32_600, why: 'no object' },
    { line: '{"jsonrpc": "1.0", "id": 7, "method": "initialize"}', code: -32_600, why: 'another protocol' },
  ])('answers $code and goes on: $why', async ({ line, code }) => {
    const before = agent.stray().length;
    agent.write(`${line}\n`);
    await agent.until(() => agent.stray().length > before);
    expect(JSON.parse(agent.stray().at(-1) ?? '')).toMatchObject({ error: { code } });
    expect((await agent.open()).sessionId).toBeTruthy();
  });

  it('refuses what it does not know or cannot use, in words', async () => {
    const { sessionId } = await agent.open();
    const ask = (method: string, params: unknown): Promise<unknown> => agent.agent.request(method, params);
    const refused = (code: number, words: RegExp) => ({ code, message: expect.stringMatching(words) });
    await expect(ask('session/fly', {})).rejects.toMatchObject({ code: -32_601 });
    await expect(ask('session/new', { cwd: 7, mcpServers: [] })).rejects.toMatchObject({ code: -32_602 });
    await expect(ask('session/new', { cwd: 'relative', mcpServers: [] })).rejects.toMatchObject(
      refused(-32_602, /absolute path of a folder/),
    );
    await expect(ask('session/new', { cwd: join(folders.workspace, 'none'), mcpServers: [] })).rejects.toMatchObject(
      refused(-32_602, /absolute path of a folder/),
    );
    await expect(
      ask('session/new', { cwd: folders.workspace, mcpServers: [], _meta: { systemPrompt: 7 } }),
    ).rejects.toMatchObject(refused(-32_602, /systemPrompt/));
    await expect(ask('session/prompt', { sessionId, prompt: [] })).rejects.toMatchObject(refused(-32_602, /empty/));
    await expect(
      ask('session/prompt', { sessionId, prompt: [{ type: 'audio', data: '', mimeType: 'audio/wav' }] }),
    ).rejects.toMatchObject(refused(-32_602, /audio/));
    await expect(
      ask('session/prompt', { sessionId, prompt: [{ type: 'image', data: 'no base64!', mimeType: 'image/png' }] }),
    ).rejects.toMatchObject(refused(-32_602, /base64/));
    await expect(ask('session/set_mode', { sessionId, modeId: 'yolo' })).rejects.toMatchObject(
      refused(-32_602, /ask or auto/),
    );
    await expect(
      ask('session/set_config_option', { sessionId, configId: 'colour', value: 'red' }),
    ).rejects.toMatchObject(refused(-32_602, /mode and model/));
    await agent.agent.notify('session/cancel', { sessionId });
    await agent.agent.notify('session/cancel', { sessionId: 'nobody' });
    expect((await agent.prompt(sessionId, 'Still there?')).stopReason).toBe('end_turn');
  });
});

it('wants to be introduced first', async () => {
  const agent = await startAgent(folders, {}, { introduce: false });
  await expect(agent.open()).rejects.toMatchObject({ code: -32_600, message: expect.stringContaining('initialized') });
  await agent.stop();
});

it('ends when one message is larger than anything it could mean', async () => {
  const agent = await startAgent(folders);
  agent.write('x'.repeat(33 * 1_024 * 1_024));
  expect(await agent.ended).toBe(0);
});

it.each<{ environment: Record<string, string>; says: RegExp; why: string }>([
  {
    environment: { MILLWRIGHT_AGENT_PROVIDER: 'openai-compatible' },
    says: /MILLWRIGHT_AGENT_MODEL must name the model/,
    why: 'no model',
  },
  {
    environment: { MILLWRIGHT_AGENT_BASE_URL: 'ftp://secret-value', MILLWRIGHT_AGENT_STEPS_MAX: 'many' },
    says: /MILLWRIGHT_AGENT_BASE_URL must .*MILLWRIGHT_AGENT_STEPS_MAX must/,
    why: 'several problems at once',
  },
])(
  'with a bad configuration it names every variable when a session is asked for: $why',
  async ({ environment, says }) => {
    const agent = await startAgent(folders, environment);
    await expect(agent.open()).rejects.toMatchObject({
      message: expect.stringMatching(says),
      data: { kind: 'configuration', retryable: false },
    });
    await agent.stop();
    expect(agent.errors()).toMatch(/^millwright-agent: MILLWRIGHT_AGENT_/);
    expect(agent.errors()).not.toContain('secret-value');
  },
);

it('says so when the transcript cannot be kept', async () => {
  const agent = await startAgent({ ...folders, home: '/dev/null' });
  await expect(agent.open()).rejects.toMatchObject({
    message: "the session's transcript in HOME cannot be used (ENOTDIR)",
  });
  await agent.stop();
});

it('takes the key from a file', async () => {
  const file = join(folders.home, 'key');
  writeFileSync(file, 'sk-from-a-file\n');
  const agent = await startAgent(folders, { MILLWRIGHT_AGENT_API_KEY_FILE: file, MILLWRIGHT_AGENT_MODEL: 'x' });
  expect((await agent.open()).sessionId).toBeTruthy();
  await agent.stop();
});
