/** A flood of refusals: sixty entries a minute and webhook, then one that counts, none lost. contract §5.4. */
import { describe, expect, it, jest } from '@jest/globals';
import type { RefusalDetails } from '#deliveries';
import type { CommitWaiter } from '../store/database/group-commit.ts';
import type { DeliveryStore, RefusedEntry } from '../store/deliveries/deliveries.ts';
import type { Clock } from '../process/injection-tokens.ts';
import type { Log } from '../process/log.ts';
import { type LoggedRefusal, RefusedLog } from './refused-delivery-log.ts';

/** Stores entries only when told to, as a commit does. */
function slowStore() {
  const waiting: (() => void)[] = [];
  const entries = new Map<string, { entry: RefusedEntry; count: number }>();
  const lost: string[] = [];
  /** Entries that each write of counts has raised. */
  const updates: number[] = [];
  const store = {
    logRefused: (entry: RefusedEntry, waiter: CommitWaiter<void>) =>
      void waiting.push(() => {
        entries.set(entry.entryId, { entry, count: 1 });
        waiter.committed();
      }),
    countRefused: async (raised: ReadonlyMap<string, number>) => {
      updates.push(raised.size);
      for (const [entryId, by] of raised) {
        const found = entries.get(entryId);
        if (found === undefined) lost.push(entryId);
        else found.count += by;
      }
    },
    // What waits to be stored is stored then.
    refusalsLogged: async () => waiting.splice(0).forEach((settle) => settle()),
  } as unknown as DeliveryStore;
  return { store, entries, lost, updates, commit: () => waiting.splice(0).forEach((settle) => settle()) };
}

const entry = (number: number, webhookUid = 'wh_a'): RefusedEntry => ({
  entryId: `e${number}`,
  webhookUid,
  factoryUid: 'fac_a',
  deliveryId: '',
  outcome: 'rejectedAuth',
  sizeBytes: 1,
  sizeExact: false,
  receivedAtMs: 0,
  clientAddress: 'x',
  revision: 'r',
  reason: 'mismatch',
});

const details = (): RefusalDetails => ({ check: 'credential' });

describe('throttled deliveries', () => {
  it('are one entry a minute and webhook, beside those of refused ones, and one write of counts a second', async () => {
    const { store, entries, updates, commit } = slowStore();
    let nowMs = 0;
    const log = logOf(store, () => nowMs);
    const waited: boolean[] = [];
    const throttle = (number: number, webhookUid = 'wh_a'): Promise<void> =>
      logged({ ...entry(number, webhookUid), outcome: 'throttled' }, (refusal) => {
        const isCounted = log.countThrottled(webhookUid, refusal);
        waited.push(!isCounted);
        return isCounted;
      });
    const first = [throttle(1), throttle(2), write(log, entry(3)), throttle(4, 'wh_b')];
    commit();
    await Promise.all(first);
    waited.length = 0;
    for (let number = 10; number < 1_010; number += 1) await throttle(number);
    expect(new Set(waited)).toEqual(new Set([false]));
    nowMs = 60_000;
    const next = throttle(2_000);
    commit();
    await next;
    await log.stop();
    expect(
      [...entries].map(
        ([
          id,
          {
            count,
            entry: { outcome },
          },
        ]) => `${id} ${outcome} ${count}`,
      ),
    ).toEqual(['e1 throttled 1002', 'e3 rejectedAuth 1', 'e4 throttled 1', 'e2000 throttled 1']);
    expect(updates).toEqual([1]);
  });

  it('whose entry could not be written are told so, and the next one begins another', async () => {
    let fails = true;
    const written: string[] = [];
    const store = {
      logRefused: ({ entryId }: RefusedEntry, waiter: CommitWaiter<void>) => {
        if (fails) return waiter.failed(new Error('away'));
        written.push(entryId);
        waiter.committed();
      },
      countRefused: async () => undefined,
      refusalsLogged: async () => undefined,
    } as unknown as DeliveryStore;
    const log = logOf(store, () => 0);
    const throttle = (number: number): Promise<void> =>
      logged(entry(number), (refusal) => log.countThrottled('wh_a', refusal));
    await expect(throttle(1)).rejects.toThrow('away');
    fails = false;
    await throttle(2);
    expect(written).toEqual(['e2']);
    await log.stop();
  });
});

describe('a count that could not be begun', () => {
  /** Entries that are neither stored nor not, until it is said. */
  function undecided() {
    const waiters: CommitWaiter<void>[] = [];
    const store = {
      logRefused: (_entry: RefusedEntry, waiter: CommitWaiter<void>) => void waiters.push(waiter),
      countRefused: async () => undefined,
      refusalsLogged: async () => undefined,
    } as unknown as DeliveryStore;
    return { store, waiters };
  }

  it('fails those that would have been counted with it, and the next one begins another', async () => {
    const { store, waiters } = undecided();
    const log = logOf(store, () => 0);
    const throttle = (number: number): Promise<void> =>
      logged(entry(number), (refusal) => log.countThrottled('wh_a', refusal));
    const all = Promise.allSettled([throttle(1), throttle(2), throttle(3)]);
    waiters[0]?.failed(new Error('away'));
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    const next = throttle(4);
    expect(waiters).toHaveLength(2);
    waiters[1]?.committed();
    await next;
    await throttle(5); // counted in memory
    expect(waiters).toHaveLength(2);
    await log.stop();
  });

  it('ends none that was begun behind it', async () => {
    const { store, waiters } = undecided();
    let nowMs = 0;
    const log = logOf(store, () => nowMs);
    const throttle = (number: number): Promise<void> =>
      logged(entry(number), (refusal) => log.countThrottled('wh_a', refusal));
    const first = throttle(1);
    nowMs = 60_000;
    const second = throttle(2);
    waiters[0]?.failed(new Error('away'));
    await expect(first).rejects.toThrow('away');
    waiters[1]?.committed();
    await second;
    await throttle(3);
    expect(waiters).toHaveLength(2);
    await log.stop();
  });

  it('because its entry could not be made leaves nobody waiting', () => {
    const { store, waiters } = undecided();
    const log = logOf(store, () => 0);
    const broken = {
      entry: () => {
        throw new Error('broken');
      },
      committed: () => undefined,
      failed: () => undefined,
    };
    expect(() => log.countThrottled('wh_a', broken)).toThrow('broken');
    expect([log.countThrottled('wh_a', { ...broken, entry: () => entry(1) }), waiters.length]).toEqual([false, 1]);
  });
});

it('a stop waits for the counts that are being stored, and stores what could not be', async () => {
  const stored: number[] = [];
  let settle: () => void = () => undefined;
  const refusals: unknown[] = [];
  const store = {
    logRefused: (_entry: RefusedEntry, waiter: CommitWaiter<void>) => waiter.committed(),
    countRefused: (raised: ReadonlyMap<string, number>) =>
      new Promise<void>((resolve, reject) => {
        if (refusals.length > 0) return resolve(void stored.push(...raised.values()));
        settle = () => {
          refusals.push('away');
          reject(new Error('away'));
        };
      }),
    refusalsLogged: async () => undefined,
  } as unknown as DeliveryStore;
  jest.useFakeTimers();
  try {
    const log = logOf(store, () => 0);
    const throttle = (number: number): Promise<void> =>
      logged(entry(number), (refusal) => log.countThrottled('wh_a', refusal));
    await throttle(1);
    await throttle(2);
    jest.advanceTimersByTime(1_000);
    const stopping = log.stop();
    await Promise.resolve();
    settle();
    await stopping;
  } finally {
    jest.useRealTimers();
  }
  expect(stored).toEqual([1]);
});

describe('refused deliveries', () => {
  it('all at once: sixty entries, and one that counts the rest although not yet committed when they come', async () => {
    const { store, entries, lost, commit } = slowStore();
    const log = logOf(store, () => 0);
    const written = Promise.all(Array.from({ length: 200 }, (_, number) => write(log, entry(number))));
    commit();
    await written;
    await log.stop();
    expect(entries.size).toBe(61);
    expect(entries.get('e60')).toMatchObject({ count: 140, entry: { reason: 'counted' } });
    expect(lost).toEqual([]);
  });

  it('a counted entry stands for one minute at most', async () => {
    const { store, entries, commit } = slowStore();
    let nowMs = 0;
    const log = logOf(store, () => nowMs);
    const refuse = async (number: number): Promise<void> => {
      const done = write(log, entry(number));
      commit();
      await done;
    };
    for (let number = 0; number < 62; number += 1) await refuse(number);
    nowMs = 60_000;
    for (let number = 100; number < 162; number += 1) await refuse(number);
    await log.stop();
    expect(
      [...entries.values()].filter(({ entry: { reason } }) => reason === 'counted').map(({ count }) => count),
    ).toEqual([2, 2]);
  });

  it('what is counted is stored together, at the latest when the process stops; nothing waits for it', async () => {
    const { store, entries, updates, commit } = slowStore();
    const log = logOf(store, () => 0);
    const begun = ['wh_a', 'wh_b'].flatMap((webhookUid, webhook) =>
      Array.from({ length: 61 }, (_, number) => write(log, entry(webhook * 1_000 + number, webhookUid))),
    );
    commit();
    await Promise.all(begun);
    const counted = ['wh_b', ...Array.from({ length: 1_000 }, () => 'wh_a')];
    const nobody = { entry: () => entry(0), committed: () => undefined, failed: () => undefined };
    const isCounted = counted.map((webhookUid) => log.write(webhookUid, nobody, details));
    expect(new Set(isCounted)).toEqual(new Set([true]));
    expect([updates, entries.get('e60')?.count]).toEqual([[], 1]);
    await log.stop();
    expect([updates, entries.get('e60')?.count, entries.get('e1060')?.count]).toEqual([[2], 1_001, 2]);
  });

  it('what its sender did not wait for is stored when the process stops, and what was counted into it', async () => {
    const { store, entries } = slowStore();
    const log = logOf(store, () => 0);
    const left = Array.from({ length: 63 }, (_, number) => write(log, entry(number)));
    await log.stop();
    expect([entries.size, entries.get('e60')?.count]).toEqual([61, 3]);
    await Promise.all(left);
  });

  it('a count that could not be stored is stored the next time', async () => {
    const { store, entries, commit } = slowStore();
    const faults: unknown[] = [];
    const away = jest.fn(() => Promise.reject(new Error('away')));
    const flaky = { ...store, countRefused: away } as unknown as DeliveryStore;
    const log = logOf(flaky, () => 0, faults);
    const begun = Array.from({ length: 61 }, (_, number) => write(log, entry(number)));
    commit();
    await Promise.all(begun);
    await write(log, entry(61));
    await log.stop();
    expect([away.mock.calls.length, faults.length, entries.get('e60')?.count]).toEqual([1, 1, 1]);
    Object.assign(flaky, { countRefused: store.countRefused });
    await log.stop();
    expect(entries.get('e60')?.count).toBe(2);
  });

  it('webhooks are apart', async () => {
    const { store, entries, commit } = slowStore();
    const log = logOf(store, () => 0);
    const written = Promise.all(
      Array.from({ length: 80 }, (_, number) => write(log, entry(number, number % 2 === 0 ? 'wh_a' : 'wh_b'))),
    );
    commit();
    await written;
    expect(entries.size).toBe(80);
  });

  it('one without an identity header is named by its entry', async () => {
    const { store, entries, commit } = slowStore();
    const log = logOf(store, () => 0);
    const written = [write(log, entry(1)), write(log, { ...entry(2), deliveryId: 'sent' })];
    commit();
    await Promise.all(written);
    expect([entries.get('e1')?.entry.deliveryId, entries.get('e2')?.entry.deliveryId]).toEqual(['e1', 'sent']);
  });

  it('what could not be stored is told to who asked', async () => {
    const store = {
      logRefused: (_entry: RefusedEntry, waiter: CommitWaiter<void>) => waiter.failed(new Error('away')),
      countRefused: () => Promise.resolve(),
      refusalsLogged: () => Promise.resolve(),
    } as unknown as DeliveryStore;
    const log = logOf(store, () => 0);
    const results = await Promise.allSettled(Array.from({ length: 63 }, (_, number) => write(log, entry(number))));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
  });
});

it('details are found out for entries of their own only: sixty times a minute, whatever comes', async () => {
  const { store, entries, commit } = slowStore();
  const log = logOf(store, () => 0);
  let asked = 0;
  const written = Promise.all(
    Array.from({ length: 100 }, (_, number) =>
      write(log, entry(number), () => {
        asked += 1;
        return { check: 'signature', hint: 'key-encoding' };
      }),
    ),
  );
  commit();
  await written;
  expect(asked).toBe(60);
  expect(entries.get('e0')?.entry.refusal).toBe('{"check":"signature","hint":"key-encoding"}');
  expect(entries.get('e60')?.entry).not.toHaveProperty('refusal');
});

function write(log: RefusedLog, refused: RefusedEntry, found = details): Promise<void> {
  return logged(refused, (refusal) => log.write(refused.webhookUid, refusal, found));
}

/** Resolved when it is logged, or counted in memory. */
function logged(refused: RefusedEntry, write: (refusal: LoggedRefusal) => boolean): Promise<void> {
  return new Promise((committed, failed) => {
    if (write({ entry: () => refused, committed, failed })) committed();
  });
}

function logOf(store: DeliveryStore, nowMs: () => number, faults: unknown[] = []): RefusedLog {
  const clock: Clock = { nowMs, monotonicMs: nowMs };
  return new RefusedLog(store, clock, {
    fault: (_message: string, fault: unknown) => void faults.push(fault),
  } as unknown as Log);
}
