/**
 * One command from its start to its end: spoken with, watched, ended when asked, over only when nothing of it is left
 * running. contract §3.9 (Cancel).
 */
import { CANCEL_ASK_MS, CANCEL_TERM_MS, type CommandEnd } from '#runs';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunCgroup } from '../sandbox/run-cgroups.ts';
import type { CommandNetwork } from './command-network.ts';
import type { OutputRelay } from './command-output.ts';
import { UsageWatch } from './command-usage.ts';
import type { CommandSpec, RunningCommand } from './command.ts';
import { killTree, processIdentity, terminateTree, type ProcessHandle, type TreeSearch } from './process-tree.ts';

/** How a process ended. */
export interface ProcessExit {
  code: number | null;
  signal: string | null;
}

/** A process that was started. */
export interface SpawnedCommand {
  ok: true;
  child: ChildProcess;
  identity: ProcessHandle | undefined;
  exit: Promise<ProcessExit>;
  /** All pipes have ended too. */
  closed: Promise<void>;
}

export interface CommandRunDeps {
  spawned: SpawnedCommand;
  /** The outermost process is a sandbox, which reports on descriptor 3. */
  isWrapped: boolean;
  spec: CommandSpec;
  relay: OutputRelay;
  network: CommandNetwork;
  /** What all of it is in; absent: there are none on this machine. */
  cgroup?: RunCgroup;
}

/** Milliseconds for the end of a command that nobody speaks with any more. */
const AFTER_CONVERSATION_MS = 5_000;

/**
 * Milliseconds to wait for the rest of the output after the last process is gone; a pipe held by an escaped process
 * never ends.
 */
const OUTPUT_END_MS = 2_000;

/** Milliseconds until a sandbox without anybody in it is asked again. */
const ASK_AGAIN_MS = 50;

/** Milliseconds that a timer can count; a deadline beyond these three weeks is cut to them. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Why the service ended it. */
type StopCause = Extract<CommandEnd, { kind: 'cancelled' | 'deadline' | 'exceeded' }>;

export class CommandRun implements RunningCommand {
  readonly identity: ProcessHandle | undefined;
  readonly finished: Promise<CommandEnd>;
  private readonly deps: CommandRunDeps;
  private readonly report: SandboxReport | undefined;
  private readonly cancelling = new AbortController();
  private readonly conversation: Promise<void>;
  private readonly deadline: NodeJS.Timeout;
  private readonly usage: UsageWatch | undefined;
  private stopCause: StopCause | undefined;
  private hasExited = false;

  /** Of a process that runs already: it is watched from here on. */
  constructor(deps: CommandRunDeps) {
    const { spawned, isWrapped, spec, relay } = deps;
    const { child, identity } = spawned;
    this.deps = deps;
    this.identity = identity;
    this.report = isWrapped ? new SandboxReport(child.stdio[3] as Readable) : undefined;
    relay.attach(child.stderr as Readable, 'stderr');
    this.conversation = this.converse();
    const deadlineMs = Math.min(spec.deadlineMs, TIMER_MS_MAX);
    this.deadline = setTimeout(() => void this.stop({ kind: 'deadline' }), deadlineMs);
    this.usage = identity === undefined ? undefined : this.watchUsage(identity);
    this.finished = this.end();
  }

  cancel(why?: string): Promise<void> {
    return this.stop({ kind: 'cancelled' }, why);
  }

  async kill(): Promise<void> {
    if (!this.hasExited) {
      this.stopCause ??= { kind: 'cancelled' };
      // Terminated before it is aborted: an agent that saw the abort would take it for a user's cancel.
      await this.terminate(0);
      this.cancelling.abort();
    }
    await this.finished;
  }

  /** Resolves when the conversation is over; at once where there is none. */
  private async converse(): Promise<void> {
    const { spec, relay, spawned } = this.deps;
    const { child, exit } = spawned;
    // A command that does not read its input, or closes it early, is none the worse.
    child.stdin?.on('error', () => undefined);
    if (spec.converse === undefined) {
      relay.attach(child.stdout as Readable, 'stdout');
      return void child.stdin?.end(spec.prompt);
    }
    const { signal } = this.cancelling;
    await spec.converse({ input: child.stdin as Writable, output: child.stdout as Readable, cancel: signal });
    child.stdin?.end(); // an agent that hears nothing more ends by itself
    if ((await within(exit, AFTER_CONVERSATION_MS)) === 'late') await this.terminate(spec.graceMs ?? CANCEL_TERM_MS);
  }

  private watchUsage(root: ProcessHandle): UsageWatch {
    const { usage = {}, workspace } = this.deps.spec;
    return new UsageWatch({
      limits: usage,
      folder: workspace.folder,
      root,
      tree: () => this.tree(),
      onOver: (message) => void this.stop({ kind: 'exceeded', message }),
    });
  }

  private async stop(cause: StopCause, why = textOf(cause, this.deps.spec)): Promise<void> {
    const { spec, relay } = this.deps;
    if (this.stopCause === undefined && !this.hasExited) {
      this.stopCause = cause;
      clearTimeout(this.deadline);
      relay.status(why);
      this.cancelling.abort();
      // What takes too much is not given time to take more.
      const graceMs = cause.kind === 'exceeded' ? 0 : (spec.graceMs ?? CANCEL_TERM_MS);
      if (spec.converse !== undefined && cause.kind !== 'exceeded') await within(this.conversation, CANCEL_ASK_MS);
      if (!this.isOver()) await this.terminate(graceMs);
    }
    await this.finished;
  }

  private async terminate(graceMs: number): Promise<void> {
    const { identity } = this;
    const { spawned, isWrapped } = this.deps;
    if (identity === undefined) return killGroup(spawned.child);
    for (let waitedMs = 0; waitedMs < graceMs && !this.isOver(); waitedMs += ASK_AGAIN_MS) {
      if ((await terminateTree(identity, { ...this.tree(), wrapped: isWrapped })) > 0) break;
      // The sandbox is still being built: there is nobody to ask yet.
      await within(spawned.exit, ASK_AGAIN_MS);
    }
    await within(spawned.exit, graceMs);
    await killTree(identity, this.tree());
  }

  private async end(): Promise<CommandEnd> {
    const { identity, report } = this;
    const { spawned, relay, network } = this.deps;
    const { code, signal } = await spawned.exit;
    this.hasExited = true;
    clearTimeout(this.deadline);
    this.usage?.stop();
    // The command has ended; what it left running ends with it, and only then is the run over.
    if (identity !== undefined) await killTree(identity, this.tree());
    await this.closeGroup();
    await within(this.conversation, OUTPUT_END_MS);
    await network.close();
    const reported = await report?.finished();
    if ((await within(spawned.closed, OUTPUT_END_MS)) === 'late')
      for (const stream of spawned.child.stdio) stream?.destroy();
    relay.finish();
    return this.stopCause ?? endingOf(code, signal, reported);
  }

  /** Ends also what no search of processes finds, and asks whether the kernel had ended the command. */
  private async closeGroup(): Promise<void> {
    const { cgroup, relay, spec } = this.deps;
    if (cgroup === undefined) return;
    if (this.stopCause === undefined && (await cgroup.isOutOfMemory())) {
      const mib = Math.floor((spec.usage?.memoryBytesMax ?? 0) / 1_024 ** 2);
      const message = `the run took too much memory: the kernel ended it, and ${mib} MiB are allowed`;
      this.stopCause = { kind: 'exceeded', message };
      relay.status(message);
    }
    await cgroup.close();
  }

  private tree(): TreeSearch {
    const { runId, epoch } = this.deps.spec.workspace;
    return { mark: { runId, epoch }, also: this.report?.first() };
  }

  /** Asked anew each time: it may end at any moment. */
  private isOver(): boolean {
    return this.hasExited;
  }
}

function textOf(cause: StopCause, { deadlineMs }: CommandSpec): string {
  if (cause.kind === 'exceeded') return cause.message;
  return cause.kind === 'deadline'
    ? `the deadline of ${Math.round(deadlineMs / 1_000)} s is over`
    : 'cancel was requested';
}

/** Waits for something, but not for ever. */
async function within(awaited: Promise<unknown>, ms: number): Promise<'done' | 'late'> {
  const waited = new AbortController();
  const late = sleep(ms, 'late' as const, { signal: waited.signal }).catch(() => 'late' as const);
  const result = await Promise.race([awaited.then(() => 'done' as const), late]);
  waited.abort();
  return result;
}

/** Without /proc only the process group can be ended. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}

/** What is known of an end inside of a sandbox. */
export interface ReportedEnd {
  /** Whether it said that the command begins; not every kind does. */
  isBuilt?: boolean;
  exitCode: number | undefined;
}

/** What the sandbox says about itself on descriptor 3. */
export class SandboxReport {
  private text = '';
  private firstProcess: ProcessHandle | undefined;
  private readonly ended: Promise<void>;

  constructor(stream: Readable) {
    this.ended = new Promise<void>((done) => stream.on('close', () => done()));
    stream.on('error', () => undefined);
    stream.on('data', (bytes: Buffer) => {
      this.text += bytes.toString('latin1');
      const pid = numberOf(this.text, 'child-pid');
      if (this.firstProcess === undefined && pid !== undefined) this.firstProcess = processIdentity(pid);
    });
  }

  /** The first process inside, once it is known: while it lives, something may live. */
  first(): ProcessHandle[] {
    return this.firstProcess === undefined ? [] : [this.firstProcess];
  }

  async finished(): Promise<ReportedEnd> {
    await this.ended;
    return { isBuilt: numberOf(this.text, 'built') !== undefined, exitCode: numberOf(this.text, 'exit-code') };
  }
}

function numberOf(text: string, name: string): number | undefined {
  const found = new RegExp(`"${name}":\\s*(\\d+)`).exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Shells and sandboxes turn death by a signal into 128 + its number. */
const SIGNAL_BASE = 128;

export function endingOf(code: number | null, signal: string | null, reported: ReportedEnd | undefined): CommandEnd {
  if (signal !== null) return { kind: 'signalled', signal };
  if (reported === undefined) return { kind: 'exited', code: code ?? 0 };
  const exitCode = reported.exitCode ?? code ?? 0;
  const name = Object.entries(constants.signals).find(([, number]) => number === exitCode - SIGNAL_BASE)?.[0];
  if (name !== undefined) return { kind: 'signalled', signal: name };
  // Whoever killed it was faster than it could say so: `unshare` then ends with a failure of its own.
  if (reported.exitCode === undefined && reported.isBuilt === true) return { kind: 'signalled', signal: 'SIGKILL' };
  if (reported.exitCode === undefined)
    return { kind: 'spawn-failed', message: 'the sandbox could not be built; the log says why' };
  return { kind: 'exited', code: exitCode };
}
