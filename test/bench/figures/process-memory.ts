/** Memory of a process and its descendants, sampled until stopped. Linux. */
import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_EVERY_MS = 10;

/** At the same moment. */
export interface Memory {
  processes: number;
  /** Resident: a page that several processes share is counted for each of them. */
  residentBytes: number;
  /** Its share of what it shares with others: sums up to what is really taken. */
  ownBytes: number;
}

const NOTHING: Memory = { processes: 0, residentBytes: 0, ownBytes: 0 };

/** The most that everything below a process took, the process itself left out unless `withItself`. */
export function watchMemory(pid: number, { withItself }: { withItself: boolean }): { peak(): Memory } {
  let peak = NOTHING;
  const look = (): void => {
    const pids = [...(withItself ? [pid] : []), ...below(pid)];
    const now = pids.map(memoryOf).reduce(sum, NOTHING);
    if (now.residentBytes > peak.residentBytes) peak = now;
  };
  const timer = setInterval(look, SAMPLE_EVERY_MS);
  return {
    peak: () => {
      clearInterval(timer);
      return peak;
    },
  };
}

/** What one process takes now. */
export function memoryOf(pid: number): Memory {
  const text = read(`/proc/${pid}/smaps_rollup`);
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1_024;
  return { processes: text === '' ? 0 : 1, residentBytes: bytes('Rss'), ownBytes: bytes('Pss') };
}

/** The larger of two. */
export function larger(one: Memory, other: Memory): Memory {
  return other.residentBytes > one.residentBytes ? other : one;
}

function sum(one: Memory, other: Memory): Memory {
  return {
    processes: one.processes + other.processes,
    residentBytes: one.residentBytes + other.residentBytes,
    ownBytes: one.ownBytes + other.ownBytes,
  };
}

function below(pid: number): number[] {
  const children = tasksOf(pid).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`)
      .split(' ')
      .filter((text) => text !== '')
      .map(Number),
  );
  return children.flatMap((child) => [child, ...below(child)]);
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Empty for a process that has gone meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
