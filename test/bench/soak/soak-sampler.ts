/**
 * Runs inside a measured service (NODE_OPTIONS=--import): writes down every ten seconds what only the process itself
 * knows of its memory.
 */
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** One line of the file, JSON. Bytes. */
export interface MemorySample {
  atMs: number;
  /** All garbage was collected just before. */
  isCollected: boolean;
  heapUsed: number;
  external: number;
  /** Timers, sockets and requests that keep the process alive. */
  resources: number;
}

const EVERY_MS = 10_000;
/**
 * A heap as it lies shows how lazy the collector is; every second one shows what is held. That moves by some MiB with
 * what is under way and what waits to be copied: a slope of few of them is noise.
 */
const COLLECT_EVERY = 2;

const file = process.env['BENCH_SAMPLES'];
if (isMainThread && file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let count = 0;
  setInterval(() => {
    const isCollected = count++ % COLLECT_EVERY === 0;
    if (isCollected) collect();
    const { heapUsed, external } = process.memoryUsage();
    const sample: MemorySample = {
      atMs: Date.now(),
      isCollected,
      heapUsed,
      external,
      resources: process.getActiveResourcesInfo().length,
    };
    appendFileSync(file, `${JSON.stringify(sample)}\n`);
  }, EVERY_MS).unref();
}
