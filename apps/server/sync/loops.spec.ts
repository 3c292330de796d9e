/**
 * One loop per factory: asking is cheap, passes do not overlap, nothing that was asked for is forgotten. contract §9.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storesOf, type Stores } from '../../../test/conformance/backends.ts';
import { newId, seedFactory } from '../../../test/conformance/seeds.ts';
import { eventually } from '../../../test/support/services/service.ts';
import { Metrics } from '../process/metrics.ts';
import { openDatabase } from '../store/open-database.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { Notices } from '../store/database/notices.ts';
import { SyncLoops } from './loops.ts';
import type { Snapshot, Source } from './sources/source.ts';

let stores: Stores;
let folder: string;
let loops: SyncLoops;
let reading: number;
let readingMost: number;
let readings: number;
let opened: string[];
let events: string[];
let follows: boolean;
/** What the source does while it is read. */
let during: (signal: AbortSignal) => Promise<void>;
let hint: () => void;

beforeEach(async () => {
  [reading, readingMost, readings, opened, events] = [0, 0, 0, [], []];
  during = async () => undefined;
  follows = true;
  folder = await mkdtemp(join(tmpdir(), 'millwright-loops-'));
  stores = storesOf(await openDatabase({ dataDir: folder, nowMs: Date.now }));
  loops = new SyncLoops(
    {
      owner: 'this-process',
      metrics: new Metrics(),
      uidKey: new Uint8Array(32),
      factories: stores.factories,
      definitions: stores.definitions,
      secrets: stores.secrets,
      publish: async () => undefined,
      nowMs: Date.now,
      newId,
      logEnd: () => undefined,
      report: (fault) => void events.push(`fault ${String(fault)}`),
    },
    new Notices((fault) => void events.push(`fault ${String(fault)}`)),
    { intervalMs: 3_600_000, follows: () => follows, isTrusted: () => false, openSource },
  );
});

afterEach(async () => {
  await loops.stop();
  await stores.database.close();
  await rm(folder, { recursive: true });
});

function openSource({ source }: Factory): Source {
  opened.push(JSON.stringify(source));
  const closing = new AbortController();
  return {
    async snapshot(): Promise<Snapshot> {
      readings += 1;
      reading += 1;
      readingMost = Math.max(readingMost, reading);
      await during(closing.signal);
      reading -= 1;
      return { ok: false, reason: 'unreachable', message: 'away', retry: 'backoff' };
    },
    watch: (onHint) => {
      hint = onHint;
      return () => void events.push('watch ended');
    },
    close: async () => {
      closing.abort();
      events.push('closed');
    },
  };
}

/** `failures`: so many passes of it have failed before. */
async function added(failures = 0): Promise<Factory> {
  const { uid, fence } = await seedFactory(stores);
  const condition = { ending: 'failed', reason: 'unreachable', sinceMs: Date.now(), checkedMs: Date.now() } as const;
  if (failures > 0) await stores.factories.recordPass(uid, fence, { generationHandled: 0, condition, failures });
  await stores.factories.releaseLease(uid, fence);
  const factory = (await stores.factories.find(uid)) as Factory;
  await loops.add(factory);
  await loops.waitForGeneration(uid, 1, 10_000);
  return factory;
}

/** Resolves when the source is being read. */
const underWay = (): Promise<true> =>
  eventually('the source is read', () => (reading > 0 ? (true as const) : undefined));

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

describe('a loop', () => {
  it('begins with a pass of its own', async () => {
    await added();
    expect(readings).toBe(1);
  });

  it('runs one pass at a time and one more for all that was asked for meanwhile', async () => {
    const { uid } = await added();
    let go: () => void = () => undefined;
    during = () => new Promise((resolve) => (go = resolve));
    const first = await loops.ask(uid, 'api');
    await underWay();
    const later = await Promise.all(Array.from({ length: 10 }, () => loops.ask(uid, 'push')));
    expect(Math.max(...later)).toBe(first + 10);
    during = async () => undefined;
    go();
    expect(await loops.waitForGeneration(uid, Math.max(...later), 10_000)).toMatchObject({
      generationHandled: first + 10,
    });
    expect(readings).toBe(3); // the first one, the one asked for, one for the ten
    expect(readingMost).toBe(1);
  });

  it('takes a hint of its watcher for a question', async () => {
    const { uid } = await added();
    hint();
    await expect(loops.waitForGeneration(uid, 2, 10_000)).resolves.toMatchObject({ generationHandled: 2 });
  });

  it('reports a hint that it cannot take, and goes on', async () => {
    await added();
    const ask = stores.factories.requestSync.bind(stores.factories);
    stores.factories.requestSync = () => Promise.reject(new Error('the database is away'));
    hint();
    await eventually('the fault is reported', () => events.find((event) => event.includes('the database is away')));
    stores.factories.requestSync = ask;
    hint();
    await eventually('the next hint is taken', () => (readings === 2 ? (true as const) : undefined));
  });

  it('lets factories not wait for each other', async () => {
    const slow = await added();
    const other = await added();
    let isFirst = true;
    during = (signal) => {
      if (!isFirst) return Promise.resolve();
      isFirst = false;
      return untilAborted(signal);
    };
    await loops.ask(slow.uid, 'api');
    await underWay();
    expect(await loops.waitForGeneration(other.uid, await loops.ask(other.uid, 'api'), 10_000)).toBeDefined();
    expect(await loops.waitForGeneration(slow.uid, 2, 50)).toBeUndefined(); // it says so instead of waiting for ever
  });

  it('is content with what another process has just found, where nothing but time has passed', async () => {
    const { uid } = await added(20); // minutes away from trying again by itself
    const idle = (): Promise<true> =>
      eventually('no pass is under way', () => (loops.isRunning(uid) ? undefined : (true as const)));
    const held = await stores.factories.acquireLease(uid, 'another-process', 30_000);
    await loops.ask(uid, 'api');
    await idle();
    expect(readings).toBe(1); // the other one does it
    await stores.factories.recordPass(uid, held?.fence ?? 0, {
      generationHandled: 2,
      condition: { ending: 'applied', sinceMs: Date.now(), checkedMs: Date.now() },
      failures: 0,
    });
    await stores.factories.releaseLease(uid, held?.fence ?? 0);
    loops.wake(uid, 'timer');
    await idle();
    expect(readings).toBe(1);
    await stores.factories.requestSync(uid); // asked for since
    loops.wake(uid, 'timer');
    await idle();
    expect(readings).toBe(2);
  });

  it('is not opened for a factory that is followed elsewhere', async () => {
    const { uid, fence } = await seedFactory(stores);
    await stores.factories.releaseLease(uid, fence);
    follows = false;
    await loops.add((await stores.factories.find(uid)) as Factory);
    expect([loops.followed(), opened]).toEqual([[], []]);
    expect(await loops.ask(uid, 'api')).toBe(2); // others hear of it
  });

  it('is pointed to another source by closing the old one', async () => {
    const factory = await added();
    await loops.add(factory);
    expect(opened).toHaveLength(1); // the same source: nothing to do
    await stores.factories.edit(factory.uid, { source: { kind: 'directory', path: '/elsewhere' } });
    await loops.add((await stores.factories.find(factory.uid)) as Factory);
    expect(opened).toEqual([
      JSON.stringify({ kind: 'directory', path: '/srv/x' }),
      JSON.stringify({ kind: 'directory', path: '/elsewhere' }),
    ]);
    expect(events).toEqual(['watch ended', 'closed']);
  });

  it('finds at its next pass that another replica was told of another source or policy, and reopens it', async () => {
    const { uid } = await added();
    const before = readings;
    await stores.factories.edit(uid, {
      syncPolicy: { windows: [{ kind: 'deny', schedule: '0 0 * * *', durationMinutes: 1 }] },
    });
    await loops.ask(uid, 'api');
    await eventually('the source is opened again', () => (opened.length === 2 ? (true as const) : undefined));
    await eventually('and read', () => (readings > before ? (true as const) : undefined));
    expect(events.slice(0, 2)).toEqual(['watch ended', 'closed']);
    expect(opened).toHaveLength(2);
  });

  it('that is removed ends its reading, and its factory is asked for nothing more', async () => {
    const { uid } = await added();
    during = untilAborted;
    await loops.ask(uid, 'api');
    await underWay();
    await loops.remove(uid);
    expect(reading).toBe(0);
    const before = readings;
    hint();
    await loops.ask(uid, 'api');
    await loops.remove(uid); // twice is once
    expect(readings).toBe(before);
  });

  it('ends with all others when the service stops, in the middle of a pass too', async () => {
    const { uid } = await added();
    during = untilAborted;
    await loops.ask(uid, 'api');
    await underWay();
    await loops.stop();
    expect(reading).toBe(0);
    expect(events.filter((event) => event.startsWith('fault'))).toEqual([]);
  });

  it('asked about a factory that is gone says so', async () => {
    expect(await loops.waitForGeneration('fac_none', 1, 10_000)).toBeUndefined();
    expect(await loops.ask('fac_none', 'api')).toBe(0);
  });
});
