/** Which tier the running suite belongs to, as its file name says, and how much a suite does in each. */

/** Empty in a program that a suite starts: nobody runs tests there. */
const SUITE = typeof expect === 'undefined' ? '' : (expect.getState().testPath ?? '');

/** True in `x.slow.spec.ts` and in every suite that such a file imports. */
export const IS_SLOW_TIER = SUITE.endsWith('.slow.spec.ts');

/** Of the examples of a property, how many the first tier tries: enough to notice a careless change within seconds. */
const FIRST_TIER_SHARE = 1 / 10;

/** Examples of a property to try in this tier, of so many that the second tier tries. */
export function examples(count: number): number {
  return IS_SLOW_TIER ? count : Math.ceil(count * FIRST_TIER_SHARE);
}
