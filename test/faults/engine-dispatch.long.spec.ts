/**
 * One suite for both engines, and for both places that a queue may be in: what waits is worked on once, in order,
 * within bounds, where it may be. explanation: Engine.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { NewRun } from '../../apps/server/store/runs/new-run.ts';
import type { ClaimedRun } from '../../apps/server/store/runs/runs.ts';
import { Outbox } from '../../apps/server/store/runs/outbox.ts';
import { count, select, meddle, onPostgres, storesOf, type Stores, type World } from '../conformance/backends.ts';
import { newId, runOf, seedFactory, unique } from '../conformance/seeds.ts';
import {
  engineFixture,
  type EngineFixture,
  type EngineFixtureOptions,
  type Worker,
} from '../support/runs/engine-fixture.ts';
import { hasRedis, redisServer, type RedisServer } from '../support/databases/redis.ts';
import { eventually } from '../support/services/service.ts';

const LIVE = "state IN ('CLAIMED', 'PENDING', 'INPROGRESS', 'BLOCKED')";
const ALL_OVER =
  "UPDATE run SET state = 'CANCELLED', lease_owner = NULL, lease_until = NULL " +
  "WHERE state NOT IN ('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED')";

interface Engine {
  name: string;
  place(world: World): EngineFixtureOptions['queue'];
  redis?(): RedisServer;
}

let redis: RedisServer | undefined;
const withRedis = hasRedis();
beforeAll(async () => {
  if (withRedis) redis = await redisServer();
});
afterAll(() => redis?.stop());

const started = (): RedisServer => {
  if (redis === undefined) throw new Error('Redis is started before the first test');
  return redis;
};
const EMBEDDED: Engine = { name: 'embedded', place: () => 'tables' };
const IN_POSTGRES: Engine = { name: 'bullmq in PostgreSQL', place: ({ url = '' }) => ({ databaseUrl: url }) };
const IN_REDIS: Engine = {
  name: 'bullmq in Redis',
  place: ({ url = '' }) => ({ databaseUrl: url, redisUrl: started().url }),
  redis: started,
};

for (const engine of withRedis ? [EMBEDDED, IN_POSTGRES, IN_REDIS] : [EMBEDDED, IN_POSTGRES])
  await onPostgres(`the engine ${engine.name}`, (world) => suite(world, engine));
(withRedis ? describe : describe.skip)(
  `Redis${withRedis ? '' : ' (SKIPPED, and with it the engine that has its queue there: no redis-server on the PATH)'}`,
  () => {
    it('answers', async () => {
      expect(await started().ask('PING')).toBe('+PONG\r\n');
    });
  },
);

function suite(world: World, engine: Engine): void {
  let field: EngineFixture;
  let stores: Stores;
  const begin = (more: Partial<EngineFixtureOptions> = {}): EngineFixture =>
    (field = engineFixture({ queue: engine.place(world), ...more }));

  beforeEach(async () => {
    stores = storesOf(world.stores.database);
    await meddle(stores, ALL_OVER);
    await engine.redis?.().ask('FLUSHALL');
    begin();
  });
  afterEach(async () => {
    await field.clear();
    await meddle(stores, ALL_OVER);
  });

  const made = async (...wishes: Partial<NewRun>[]): Promise<string[]> => {
    const runs = wishes.map((wish) => runOf({}, { title: unique('title-'), ...wish }));
    for (const run of runs) await stores.runs.create(run);
    return runs.map(({ runId }) => runId);
  };
  const times = (number: number, wish: Partial<NewRun> = {}): Partial<NewRun>[] =>
    Array.from({ length: number }, () => wish);
  const state = async (runId: string): Promise<string | undefined> => (await stores.runs.find(runId))?.state;
  const over = (runIds: readonly string[]): Promise<true> =>
    eventually('all are over', async () =>
      (await Promise.all(runIds.map(state))).every((one) => one === 'SUCCEEDED') ? true : undefined,
    );
  const executions = (runId: string): Promise<{ owner: string; outcome: string | null; epoch: number }[]> =>
    select(stores, 'SELECT owner, outcome, epoch FROM execution WHERE run_id = ? ORDER BY epoch', runId);
  const holds = (worker: Worker, runId: string): Promise<true> =>
    eventually(`${worker.name} works on it`, () => (worker.held().includes(runId) ? true : undefined));

  it('works on everything that waits, once, whoever takes it', async () => {
    const maker = field.maker(stores);
    const workers = ['a', 'b'].map((name) => field.worker(name, stores, { places: 3 }));
    const runIds: string[] = [];
    for (let burst = 0; burst < 5; burst += 1) {
      runIds.push(...(await made(...times(6))));
      maker.wake();
    }
    await over(runIds);
    for (const runId of runIds) expect(await executions(runId)).toHaveLength(1);
    expect(workers.flatMap(({ given }) => given.map(({ runId }) => runId)).toSorted()).toEqual(runIds.toSorted());
  });

  it('gives turns to factories, whatever each has waiting', async () => {
    const [a, b] = [unique('fac_a'), unique('fac_b')];
    const runIds = await made(...times(4, { factoryUid: a }), ...times(2, { factoryUid: b }));
    const worker = field.worker('a', stores, { places: 1 });
    await over(runIds);
    expect(worker.given.map(({ factoryUid }) => (factoryUid === a ? 'a' : 'b')).join('')).toBe('ababaa');
  });

  it('passes no bound over two processes, and none stays idle when one ends', async () => {
    await field.clear();
    begin({ bounds: { perFactory: 2 } });
    const workers = ['a', 'b'].map((name) => field.worker(name, stores, { places: 3, holds: true }));
    const maker = field.maker(stores);
    const runIds = await made(...times(7, { factoryUid: unique('fac_') }));
    maker.wake();
    for (let left = runIds.length; left > 0; left -= 1) {
      const live = await eventually('as many are live as may be', () => {
        const held = workers.flatMap((worker) => worker.held().map((runId) => ({ worker, runId })));
        return held.length === Math.min(2, left) ? held : undefined;
      });
      expect(await count(stores, `run WHERE ${LIVE}`)).toBe(live.length);
      live[0]?.worker.release(live[0].runId);
      await over([live[0]?.runId ?? '']);
    }
    for (const runId of runIds) expect(await executions(runId)).toHaveLength(1);
  });

  it('gives the place of a run that waits for people to others, and has one for it when it is answered', async () => {
    const maker = field.maker(stores);
    const worker = field.worker('a', stores, { places: 2, holds: true });
    const asking = await made(...times(4, { factoryUid: unique('fac_') }));
    maker.wake();
    for (const runId of asking) {
      await holds(worker, runId);
      await worker.ask(worker.given.find((run) => run.runId === runId) as ClaimedRun);
    }
    // Four that wait hold none of two places: what comes now is worked on, and more than that is not.
    const [one, two, three] = (await made({}, {}, {})) as [string, string, string];
    maker.wake();
    await holds(worker, one);
    await holds(worker, two);
    expect(worker.held()).not.toContain(three);
    const first = worker.given.find(({ runId }) => runId === asking[0]) as ClaimedRun;
    let hasGoneOn = false;
    const goingOn = worker.answer(first).then(() => (hasGoneOn = true));
    expect(await state(first.runId)).not.toBe('QUEUED');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(hasGoneOn).toBe(false);
    // The next place is for the one that was answered, and not for the one that has not begun.
    worker.release(one);
    await goingOn;
    expect(worker.held()).not.toContain(three);
    worker.release(two);
    await holds(worker, three);
    for (const runId of [three, ...asking]) worker.release(runId);
    await over([one, two, three, ...asking]);
    for (const runId of [one, two, three, ...asking]) expect(await executions(runId)).toHaveLength(1);
  });

  it('gives no factory all places of a process, where nothing else is said', async () => {
    await field.clear();
    begin({ bounds: { perFactoryHere: 1 } });
    const maker = field.maker(stores);
    const worker = field.worker('a', stores, { places: 2, holds: true });
    const many = await made(...times(3, { factoryUid: unique('fac_a') }));
    const [other] = (await made({ factoryUid: unique('fac_b') })) as [string];
    maker.wake();
    await holds(worker, other);
    await eventually('both places are in use', () => (worker.held().length === 2 ? true : undefined));
    worker.release(other);
    await over([other]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(worker.held()).toHaveLength(1);
    for (const runId of many) {
      await holds(worker, runId);
      worker.release(runId);
    }
    await over(many);
  });

  it('starts one of a group at a time over two processes, and passes over it to what stands behind it', async () => {
    const workers = ['a', 'b'].map((name) => field.worker(name, stores, { places: 3, holds: true }));
    const maker = field.maker(stores);
    const group = { concurrencyGroup: unique('g') };
    const [first, second, free] = (await made(group, group, {})) as [string, string, string];
    maker.wake();
    const holder = async (runId: string): Promise<Worker> =>
      eventually('somebody works on it', () => workers.find((worker) => worker.held().includes(runId)));
    const [one] = await Promise.all([holder(first), holder(free)]);
    expect(await state(second)).toBe('QUEUED');
    one.release(first);
    await holder(second);
    expect(await state(first)).toBe('SUCCEEDED');
  });

  it('works on a run on the machine that it asks for, and lets others pass it meanwhile', async () => {
    const [a, b] = ['a', 'b'].map((name) => field.worker(name, stores, { places: 2 })) as [Worker, Worker];
    const maker = field.maker(stores);
    const placed = await made(...times(5, { workerHost: 'b' }));
    const [nowhere] = (await made({ workerHost: 'nobody' })) as [string];
    const anywhere = await made(...times(5));
    maker.wake();
    await over([...placed, ...anywhere]);
    expect(b.given.map(({ runId }) => runId)).toEqual(expect.arrayContaining(placed));
    expect(a.given.map(({ runId }) => runId).filter((runId) => placed.includes(runId))).toEqual([]);
    expect(await state(nowhere)).toBe('QUEUED');
    const late = field.worker('nobody', stores);
    await over([nowhere]);
    expect(late.given.map(({ runId }) => runId)).toEqual([nowhere]);
  });

  it('works on runs of an environment where that is served, by name or UID', async () => {
    const { uid: factoryUid } = await seedFactory(stores);
    const [uid, slug] = [unique('env_'), unique('gpu')];
    await meddle(
      stores,
      'INSERT INTO resource (uid, factory_uid, kind, slug, path, definition, revision, version, created_at, ' +
        "updated_at) VALUES (?, ?, 'environment', ?, 'p', '{}', 'r', 1, 1, 1)",
      uid,
      factoryUid,
      slug,
    );
    const byName = field.worker('by-name', stores, { placement: { environments: [slug] } });
    const maker = field.maker(stores);
    const served = await made(
      { factoryUid, environmentId: slug },
      { factoryUid, environmentId: uid },
      { factoryUid, environmentId: slug },
    );
    const others = await made({ factoryUid, environmentId: 'other' }, { factoryUid }, {});
    maker.wake();
    await over(served);
    expect(await Promise.all(others.map(state))).toEqual(['QUEUED', 'QUEUED', 'QUEUED']);
    await byName.stop();
    const byUid = field.worker('by-uid', stores, { placement: { environments: [uid] } });
    const more = await made({ factoryUid, environmentId: slug }, { factoryUid, environmentId: uid });
    // The same name in another factory is another environment.
    const [foreign] = (await made({ factoryUid: unique('fac_'), environmentId: slug })) as [string];
    maker.wake();
    await over(more);
    expect(await Promise.all([...others, foreign].map(state))).toEqual(['QUEUED', 'QUEUED', 'QUEUED', 'QUEUED']);
    expect(byUid.given).toHaveLength(2);
    field.worker('all', stores);
    await over([...others, foreign]);
  });

  it('begins nothing that was cancelled while it waited, and begins it when a message comes for it', async () => {
    const blocker = field.worker('a', stores, { places: 1, holds: true });
    const maker = field.maker(stores);
    const [busy, waiting] = (await made({}, {})) as [string, string];
    maker.wake();
    await holds(blocker, busy);
    expect(await stores.runs.cancel(waiting)).toBe('cancelled');
    blocker.release(busy);
    await over([busy]);
    expect(await executions(waiting)).toEqual([]);
    await stores.runs.followup(
      { followupId: newId(), runId: waiting, principalUid: 'user_admin', message: 'do it after all' },
      () => ({ ok: true, outcome: 'handoff_execution' }),
    );
    maker.wake();
    await holds(blocker, waiting);
    expect(await executions(waiting)).toMatchObject([{ owner: 'a', outcome: null }]);
  });

  it('hands over what a process that stops had taken, and takes nothing more there', async () => {
    const maker = field.maker(stores);
    const first = field.worker('a', stores, { places: 1, holds: true });
    const [runId] = (await made({})) as [string];
    maker.wake();
    await holds(first, runId);
    const [behind] = (await made({})) as [string];
    maker.wake();
    await first.stop();
    expect(first.given.map((run) => run.runId)).toEqual([runId]);
    field.worker('b', stores);
    await over([runId, behind]);
    expect(await executions(runId)).toMatchObject([
      { owner: 'a', outcome: 'HANDED_OVER' },
      { owner: 'b', outcome: 'SUCCEEDED' },
    ]);
  });

  it('gives a run whose process is gone to another after its lease, and the first writes nothing more', async () => {
    const maker = field.maker(stores);
    const lost = field.worker('a', stores, { places: 1, holds: true, leaseMs: 1 });
    const [runId] = (await made({})) as [string];
    maker.wake();
    await holds(lost, runId);
    const stale = lost.given[0];
    if (stale === undefined) throw new Error('it was given the run');
    await lost.dispatch.stop(); // it takes no more, and does not let go
    const other = field.worker('b', stores, { places: 1, holds: true });
    await eventually('it is found lost', async () => {
      const found = await stores.runs.abandoned('b', false);
      return found.some(({ run }) => run.run_id === runId) ? true : undefined;
    });
    expect(await stores.runs.reclaim(runId, stale.epoch, 'requeue')).toBe(true);
    other.dispatch.wake();
    await holds(other, runId);
    expect(
      await stores.runs.append(stale, [{ kind: 'stdout', atMs: Date.now(), body: '{"text":"stale"}' }]),
    ).toBeUndefined();
    expect(await stores.runs.finish(stale, { state: 'FAILED', message: 'stale' })).toBe(false);
    other.release(runId);
    await over([runId]);
    expect(await executions(runId)).toMatchObject([
      { owner: 'a', outcome: 'LOST' },
      { owner: 'b', outcome: 'SUCCEEDED' },
    ]);
  });

  it('finds what waited before there was any process to work', async () => {
    const maker = field.maker(stores);
    const runIds = await made(...times(5));
    maker.wake();
    await maker.stop();
    field.worker('a', stores);
    await over(runIds);
  });

  if (engine === EMBEDDED) return;

  const tokens = (worker: Worker): number => worker.queue?.claimed.length ?? 0;
  /** Everything that the queue holds, as text. */
  const held = async (): Promise<string> => {
    if (engine.redis === undefined)
      return (await select<{ text: string }>(stores, 'SELECT job::text AS text FROM millwright_queue.job'))
        .map(({ text }) => text)
        .join('\n');
    const keys = (await engine.redis().ask('KEYS', '*'))
      .split('\r\n')
      .filter((line) => line.startsWith('{millwright}'));
    return (
      await Promise.all(
        keys.map(async (key) => {
          const isHash = (await engine.redis?.().ask('TYPE', key))?.startsWith('+hash') === true;
          return `${key}\n${await engine.redis?.().ask(isHash ? 'HGETALL' : 'TTL', key)}`;
        }),
      )
    ).join('\n');
  };

  it('tells a queue of waiting runs no more than their IDs, and leaves nothing of them there', async () => {
    const maker = field.maker(stores);
    const [runId] = (await made({ title: 'a very private title', prompt: 'a very private prompt' })) as [string];
    maker.wake();
    const told = await eventually('the queue holds it', async () =>
      (await held()).includes(runId) ? await held() : undefined,
    );
    expect(told).not.toContain('private');
    const worker = field.worker('a', stores);
    await over([runId]);
    await eventually('the token is used up', async () => ((await held()).includes(runId) ? undefined : true));
    expect(await worker.queue?.waiting()).toBe(0);
  });

  it('has one execution where a run is told twice: by two processes and after a crash before noting', async () => {
    const [one, two] = [field.maker(stores), field.maker(stores)];
    const noteTold = Outbox.prototype.markPublished;
    let crashes = 0;
    Outbox.prototype.markPublished = async () => {
      crashes += 1;
      throw new Error('this process dies here');
    };
    const runIds = await made(...times(4));
    try {
      one.wake();
      two.wake();
      await eventually('both told and neither noted it', () => (crashes >= 2 ? true : undefined));
    } finally {
      Outbox.prototype.markPublished = noteTold;
    }
    expect(await count(stores, "run WHERE told_epoch IS NOT NULL AND state = 'QUEUED'")).toBe(0);
    await eventually('it is told again, and noted', async () =>
      (await count(stores, "run WHERE told_epoch = epoch AND state = 'QUEUED'")) === 4 ? true : undefined,
    );
    expect(await one.queue?.waiting()).toBe(4);
    field.worker('a', stores);
    await over(runIds);
    for (const runId of runIds) expect(await executions(runId)).toHaveLength(1);
  });

  it('tells what a process made that died before it could, and what the queue has lost', async () => {
    const runIds = await made(...times(3)); // nobody wakes anybody
    const maker = field.maker(stores);
    await eventually('the queue was told', async () => ((await maker.queue?.waiting()) === 3 ? true : undefined));
    await eventually('and that was noted', async () =>
      (await count(stores, "run WHERE told_epoch = epoch AND state = 'QUEUED'")) === 3 ? true : undefined,
    );
    await maker.stop();
    if (engine.redis === undefined) await meddle(stores, 'DELETE FROM millwright_queue.job');
    else await engine.redis().ask('FLUSHALL');
    await meddle(stores, "UPDATE run SET updated_at = updated_at - 60000 WHERE state = 'QUEUED'");
    const another = field.maker(stores);
    await eventually('the queue was told again', async () =>
      (await another.queue?.waiting()) === 3 ? true : undefined,
    );
    field.worker('a', stores);
    await over(runIds);
  });

  it('has its runs begun by tokens, not only by looks', async () => {
    const worker = field.worker('a', stores, { places: 2 });
    const maker = field.maker(stores);
    let runs = 0;
    await eventually('tokens come', async () => {
      const [runId] = (await made({})) as [string];
      maker.wake();
      await over([runId]);
      runs += 1;
      return tokens(worker) >= 3 ? true : undefined;
    });
    expect(runs).toBeGreaterThanOrEqual(3);
  });

  it('brings a token that one process has no use for to another one', async () => {
    const idle = field.worker('a', stores, { places: 1 });
    const maker = field.maker(stores);
    const [runId] = (await made({ workerHost: 'b' })) as [string];
    maker.wake();
    await eventually('the idle one has had the token, and it rests', () => (tokens(idle) >= 2 ? true : undefined));
    field.worker('b', stores, { places: 1 });
    await over([runId]);
    expect(idle.given).toEqual([]);
  });

  if (engine.redis === undefined) return;

  it('works on what waits while the queue is gone, says so, and comes back to it by itself', async () => {
    const server = engine.redis?.() as RedisServer;
    const maker = field.maker(stores);
    const worker = field.worker('a', stores, { places: 2 });
    const before = await made(...times(2));
    maker.wake();
    await over(before);
    await server.kill();
    try {
      const during = await made(...times(3));
      maker.wake();
      await over(during);
      await eventually('both say so', () =>
        maker.relay?.isAway() === true && worker.relay?.isAway() === true ? true : undefined,
      );
    } finally {
      await server.start();
    }
    await eventually('both say that it is back', () =>
      maker.relay?.isAway() === false && worker.relay?.isAway() === false ? true : undefined,
    );
    const had = tokens(worker);
    await eventually('tokens come again', async () => {
      const [runId] = (await made({})) as [string];
      maker.wake();
      await over([runId]);
      return tokens(worker) > had ? true : undefined;
    });
    expect(field.logged.filter((line) => line.includes('run queue reconnected')).length).toBeGreaterThanOrEqual(1);
  });

  it('stops in time while the queue is gone', async () => {
    const server = engine.redis?.() as RedisServer;
    const worker = field.worker('a', stores, { places: 2, holds: true });
    const maker = field.maker(stores);
    const [runId] = (await made({})) as [string];
    maker.wake();
    await holds(worker, runId);
    await server.kill();
    try {
      await Promise.all([worker.stop(), maker.stop()]);
      expect(await state(runId)).toBe('QUEUED');
    } finally {
      await server.start();
    }
  });
}
