/**
 * A service that is killed in the middle of a conversation with an agent: the next one goes on with it, once, and its
 * log stays whole. contract §3.6 (States), §3.8 (Follow-up).
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { talks, type Talks } from '../support/agents/agent-talks.ts';
import { patternOf } from '../support/patterns.ts';
import { script, scriptedProfile } from '../support/agents/scripted-profile.ts';
import { eventually, type ApiAnswer } from '../support/services/service.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

let dataDir: string;
let service: ServiceProcess;
let talk: Talks;

async function start(): Promise<void> {
  service = await startServiceProcess(dataDir, {
    MILLWRIGHT_LOG_LEVEL: 'error',
    MILLWRIGHT_DRAIN_SECONDS: '0',
    MILLWRIGHT_AGENT_PROFILES_FILE: join(dataDir, 'profiles.json'),
  });
  const api = async (method: string, path: string, body?: unknown): Promise<ApiAnswer> => ({
    status: 200,
    headers: new Headers(),
    body: await service.api(method, path, body),
  });
  talk = talks(api, dataDir);
}

async function killed(): Promise<void> {
  service.signal('SIGKILL');
  expect(await service.ended).toBe('SIGKILL');
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-talks-'));
  await writeFile(
    join(dataDir, 'profiles.json'),
    JSON.stringify({ profiles: [{ ...scriptedProfile(), modelVia: 'option' }] }),
  );
  await start();
}, 240_000);

afterEach(async () => {
  service?.signal('SIGKILL');
  await service?.ended;
  await rm(dataDir, { recursive: true, force: true });
});

/** The log has every number once, and tells of one run with so many executions. */
async function expectWholeLog(runId: string, executions: number): Promise<void> {
  const events = await talk.events(runId);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(({ execution_id: id }) => id)).size).toBe(executions);
  expect((await service.api('GET', '/agent/runs'))['runs']).toHaveLength(1);
}

it(
  'kill -9 in mid-turn: the session goes on where it stopped, with what came since, and is not told everything ' +
    'again',
  async () => {
    const runId = await talk.start(script({ say: 'begun' }, { await_file: 'never' }));
    await talk.heard(runId, 'begun');
    await talk.followup(runId, 'and this too'); // waits for the end of the turn
    await killed();
    await start();
    await talk.until(runId, 'SUCCEEDED');
    const [first, second, ...more] = await talk.turns(runId);
    expect([first?.asked.length, first?.said, more]).toEqual([1, 'begun', []]);
    expect(second).toMatchObject({
      asked: ['and this too'],
      said: expect.stringMatching(
        patternOf(
          /^heard: You were interrupted[^]*do not repeat[^]*/,
          /What you were asked was:\n\n> Do this\.\n[^]*\n\nand this too$/,
        ),
      ),
    });
    await expectWholeLog(runId, 2);
    // The agent was told its task once; the second time it is quoted.
    const { sessionId } = JSON.parse(await readFile(join(dataDir, 'runs', runId, 'session'), 'utf8')) as {
      sessionId: string;
    };
    const heard = await readFile(join(dataDir, 'runs', runId, 'home', 'scripted-sessions', sessionId), 'utf8');
    expect(heard.match(/^Do this\./gm)).toHaveLength(1);
  },
  240_000,
);

it('kill -9 while it waits for an answer: the question is closed, and the run goes on to ask again', async () => {
  const ask = script({ ask: ['deploy'] });
  const runId = await talk.start(ask, { interactive: true });
  const [lost] = await talk.asked(runId);
  await killed();
  await start();
  await eventually(
    'the question is closed',
    async () => ((await talk.permissions(runId))[0]?.state === 'closed' ? true : undefined),
    60_000,
  );
  await expect(talk.answer(runId, String(lost?.permission_id), 'yes-once')).rejects.toThrow('409');
  // This agent had said nothing before it asked: it is not known to have heard its task, and is told it again.
  const [question] = await talk.asked(runId);
  expect(question?.permission_id).not.toBe(lost?.permission_id);
  expect(await talk.run(runId)).toMatchObject({
    state: 'BLOCKED',
    status_message: { message: expect.stringContaining('deploy') },
  });
  await talk.answer(runId, String(question?.permission_id), 'yes-once');
  await talk.until(runId, 'SUCCEEDED');
  expect(await talk.said(runId)).toContain('deploy: yes-once;');
  await expectWholeLog(runId, 2);
}, 240_000);

it('SIGTERM while it waits for an answer: the agent hears of no refusal and no cancel, and asks again', async () => {
  const runId = await talk.start(script({ ask: ['deploy'] }), { interactive: true });
  const [lost] = await talk.asked(runId);
  service.signal('SIGTERM');
  expect(await service.ended).toBe(0);
  await start();
  const [question] = await talk.asked(runId);
  expect(question?.permission_id).not.toBe(lost?.permission_id);
  expect((await talk.permissions(runId)).find(({ permission_id: id }) => id === lost?.permission_id)).toMatchObject({
    state: 'closed',
    answer: null,
  });
  await talk.answer(runId, String(question?.permission_id), 'yes-once');
  await talk.until(runId, 'SUCCEEDED');
  expect(await talk.said(runId)).toBe('deploy: yes-once;');
  const log = JSON.stringify(await talk.events(runId));
  expect(log).toContain('the agent goes on with its session');
  expect(log).not.toMatch(/not permitted|deploy: cancelled|refused|cancel was requested/);
  await expectWholeLog(runId, 2);
}, 240_000);

it('kill -9 after an answer was stored: it counts, and is not told to the agent as a task', async () => {
  const runId = await talk.start(
    script({ say: 'begun;' }, { ask: ['one'] }, { say: 'behind one;' }, { await_file: 'never' }),
    { interactive: true },
  );
  await talk.asked(runId);
  expect(await talk.followup(runId, 'yes')).toBe('live_session');
  await talk.heard(runId, 'behind one;');
  await killed();
  await start();
  await talk.until(runId, 'SUCCEEDED');
  expect((await talk.permissions(runId)).map(({ state, answer }) => [state, answer])).toEqual([
    ['answered', 'yes-once'],
  ]);
  expect((await talk.turns(runId)).map(({ asked, said }) => [asked.at(-1), said]).slice(1)).toEqual([
    ['yes', 'one: yes-once;behind one;'],
    [undefined, expect.stringMatching(/^heard: You were interrupted/)],
  ]);
  await expectWholeLog(runId, 2);
}, 240_000);
