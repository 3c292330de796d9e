/** Slots of webhooks against a ring for each from the beginning, while the clock steps. contract §5.6 (Slots). */
import { RATE_WINDOW_MS, SlotRing, SlotWindows } from './index.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';

const STEPS = 400;

describe('slots of webhooks', () => {
  it.each(Array.from({ length: 40 }, (_, seed) => ({ seed })))(
    'are given as rings give them (seed $seed)',
    ({ seed }) => {
      const random = seededRandom(seed + 1);
      const windows = new SlotWindows();
      const rings = new Map(['busy', 'calm'].map((uid) => [uid, new SlotRing()]));
      let nowMs = Date.now();
      for (const uid of rings.keys()) windows.set(uid, [], nowMs);
      expect(windows.take('unknown', nowMs)).toBeUndefined();
      const kinds = new Set<boolean | undefined>();
      for (let step = 0; step < STEPS; step += 1) {
        nowMs += Math.floor(random() * 900);
        if (random() < 0.02) nowMs += Math.floor((random() - 0.5) * 3 * RATE_WINDOW_MS);
        const uid = random() < 0.9 ? 'busy' : 'calm';
        const result = windows.take(uid, nowMs);
        expect(result).toEqual(rings.get(uid)?.take(nowMs));
        kinds.add(result?.ok);
      }
      expect(kinds).toEqual(new Set([true, false]));
    },
  );
});
