/** Runs the operator's command for one execution: prompt in, events out, an end only when nothing is left running. contract 3, 10. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EgressRules } from '#isolation';
import { CANCEL_ASK_MS, CANCEL_TERM_MS } from '#runs';
import { ownDescriptors } from './command-descriptors.ts';
import { endingOf, sandboxReport } from './command-exit.ts';
import { ownFiles } from './command-files.ts';
import { type CommandEvent, outputRelay, type OutputRelay } from './command-output.ts';
import { type CommandFacts, type CommandLimits, environmentOf, limited, programOf } from './command-preparation.ts';
import { wayOut, type WayOut } from './command-network.ts';
import { type UsageLimits, watchUsage } from './command-usage.ts';
import { killTree, processIdentity, type ProcessIdentity, terminateTree, type TreeSearch } from './process-tree.ts';
import type { Confinement, NetworkPolicy, Sandbox, WrappedCommand } from '../sandbox/sandboxes.ts';
import { inputsOf, type Workspace } from '../workspace/workspaces.ts';

export type { CommandEvent } from './command-output.ts';

/** Bytes of output kept of one execution unless configured otherwise: a long build log, a thousand of which still fit on a disk. */
export const DEFAULT_OUTPUT_BYTES_MAX = 4 * 1_024 ** 2;

export interface CommandSpec {
  /** Program and arguments; a program without a slash is looked for in `path`. */
  command: readonly string[];
  /** Those of its words that the operator wrote, whose files the run may see; all of them unless said. See Confinement. */
  operatorWords?: readonly string[];
  workspace: Workspace;
  sandbox: Sandbox;
  /** `none` unless said; with rules, none but a way out that keeps to them. */
  network?: NetworkPolicy | EgressRules;
  /** Further files and folders of the machine that runs may read. */
  readOnly?: readonly string[];
  /** Files and folders of the service for this command alone, as `Confinement` has them. */
  shown?: Confinement['shown'];
  /** Variables beside the standard ones; names that steer loader, shell, git or service are refused. */
  env?: Readonly<Record<string, string>>;
  /** What the service itself tells the command of its run. */
  told?: CommandFacts;
  /** Variables of the harness itself, which no run and no definition chooses. */
  own?: Readonly<Record<string, string>>;
  /** Values that must not appear in any event. */
  secretValues?: readonly string[];
  /** PATH of the command. */
  path?: string;
  prompt: string;
  /**
   * Speaks with the command over its pipes; only its standard error becomes events then. When it has settled, the command is
   * ended. Must not reject. Without it the prompt is the command's standard input, and all that it prints becomes events.
   */
  talk?: (pipes: CommandPipes) => Promise<void>;
  /** Milliseconds of wall-clock time until the command is ended. */
  deadlineMs: number;
  outputBytesMax?: number;
  limits?: CommandLimits;
  /** The most that it may take of disk and memory. */
  usage?: UsageLimits;
  /** Called in order, also after a cancel, last before `finished` resolves. Must not throw. */
  onEvent: (event: CommandEvent) => void;
  /** Milliseconds between TERM and kill. */
  graceMs?: number;
  /** Milliseconds since the epoch, for the times of events. */
  now?: () => number;
}

/** The two ends that a conversation has of a command. */
export interface CommandPipes {
  input: Writable;
  output: Readable;
  /** Aborted when the command is to be ended: it may answer before it is. */
  cancel: AbortSignal;
}

export type CommandEnd =
  | { kind: 'exited'; code: number }
  | { kind: 'signalled'; signal: string }
  | { kind: 'deadline' }
  | { kind: 'cancelled' }
  /** It took more than it may; the message says of what. */
  | { kind: 'exceeded'; message: string }
  | { kind: 'spawn-failed'; message: string };

export interface RunningCommand {
  /** To be stored, so that a restarted service can end what was left; undefined where nothing was started or there is no /proc. */
  identity: ProcessIdentity | undefined;
  /** How it ended; resolves when no process of it is left, daemons included. Never rejects. */
  finished: Promise<CommandEnd>;
  /** Asked, TERM to all of it, after the grace kill; resolves when nothing is left. May be repeated, also after the end. `why`: for the log, if nobody wanted a cancel. */
  cancel(why?: string): Promise<void>;
  /** Kills all of it at once, also in the middle of a cancel; resolves when nothing is left. */
  kill(): Promise<void>;
}

/** Milliseconds for the end of a command that nobody speaks with any more. */
const AFTER_TALK_MS = 5_000;

/** Milliseconds to wait for the rest of the output after the last process is gone; a pipe held by an escaped process never ends. */
const OUTPUT_END_MS = 2_000;

/** Milliseconds until a sandbox without anybody in it is looked at again. */
const ASK_AGAIN_MS = 50;

/** Milliseconds that a timer can count; a deadline beyond these three weeks is cut to them. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Starts the command. A command that cannot be started is an ending, not an exception. */
export async function startCommand(spec: CommandSpec): Promise<RunningCommand> {
  const relay = outputRelay({
    bytesMax: spec.outputBytesMax ?? DEFAULT_OUTPUT_BYTES_MAX,
    secrets: spec.secretValues ?? [],
    onEvent: spec.onEvent,
    now: spec.now ?? Date.now,
  });
  const program = await programOf(spec);
  if (!program.ok) return notStarted(program.message, relay);
  const way = await wayOut(program.argv, spec, (text) => relay.status(text));
  const { workspace, sandbox, readOnly = [] } = spec;
  try {
    const words = [program.argv[0], ...(spec.operatorWords ?? spec.command), ...(way.words ?? [])];
    const inputs = await inputsOf(workspace, sandbox.guarantees.files);
    const shown = [...(await ownFiles(workspace, way.network)), ...(way.shown ?? []), ...(spec.shown ?? []), ...inputs];
    const inside = await sandbox.wrap(way.argv, {
      workspace,
      network: way.network,
      hidden: sandbox.hidden,
      readOnly,
      words,
      shown,
    });
    const argv = await limited(inside.argv, spec);
    return await started({ ...inside, argv }, { ...spec, env: { ...spec.env, ...way.env } }, relay, way);
  } catch (error) {
    await way.close();
    throw error;
  }
}

function notStarted(message: string, relay: OutputRelay): RunningCommand {
  relay.status(message);
  relay.finish();
  return {
    identity: undefined,
    finished: Promise.resolve({ kind: 'spawn-failed', message }),
    cancel: () => Promise.resolve(),
    kill: () => Promise.resolve(),
  };
}

async function started(
  inside: WrappedCommand,
  spec: CommandSpec,
  relay: OutputRelay,
  way: WayOut,
): Promise<RunningCommand> {
  const result = await spawned(inside, spec);
  if (result.ok) return { identity: result.identity, ...watch(result, inside, spec, relay, way) };
  await way.close();
  // The code alone: a full message may repeat arguments or variables.
  return notStarted(`the command could not be started (${result.code})`, relay);
}

interface Exit {
  code: number | null;
  signal: string | null;
}

interface Spawned {
  ok: true;
  child: ChildProcess;
  identity: ProcessIdentity | undefined;
  exit: Promise<Exit>;
  /** All pipes have ended too. */
  closed: Promise<void>;
}

function spawned({ argv, wrapped }: WrappedCommand, spec: CommandSpec): Promise<Spawned | { ok: false; code: string }> {
  const [program, ...rest] = argv;
  const descriptors = ownDescriptors(wrapped ? 4 : 3);
  // Detached: a session of its own, so that signals meant for the service's terminal do not reach it.
  const options = {
    cwd: wrapped ? '/' : spec.workspace.workspace,
    env: environmentOf(spec),
    stdio: descriptors.stdio,
    detached: true,
  };
  return new Promise((resolve) => {
    const failed = (error: unknown): void => resolve({ ok: false, code: codeOf(error) });
    try {
      const child = spawn(program, rest, options);
      const identity = child.pid === undefined ? undefined : processIdentity(child.pid);
      const exit = new Promise<Exit>((done) => child.on('exit', (code, signal) => done({ code, signal })));
      const closed = new Promise<void>((done) => child.on('close', () => done()));
      // Also later: a signal that could not be sent is no reason to fall.
      child.on('error', failed);
      child.on('spawn', () => resolve({ ok: true, child, identity, exit, closed }));
    } catch (error) {
      failed(error);
    } finally {
      descriptors.started();
    }
  });
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown error';
}

/** Why the service ended it. */
type Stopped = Extract<CommandEnd, { kind: 'cancelled' | 'deadline' | 'exceeded' }>;

function wordsOf(reason: Stopped, { deadlineMs }: CommandSpec): string {
  if (reason.kind === 'exceeded') return reason.message;
  return reason.kind === 'deadline'
    ? `the deadline of ${Math.round(deadlineMs / 1_000)} s is over`
    : 'cancel was requested';
}

/** Follows one process to its end and steers it there when asked. */
function watch(
  started: Spawned,
  inside: WrappedCommand,
  spec: CommandSpec,
  relay: OutputRelay,
  way: WayOut,
): Omit<RunningCommand, 'identity'> {
  const { child, identity, exit, closed } = started;
  const report = inside.wrapped ? sandboxReport(child.stdio[3] as Readable) : undefined;
  const { runId, epoch } = spec.workspace;
  const tree = (): TreeSearch => ({ mark: { runId, epoch }, also: report?.first() });
  let stopped: Stopped | undefined;
  let hasExited = false;
  const isOver = (): boolean => hasExited;

  const cancelling = new AbortController();
  relay.attach(child.stderr as Readable, 'stderr');
  const talked = converse();
  const deadline = setTimeout(() => void stop({ kind: 'deadline' }), Math.min(spec.deadlineMs, TIMER_MS_MAX));
  const onOver = (message: string): void => void stop({ kind: 'exceeded', message });
  const usage =
    identity === undefined
      ? undefined
      : watchUsage({ limits: spec.usage ?? {}, folder: spec.workspace.folder, root: identity, tree, onOver });
  const finished = ending();
  return { finished, cancel: (why) => stop({ kind: 'cancelled' }, why), kill };

  /** Resolves when the conversation is over; at once where there is none. */
  async function converse(): Promise<void> {
    if (spec.talk === undefined) {
      relay.attach(child.stdout as Readable, 'stdout');
      return feed(child, spec.prompt);
    }
    child.stdin?.on('error', () => undefined);
    await spec.talk({ input: child.stdin as Writable, output: child.stdout as Readable, cancel: cancelling.signal });
    child.stdin?.end(); // an agent that hears nothing more ends by itself
    if ((await within(exit, AFTER_TALK_MS)) === 'late') await terminated(spec.graceMs ?? CANCEL_TERM_MS);
  }

  async function stop(reason: Stopped, why = wordsOf(reason, spec)): Promise<void> {
    if (stopped === undefined && !hasExited) {
      stopped = reason;
      clearTimeout(deadline);
      relay.status(why);
      cancelling.abort();
      // What takes too much is not given time to take more.
      if (spec.talk !== undefined && reason.kind !== 'exceeded') await within(talked, CANCEL_ASK_MS);
      if (!hasExited) await terminated(reason.kind === 'exceeded' ? 0 : (spec.graceMs ?? CANCEL_TERM_MS));
    }
    await finished;
  }

  async function kill(): Promise<void> {
    if (!hasExited) {
      stopped ??= { kind: 'cancelled' };
      // It hears nothing of it: who is spoken with would take a cancel for somebody's wish.
      await terminated(0);
      cancelling.abort();
    }
    await finished;
  }

  async function terminated(graceMs: number): Promise<void> {
    if (identity === undefined) return killGroup(child);
    for (let waitedMs = 0; waitedMs < graceMs && !isOver(); waitedMs += ASK_AGAIN_MS) {
      if ((await terminateTree(identity, { ...tree(), wrapped: inside.wrapped })) > 0) break;
      // The sandbox is still being built: there is nobody to ask yet.
      await within(exit, ASK_AGAIN_MS);
    }
    await within(exit, graceMs);
    await killTree(identity, tree());
  }

  async function ending(): Promise<CommandEnd> {
    const { code, signal } = await exit;
    hasExited = true;
    clearTimeout(deadline);
    usage?.stop();
    // The command has ended; what it left running ends with it, and only then is the run over.
    if (identity !== undefined) await killTree(identity, tree());
    await within(talked, OUTPUT_END_MS);
    await way.close();
    const said = await report?.finished();
    if ((await within(closed, OUTPUT_END_MS)) === 'late') for (const stream of child.stdio) stream?.destroy();
    relay.finish();
    return stopped ?? endingOf(code, signal, said);
  }
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

/** The prompt on stdin; a command that does not read it, or closes it early, is none the worse. */
function feed(child: ChildProcess, prompt: string): void {
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(prompt);
}
