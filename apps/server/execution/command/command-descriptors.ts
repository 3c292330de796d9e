/**
 * Which descriptors a command starts with: its own, and nothing that the service itself was started with. contract §10.
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

/** What `/proc/<pid>/fdinfo` says of a descriptor that no child inherits (O_CLOEXEC), octal. */
const CLOSED_ON_EXEC = 0o2_000_000;

/** Highest number that is looked after; whoever started the service did not open more. */
const DESCRIPTOR_MAX = 65_535;

/** A child's descriptors: pipes at first, then nothing. Call `started` when the child is, whatever came of it. */
export interface Descriptors {
  stdio: ('pipe' | 'ignore' | number)[];
  started(): void;
}

/**
 * `pipes` pipes from 0 on. Node marks only the lowest of what the service inherited; every other number that a child
 * would inherit too leads nowhere in it.
 */
export function ownDescriptors(pipes: number): Descriptors {
  const stdio: Descriptors['stdio'] = Array.from({ length: pipes }, () => 'pipe');
  const inherited = inheritedDescriptors().filter((number) => number >= pipes);
  if (inherited.length === 0) return { stdio, started: () => undefined };
  const nowhere = openSync('/dev/null', 'r+');
  for (const number of inherited) {
    while (stdio.length < number) stdio.push('ignore');
    stdio[number] = nowhere;
  }
  return { stdio, started: () => closeSync(nowhere) };
}

/** Numbers above the standard streams that a child would inherit, lowest first; none where there is no `/proc`. */
function inheritedDescriptors(): number[] {
  const numbers = namesOf('/proc/self/fd')
    .map(Number)
    .filter((number) => number > 2 && number <= DESCRIPTOR_MAX);
  return numbers.filter(isInherited).sort((a, b) => a - b);
}

function isInherited(number: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    // Closed meanwhile: it was the one with which this list was read.
    return false;
  }
}

function namesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
