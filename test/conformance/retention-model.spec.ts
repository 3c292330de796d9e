/**
 * Random histories of delivery logs against the rules in plain words: what is left is what may not go, on every
 * database. spec: Limits (Delivery log retention); contract §5.9 (Log).
 */
import { deliverySweep } from '../../apps/server/store/retention/delivery-sweeps.ts';
import { select, meddle, onEachBackend, type Stores } from './backends.ts';
import { runOf, seedServed, type Served } from './seeds.ts';
import { DAY_MS, idAt, seedEntries, sweepAll, sweeperOf, type SeededEntry } from './sweep-runs.ts';

const HISTORIES = 6;
const OUTCOMES = ['accepted', 'duplicate', 'rejectedAuth', 'rejectedInvalidJson', 'rejectedTooLarge'];

interface Entry extends SeededEntry {
  /** A run that needs its payload is open. */
  isNeeded: boolean;
}

/** The rules: older than 7 days, beyond the latest 50 of its class, and needed by no open run. */
function leftOf(entries: readonly Entry[], nowMs: number): string[] {
  const isAccepted = ({ outcome }: Entry): boolean => outcome === 'accepted' || outcome === 'duplicate';
  const newestFirst = entries.toSorted((a, b) => (a.entryId < b.entryId ? 1 : -1));
  const latest = new Set(
    [true, false].flatMap((accepted) => newestFirst.filter((entry) => isAccepted(entry) === accepted).slice(0, 50)),
  );
  return entries
    .filter((entry) => latest.has(entry) || entry.isNeeded || entry.receivedAtMs >= nowMs - 7 * DAY_MS)
    .map(({ entryId }) => entryId)
    .sort();
}

/** Numbers below `limit`, the same for the same seed. */
function randomOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

await onEachBackend('what is left of a random log', (world) => {
  let stores: Stores;
  beforeAll(() => {
    stores = world.stores;
  });

  const left = async ({ webhookUid }: Served): Promise<string[]> =>
    (
      await select<{ entry_id: string }>(
        stores,
        'SELECT entry_id FROM delivery WHERE webhook_uid = ? ORDER BY entry_id',
        webhookUid,
      )
    )
      .map(({ entry_id: id }) => id)
      .sort();

  async function needed({ entryId }: Entry, served: Served): Promise<void> {
    await stores.runs.create(runOf(served, { entryId, automationUid: served.automationUid }));
  }

  it.each(Array.from({ length: HISTORIES }, (_, n) => n + 1))('history %i', async (seed) => {
    const random = randomOf(seed * 7_919);
    const nowMs = Date.now();
    const logs: { served: Served; entries: Entry[] }[] = [];
    for (let n = 0; n < 3; n += 1) {
      const served = await seedServed(stores);
      const favourite = random(OUTCOMES.length);
      const entries = Array.from({ length: random(260) }, (): Entry => {
        // Around the edge of 7 days, too, but not so near that the time of the test counts.
        const ageMs =
          random(3) === 0 ? random(30 * DAY_MS) : 7 * DAY_MS + (random(2) === 0 ? -1 : 1) * (300_000 + random(DAY_MS));
        const outcome = OUTCOMES[random(2) === 0 ? favourite : random(OUTCOMES.length)] as string;
        return {
          entryId: idAt(nowMs - ageMs),
          outcome,
          receivedAtMs: nowMs - ageMs,
          sizeBytes: 1 + random(3_000),
          isNeeded: outcome === 'accepted' && random(12) === 0,
        };
      });
      await seedEntries(stores, served, entries);
      for (const entry of entries.filter(({ isNeeded }) => isNeeded)) await needed(entry, served);
      logs.push({ served, entries });
    }
    // Killed anywhere on the way, then done to the end by another.
    let steps = random(4);
    await meddle(stores, 'UPDATE sweep SET done_at = 0');
    const interrupted = sweeperOf(stores, [deliverySweep()], {
      owner: 'first',
      stepMs: 0,
      pause: async () => void ((steps -= 1) < 0 && interrupted.stop()),
    });
    await interrupted.ask();
    await meddle(stores, 'UPDATE sweep SET lease_until = 0, owner = NULL');
    await sweepAll(stores, deliverySweep());
    for (const { served, entries } of logs) expect(await left(served)).toEqual(leftOf(entries, nowMs));
    // Runs end, and what only they needed goes.
    await meddle(stores, "UPDATE run SET state = 'SUCCEEDED' WHERE state = 'QUEUED'");
    await sweepAll(stores, deliverySweep());
    for (const { served, entries } of logs)
      expect(await left(served)).toEqual(
        leftOf(
          entries.map((entry) => ({ ...entry, isNeeded: false })),
          nowMs,
        ),
      );
  });
});
