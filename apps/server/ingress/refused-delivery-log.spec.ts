/** A flood of refusals: sixty entries a minute and webhook, then one that counts, none lost. contract §5.4. */
import { describe, expect, it } from '@jest/globals';
import type { RefusalDetails } from '#deliveries';
import type { DeliveryStore, RefusedEntry } from '../store/deliveries/deliveries.ts';
import type { Clock } from '../process/injection-tokens.ts';
import { RefusedLog } from './delivery-acceptor.ts';

/** Stores entries only when told to, as a commit does. */
function slowStore() {
  const waiting: (() => void)[] = [];
  const entries = new Map<string, { entry: RefusedEntry; count: number }>();
  const lost: string[] = [];
  const store = {
    logRefused: (entry: RefusedEntry) =>
      new Promise<void>((resolve) =>
        waiting.push(() => {
          entries.set(entry.entryId, { entry, count: 1 });
          resolve();
        }),
      ),
    countRefused: async (entryId: string) => {
      const found = entries.get(entryId);
      if (found === undefined) lost.push(entryId);
      else found.count += 1;
    },
  } as unknown as DeliveryStore;
  return { store, entries, lost, commit: () => waiting.splice(0).forEach((settle) => settle()) };
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

describe('refused deliveries', () => {
  it('all at once: sixty entries, and one that counts the rest although not yet committed when they come', async () => {
    const { store, entries, lost, commit } = slowStore();
    const log = new RefusedLog(
      store,
      clockOf(() => 0),
    );
    const written = Promise.all(Array.from({ length: 200 }, (_, number) => log.write(entry(number), details)));
    commit();
    await written;
    expect(entries.size).toBe(61);
    expect(entries.get('e60')).toMatchObject({ count: 140, entry: { reason: 'counted' } });
    expect(lost).toEqual([]);
  });

  it('a counted entry stands for one minute at most', async () => {
    const { store, entries, commit } = slowStore();
    let nowMs = 0;
    const log = new RefusedLog(
      store,
      clockOf(() => nowMs),
    );
    const write = async (number: number): Promise<void> => {
      const done = log.write(entry(number), details);
      commit();
      await done;
    };
    for (let number = 0; number < 62; number += 1) await write(number);
    nowMs = 60_000;
    for (let number = 100; number < 162; number += 1) await write(number);
    expect(
      [...entries.values()].filter(({ entry: { reason } }) => reason === 'counted').map(({ count }) => count),
    ).toEqual([2, 2]);
  });

  it('webhooks are apart', async () => {
    const { store, entries, commit } = slowStore();
    const log = new RefusedLog(
      store,
      clockOf(() => 0),
    );
    const written = Promise.all(
      Array.from({ length: 80 }, (_, number) => log.write(entry(number, number % 2 === 0 ? 'wh_a' : 'wh_b'), details)),
    );
    commit();
    await written;
    expect(entries.size).toBe(80);
  });

  it('one without an identity header is named by its entry', async () => {
    const { store, entries, commit } = slowStore();
    const log = new RefusedLog(
      store,
      clockOf(() => 0),
    );
    const written = [log.write(entry(1), details), log.write({ ...entry(2), deliveryId: 'sent' }, details)];
    commit();
    await Promise.all(written);
    expect([entries.get('e1')?.entry.deliveryId, entries.get('e2')?.entry.deliveryId]).toEqual(['e1', 'sent']);
  });

  it('what could not be stored is told to who asked', async () => {
    const store = {
      logRefused: () => Promise.reject(new Error('away')),
      countRefused: () => Promise.resolve(),
    } as unknown as DeliveryStore;
    const log = new RefusedLog(
      store,
      clockOf(() => 0),
    );
    const results = await Promise.allSettled(
      Array.from({ length: 63 }, (_, number) => log.write(entry(number), details)),
    );
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']));
  });
});

it('details are found out for entries of their own only: sixty times a minute, whatever comes', async () => {
  const { store, entries, commit } = slowStore();
  const log = new RefusedLog(
    store,
    clockOf(() => 0),
  );
  let asked = 0;
  const written = Promise.all(
    Array.from({ length: 100 }, (_, number) =>
      log.write(entry(number), () => {
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

function clockOf(nowMs: () => number): Clock {
  return { nowMs, monotonicMs: nowMs };
}
