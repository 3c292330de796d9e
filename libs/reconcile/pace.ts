/** Knows when the next pass is due, after success and after failure. contract 9. */

/** Spread of the interval, so that the factories of an installation do not ask their hosts in step. */
const INTERVAL_SPREAD = 0.05;
const RETRY_SPREAD = 0.1;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 300_000; // five minutes: a host that came back is noticed by then

/** Milliseconds until the next regular pass: the interval ± 5 %. `random01` is a fresh number in [0, 1). */
export function nextIntervalMs(intervalMs: number, random01: number): number {
  return spread(intervalMs, INTERVAL_SPREAD, random01);
}

/** Milliseconds until the pass is tried again after `failures` (1, 2 …) failed ones in a row: 1 s doubling to 5 min, ± 10 %. */
export function retryDelayMs(failures: number, random01: number): number {
  const doublings = Math.max(0, failures - 1);
  return spread(Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** doublings), RETRY_SPREAD, random01);
}

function spread(ms: number, share: number, random01: number): number {
  return Math.round(ms * (1 - share + 2 * share * random01));
}
