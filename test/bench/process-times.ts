/** Processor time of a process, and apart from it that of the children it has waited for. Linux. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TICKS_A_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

export interface ProcessTimes {
  ownSeconds: number;
  /** Of children that have ended, and of theirs. */
  childrenSeconds: number;
}

/** What a process and its ended children have taken so far. */
export function timesOf(pid: number): ProcessTimes {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number); // a name can hold spaces
  const seconds = (first: number): number => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) / TICKS_A_SECOND;
  return { ownSeconds: seconds(11), childrenSeconds: seconds(13) };
}
