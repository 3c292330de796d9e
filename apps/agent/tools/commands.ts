/** Child processes of tools: a process group of their own, bounded in time and output, and gone when the call ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { headAndTail, type HeadAndTail } from './bounded-text.ts';

export interface CommandSpec {
  argv: readonly [string, ...string[]];
  cwd: string;
  environment: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
  /** Bytes of stdout and stderr together that are stored. */
  outputBytesMax: number;
}

export type CommandEnding =
  | { kind: 'exited'; code: number }
  | { kind: 'signalled'; signal: string }
  | { kind: 'timed-out' }
  | { kind: 'cancelled' }
  /** It wrote more than anybody will read, and was ended. */
  | { kind: 'flooded' }
  | { kind: 'not-started'; code: string };

export interface CommandResult {
  ending: CommandEnding;
  /** Beginning and end of what it wrote. */
  output: string;
}

/** Milliseconds between TERM and KILL. */
const GRACE_MS = 1_000;

/**
 * Milliseconds to wait for pipes to close when the group is gone: one that left the group may hold them open for ever.
 */
const OUTPUT_END_MS = 500;

/** Bytes after which a command is ended: it floods, and reading on would only burn the processor. */
const FLOOD_BYTES = 256 * 1_024 * 1_024;

/** Milliseconds between two polls of a killed process group. */
const POLL_MS = 20;

/** Looks at a killed group until it is given up: a process in uninterruptible sleep may not go at all. */
const POLLS_MAX = 100;

/** Runs a command to its end. Resolves when its process group is gone; never rejects. */
export async function runCommand(spec: CommandSpec): Promise<CommandResult> {
  const output = headAndTail(spec.outputBytesMax);
  const child = started(spec);
  const exit = exitOf(child);
  if (child.pid === undefined) return { ending: await exit, output: '' };
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stopped = stopOf(child, spec, output);
  const ending = await Promise.race([exit, stopped.reason]);
  stopped.disarm();
  if (ending.kind !== 'exited' && ending.kind !== 'signalled') await terminated(child.pid, exit);
  // What the command left running in its group ends with it: nothing of a turn outlives the turn.
  await killed(child.pid);
  await Promise.race([closed, sleep(OUTPUT_END_MS, undefined, { ref: false })]);
  for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  return { ending, output: output.text() };
}

function started({ argv: [program, ...args], cwd, environment }: CommandSpec): ChildProcess {
  return spawn(program, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
}

function exitOf(child: ChildProcess): Promise<CommandEnding> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) =>
      resolve(code === null ? { kind: 'signalled', signal: signal ?? 'unknown' } : { kind: 'exited', code }),
    );
    child.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ kind: 'not-started', code: error.code ?? 'unknown' }),
    );
  });
}

/** The first reason to end it before its time. */
function stopOf(
  child: ChildProcess,
  { timeoutMs, signal }: CommandSpec,
  output: HeadAndTail,
): { reason: Promise<CommandEnding>; disarm(): void } {
  let disarm = (): void => undefined;
  const reason = new Promise<CommandEnding>((resolve) => {
    const cancel = (): void => resolve({ kind: 'cancelled' });
    const timer = setTimeout(() => resolve({ kind: 'timed-out' }), timeoutMs);
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('error', () => undefined);
      stream?.on('data', (bytes: Buffer) => {
        output.push(bytes);
        if (output.total > FLOOD_BYTES) resolve({ kind: 'flooded' });
      });
    }
    disarm = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    };
  });
  return { reason, disarm };
}

async function terminated(pid: number, exit: Promise<unknown>): Promise<void> {
  if (!signalled(pid, 'SIGTERM')) return;
  await Promise.race([exit, sleep(GRACE_MS, undefined, { ref: false })]);
}

/** Kills the process group and waits until it is empty. */
async function killed(pid: number): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX && signalled(pid, 'SIGKILL'); polls += 1) await sleep(POLL_MS);
}

/** False when the group has no members any more. */
function signalled(group: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-group, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
