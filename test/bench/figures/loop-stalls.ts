/** Stalls of the event loop of a program that was started with the probe. */
import { readFileSync } from 'node:fs';

/** Where the probe writes to. */
export const STALLS_FILE = 'BENCH_STALLS_FILE';
/** Shorter ones are not written down: that would be stalls of its own. */
export const STALL_MS_MIN = 5;

/** Times in milliseconds. */
export interface LoopStall {
  /** When it was over, since the epoch. */
  atMs: number;
  /** How much later than asked a timer ran. */
  lateMs: number;
  /** Processor time of the main thread meanwhile. */
  ownMs: number;
  /** How long it could have run and had no processor. */
  waitedMs: number;
}

/** Environment of a Node.js program that is to be watched. */
export function watchedEnvironment(file: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${new URL('./stall-probe.js', import.meta.url).href}`, [STALLS_FILE]: file };
}

/** What was written down since then. Throws where the program was not watched. */
export function stallsSince(file: string, atMs: number): LoopStall[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LoopStall)
    .filter((stall) => stall.atMs >= atMs);
}

/** What the program itself is the cause of: its own work, and what it waits for other than a processor, as a disk. */
export const causedMs = ({ lateMs, waitedMs }: LoopStall): number => Math.max(0, lateMs - waitedMs);

/** The longest by this measure, 0 if there was none. */
export function longest(stalls: readonly LoopStall[], measure: (stall: LoopStall) => number): number {
  return Math.max(0, ...stalls.map(measure));
}
