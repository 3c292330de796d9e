/**
 * The real service as processes on two machines, with each engine: killed, stopped, frozen and drained; roles apart;
 * the queue gone. explanation: Engine; contract §3.6 (States).
 */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { hasRedis, redisServer, type RedisServer } from '../support/databases/redis.ts';
import { brokenPromises, processesOf, recordsOf, type Records } from '../support/runs/run-invariants.ts';
import { eventually } from '../support/services/service.ts';
import { startServiceProcess, type ServiceProcess } from '../support/services/service-process.ts';

const CRASHING = 'test/support/processes/crashing-service.ts';
const PATIENCE_MS = 90_000;
const LEASE_MS = 4_000;
const LONG = 'echo begun; sleep 600';
/** Ends when its first execution is lost: the next one goes another way. */
const ONCE = 'if [ "$MILLWRIGHT_EXECUTION_EPOCH" = 1 ]; then echo begun; sleep 600; fi; echo again';

type EngineName = 'embedded' | 'bullmq in PostgreSQL' | 'bullmq in Redis';
const ENGINES: readonly EngineName[] = ['embedded', 'bullmq in PostgreSQL', 'bullmq in Redis'];

const server = await postgresServer();
const withRedis = hasRedis();

for (const name of ENGINES) {
  const lacks = !server.ok
    ? server.reason
    : name === 'bullmq in Redis' && !withRedis
      ? 'there is no redis-server on the PATH'
      : undefined;
  (lacks === undefined ? describe : describe.skip)(
    `processes with the engine ${name}${lacks === undefined ? '' : ` (SKIPPED: ${lacks})`}`,
    () => suite(name, server.ok ? server.url : ''),
  );
}

function suite(name: EngineName, serverUrl: string): void {
  let folder: string;
  let redis: RedisServer | undefined;
  let database: { url: string; drop(): Promise<void> };
  let services: ServiceProcess[];
  let creates: { title: string; runId: string }[];

  beforeEach(async () => {
    [services, creates] = [[], []];
    folder = await mkdtemp(join(tmpdir(), 'millwright-engines-'));
    for (const key of ['master', 'uid'])
      writeFileSync(join(folder, key), Buffer.alloc(32, 7).toString('hex'), { mode: 0o600 });
    database = await freshDatabase(serverUrl);
    redis = name === 'bullmq in Redis' ? await redisServer() : undefined;
  }, 120_000);

  afterEach(async () => {
    for (const service of services) service.signal('SIGKILL');
    await Promise.all(services.map(({ ended }) => ended));
    for (const { pid } of processesOf(new Set(creates.map(({ runId }) => runId)))) process.kill(pid, 'SIGKILL');
    await redis?.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }, 120_000);

  async function begun(machine: string, more: Record<string, string> = {}): Promise<ServiceProcess> {
    const service = await startServiceProcess(
      join(folder, machine),
      {
        MILLWRIGHT_MASTER_KEY_FILE: join(folder, 'master'),
        MILLWRIGHT_UID_KEY_FILE: join(folder, 'uid'),
        MILLWRIGHT_DATABASE_URL: database.url,
        MILLWRIGHT_ENGINE: name === 'embedded' ? 'embedded' : 'bullmq',
        ...(redis === undefined ? {} : { MILLWRIGHT_REDIS_URL: redis.url }),
        MILLWRIGHT_RUN_COMMAND: '["/bin/sh"]',
        MILLWRIGHT_RUN_CONCURRENCY: '2',
        MILLWRIGHT_DRAIN_SECONDS: '0',
        MILLWRIGHT_RUN_RESTARTABLE: 'true',
        MILLWRIGHT_WORKER_HOST: machine,
        CRASH_LEASE_MS: String(LEASE_MS),
        ...more,
      },
      CRASHING,
    );
    services.push(service);
    return service;
  }

  async function started(
    service: ServiceProcess,
    title: string,
    prompt: string,
    config: Record<string, unknown> = {},
  ): Promise<string> {
    const { run_id: runId } = await service.api('POST', '/agent/runs', {
      title,
      prompt,
      config: { harness: { type: 'command' }, ...config },
    });
    creates.push({ title, runId: String(runId) });
    return String(runId);
  }

  const item = (service: ServiceProcess, runId: string): Promise<Record<string, unknown>> =>
    service.api('GET', `/agent/runs/${runId}`);
  const became = (service: ServiceProcess, runId: string, state: string): Promise<Record<string, unknown>> =>
    eventually(
      `${runId} becomes ${state}`,
      async () => {
        const found = await item(service, runId);
        return found['state'] === state ? found : undefined;
      },
      PATIENCE_MS,
    );
  const said = (service: ServiceProcess, runId: string, word: string): Promise<true> =>
    eventually(
      `the run says ${word}`,
      async () =>
        JSON.stringify((await service.api('GET', `/agent/runs/${runId}/events?limit=1000`))['events']).includes(word)
          ? true
          : undefined,
      PATIENCE_MS,
    );
  const kept = async (): Promise<Records> => {
    const records = await recordsOf({ url: database.url });
    expect(brokenPromises(records, { creates, followups: [], cancels: [] })).toEqual([]);
    expect(processesOf(new Set(creates.map(({ runId }) => runId)))).toEqual([]);
    return records;
  };
  const outcomes = ({ executions }: Records, runId: string): (string | null)[] =>
    executions.filter((execution) => execution.run_id === runId).map(({ outcome }) => outcome);
  /**
   * A process that had no processor for longer than its lease loses a run too: on a busy machine, not by what is tested
   * here.
   */
  const withoutLost = (all: (string | null)[]): (string | null)[] => all.filter((outcome) => outcome !== 'LOST');

  it(
    'work for a process that only takes requests: to the end, where they are asked to, cancelled, and told ' +
      'something more',
    async () => {
      const door = await begun('door', { MILLWRIGHT_ROLES: 'api,ingress' });
      const [one, other] = await Promise.all([
        begun('one', { MILLWRIGHT_ROLES: 'worker' }),
        begun('other', { MILLWRIGHT_ROLES: 'worker' }),
      ]);
      const runIds = await Promise.all(
        Array.from({ length: 6 }, (_, index) => started(door, `shared-${index}`, 'echo done')),
      );
      const placed = await started(door, 'placed', 'echo done', { worker_host: 'other' });
      for (const runId of [...runIds, placed]) await became(door, runId, 'SUCCEEDED');
      expect((await item(door, placed))['agent_config']).toMatchObject({ worker_host: 'other' });
      expect(
        (await door.ask('POST', '/agent/runs', { prompt: 'x', config: { worker_host: 'no such/name' } })).status,
      ).toBe(400);
      const live = await started(door, 'cancelled', LONG);
      await said(door, live, 'begun');
      await door.api('POST', `/agent/runs/${live}/cancel`);
      await became(door, live, 'CANCELLED');
      await door.api('POST', `/agent/runs/${runIds[0]}/followups`, { message: 'echo more' });
      await said(door, String(runIds[0]), 'more');
      await became(door, String(runIds[0]), 'SUCCEEDED');
      const records = await kept();
      for (const runId of runIds.slice(1)) expect(withoutLost(outcomes(records, runId))).toEqual(['SUCCEEDED']);
      for (const service of [one, other, door]) {
        service.signal('SIGTERM');
        expect(await service.ended).toBe(0);
      }
    },
    240_000,
  );

  it('take over from a killed machine after its lease; one that was frozen meanwhile writes nothing more', async () => {
    const one = await begun('one');
    const runId = await started(one, 'killed', ONCE);
    await said(one, runId, 'begun');
    const other = await begun('other');
    one.signal('SIGSTOP');
    await became(other, runId, 'SUCCEEDED');
    one.signal('SIGCONT');
    await eventually(
      'the first finds its claim gone',
      () => (/claim lost|lease ran out/.test(one.errors()) ? true : undefined),
      PATIENCE_MS,
    );
    const next = await started(one, 'killed-2', ONCE, { worker_host: 'one' });
    await said(one, next, 'begun');
    one.signal('SIGKILL');
    await one.ended;
    const again = await begun('one');
    await became(again, next, 'SUCCEEDED');
    const records = await kept();
    for (const lost of [runId, next])
      expect([outcomes(records, lost)[0], withoutLost(outcomes(records, lost))]).toEqual(['LOST', ['SUCCEEDED']]);
  }, 240_000);

  it('drain: what a machine that stops was working on goes on at another one, and it takes nothing more', async () => {
    const [one, other] = await Promise.all([begun('one'), begun('other', { MILLWRIGHT_RUN_CONCURRENCY: '1' })]);
    const runId = await started(other, 'handed-over', ONCE, {});
    await said(other, runId, 'begun');
    const { executions } = await recordsOf({ url: database.url });
    expect(executions).toHaveLength(1);
    const owners = await eventually(
      'somebody has it',
      async () => (await recordsOf({ url: database.url })).runs[0]?.lease_owner ?? undefined,
    );
    const [holder, heir] = owners.includes(`/${one.pid}/`) ? [one, other] : [other, one];
    holder.signal('SIGTERM');
    expect(await holder.ended).toBe(0);
    await became(heir, runId, 'SUCCEEDED');
    expect(withoutLost(outcomes(await kept(), runId))).toEqual(['HANDED_OVER', 'SUCCEEDED']);
  }, 240_000);

  it('lose and double nothing while machines are killed in turn with what they had, the queue with them', async () => {
    const door = await begun('door', { MILLWRIGHT_ROLES: 'api' });
    const worker = (machine: string): Promise<ServiceProcess> => begun(machine, { MILLWRIGHT_ROLES: 'worker' });
    const workers = await Promise.all([worker('one'), worker('other')]);
    const runIds: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      runIds.push(
        ...(await Promise.all(
          [0, 1, 2].map((index) => started(door, `round-${round}-${index}`, `echo begun; sleep ${index}`)),
        )),
      );
      const last = runIds.at(-1) as string;
      await eventually(
        'the last of them is worked on',
        async () => ((await item(door, last))['state'] === 'QUEUED' ? undefined : true),
        PATIENCE_MS,
      );
      const victim = workers[round % 2] as ServiceProcess;
      victim.signal('SIGKILL');
      await victim.ended;
      if (round === 1) {
        await redis?.kill();
        runIds.push(await started(door, 'without a queue', 'echo begun'));
        await redis?.start();
      }
      workers[round % 2] = await worker(['one', 'other'][round % 2] as string);
    }
    for (const runId of runIds) {
      const found = await eventually(
        `${runId} ends`,
        async () => {
          const run = await item(door, runId);
          return ['SUCCEEDED', 'ERROR'].includes(String(run['state'])) ? run : undefined;
        },
        PATIENCE_MS,
      );
      // Whoever was lost three times is not tried a fourth time.
      if (found['state'] === 'ERROR') expect(JSON.stringify(found['status_message'])).toContain('lost too often');
    }
    const records = await kept();
    for (const runId of runIds)
      expect(outcomes(records, runId).filter((outcome) => outcome === 'SUCCEEDED').length).toBeLessThanOrEqual(1);
    expect(runIds.filter((runId) => outcomes(records, runId).includes('SUCCEEDED')).length).toBeGreaterThan(
      runIds.length / 2,
    );
  }, 360_000);

  if (name !== 'bullmq in Redis') return;

  it('go on without the queue, say so to who may know it, and stop in time; and come back to it', async () => {
    const server = redis as RedisServer;
    const service = await begun('one');
    const before = await started(service, 'before', 'echo done');
    await became(service, before, 'SUCCEEDED');
    await server.kill();
    const during = await started(service, 'during', 'echo done');
    await became(service, during, 'SUCCEEDED');
    const reasons = async (): Promise<unknown> => {
      const answer = await fetch(`${service.url}/readyz`, {
        headers: { authorization: `Bearer mw_${'k'.repeat(43)}` },
      });
      expect(answer.status).toBe(200);
      return ((await answer.json()) as { reasons: unknown }).reasons;
    };
    await eventually(
      'it says so',
      async () => (JSON.stringify(await reasons()) === '["queue"]' ? true : undefined),
      PATIENCE_MS,
    );
    await server.start();
    await eventually(
      'it says that it is back',
      async () => (JSON.stringify(await reasons()) === '[]' ? true : undefined),
      PATIENCE_MS,
    );
    const after = await started(service, 'after', 'echo done');
    await became(service, after, 'SUCCEEDED');
    await server.kill();
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
    await kept();
  }, 240_000);
}
