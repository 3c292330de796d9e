/** Which tier the running suite belongs to, as its file name says, and how much a suite does in each. */

/** Empty in a program that a suite starts: nobody runs tests there. */
const SUITE = typeof expect === 'undefined' ? '' : (expect.getState().testPath ?? '');

/** True in `x.slow.spec.ts` and `x.long.spec.ts`, and in every suite that such a file imports. */
export const IS_SLOW_TIER = /\.(slow|long)\.spec\.ts$/.test(SUITE);

/** True in `x.long.spec.ts`, which CI leaves out, and in every suite that such a file imports. */
export const IS_LONG_TIER = SUITE.endsWith('.long.spec.ts');

/** Of the examples of a property, how many the first tier tries: enough to notice a careless change within seconds. */
const FIRST_TIER_SHARE = 1 / 10;

/** The same in the second tier, where it is to take less, as in CI. */
const SECOND_TIER_SHARE = IS_LONG_TIER ? 1 : Number(process.env['PROPERTY_SHARE'] ?? 1);

/** Examples of a property to try in this tier, of so many that the second tier tries. */
export function examples(count: number): number {
  return Math.ceil(count * (IS_SLOW_TIER ? SECOND_TIER_SHARE : FIRST_TIER_SHARE));
}

/** Whether cases that take long and that another one stands for are left out, as in CI (`CASES=part`). */
export const IS_PART = process.env['CASES'] === 'part';

/** Random histories that a suite plays in the long tier. */
const LONG_HISTORIES = 2_000;

/** Random histories to play in this tier, of so many that the second tier plays. */
export function histories(count: number): number {
  return IS_LONG_TIER ? LONG_HISTORIES : examples(count);
}

/**
 * The seed of properties. It is the same in every run of the first tier, so that a change is judged by itself and not
 * by luck; the second tier looks for what nobody has found yet, and prints the seed that it took.
 */
export const PROPERTY_SEED = Number(process.env['PROPERTY_SEED'] ?? 20_260_101);
