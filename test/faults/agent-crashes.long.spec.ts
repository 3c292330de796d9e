/**
 * A service that is killed, stopped or frozen while agents work: at each point what was promised is kept. explanation:
 * Crash points; contract §3.6 (States).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { brokenPromises, processesOf, recordsOf, type Promised, type Records } from '../support/runs/run-invariants.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

const CRASHING = 'test/support/processes/crashing-service.ts';
const ENVIRONMENT = {
  MILLWRIGHT_AGENT_DEMO_STEPS: 'true',
  MILLWRIGHT_RUN_COMMAND: '["/bin/sh"]',
  MILLWRIGHT_RUN_CONCURRENCY: '7',
};
const PATIENCE_MS = 90_000;
/** Each execution leaves a line in this file of its workspace. */
const EFFECTS = 'effects';

/** Tells which run and execution it is told to be, and when its sandbox began: what an outside effect would be. */
const EFFECT = `echo "$MILLWRIGHT_RUN_ID $MILLWRIGHT_EXECUTION_EPOCH $(cut -d' ' -f22 /proc/1/stat)" >> ${EFFECTS}`;
/** Leaves a mark; the first time that it is told to it stays, with a daemon that does not mean to end. */
const STAYS = demo([
  {
    tool: 'bash',
    input: { command: `${EFFECT}; [ -e stayed ] && exit 0; touch stayed; (setsid sleep 600 &); sleep 600` },
  },
  { say: 'done' },
]);
const SHORT = demo([{ tool: 'bash', input: { command: EFFECT } }, { say: 'done' }]);
/** Shell scripts, for the harness `command`: one that is not impressed by TERM, and one with an effect. */
const STUBBORN = 'trap "" TERM; echo ready; while :; do sleep 1; done';
const EFFECTIVE = `${EFFECT}; sleep 600`;

let dataDir: string;
let services: ServiceProcess[];
let creates: { title: string; runId: string }[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millwright-crashes-'));
  services = [];
  creates = [];
});

afterEach(async () => {
  for (const service of services) service.signal('SIGKILL');
  await Promise.all(services.map(({ ended }) => ended));
  // What a failed test has left of its runs; nothing when it passed.
  for (const { pid } of processesOf(new Set(creates.map(({ runId }) => runId)))) process.kill(pid, 'SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
}, 120_000);

function demo(steps: readonly unknown[]): string {
  return `Do this.\n\n\`\`\`demo\n${JSON.stringify(steps)}\n\`\`\`\n`;
}

async function begun(
  environment: Record<string, string> = {},
  program?: string,
  folder = dataDir,
): Promise<ServiceProcess> {
  const service = await startServiceProcess(folder, { ...ENVIRONMENT, ...environment }, program);
  services.push(service);
  return service;
}

async function started(service: ServiceProcess, title: string, prompt: string, harness = 'builtin'): Promise<string> {
  const { run_id: runId } = await service.api('POST', '/agent/runs', {
    title,
    prompt,
    config: { harness: { type: harness } },
  });
  creates.push({ title, runId: String(runId) });
  return String(runId);
}

const item = (service: ServiceProcess, runId: string): Promise<Record<string, unknown>> =>
  service.api('GET', `/agent/runs/${runId}`);
const texts = async (service: ServiceProcess, runId: string): Promise<string> =>
  JSON.stringify((await service.api('GET', `/agent/runs/${runId}/events?limit=1000`))['events']);

function ended(service: ServiceProcess, runId: string): Promise<Record<string, unknown>> {
  return eventually(
    `the run ${runId} ends`,
    async () => {
      const found = await item(service, runId);
      return ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'].includes(String(found['state'])) ? found : undefined;
    },
    PATIENCE_MS,
  );
}

/** Epochs of the executions that left their mark in a run's workspace. */
function effectsOf(runId: string, folder = dataDir): number[] {
  try {
    const lines = readFileSync(join(folder, 'runs', runId, 'workspace', EFFECTS), 'utf8')
      .trim()
      .split('\n');
    return lines.map((line) => (line.startsWith(`${runId} `) ? Number(line.split(' ')[1]) : Number.NaN));
  } catch {
    return [];
  }
}

/** Sandboxes in which a run worked, one for each execution that came to it; without sandboxes all are one. */
function sandboxesOf(runId: string): string[] {
  const lines =
    effectsOf(runId).length === 0
      ? []
      : readFileSync(join(dataDir, 'runs', runId, 'workspace', EFFECTS), 'utf8')
          .trim()
          .split('\n');
  return [...new Set(lines)];
}

const worked = (runId: string, folder?: string): Promise<number[]> =>
  eventually(
    `${runId} works`,
    () => (effectsOf(runId, folder).length > 0 ? effectsOf(runId, folder) : undefined),
    PATIENCE_MS,
  );
const stands = (service: ServiceProcess, point: string): Promise<true> =>
  eventually(
    `a run stands at ${point}`,
    () => (service.errors().includes(`STANDS ${point}\n`) ? true : undefined),
    PATIENCE_MS,
  );

async function expectRecords(
  place: { dataDir: string } | { url: string },
  more: Partial<Promised> = {},
): Promise<Records> {
  const records = await recordsOf(place);
  expect(brokenPromises(records, { creates, followups: [], cancels: [], ...more })).toEqual([]);
  expect(processesOf(new Set(records.runs.map(({ run_id: runId }) => runId)))).toEqual([]);
  return records;
}

const outcomes = ({ executions }: Records, runId: string): (string | null)[] =>
  executions.filter((execution) => execution.run_id === runId).map(({ outcome }) => outcome);

describe('kill -9 while one run stands at each point of its execution', () => {
  it.each<{ walls: string; environment: Record<string, string> }>([
    { walls: 'the best sandbox of this machine', environment: {} },
    { walls: 'no sandbox', environment: { PATH: '/nowhere', MILLWRIGHT_ALLOW_UNSANDBOXED: 'true' } },
  ])(
    'with $walls: each is taken up where it was, once, and nothing is left of the killed',
    async ({ environment }) => {
      const first = await begun({ ...environment, CRASH_POINTS: 'true' }, CRASHING);
      const commandBegun = await started(first, 'command-begun', EFFECTIVE, 'command');
      const cancelGrace = await started(first, 'cancel-grace', STUBBORN, 'command');
      const midTurn = await started(first, 'mid-turn', STAYS);
      const afterClaim = await started(first, 'after-claim', SHORT);
      const beforeBegin = await started(first, 'before-begin', SHORT);
      const beforeEnd = await started(first, 'before-end', SHORT);
      await Promise.all([
        worked(commandBegun),
        worked(midTurn),
        ...['after-claim', 'before-begin', 'before-end'].map((point) => stands(first, point)),
      ]);
      await eventually(
        'the stubborn one works',
        async () => ((await texts(first, cancelGrace)).includes('ready') ? true : undefined),
        PATIENCE_MS,
      );
      // the last of seven places: the next one has to wait
      const afterSpawn = await started(first, 'after-spawn', SHORT);
      const afterCommit = await started(first, 'after-commit', SHORT);
      await first.api('POST', `/agent/runs/${cancelGrace}/cancel`);
      await Promise.all([
        stands(first, 'after-spawn'),
        eventually('the grace begins', async () =>
          (await texts(first, cancelGrace)).includes('cancel was requested') ? true : undefined,
        ),
      ]);
      first.signal('SIGKILL');
      await first.ended;
      const before = await recordsOf({ dataDir });
      const stateOf = (runId: string): string | undefined => before.runs.find(({ run_id: id }) => id === runId)?.state;
      expect(
        [afterCommit, afterClaim, beforeBegin, afterSpawn, midTurn, beforeEnd, cancelGrace, commandBegun].map(stateOf),
      ).toEqual(['QUEUED', 'CLAIMED', 'PENDING', 'INPROGRESS', 'INPROGRESS', 'INPROGRESS', 'INPROGRESS', 'INPROGRESS']);

      const second = await begun(environment);
      const ends = await Promise.all(
        creates.map(async ({ title, runId }) => [title, (await ended(second, runId))['state']]),
      );
      expect(Object.fromEntries(ends)).toEqual({
        'after-commit': 'SUCCEEDED',
        'after-claim': 'SUCCEEDED',
        'before-begin': 'SUCCEEDED',
        'after-spawn': 'SUCCEEDED',
        'mid-turn': 'SUCCEEDED',
        'before-end': 'SUCCEEDED',
        'cancel-grace': 'CANCELLED',
        'command-begun': 'ERROR',
      });
      expect(await item(second, commandBegun)).toMatchObject({
        status_message: { message: expect.stringContaining('not started twice'), retryable: true },
      });

      const records = await expectRecords({ dataDir }, { cancels: [{ runId: cancelGrace, isLast: true }] });
      expect(outcomes(records, afterCommit)).toEqual(['SUCCEEDED']);
      for (const runId of [afterClaim, beforeBegin, afterSpawn, midTurn, beforeEnd])
        expect(outcomes(records, runId)).toEqual(['LOST', 'SUCCEEDED']);
      expect([outcomes(records, cancelGrace), outcomes(records, commandBegun)]).toEqual([['CANCELLED'], ['ERROR']]);
      // Outside effects may happen again after a crash, but only under another epoch: nothing begins twice under one.
      expect(effectsOf(commandBegun)).toEqual([1]);
      for (const { runId } of creates) expect(sandboxesOf(runId)).toHaveLength(new Set(effectsOf(runId)).size);
      for (const runId of [midTurn, beforeEnd])
        expect(await texts(second, runId)).toContain('the agent goes on with its session');
    },
    180_000,
  );
});

describe('SIGTERM', () => {
  it(
    'hands agents over after the drain, at once when it comes twice, and the next process goes on with their ' +
      'sessions; a command that had begun is not started twice',
    async () => {
      const first = await begun({ MILLWRIGHT_DRAIN_SECONDS: '600' });
      const agent = await started(first, 'agent', STAYS);
      const command = await started(first, 'command', EFFECTIVE, 'command');
      const brief = await started(
        first,
        'brief',
        demo([{ tool: 'bash', input: { command: 'touch began; sleep 2' } }, { say: 'done' }]),
      );
      await Promise.all([
        worked(agent),
        worked(command),
        eventually(
          'the brief one works',
          () => present(join(dataDir, 'runs', brief, 'workspace', 'began')),
          PATIENCE_MS,
        ),
      ]);
      first.signal('SIGTERM');
      await eventually(
        'what ends within the drain ends',
        async () =>
          (await recordsOf({ dataDir })).runs.find(({ run_id: id }) => id === brief)?.state === 'SUCCEEDED'
            ? true
            : undefined,
        PATIENCE_MS,
      );
      first.signal('SIGTERM');
      expect(await first.ended).toBe(0); // long before the drain of ten minutes, or this test is over its time
      expect(processesOf(new Set([agent, command]))).toEqual([]);
      const between = await recordsOf({ dataDir });
      expect(between.runs.find(({ run_id: id }) => id === agent)).toMatchObject({
        state: 'QUEUED',
        takeovers: 0,
        lease_owner: null,
        epoch: 2,
      });
      expect(outcomes(between, agent)).toEqual(['HANDED_OVER']);
      expect(between.events.findLast(({ run_id: id }) => id === agent)?.body).toContain('hands this run over');

      const second = await begun();
      expect((await ended(second, agent))['state']).toBe('SUCCEEDED');
      expect(await item(second, command)).toMatchObject({
        state: 'ERROR',
        status_message: { message: expect.stringContaining('the service was stopped') },
      });
      expect(await texts(second, agent)).toContain('the agent goes on with its session');
      expect(await timelineOf(second, agent)).toEqual(expect.arrayContaining(['run_handed_over']));
      const records = await expectRecords({ dataDir });
      expect(records.runs.find(({ run_id: id }) => id === agent)?.takeovers).toBe(0);
      expect(effectsOf(command)).toEqual([1]);
    },
    180_000,
  );
});

describe('a lease', () => {
  const LEASE_MS = 3_000;
  let service: TestService;
  beforeEach(async () => {
    service = await bootService({
      environment: ENVIRONMENT,
      composed: ({ engine }) => void ((engine as unknown as { deps: { leaseMs: number } }).deps.leaseMs = LEASE_MS),
    });
  });
  afterEach(() => service.stop(), 30_000);

  const working = async (title: string): Promise<string> => {
    const runId = String(
      (await service.api('POST', '/agent/runs', { title, prompt: STAYS, config: { harness: { type: 'builtin' } } }))
        .body['run_id'],
    );
    creates.push({ title, runId });
    await worked(runId, service.dataDir);
    return runId;
  };
  const gone = (runId: string): Promise<true> =>
    eventually(
      'its processes are gone',
      () => (processesOf(new Set([runId])).length === 0 ? true : undefined),
      2 * LEASE_MS,
    );

  it(
    'that cannot be renewed for two thirds ends the processes of its run, which writes nothing more; the run is ' +
      'taken over when the lease is out',
    async () => {
      const runId = await working('unrenewed');
      const { runs, engine } = service.service;
      const { renew, append } = runs;
      runs.renew = (claim, leaseMs) =>
        claim.epoch === 1 ? Promise.reject(new Error('the database is away')) : renew.call(runs, claim, leaseMs);
      const written: number[] = [];
      runs.append = (claim, events) => (written.push(claim.epoch), append.call(runs, claim, events));
      await gone(runId);
      // nobody has told an end of it
      expect((await service.api('GET', `/agent/runs/${runId}`)).body['state']).toBe('INPROGRESS');
      written.length = 0;
      await engine.recover();
      // the lease still holds
      expect((await recordsOf({ dataDir: service.dataDir })).runs[0]).toMatchObject({ state: 'INPROGRESS', epoch: 1 });
      await eventually(
        'it is taken over',
        async () => (
          await engine.recover(),
          (await recordsOf({ dataDir: service.dataDir })).runs[0]?.takeovers === 1 ? true : undefined
        ),
      );
      await eventually(
        'it ends',
        async () =>
          (await service.api('GET', `/agent/runs/${runId}`)).body['state'] === 'SUCCEEDED' ? true : undefined,
        PATIENCE_MS,
      );
      expect(written).not.toContain(1);
      await expectRecords({ dataDir: service.dataDir });
      expect(service.logged.filter((line) => line.includes('lease ran out'))).toHaveLength(1);
    },
    120_000,
  );

  it('that is found lost ends them at once', async () => {
    const runId = await working('lost');
    const { runs } = service.service;
    await runs.reclaim(runId, 1, {
      state: 'ERROR',
      message: 'somebody else decided',
      errorCode: 'internal_error',
      retryable: true,
    });
    service.service.engine.wake();
    await gone(runId);
    expect((await service.api('GET', `/agent/runs/${runId}`)).body).toMatchObject({
      state: 'ERROR',
      status_message: { message: 'somebody else decided' },
    });
    await expectRecords({ dataDir: service.dataDir });
  }, 120_000);
});

const server = await postgresServer();
(server.ok ? describe : describe.skip)(
  `two services on one database${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`,
  () => {
    it(
      'SIGSTOP past the lease, then SIGCONT: the other takes the run over, the first writes nothing more and ' +
        'leaves nothing running; SIGTERM gives it to the other at once',
      async () => {
        if (!server.ok) return;
        const database = await freshDatabase(server.url);
        const keys = {
          MILLWRIGHT_MASTER_KEY_FILE: join(dataDir, 'master'),
          MILLWRIGHT_UID_KEY_FILE: join(dataDir, 'uid'),
        };
        for (const file of Object.values(keys))
          writeFileSync(file, Buffer.alloc(32, 7).toString('hex'), { mode: 0o600 });
        const environment = {
          ...keys,
          MILLWRIGHT_DATABASE_URL: database.url,
          MILLWRIGHT_DRAIN_SECONDS: '0',
          CRASH_LEASE_MS: '4000',
        };
        const folders = { a: join(dataDir, 'a'), b: join(dataDir, 'b') };
        try {
          const a = await begun(environment, CRASHING, folders.a);
          const runId = await started(a, 'frozen', STAYS);
          await worked(runId, folders.a);
          const b = await begun(environment, CRASHING, folders.b);
          a.signal('SIGSTOP');
          // Each service has folders of its own: the run begins anew in the other one's, and stays there again.
          await worked(runId, folders.b);
          expect(effectsOf(runId, folders.a)).toEqual([1]);
          const taken = await recordsOf({ url: database.url });
          expect(outcomes(taken, runId)).toEqual(['LOST', null]);
          const mine = new Set([a.pid]);
          expect(processesOf(new Set([runId])).filter(({ pid }) => mine.has(pid))).toEqual([]);
          a.signal('SIGCONT');
          await eventually(
            'the first finds its claim gone',
            () => (/claim lost|lease ran out/.test(a.errors()) ? true : undefined),
            PATIENCE_MS,
          );
          const after = await recordsOf({ url: database.url });
          const lost = after.executions.find(({ outcome }) => outcome === 'LOST')?.execution_id;
          const logOf = ({ events }: Records): number => events.filter(({ execution_id: id }) => id === lost).length;
          expect(logOf(after)).toBe(logOf(taken));

          b.signal('SIGTERM'); // handed over, the first takes it back at once
          expect(await b.ended).toBe(0);
          expect((await ended(a, runId))['state']).toBe('SUCCEEDED');
          const records = await expectRecords({ url: database.url });
          expect(outcomes(records, runId)).toEqual(['LOST', 'HANDED_OVER', 'SUCCEEDED']);
          expect(logOf(records)).toBe(logOf(taken));
        } finally {
          for (const service of services) service.signal('SIGKILL');
          await Promise.all(services.map((service) => service.ended));
          await database.drop();
        }
      },
      180_000,
    );

    it('every run of many is worked on by one of them, whichever claims it', async () => {
      if (!server.ok) return;
      const database = await freshDatabase(server.url);
      const keys = {
        MILLWRIGHT_MASTER_KEY_FILE: join(dataDir, 'master'),
        MILLWRIGHT_UID_KEY_FILE: join(dataDir, 'uid'),
      };
      for (const file of Object.values(keys)) writeFileSync(file, Buffer.alloc(32, 7).toString('hex'), { mode: 0o600 });
      const environment = { ...keys, MILLWRIGHT_DATABASE_URL: database.url, MILLWRIGHT_RUN_CONCURRENCY: '3' };
      const folders = [join(dataDir, 'a'), join(dataDir, 'b')];
      try {
        const [one, other] = (await Promise.all(folders.map((folder) => begun(environment, undefined, folder)))) as [
          ServiceProcess,
          ServiceProcess,
        ];
        await Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            started(index % 2 === 0 ? one : other, `shared-${index}`, EFFECT, 'command'),
          ),
        );
        for (const { runId } of creates) expect((await ended(other, runId))['state']).toBe('SUCCEEDED');
        const records = await expectRecords({ url: database.url });
        for (const { runId } of creates) {
          expect(outcomes(records, runId)).toEqual(['SUCCEEDED']);
          expect(folders.flatMap((folder) => effectsOf(runId, folder))).toEqual([1]);
        }
      } finally {
        for (const service of services) service.signal('SIGKILL');
        await Promise.all(services.map((service) => service.ended));
        await database.drop();
      }
    }, 120_000);
  },
);

function present(path: string): true | undefined {
  try {
    readFileSync(path);
    return true;
  } catch {
    return undefined;
  }
}

async function timelineOf(service: ServiceProcess, runId: string): Promise<string[]> {
  return (
    (await service.api('GET', `/agent/runs/${runId}/timeline?detail=all`))['events'] as { event_type: string }[]
  ).map(({ event_type: type }) => type);
}
