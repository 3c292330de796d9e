/**
 * Loaded before the service, by a benchmark: a signal switches all counting and measuring off, and the next one on
 * again. In one process, so that what is compared has been compiled alike and lies in the same memory. When it is on,
 * the time within it is summed up, and stands in a file after each signal.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { HotHistogram } from '../../../apps/server/process/hot-histogram.ts';
import { Metrics } from '../../../apps/server/process/metrics.ts';

/** Path of a file: milliseconds so far. */
const WITHIN_FILE = process.env['BENCH_METRICS_WITHIN_FILE'];

let isMeasuring = true;
let withinMs = 0;

/** The method, where it is switched on. */
function switchable<Args extends unknown[]>(method: (...args: Args) => void): (...args: Args) => void {
  return function (this: unknown, ...args) {
    if (!isMeasuring) return;
    const beganAtMs = performance.now();
    Reflect.apply(method, this, args);
    withinMs += performance.now() - beganAtMs;
  };
}

const metrics = Metrics.prototype;
metrics.count = switchable(metrics.count);
metrics.set = switchable(metrics.set);
metrics.observe = switchable(metrics.observe);
HotHistogram.prototype.observe = switchable(HotHistogram.prototype.observe);

process.on('SIGUSR2', () => {
  isMeasuring = !isMeasuring;
  if (WITHIN_FILE === undefined) return;
  writeFileSync(`${WITHIN_FILE}.new`, String(withinMs));
  renameSync(`${WITHIN_FILE}.new`, WITHIN_FILE);
});
