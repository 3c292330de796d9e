/**
 * Real coding agents through the whole service, in its sandbox, against a fake model on loopback: work, go on, be
 * cancelled, be killed, be resumed. spec: What the service does 1.
 */
import { delimiter } from 'node:path';
import { profilesWith, type OwnProfile } from '#agents';
import {
  startFakeModelServer,
  type Asked,
  type FakeModelServer,
  type Reply,
} from '../support/models/fake-model-server.ts';
import { processesOf } from '../support/processes/run-processes.ts';
import { ENDED, logOf, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

/** Folder with the agents' programs, from run.mjs beside this file. */
const PROGRAMS = process.env['MILLWRIGHT_TEST_AGENTS'];
if (PROGRAMS === undefined) throw new Error('start these tests with npm run test:agents');

const KEY = 'fake-key-of-a-test-1234';
const CASES = [
  {
    id: 'opencode',
    rung: /the agent (?:goes on with|has loaded) its session/g,
    model: 'anthropic/claude-haiku-4-5',
    killed: 'the agent opencode ended before it had answered',
    refused: /the agent answered with an error: .*\[redacted\]/,
    protocol: 'anthropic-messages',
    tool: 'write',
    input: { filePath: 'artifacts/note.txt', content: 'made by an agent' },
    profile: (url: string): OwnProfile => ({
      id: 'opencode',
      env: { ANTHROPIC_BASE_URL: `${url}/v1` },
      secretEnv: { ANTHROPIC_API_KEY: KEY },
    }),
  },
  {
    killed: 'the agent gemini ended before it had answered',
    refused: /the agent answered with an error: .*\[redacted\]/,
    // It names its sessions by the minute, and does not find one that it made in the same minute.
    id: 'gemini',
    rung: new RegExp(
      'the agent (?:goes on with its session|has loaded its session|' +
        'could not find its session and was told what was said)',
      'g',
    ),
    model: 'gemini-2.5-pro',
    protocol: 'gemini-content',
    tool: 'write_file',
    input: { file_path: 'artifacts/note.txt', content: 'made by an agent' },
    profile: (url: string): OwnProfile => ({
      id: 'gemini',
      env: { GOOGLE_GEMINI_BASE_URL: url },
      secretEnv: { GEMINI_API_KEY: KEY },
    }),
  },
  {
    id: 'codex',
    rung: /the agent (?:goes on with|has loaded) its session/g,
    // None that its sessions offer, with an effort.
    model: 'gpt-5.2-codex[high]',
    // What speaks to us outlives what works, and keeps the words of its model to itself.
    killed: 'the agent codex failed in the middle of its work',
    refused: /the agent answered with an error: Authentication required/,
    protocol: 'responses',
    tool: 'exec_command',
    input: { cmd: 'mkdir -p artifacts && printf "made by an agent" > artifacts/note.txt' },
    profile: (url: string): OwnProfile => ({
      id: 'codex',
      env: { OPENAI_BASE_URL: `${url}/v1` },
      secretEnv: { OPENAI_API_KEY: KEY },
    }),
  },
] as const;

/** Requests without tools are none, nor are those to a model for small things: titles and the like. */
const isTurn = ({ tools, model }: Asked): boolean => tools.length > 0 && !model.includes('luna');

describe.each(CASES)(
  '$id',
  ({ id, rung, model: modelId, killed: killedWords, refused, protocol, tool, input, profile }) => {
    let model: FakeModelServer;
    let service: TestService;
    let runId: string;
    let reply: (asked: Asked) => Reply;

    beforeAll(async () => {
      model = await startFakeModelServer((asked) => (isTurn(asked) ? reply(asked) : { text: 'A title' }));
      service = await bootService({
        profiles: profilesWith([profile(model.url)]),
        environment: { PATH: [PROGRAMS, process.env['PATH']].join(delimiter) },
      });
    });
    afterAll(async () => {
      await service.stop();
      await model.close();
    });

    const ended = (state: string): Promise<Record<string, unknown>> =>
      eventually(
        `${id} is ${state}`,
        async () => {
          const item = (await service.api('GET', `/agent/runs/${runId}`)).body;
          if (item['state'] === state) return item;
          if (ENDED.includes(String(item['state'])))
            throw new Error(JSON.stringify([item['status_message'], await logOf(service, runId)]));
          return undefined;
        },
        110_000,
      );
    const followedUp = async (message: string): Promise<void> => {
      expect((await service.api('POST', `/agent/runs/${runId}/followups`, { message })).body['outcome']).toBe(
        'handoff_execution',
      );
      await eventually('it is no longer ended', async () =>
        ENDED.includes(String((await service.api('GET', `/agent/runs/${runId}`)).body['state'])) ? undefined : true,
      );
    };
    const turns = (): Asked[] => model.requests.filter(isTurn);
    const told = (): string => JSON.stringify(turns().at(-1)?.messages ?? []);
    const said = async (): Promise<string> =>
      (await logOf(service, runId)).map(({ payload }) => payload.text ?? '').join('\n');
    /** The agent's own processes, without what the sandbox is made of. */
    const agents = async (): Promise<number[]> =>
      (await processesOf(runId))
        .filter(({ argv }) => argv.slice(0, 2).some((word) => word.endsWith(`/${id}`)))
        .map(({ pid }) => pid);

    it('works on a prompt with its tools, and what it makes is kept', async () => {
      reply = ({ messages }) =>
        messages.some(({ role }) => role === 'tool')
          ? { text: 'The note is written.' }
          : { tools: [{ name: tool, input }] };
      runId = await startedRun(service, 'Write the word kingfisher.', {
        config: { harness: { type: id }, model_id: modelId },
      });
      const { artifacts } = (await ended('SUCCEEDED')) as { artifacts: { data: { artifact_uid?: string } }[] };
      expect(turns().map((asked) => asked.protocol)).toEqual([protocol, protocol]);
      expect(turns()[0]).toMatchObject({ model: modelId.split('/').at(-1)?.replace(/\[.*/, '') });
      expect(told()).toContain('kingfisher');
      const kept = await Promise.all(
        artifacts.map(async ({ data }) => service.api('GET', `/agent/artifacts/${String(data.artifact_uid)}`)),
      );
      expect(JSON.stringify(kept.map(({ body }) => body))).toContain('note.txt');
      const log = await logOf(service, runId);
      expect(log.map(({ event_type: kind }) => kind)).toEqual(
        expect.arrayContaining(['tool_call', 'tool_call_update', 'message']),
      );
      expect(
        log
          .filter(({ event_type: kind }) => kind === 'message')
          .map(({ payload }) => payload.text)
          .join(''),
      ).toMatch(/^(?:Warning: .*\n\n)?The note is written\.$/);
    }, 240_000);

    it('goes on with the conversation', async () => {
      reply = () => ({ text: 'It was kingfisher.' });
      await followedUp('Which word was it?');
      await ended('SUCCEEDED');
      for (const words of ['kingfisher', 'The note is written.', 'Which word was it?']) expect(told()).toContain(words);
      expect((await said()).match(rung)).toHaveLength(1);
    }, 240_000);

    it('killed in the middle of its work, it fails in words, and a follow-up finds the conversation', async () => {
      reply = () => ({ fault: 'stall', text: 'Let me think about the heron' });
      await followedUp('And now a heron.');
      await eventually('it works', async () => ((await said()).includes('Let me think') ? true : undefined));
      const killed = await agents();
      expect(killed.length).toBeGreaterThan(0);
      for (const pid of killed) killIfRunning(pid);
      expect(await ended('FAILED')).toMatchObject({
        status_message: { message: expect.stringContaining(killedWords) },
      });
      expect(await processesOf(runId)).toEqual([]);
      reply = () => ({ text: 'Here I am again.' });
      await followedUp('Are you there?');
      await ended('SUCCEEDED');
      for (const words of ['kingfisher', 'It was kingfisher.', 'And now a heron.', 'Are you there?'])
        expect(told()).toContain(words);
      expect((await said()).match(rung)).toHaveLength(3);
    }, 180_000);

    it('is cancelled in the middle of its work, and nothing of it is left', async () => {
      reply = () => ({ fault: 'stall', text: 'This takes long' });
      await followedUp('Take your time.');
      await eventually('it works', async () => ((await said()).includes('This takes long') ? true : undefined));
      expect((await agents()).length).toBeGreaterThan(0);
      expect((await service.api('POST', `/agent/runs/${runId}/cancel`)).status).toBe(200);
      expect(await ended('CANCELLED')).toMatchObject({ status_message: { message: 'cancelled on request' } });
      expect(await processesOf(runId)).toEqual([]);
    }, 240_000);

    it('refused by its model, it ends and says where to look; its key is in no log', async () => {
      reply = () => ({ fault: 'status', status: 401, message: `the key ${KEY} is not known` });
      await followedUp('Once more.');
      await ended('FAILED');
      expect(await said()).toMatch(refused);
      expect(JSON.stringify(await logOf(service, runId)) + service.logged.join('')).not.toContain(KEY);
    }, 240_000);
  },
);

/** One of them may end with another of them. */
function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

it('needs credentials, and says how they are given', async () => {
  const service = await bootService({ environment: { PATH: [PROGRAMS, process.env['PATH']].join(delimiter) } });
  const runId = await startedRun(service, 'x', { config: { harness: { type: 'gemini' } } });
  const item = await eventually('it fails', async () => {
    const { body } = await service.api('GET', `/agent/runs/${runId}`);
    return ENDED.includes(String(body['state'])) ? body : undefined;
  });
  expect(item).toMatchObject({
    state: 'FAILED',
    status_message: {
      error_code: 'environment_setup_failed',
      message: expect.stringMatching(
        /GEMINI_API_KEY.*managed secret.*granted for runs.*MILLWRIGHT_AGENT_PROFILES_FILE/,
      ),
    },
  });
  await service.stop();
}, 240_000);
