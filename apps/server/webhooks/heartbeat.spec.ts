/**
 * What a process tells the others of itself: at once when it has loaded something new, now and then when not, and that
 * it goes.
 */
import { jest } from '@jest/globals';
import type { Process, ReplicaStore } from '../store/database/replicas.ts';
import { Heartbeat } from './heartbeat.ts';
import type { Serving } from './serving-state.ts';

let nowMs: number;
/** The wall clock, which goes on while a machine sleeps. */
let clockMs: number;
let newerMigration: string | undefined;
let said: (number | 'retired' | 'left')[];
let faults: unknown[];
let isAway: boolean;
/** Holds up what is written. */
let held: Promise<void>;
let committed: number;
let heartbeat: Heartbeat;
const serving = {
  loadedVersion: 0,
  whenLoaded: undefined as (() => void) | undefined,
  refresh: async () => load(committed),
};

/** Takes a version into memory, as `Serving` does. */
function load(version: number): void {
  if (version === serving.loadedVersion) return;
  serving.loadedVersion = version;
  serving.whenLoaded?.();
}

beforeEach(async () => {
  [nowMs, said, faults, isAway, committed, held] = [0, [], [], false, 7, Promise.resolve()];
  [clockMs, newerMigration] = [1_000_000, undefined];
  [serving.loadedVersion, serving.whenLoaded] = [7, undefined];
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance'] });
  const replicas = {
    join: async () => undefined,
    async beat(_me: Process, version: number) {
      await held;
      if (isAway) throw new Error('away');
      if (newerMigration !== undefined) return newerMigration;
      said.push(version);
      return undefined;
    },
    retire: async () => void said.push('retired'),
    leave: async () => void said.push('left'),
  };
  heartbeat = new Heartbeat({
    replicas: replicas as unknown as ReplicaStore,
    serving: serving as unknown as Serving,
    me: { owner: 'one', version: '1', roles: ['ingress'], host: 'here' },
    monotonicMs: () => nowMs,
    nowMs: () => clockMs,
    report: (fault) => void faults.push(fault),
  });
  await heartbeat.start();
});

afterEach(async () => {
  await heartbeat.stop();
  jest.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  nowMs += ms;
  clockMs += ms;
  await jest.advanceTimersByTimeAsync(ms);
}

describe('a heartbeat', () => {
  it('is there from the start, is repeated seldom, and ends', async () => {
    expect(said).toEqual([7]);
    await pass(2_000);
    await pass(2_000);
    expect(said).toEqual([7]);
    await pass(2_000);
    expect(said).toEqual([7, 7]);
    await heartbeat.retire();
    await pass(6_000);
    expect(said).toEqual([7, 7, 'retired', 7]); // it lives until its work has ended
    await heartbeat.stop();
    await pass(20_000);
    expect(said).toEqual([7, 7, 'retired', 7, 'left']);
  });

  it('tells at once what was loaded, and looks by itself for what nobody told it', async () => {
    load(8);
    await pass(0);
    expect(said).toEqual([7, 8]);
    committed = 9;
    await pass(2_000);
    expect(said).toEqual([7, 8, 9]);
  });

  it.each<[what: string, sleep: () => void]>([
    ['a process stands still', () => ([nowMs, clockMs] = [nowMs + 15_000, clockMs + 15_000])],
    ['a machine sleeps, and with it its monotonic clock', () => (clockMs += 15_000)],
  ])('is not heard of any more where %s, until it has said so', async (_what, sleep) => {
    expect(heartbeat.isHeardOf).toBe(true);
    sleep();
    expect(heartbeat.isHeardOf).toBe(false);
    await Promise.all([heartbeat.renew(), heartbeat.renew()]);
    expect([heartbeat.isHeardOf, said]).toEqual([true, [7, 7]]);
  });

  it('of a process that slept while a newer version took away what it uses is none: it has to end', async () => {
    newerMigration = 'Next1700000000099';
    nowMs += 60_000;
    await expect(heartbeat.renew()).rejects.toMatchObject({ kind: 'unavailable' });
    expect((await heartbeat.leftBehind).message).toContain('Next1700000000099, which this version does not know');
    expect([heartbeat.isHeardOf, said]).toEqual([false, [7]]);
  });

  it('outlives a database that is away', async () => {
    isAway = true;
    committed = 8;
    await pass(6_000);
    expect([said, faults.length > 0]).toEqual([[7], true]);
    isAway = false;
    await pass(2_000);
    expect(said).toEqual([7, 8]);
  });

  it(
    'heaps nothing up before a database that is silent: who ends waits for what is being said, and for one thing ' +
      'more',
    async () => {
      let failAll: (fault: Error) => void = () => undefined;
      held = new Promise((_, reject) => (failAll = reject));
      for (let n = 0; n < 100; n += 1) await pass(2_000);
      const retired = heartbeat.retire();
      failAll(new Error('away'));
      await retired;
      expect([said, faults.length]).toEqual([[7, 'retired'], 2]);
    },
  );
});
