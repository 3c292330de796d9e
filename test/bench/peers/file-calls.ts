/** What processes write to files and how often they sync them, as strace sees it. Linux. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programOf } from './receiver.ts';

export interface FileCalls {
  /** Calls of fsync and its kind. */
  syncs: number;
  /** Bytes handed to files by calls of write and its kind; what is written through mappings is not seen. */
  bytesWritten: number;
}

const SYNCS = ['fsync', 'fdatasync', 'sync_file_range', 'msync'];
const WRITES = ['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2'];
/** With the paths of descriptors and without data. */
const ARGUMENTS = ['-f', '-qq', '-y', '-s', '0', '-e', `trace=${[...SYNCS, ...WRITES].join(',')}`];
const ATTACHED_MS_MAX = 5_000;
const TRACED_MS_MAX = 15_000;
const LET_GO_MS_MAX = 1_000;

/** Those of all these processes, of their threads and of what they start during the work; undefined: not traceable. */
export async function traceFileCalls(
  pids: readonly number[],
  folder: string,
  work: () => Promise<unknown>,
): Promise<FileCalls | undefined> {
  const program = programOf('BENCH_STRACE', 'strace');
  if (program === undefined) return undefined;
  const file = join(folder, 'calls');
  const tracer = spawn(program, [...ARGUMENTS, '-o', file, ...pids.flatMap((pid) => ['-p', String(pid)])], {
    stdio: 'ignore',
  });
  const gone = once(tracer, 'close');
  const isAttached = await attached(pids, tracer.pid ?? 0);
  // One that is just starting another process may not be let go; when the tracer is killed, all of them go on.
  const atMost = setTimeout(() => tracer.kill('SIGKILL'), TRACED_MS_MAX);
  if (isAttached) await work();
  clearTimeout(atMost);
  tracer.kill('SIGINT');
  const atLast = setTimeout(() => tracer.kill('SIGKILL'), LET_GO_MS_MAX);
  await gone;
  clearTimeout(atLast);
  return isAttached ? fileCallsIn(readFileSync(file, 'utf8')) : undefined;
}

async function attached(pids: readonly number[], tracer: number): Promise<boolean> {
  const givenUpAtMs = performance.now() + ATTACHED_MS_MAX;
  while (!pids.every((pid) => isTraced(pid, tracer))) {
    if (performance.now() > givenUpAtMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

function isTraced(pid: number, tracer: number): boolean {
  try {
    return new RegExp(`^TracerPid:\\s+${tracer}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true; // it has gone meanwhile
  }
}

/** `PID call(FD<PATH>, … = RESULT`; one that another call interrupts is continued on a line of its own. */
const BEGUN = /^(\d+) +(\w+)\((?:\d+<([^>]*)>)?/;
const RESUMED = /^(\d+) +<\.\.\. (\w+) resumed>/;

/** What lines of strace say, in the form of its option -o. */
export function fileCallsIn(text: string): FileCalls {
  const interrupted = new Map<string, string>();
  const calls = { syncs: 0, bytesWritten: 0 };
  for (const line of text.split('\n')) {
    const begun = BEGUN.exec(line);
    const [, pid = '', call = '', path = ''] = begun ?? RESUMED.exec(line) ?? [];
    const of = begun === null ? (interrupted.get(pid) ?? '') : path;
    if (begun !== null && SYNCS.includes(call)) calls.syncs += 1;
    if (line.endsWith('<unfinished ...>')) interrupted.set(pid, path);
    else if (WRITES.includes(call) && isFile(of)) calls.bytesWritten += Number(/= (\d+)$/.exec(line)?.[1] ?? 0);
  }
  return calls;
}

/** Sockets and pipes have no path; devices keep nothing. */
const isFile = (path: string): boolean => path.startsWith('/') && !/^\/(?:dev|proc|sys)\//.test(path);
