/** Random histories as a test: how many, of which seed, and what must have come up in them. */
import { expect } from '@jest/globals';
import { playHistories } from './arena.ts';
import type { Tally } from './play.ts';

/** Milliseconds of one history, on a machine that has much else to do. */
const HISTORY_MS_MAX = 2_000;
const BEGIN_MS_MAX = 60_000;

/** In so many histories everything comes up. */
const COMES_UP_IN = 50;

export const timeMsFor = (count: number): number => BEGIN_MS_MAX + count * HISTORY_MS_MAX;

/**
 * Plays them, says what they came to, and that nothing of it was missing: nothing at all where there are many, else
 * what `surely` names.
 */
export async function expectInvariants(
  count: number,
  seed: number,
  { urls, surely = [] }: { urls?: readonly string[]; surely?: readonly (keyof Tally)[] } = {},
): Promise<void> {
  const beganAt = performance.now();
  const tally = await playHistories({ count, seed, urls });
  process.stderr.write(
    `${count} histories, seed ${seed}, ${Math.round((performance.now() - beganAt) / 1_000)} s: ` +
      `${JSON.stringify(tally)}\n`,
  );
  const wanted = Object.entries(tally).filter(([what]) => count >= COMES_UP_IN || surely.includes(what as keyof Tally));
  for (const [what, times] of wanted) expect(Number(times) > 0 ? what : `${what} never came up`).toBe(what);
}
