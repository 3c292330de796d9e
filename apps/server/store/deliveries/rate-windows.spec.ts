/**
 * Windows in memory, whose only slot is a number, against rings from the beginning, while the clock steps. contract
 * §5.6 (Slots).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RATE_WINDOW_MS, SlotRing } from '#deliveries';
import { seededRandom } from '../../../../test/support/seeded-random.ts';
import type { Database } from '../database/database.ts';
import { openDatabase } from '../open-database.ts';
import { RateWindows } from './rate-windows.ts';

const STEPS = 400;

describe('rate windows in memory', () => {
  let dataDir: string;
  let database: Database;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'millwright-windows-'));
    database = await openDatabase({ dataDir, nowMs: Date.now });
  });
  afterAll(async () => {
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  it.each(Array.from({ length: 40 }, (_, seed) => ({ seed })))('answer as rings do (seed $seed)', async ({ seed }) => {
    const random = seededRandom(seed + 1);
    const windows = new RateWindows();
    const rings = new Map(['busy', 'calm'].map((uid) => [uid, new SlotRing()]));
    let nowMs = Date.now();
    await database.run(() => windows.load([...rings.keys()], nowMs));
    const kinds = new Set<boolean>();
    for (let step = 0; step < STEPS; step += 1) {
      nowMs += Math.floor(random() * 900);
      if (random() < 0.02) nowMs += Math.floor((random() - 0.5) * 3 * RATE_WINDOW_MS);
      const uid = random() < 0.9 ? 'busy' : 'calm';
      const result = windows.take(uid, nowMs);
      expect(result).toEqual(rings.get(uid)?.take(nowMs));
      kinds.add(result.ok);
    }
    expect(kinds).toEqual(new Set([true, false]));
  });
});
