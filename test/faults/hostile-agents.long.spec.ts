/**
 * Agents that misbehave in every way that was thought of: each run ends as it should, in words that a person can act
 * on, and the service serves the next. issue: Bad input.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HOSTILE_KEY, HOSTILE_PROFILES } from '../support/agents/hostile-agent.ts';
import { processesOf } from '../support/processes/run-processes.ts';
import { ENDED, logOf, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

/** Of runs that only their deadline ends. */
const TIMEOUT_SECONDS = 6;
/** An API that has not answered by then while agents flood hangs, however busy the machine is. */
const ANSWER_MS_MAX = 60_000;
/** What the floods may add to a process that ran other suites before: what those left resident is none of theirs. */
const GROWTH_BYTES_MAX = 512 * 1_048_576;
const LOG_BYTES_MAX = 32 * 1_048_576;

let service: TestService;
/** One with a deadline that is soon over. */
let hasty: TestService;
beforeAll(async () => {
  const boot = (more: Record<string, string>): Promise<TestService> =>
    bootService({ profiles: HOSTILE_PROFILES, environment: { MILLWRIGHT_RUN_CONCURRENCY: '20', ...more } });
  [service, hasty] = await Promise.all([
    boot({ MILLWRIGHT_RUN_DISK_MB: '64' }),
    boot({ MILLWRIGHT_RUN_TIMEOUT: String(TIMEOUT_SECONDS) }),
  ]);
});
afterAll(() => Promise.all([service.stop(), hasty.stop()]));

const run = async (runId: string, on = service): Promise<Record<string, unknown>> =>
  (await on.api('GET', `/agent/runs/${runId}`)).body;
const hostile = (way: string, prompt = 'Misbehave.', on = service): Promise<string> =>
  startedRun(on, prompt, { config: { harness: { type: 'hostile' }, model_id: way } });
const ended = (runId: string, on = service): Promise<Record<string, unknown>> =>
  eventually(
    'the run ends',
    async () => {
      const item = await run(runId, on);
      return ENDED.includes(String(item['state'])) ? item : undefined;
    },
    240_000,
  );
const said = async (runId: string): Promise<string> =>
  (await logOf(service, runId)).map(({ payload }) => payload.text ?? '').join('');
const hears = (runId: string, word: string): Promise<boolean> =>
  eventually(`it says ${word}`, async () => ((await said(runId)).includes(word) ? true : undefined));

const LATE = new RegExp(`did not end within ${TIMEOUT_SECONDS} s`);
const TOO_LARGE = /^the agent hostile sent more than 12 MiB in one line, which is no message of the protocol$/;

interface Case {
  way: string;
  state: string;
  message: RegExp;
  code?: string;
  why: string;
}

/** Only their deadline ends these. */
const ENDLESS: readonly Case[] = [
  { way: 'flood-messages', state: 'FAILED', message: LATE, why: 'messages without end are bounded' },
  { way: 'flood-tools', state: 'FAILED', message: LATE, why: 'as are tool calls' },
  { way: 'flood-requests', state: 'FAILED', message: LATE, why: 'as are questions for what we do not offer' },
  { way: 'never-introduces', state: 'FAILED', message: LATE, why: 'nobody waits for ever' },
  { way: 'never-answers', state: 'FAILED', message: LATE, why: 'nor for an answer' },
];

const CASES: readonly Case[] = [
  { way: 'flood-garbage', state: 'FAILED', message: TOO_LARGE, why: 'no line of the protocol is that long' },
  { way: 'huge', state: 'FAILED', message: TOO_LARGE, why: 'not even one that ends' },
  {
    way: 'flood-stderr',
    state: 'SUCCEEDED',
    message: /has answered/,
    why: 'a talkative log is cut and no reason to fail',
  },
  {
    way: 'exits-at-once',
    state: 'FAILED',
    message: /the agent hostile ended before it had .*the log has what it said/,
    code: 'environment_setup_failed',
    why: 'it is no agent',
  },
  {
    way: 'prints-usage',
    state: 'FAILED',
    message: /the agent hostile ended before it had .*the log has what it said/,
    code: 'environment_setup_failed',
    why: 'its command line is wrong',
  },
  {
    way: 'exits-silently',
    state: 'FAILED',
    message: /the agent hostile ended before it had answered/,
    why: 'exit code 0 is no answer',
  },
  {
    way: 'crashes',
    state: 'FAILED',
    message: /the agent hostile ended before it had answered/,
    why: 'a crash is no answer either',
  },
  { way: 'no-answer', state: 'FAILED', message: /without an answer/, why: 'an end without a word is no success' },
  {
    way: 'malformed',
    state: 'SUCCEEDED',
    message: /has answered/,
    why: 'lines of a log between those of the protocol are passed over',
  },
  {
    way: 'malformed-answer',
    state: 'FAILED',
    message: /for a reason that the protocol does not know/,
    why: 'nobody knows how it ended',
  },
  {
    way: 'wrong-version',
    state: 'FAILED',
    message: /the agent hostile speaks version 99 of the protocol.*version 1/,
    code: 'environment_setup_failed',
    why: 'it would misunderstand',
  },
  {
    way: 'wants-authentication',
    state: 'FAILED',
    message: /the agent hostile wants credentials.*secret/,
    code: 'environment_setup_failed',
    why: 'it says how they are given',
  },
  {
    way: 'repeats-secret',
    state: 'FAILED',
    message: /^the agent hostile failed in the middle of its work/,
    why: 'its own words may hold what it was given',
  },
  { way: 'daemon', state: 'SUCCEEDED', message: /has answered/, why: 'what it leaves running ends with it' },
];

/** What came of a run, to be compared with what was to come. */
async function outcome(
  { way, message: expected }: Case,
  runId: string,
  on: TestService,
): Promise<Record<string, unknown>> {
  const item = await ended(runId, on);
  const { message = '', error_code: code } = (item['status_message'] ?? {}) as {
    message?: string;
    error_code?: string;
  };
  expect(JSON.stringify([item, await logOf(on, runId)])).not.toContain(HOSTILE_KEY);
  expect(await logBytes(runId, on)).toBeLessThan(LOG_BYTES_MAX);
  return {
    way,
    state: item['state'],
    code,
    message: expected.test(message) ? 'as expected' : message,
    left: await processesOf(runId),
  };
}

/** All of them at once. */
async function outcomes(cases: readonly Case[], on: TestService): Promise<unknown[]> {
  const runs = await Promise.all(
    cases.map(async (expected) => ({ expected, runId: await hostile(expected.way, undefined, on) })),
  );
  return Promise.all(runs.map(({ expected, runId }) => outcome(expected, runId, on)));
}

const expectedOf = ({ way, state, code }: Case): Record<string, unknown> => ({
  way,
  state,
  code,
  message: 'as expected',
  left: [],
});

it('ends each as it should, says what to do, leaves no process, and serves the next', async () => {
  expect(await outcomes(CASES, service)).toEqual(CASES.map(expectedOf));
  expect(await ended(await hostile('good'))).toMatchObject({ state: 'SUCCEEDED' });
}, 240_000);

it(
  'is not kept from its work by those that do not end: it answers meanwhile, in bounded memory, and serves the ' +
    'next',
  async () => {
    const resident = process.memoryUsage.rss();
    const found = outcomes(ENDLESS, hasty);
    const over = new AbortController();
    void found.finally(() => over.abort()).catch(() => undefined);
    let slowestMs = 0;
    while (!over.signal.aborted) {
      const before = performance.now();
      await hasty.api('GET', '/agent/runs?limit=1');
      slowestMs = Math.max(slowestMs, performance.now() - before);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await found).toEqual(ENDLESS.map(expectedOf));
    expect(slowestMs).toBeLessThan(ANSWER_MS_MAX);
    expect(process.memoryUsage.rss() - resident).toBeLessThan(GROWTH_BYTES_MAX);
    expect(await ended(await hostile('good', undefined, hasty), hasty)).toMatchObject({ state: 'SUCCEEDED' });
  },
  240_000,
);

async function logBytes(runId: string, on: TestService): Promise<number> {
  for (let [bytes, after] = [0, '']; ;) {
    const page = (await on.api('GET', `/agent/runs/${runId}/events?limit=1000${after}`)).body['events'] as {
      seq: number;
    }[];
    if (page.length === 0) return bytes;
    bytes += JSON.stringify(page).length;
    after = `&after=${page.at(-1)?.seq ?? 0}`;
  }
}

it('tells in its log what the agent answered, without what it was given', async () => {
  const runId = await hostile('repeats-secret');
  await ended(runId);
  expect(await said(runId)).toContain('the agent answered with an error: the key [redacted] is wrong');
}, 240_000);

it('is ended when it fills the disk', async () => {
  expect(await ended(await hostile('fills-disk'))).toMatchObject({
    state: 'FAILED',
    status_message: { error_code: 'resource_unavailable', message: expect.stringContaining('too much of the disk') },
  });
}, 240_000);

/** A cancelled run. */
async function cancelled(way: string, word: string): Promise<Record<string, unknown>> {
  const runId = await hostile(way);
  await hears(runId, word);
  expect((await service.api('POST', `/agent/runs/${runId}/cancel`)).status).toBe(200);
  const { state, status_message: message } = await ended(runId);
  return { way, state, message, left: await processesOf(runId) };
}

it('is cancelled with all that has left its process group, and whatever it answers too late', async () => {
  const message = { message: 'cancelled on request', retryable: false };
  expect(
    await Promise.all([
      cancelled('daemon-and-waits', 'it runs on'),
      cancelled('answers-after-cancel', 'the agent has begun a session'),
    ]),
  ).toEqual([
    { way: 'daemon-and-waits', state: 'CANCELLED', message, left: [] },
    { way: 'answers-after-cancel', state: 'CANCELLED', message, left: [] },
  ]);
}, 240_000);

it('writes nowhere but into its own folders', async () => {
  const other = await hostile('good');
  await ended(other);
  const places = [
    service.dataDir,
    join(service.dataDir, 'runs', other, 'workspace'),
    '/etc',
    '/usr',
    '/usr/local/bin',
    '/',
    '/proc/1/root/tmp',
  ];
  const runId = await hostile('writes-outside', JSON.stringify(places));
  await ended(runId);
  const answer = await said(runId);
  expect(answer).not.toContain('WROTE');
  for (const place of places) expect(answer).toMatch(new RegExp(`refused [A-Z]+ ${place}\n`));
  expect(await readdir(join(service.dataDir, 'runs', other, 'workspace'))).not.toContain('planted-by-a-run');
}, 240_000);
