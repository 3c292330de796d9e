/**
 * The seam between the engine and the places where executions run: what it asks of such a place, and what it hears of
 * it. contract §3, §10.
 */
import type { Readable, Writable } from 'node:stream';
import type { CountedCall } from '#agents';
import type { CommandEnd, ReadArtifact, ReportedArtifact } from '#runs';
import type { ExecutionSpec } from './preparation/execution-spec.ts';

/**
 * A run that cannot be started as it is asked for; `message` tells its owner what to do, and holds no secret. contract
 * §3.10 (environment_setup_failed).
 */
export class SetupError extends Error {}

/** What was seen to hold, not what was asked for. */
export interface Guarantees {
  /** Ending the sandbox ends every process in it, however it detached itself. */
  processes: boolean;
  /** Nothing but an allow-list of files can be read. */
  files: boolean;
  /** The network can be taken away. */
  network: boolean;
  /** Where it is taken away, there is still a loopback inside, at which an egress proxy can be offered. */
  loopback: boolean;
  /** Processes run as a user of their own. */
  uid: boolean;
  /** The kernel answers only the system calls that runs need: no other networks, no namespaces, keyrings, io_uring. */
  calls: boolean;
}

/** How the executions of one executor are isolated from what surrounds them. */
export interface Isolation {
  kind: string;
  /** How it is built, for people. */
  means: string;
  /** One line for the log and `doctor`: what holds and what does not. */
  description: string;
  guarantees: Guarantees;
}

/** Which guarantees are missing, in words; empty for a complete sandbox. */
export function missingGuarantees(guarantees: Guarantees): string[] {
  const words: [held: boolean, missing: string][] = [
    [guarantees.processes, 'a detached process can outlive its run'],
    [guarantees.files, 'a run can read what the service can read, its keys included'],
    [guarantees.network, 'the network cannot be taken away'],
    [guarantees.uid, 'runs have the user of the service'],
    [guarantees.calls, 'system calls are not filtered'],
  ];
  return words.filter(([held]) => !held).map(([, missing]) => missing);
}

/** Names one execution: the epoch grows with every one of the run. */
export interface ExecutionRef {
  runId: string;
  epoch: number;
}

/**
 * A place where executions run. `local/`, processes on this machine, is the only one today; the interface exists
 * because another one (containers elsewhere) is on the list, and it is then one folder next to `local/` that nothing
 * else has to know.
 */
export interface Executor {
  /** How runs are isolated here; found once. */
  isolation(): Promise<Isolation>;
  /**
   * Carries out one execution: makes its place ready, asks for the task, works on it. Resolves when nothing of it runs
   * any more.
   * Throws SetupError for what the run's owner has to mend, AbortError when the signal ends it.
   */
  start(request: ExecutionRequest): Promise<ExecutionResult>;
  /**
   * Ends the processes that an earlier life of the service left running of an execution that nobody supervises;
   * afterwards its run may begin anew.
   * `process` as `ExecutionRequest.onProcess` had it; undefined: nobody came to store it.
   */
  killOrphan(orphan: ExecutionRef, process: string | undefined): Promise<void>;
  /**
   * Takes the secrets out of what executions have noted whose process was lost: no next one has to come for that. Of
   * none of them anything may run that `killOrphan` finds.
   */
  redactLeft(): Promise<void>;
  /**
   * Ends what runs of an execution; nothing where nothing does. May be repeated, and hurried. Resolves when nothing is
   * left.
   */
  kill(execution: ExecutionRef, options?: KillOptions): Promise<void>;
  /** What an execution leaves to be stored, or why it is not stored. Nothing of it may run. */
  collect(execution: ExecutionRef, options: CollectOptions): AsyncIterable<CollectedArtifact>;
  /** IDs of the runs that have a workspace here. */
  workspaces(): Promise<string[]>;
  /** Bytes that the workspace of a run takes. */
  bytesUsed(runId: string): Promise<number>;
  /** Removes the workspace of a run of which nothing is needed any more. */
  remove(runId: string): Promise<void>;
}

/** What one execution is, and who hears of it. Callbacks must not throw where they answer nothing. */
export interface ExecutionRequest extends ExecutionRef {
  spec: ExecutionSpec;
  facts: RunFacts;
  /** Aborted when the execution is to be ended; `Executor.kill` says how what runs of it ends. */
  signal: AbortSignal;
  /** A line for people in the run's log. */
  say(text: string): void;
  onOutput(output: ExecutionOutput): void;
  /** A call of a model has used so much. */
  onModelCall(used: CountedCall): void;
  /** Why no further call of a model is made; undefined while one may. */
  modelRefusal(): string | undefined;
  /** Something of it runs: stored for whoever takes the run over. It is ended when this rejects. */
  onProcess(started: StartedProcess): Promise<void>;
  /** What ran has ended. */
  onProcessEnd(): void;
  /** Called when the workspace is prepared; returns the task, or undefined if it was withdrawn. */
  begin(): Promise<ExecutionTask | undefined>;
  /**
   * The task lies in its place, and the work begins now. Undefined: no agent, but the operator's command works on it.
   */
  work(place: ExecutionPlace): AgentLaunch | undefined;
}

/** What a run is, as far as its command may want to act on it. contract §3.2 (Create). */
export interface RunFacts {
  /** Somebody was said to watch and answer. */
  interactive: boolean;
  conversationId: string;
  parentRunId?: string;
}

/** What is done with one execution. */
export interface ExecutionTask {
  prompt: string;
  mode: string;
  attachments: readonly AttachmentFile[];
}

/** A file that comes with a task, read when it is written. */
export interface AttachmentFile {
  fileName: string;
  content: () => Promise<Uint8Array>;
}

/** The place of one execution, as an agent works in it. */
export interface ExecutionPlace {
  /** Working directory, as the agent sees it. */
  cwd: string;
  /** Folder of the service next to it, which the run cannot reach. */
  stateFolder: string;
  /** Puts further files where the agent finds them, also while it works. */
  addAttachments(attachments: readonly AttachmentFile[]): Promise<void>;
}

/** How an agent is started and spoken with. */
export interface AgentLaunch {
  command: readonly string[];
  /** Variables of the harness itself, which no run and no definition chooses. */
  harnessEnv: Readonly<Record<string, string>>;
  /** Speaks with it until there is nothing more to be said. Must not reject. */
  converse(pipes: AgentPipes): Promise<void>;
}

/** The two ends that a conversation has of a command. */
export interface AgentPipes {
  input: Writable;
  output: Readable;
  /** Aborted when the command is to be ended: it may answer before it is. */
  cancel: AbortSignal;
}

/**
 * One thing that an execution printed, or one thing that happened to it. `text` keeps its line breaks: joined texts are
 * the output.
 */
export interface ExecutionOutput {
  kind: 'stdout' | 'stderr' | 'status';
  text: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** What runs of an execution. */
export interface StartedProcess {
  /** By which `Executor.killOrphan` finds it; undefined where nothing was started, or it cannot be found. */
  process: string | undefined;
  /** Kind of what is around it. */
  sandbox: string;
  /** Resolves when it has ended. */
  finished: Promise<unknown>;
}

/** `setup-failed`: for the run's owner to mend; `not-begun`: there was nothing to be done any more. */
export type ExecutionResult =
  | { kind: 'setup-failed'; message: string }
  | { kind: 'not-begun' }
  | { kind: 'ended'; end: CommandEnd };

export interface KillOptions {
  /** Without asking, and without a grace. */
  atOnce?: boolean;
  /** For the run's log; undefined: nobody but who asked for it. */
  why?: string;
}

export interface CollectOptions {
  /** Values that must not be stored in any form. */
  secretValues: readonly string[];
  /** What the agent itself has named as its results. */
  reports: readonly ReportedArtifact[];
}

/** Something to store, or why it is not stored. Messages name files by the names that they would be stored under. */
export type CollectedArtifact =
  | { ok: true; artifact: ReadArtifact; content: Uint8Array }
  | { ok: false; reason: string };
