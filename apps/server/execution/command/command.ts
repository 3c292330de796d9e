/**
 * Runs the operator's command for one execution: prompt in, events out, an end only when nothing is left running.
 * contract §3, §10.
 */
import { BROKER_ORIGIN } from '#agents';
import type { EgressRules } from '#isolation';
import type { CommandEnd } from '#runs';
import { spawn } from 'node:child_process';
import type { BrokerOptions } from '../egress/broker.ts';
import type { AgentPipes, ExecutionOutput } from '../executor.ts';
import type { RunCgroup } from '../sandbox/run-cgroups.ts';
import {
  INPUT_DESCRIPTOR,
  sendInput,
  type Confinement,
  type NetworkPolicy,
  type Sandbox,
  type WrappedCommand,
} from '../sandbox/sandboxes.ts';
import { inputsOf, type Workspace } from '../workspace/workspaces.ts';
import { networkFor, type CommandNetwork } from './command-network.ts';
import { OutputRelay } from './command-output.ts';
import {
  DEFAULT_LIMITS,
  environmentOf,
  limited,
  ownDescriptors,
  ownFiles,
  programOf,
  type CommandFacts,
  type CommandLimits,
} from './command-preparation.ts';
import { CommandRun, type ProcessExit, type SpawnedCommand } from './command-run.ts';
import type { UsageLimits } from './command-usage.ts';
import { processIdentity, type ProcessHandle } from './process-tree.ts';

/**
 * Bytes of output kept of one execution unless configured otherwise: a long build log, a thousand of which still fit on
 * a disk.
 */
export const DEFAULT_OUTPUT_BYTES_MAX = 4 * 1_024 ** 2;

export interface CommandSpec {
  /** Program and arguments; a program without a slash is looked for in `path`. */
  command: readonly string[];
  /**
   * Those of its words that the operator wrote, whose files the run may see; all of them unless said. See Confinement.
   */
  operatorWords?: readonly string[];
  workspace: Workspace;
  sandbox: Sandbox;
  /** `none` unless said; with rules, none but an egress proxy that enforces them. */
  network?: NetworkPolicy | EgressRules;
  /** What stands between the run and what it has no credentials of. */
  broker?: BrokerOptions;
  /** Further files and folders of the machine that runs may read. */
  readOnly?: readonly string[];
  /** Files and folders of the service for this command alone, as `Confinement` has them. */
  shown?: Confinement['shown'];
  /** Variables in addition to the standard ones; names that steer loader, shell, git or service are refused. */
  env?: Readonly<Record<string, string>>;
  /** What the service itself tells the command of its run. */
  facts?: CommandFacts;
  /** Variables of the harness itself, which no run and no definition chooses. */
  harnessEnv?: Readonly<Record<string, string>>;
  /** Values that must not appear in any event. */
  secretValues?: readonly string[];
  /** PATH of the command. */
  path?: string;
  prompt: string;
  /**
   * Speaks with the command over its pipes; only its standard error becomes events then. When it has resolved, the
   * command is ended. Must not reject. Without it the prompt is the command's standard input, and all that it prints
   * becomes events.
   */
  converse?: (pipes: AgentPipes) => Promise<void>;
  /** Milliseconds of wall-clock time until the command is ended. */
  deadlineMs: number;
  outputBytesMax?: number;
  limits?: CommandLimits;
  /** The most that it may take of disk and memory. */
  usage?: UsageLimits;
  /** Called in order, also after a cancel, last before `finished` resolves. Must not throw. */
  onEvent: (event: ExecutionOutput) => void;
  /** Milliseconds between TERM and kill. */
  graceMs?: number;
  /** Milliseconds since the epoch, for the times of events. */
  now?: () => number;
}

export interface RunningCommand {
  /**
   * To be stored, so that a restarted service can end what was left; undefined where nothing was started or there is no
   * /proc.
   */
  identity: ProcessHandle | undefined;
  /** How it ended; resolves when no process of it is left, daemons included. Never rejects. */
  finished: Promise<CommandEnd>;
  /**
   * Asked, TERM to all of it, after the grace kill; resolves when nothing is left. May be repeated, also after the end.
   * `why`: for the log, if nobody wanted a cancel.
   */
  cancel(why?: string): Promise<void>;
  /** Kills all of it at once, also in the middle of a cancel; resolves when nothing is left. */
  kill(): Promise<void>;
}

/** Starts the command. A command that cannot be started is an ending, not an exception. */
export async function startCommand(spec: CommandSpec): Promise<RunningCommand> {
  const relay = new OutputRelay({
    bytesMax: spec.outputBytesMax ?? DEFAULT_OUTPUT_BYTES_MAX,
    secrets: spec.secretValues ?? [],
    onEvent: spec.onEvent,
    now: spec.now ?? Date.now,
  });
  const program = await programOf(spec);
  if (!program.ok) return notStarted(program.reason, relay);
  const network = await networkFor(program.argv, spec, (text) => relay.status(text));
  const { workspace, sandbox, readOnly = [] } = spec;
  try {
    const words = [program.argv[0], ...(spec.operatorWords ?? spec.command), ...(network.words ?? [])];
    const inputs = await inputsOf(workspace, sandbox.guarantees.files);
    const shown = [
      ...(await ownFiles(workspace, network.network)),
      ...(network.shown ?? []),
      ...(spec.shown ?? []),
      ...inputs,
    ];
    const inside = await sandbox.wrap(network.argv, {
      workspace,
      network: network.network,
      hidden: sandbox.hidden,
      readOnly,
      words,
      shown,
    });
    const cgroup = await groupOf(spec);
    const bounded = await limited(inside.argv, spec);
    const argv = cgroup?.enter(bounded) ?? bounded;
    return await started({ ...inside, argv }, withNetwork(spec, network), { relay, network, cgroup });
  } catch (error) {
    await network.close();
    throw error;
  }
}

/** The variables of the network beside the run's own, and these with the broker where it is. */
function withNetwork(spec: CommandSpec, { env, brokerOrigin }: CommandNetwork): CommandSpec {
  const placed = (variables: Readonly<Record<string, string>> = {}): Record<string, string> =>
    brokerOrigin === undefined
      ? variables
      : Object.fromEntries(
          Object.entries(variables).map(([name, value]) => [name, value.replaceAll(BROKER_ORIGIN, brokerOrigin)]),
        );
  return { ...spec, env: { ...placed(spec.env), ...env }, harnessEnv: placed(spec.harnessEnv) };
}

function groupOf({ sandbox, workspace, usage, limits = DEFAULT_LIMITS }: CommandSpec): Promise<RunCgroup> | undefined {
  const { memoryBytesMax } = usage ?? {};
  const name = `${workspace.runId}-${workspace.epoch}`;
  return sandbox.cgroups?.create(name, { memoryBytesMax, processesMax: limits.processesMax });
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
  { relay, network, cgroup }: { relay: OutputRelay; network: CommandNetwork; cgroup: RunCgroup | undefined },
): Promise<RunningCommand> {
  const result = await spawned(inside, spec);
  if (result.ok) return new CommandRun({ spawned: result, isWrapped: inside.wrapped, spec, relay, network, cgroup });
  await network.close();
  await cgroup?.close();
  // The code alone: a full message may repeat arguments or variables.
  return notStarted(`the command could not be started (${result.reason})`, relay);
}

function spawned(
  { argv, wrapped, input }: WrappedCommand,
  spec: CommandSpec,
): Promise<SpawnedCommand | { ok: false; reason: string }> {
  const [program, ...rest] = argv;
  const descriptors = ownDescriptors(input === undefined ? (wrapped ? 4 : 3) : INPUT_DESCRIPTOR + 1);
  // Detached: a session of its own, so that signals meant for the service's terminal do not reach it.
  const options = {
    cwd: wrapped ? '/' : spec.workspace.workspace,
    env: environmentOf(spec),
    stdio: descriptors.stdio,
    detached: true,
  };
  return new Promise((resolve) => {
    const failed = (error: unknown): void => resolve({ ok: false, reason: codeOf(error) });
    try {
      const child = spawn(program, rest, options);
      const identity = child.pid === undefined ? undefined : processIdentity(child.pid);
      const exit = new Promise<ProcessExit>((done) => child.on('exit', (code, signal) => done({ code, signal })));
      const closed = new Promise<void>((done) => child.on('close', () => done()));
      // Also later: a signal that could not be sent is no reason to fall.
      child.on('error', failed);
      if (input !== undefined && child.pid !== undefined) sendInput(child, input);
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
