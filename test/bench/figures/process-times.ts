/** Processor time of processes, of the children they have waited for, and what they wrote. Linux. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_A_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const NANOSECONDS = 1e9;

export interface ProcessTimes {
  ownSeconds: number;
  /** Of children that have ended, and of theirs. */
  childrenSeconds: number;
}

/** What a process and its ended children have taken so far: its own to nanoseconds, its children's in ticks. */
export function timesOf(pid: number): ProcessTimes {
  const seconds = statOf(pid).map((ticks) => ticks / TICKS_A_SECOND);
  const sum = (first: number): number => (seconds[first] ?? 0) + (seconds[first + 1] ?? 0);
  // Threads that have ended are only in the ticks, which are never ahead of the threads by more than one.
  return { ownSeconds: Math.max(threadSeconds(pid), sum(11) - 1 / TICKS_A_SECOND), childrenSeconds: sum(13) };
}

/** A process and all that descend from it: a PostgreSQL server with its backends. */
export function familyOf(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = statOf(Number(name))[1];
    if (parent !== undefined) parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
  }
  const below = (of: number): number[] => [of, ...(parents.get(of) ?? []).flatMap(below)];
  return below(pid);
}

/** Who started it. Throws for a process that has gone. */
export function parentOf(pid: number): number {
  const parent = statOf(pid)[1];
  if (parent === undefined) throw new Error(`there is no process ${pid}`);
  return parent;
}

/**
 * `write_bytes` of /proc/PID/io: bytes of the pages of files that it made dirty, so what reaches the disk and not what
 * goes to sockets. 0 for a process that has gone.
 */
export function bytesWrittenBy(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(read(`/proc/${pid}/io`))?.[1] ?? 0);
}

/** Fields of /proc/PID/stat behind the name, the state being the first; none for a process that has gone. */
function statOf(pid: number): number[] {
  const text = read(`/proc/${pid}/stat`);
  if (text === '') return [];
  return text
    .slice(text.lastIndexOf(')') + 2) // a name can hold spaces
    .split(' ')
    .map(Number);
}

function threadSeconds(pid: number): number {
  return tasksOf(pid).reduce(
    (sum, task) => sum + Number(read(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0]) / NANOSECONDS,
    0,
  );
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Empty for what has gone meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
