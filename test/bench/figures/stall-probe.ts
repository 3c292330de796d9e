/**
 * Loaded before a program that is measured (`--import`): how late its event loop is and what its main thread did
 * meanwhile, a line for each stall. Linux.
 */
import { appendFileSync, openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { STALL_MS_MIN, STALLS_FILE, type LoopStall } from './loop-stalls.ts';

const SAMPLE_MS = 2;
const NANOSECONDS_OF_MS = 1e6;

const file = process.env[STALLS_FILE];
if (isMainThread && file !== undefined) watch(file);

function watch(file: string): void {
  const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const buffer = Buffer.alloc(128);
  /** Milliseconds on a processor, and of waiting for one. */
  const times = (): [number, number] => {
    const text = buffer.toString('latin1', 0, readSync(schedstat, buffer, 0, buffer.length, 0));
    const [own = 0, waited = 0] = text.split(' ').map((part) => Number(part) / NANOSECONDS_OF_MS);
    return [own, waited];
  };
  appendFileSync(file, ''); // that it is there says that somebody watches
  let before = { atMs: performance.now(), times: times() };
  setInterval(() => {
    const now = { atMs: performance.now(), times: times() };
    const lateMs = now.atMs - before.atMs - SAMPLE_MS;
    const [ownMs, waitedMs] = [now.times[0] - before.times[0], now.times[1] - before.times[1]];
    before = now;
    if (lateMs < STALL_MS_MIN) return;
    const stall: LoopStall = { atMs: Date.now(), lateMs, ownMs, waitedMs };
    appendFileSync(file, `${JSON.stringify(stall)}\n`);
  }, SAMPLE_MS).unref();
}
