/** One execution from claim to end: outfit, workspace, set-up, process, log, lease, cancel. spec: States and transitions; contract 3, 10. */
import { fileURLToPath } from 'node:url';
import { BUILT_IN_HARNESS, overTime, runBounds, runUsage } from '#agents';
import { afterHandOver, mayRunOn } from '#runs';
import type { Log } from '../../process/log.ts';
import { StoreError } from '../../store/database/store-errors.ts';
import type { ArtifactStore, AttachmentStore } from '../../store/runs/run-files.ts';
import type { PermissionStore } from '../../store/runs/permissions.ts';
import type { RunHistoryStore } from '../../store/runs/run-history.ts';
import type { Task } from '../../store/runs/run-tasks.ts';
import type { ClaimedRun, RunEnd, RunStore } from '../../store/runs/runs.ts';
import { agentReports } from '../agent/agent-artifacts.ts';
import type { TurnEnd } from '../agent/agent-conversation.ts';
import { toRunOutcome, type AgentExecution } from '../agent/agents.ts';
import { startCommand, type CommandEnd, type CommandSpec, type RunningCommand } from '../command/command.ts';
import { commandOutcome } from './run-outcome.ts';
import type { SetUp } from '../preparation/environments.ts';
import { startupWarnings, withModelRemark } from './startup-warnings.ts';
import { storeArtifacts } from './artifact-storage.ts';
import {
  resolveExecution,
  harnessOf,
  type ExecutionSpec,
  type ExecutionSpecDeps,
} from '../preparation/execution-spec.ts';
import { leaveDiffs } from '../preparation/repository-diffs.ts';
import { ownerOf } from '../sandbox/sandboxes.ts';
import { setUp } from '../preparation/run-setup.ts';
import { SetupError } from '../workspace/setup-error.ts';
import { filesOf, supervisedAgent } from './supervised-agent.ts';
import { SupervisionLog } from './supervision-log.ts';
import { prepareWorkspace, putInputs, type Workspace } from '../workspace/workspaces.ts';

/** How often lease and cancel wishes are looked at. */
const LOOK_MS = 2_000;
/** The log is written in batches of this age. */
const LOG_MS = 200;
/** Milliseconds that a timer can count. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The command that runs when the operator configured none. */
export const EXAMPLE_COMMAND = ['/bin/sh', fileURLToPath(new URL('../command/example-agent.sh', import.meta.url))];

export interface SupervisionDeps extends ExecutionSpecDeps {
  runs: RunStore;
  attachments: AttachmentStore;
  artifacts: ArtifactStore;
  permissions: PermissionStore;
  histories: RunHistoryStore;
  nowMs(): number;
  newId(): string;
  /** Tells who watches a run that something new is stored of it. */
  tell(runId: string): void;
  isDiskLow(): boolean;
  log: Log;
  run: ClaimedRun;
  /** Folder of all workspaces. */
  root: string;
  leaseMs: number;
  /** Monotonic time at which the claim was asked for: the lease may count from then on. */
  claimedAtMs: number;
}

/** A short lease is looked at more often. */
const LOOKS_PER_LEASE = 6;
const CLAIM_GONE = 'a claim was lost: its processes are killed, nothing more is written';
const STOPPING = 'the service stops: this execution is ended and the run handed over';

/** The claim was lost or a cancel came first: nothing more is written. */
const GIVEN_UP = Symbol('given up');

/** The service decided that an execution ends. */
type EndedFor = Pick<RunEnd, 'message' | 'errorCode'>;

export class Supervision {
  /** Settles, without ever throwing, when the execution is over and written down. */
  readonly done: Promise<void>;
  private readonly parts: SupervisionDeps;
  private command: RunningCommand | undefined;
  private looking = false;
  private lost = false;
  /** Monotonic time from which on the service stops: what is interrupted goes back to the queue. */
  private handingOverAtMs: number | undefined;
  /** Nobody waits for what ends politely. */
  private isHurried = false;
  /** The store may have carried out what it did not answer: only giving the run back fits both. */
  private isUnsure = false;
  /** What the run is for was begun. */
  private hasWorked = false;
  /** Set-up and work together took all the time that there is. */
  private isTimeOver = false;
  private deadline: NodeJS.Timeout | undefined;
  /** The work is done and only its end is to be written: nothing of ours could run beside a new owner. */
  private over = false;
  /** Monotonic time from which on the lease certainly holds. */
  private renewedAtMs: number;
  private endedFor: EndedFor | undefined;
  /** Aborted when the run is to be ended: what the service itself does for it ends, too. */
  private readonly stopping = new AbortController();
  private readonly reports = agentReports();
  private readonly told: SupervisionLog;
  /** Undefined while no agent is spoken with. */
  private agent: AgentExecution | undefined;

  constructor(parts: SupervisionDeps) {
    this.parts = parts;
    this.renewedAtMs = parts.claimedAtMs;
    this.told = new SupervisionLog({
      ...parts,
      isLost: () => this.lost,
      onLost: () => this.loseClaim(CLAIM_GONE),
      isTooLate: () => this.isTooLate(),
    });
    this.done = this.execute();
  }

  /** Looks now whether the run is still ours and still wanted, and whether somebody has said something to it. */
  look(): void {
    this.agent?.look();
    this.heedLease(); // also while a renewal hangs
    if (this.looking || this.lost) return;
    this.looking = true;
    void this.renew().finally(() => {
      this.looking = false;
    });
  }

  /** Ends the command for a reason of the service's; the run is FAILED with these words. */
  endFor(message: string, errorCode = 'resource_unavailable'): void {
    this.endedFor ??= { message, errorCode };
    this.stopping.abort();
    this.endCommand();
  }

  /** The service stops: ends the processes, `atOnce` without a grace, and gives the run back to whoever claims it next. */
  handOver(atOnce = false): void {
    if (this.handingOverAtMs === undefined && this.agent !== undefined && !this.over) this.told.say({ text: STOPPING });
    this.handingOverAtMs ??= performance.now();
    this.isHurried ||= atOnce;
    this.stopping.abort();
    this.endCommand();
  }

  private async execute(): Promise<void> {
    const timers = [
      setInterval(() => this.look(), Math.min(LOOK_MS, this.parts.leaseMs / LOOKS_PER_LEASE)),
      setInterval(() => void this.told.flush(), LOG_MS),
    ];
    try {
      const ending = await this.attempt();
      this.over = true;
      await this.told.flush();
      if (ending === GIVEN_UP || this.lost) return;
      // What had ended by itself has ended, and is written as it did.
      if ((this.isHandingOver() || this.isUnsure) && ending.state === 'CANCELLED') await this.handBack();
      else await this.finish(ending);
    } catch (error) {
      this.parts.log.fault('an execution could not be written down', error, { run_id: this.parts.run.runId });
    } finally {
      timers.forEach((timer) => clearInterval(timer));
      clearTimeout(this.deadline);
    }
  }

  /** The execution, whatever it throws. */
  private async attempt(): Promise<RunEnd | typeof GIVEN_UP> {
    try {
      return await this.carriedOut();
    } catch (error) {
      await this.command?.cancel(); // whatever failed: nothing of it may go on unsupervised
      if (error instanceof SetupError) return unready(error.message);
      if (this.stopping.signal.aborted && error instanceof Error && error.name === 'AbortError')
        return this.endedBefore();
      this.parts.log.fault('an execution failed inside the service', error, { run_id: this.parts.run.runId });
      return {
        state: 'ERROR',
        message: 'the service failed while it ran this; its log has the details',
        errorCode: 'internal_error',
        retryable: true,
      };
    }
  }

  /** Outfit, workspace, set-up, prompt, work, and what it leaves. */
  private async carriedOut(): Promise<RunEnd | typeof GIVEN_UP> {
    const { run, runs, config } = this.parts;
    const prepared = await this.insist(() => runs.prepare(run));
    if (prepared?.answer === false && !prepared.isRepeated) return GIVEN_UP;
    if (prepared?.answer !== true) return this.endedBefore(prepared?.isRepeated);
    this.beginToCount();
    const outfit = await this.outfit();
    if (outfit === undefined) return this.endedBefore();
    for (const text of startupWarnings(outfit, config)) this.told.say({ text });
    const refusal = await this.refusal();
    if (refusal !== undefined) return (await this.begin()).ending ?? overspent(refusal); // what was asked is answered by this end
    const workspace = await this.madeWorkspace(outfit);
    const ready = await this.setUp(outfit, workspace);
    if (!ready.ok) return 'ended' in ready ? this.toEnding(ready.ended, undefined, outfit) : unready(ready.message);
    if (this.isHandingOver() || this.isTimeOver) return this.endedBefore();
    const { task, ending } = await this.begin();
    if (task === undefined) return ending;
    this.parts.tell(run.runId);
    await this.hand(task, workspace, outfit);
    const { end, turn } = await this.work(task, workspace, outfit);
    await this.keep(end, workspace, outfit);
    return this.toEnding(end, turn, outfit);
  }

  /** Everything that the run needs; undefined: it was ended while the store did not answer. */
  private async outfit(): Promise<ExecutionSpec | undefined> {
    return (await this.insist(() => resolveExecution(this.parts, this.parts.run, this.stopping.signal)))?.answer;
  }

  /** Takes what is to be done; else the end of this execution. */
  private async begin(): Promise<{ task: Task; ending?: undefined } | { task?: undefined; ending: RunEnd }> {
    const begun = await this.insist(() => this.parts.runs.begin(this.parts.run));
    if (begun?.answer !== undefined) return { task: begun.answer };
    return { ending: this.endedBefore(begun?.isRepeated) };
  }

  /**
   * Asks the store until it can answer, for as long as the run is ours and wanted. `isRepeated`: an attempt before this one may have been
   * carried out, with its answer lost on the way. Throws what another attempt would not mend.
   */
  private async insist<T>(
    ask: () => Promise<T>,
    isWanted = (): boolean => true,
  ): Promise<{ answer: T; isRepeated: boolean } | undefined> {
    let attempts = 0;
    const asked = await this.told.persist(
      async () => {
        attempts += 1;
        try {
          return { answer: await ask(), isRepeated: attempts > 1 };
        } catch (fault) {
          if (fault instanceof StoreError && fault.kind !== 'broken') throw fault;
          return { fault };
        }
      },
      () => isWanted() && !this.stopping.signal.aborted,
    );
    if (asked !== undefined && 'fault' in asked) throw asked.fault;
    return asked;
  }

  /** Set-up and work have one time together. */
  private beginToCount(): void {
    this.deadline = setTimeout(
      () => {
        if (this.stopping.signal.aborted) return; // it is being ended already
        this.isTimeOver = true;
        this.stopping.abort();
        this.endCommand();
      },
      Math.min(this.timeMs(), TIMER_MS_MAX),
    );
  }

  /** Milliseconds of wall-clock time of one execution. */
  private timeMs(): number {
    return (runBounds(this.parts.config, this.parts.run).minutes?.value ?? Number.POSITIVE_INFINITY) * 60_000;
  }

  /** Begins to count; answers why the run may not go on, because of what it has used before. */
  private async refusal(): Promise<string | undefined> {
    const { run, runs, config } = this.parts;
    const stored = await this.insist(() => runs.usage(run.runId));
    this.told.usage = runUsage({
      stored: stored?.answer,
      bounds: runBounds(config, run),
      onOver: (message) => this.endFor(message, 'budget_exceeded'),
    });
    return this.told.usage.refusal();
  }

  private madeWorkspace({ sandbox }: ExecutionSpec): Promise<Workspace> {
    const { run, root } = this.parts;
    return prepareWorkspace({ root, runId: run.runId, epoch: run.epoch, owner: ownerOf(sandbox, run.runId) });
  }

  private setUp(outfit: ExecutionSpec, workspace: Workspace): Promise<SetUp> {
    return setUp({
      ...this.parts,
      outfit,
      workspace,
      stepMs: this.parts.config.setupTimeoutMs,
      signal: this.stopping.signal,
      say: (text) => this.told.say({ text }),
      commandSpec: (onText) => this.commandSpec(outfit, workspace, onText),
      finished: (spec) => this.finished(spec),
    });
  }

  private async hand(task: Task, workspace: Workspace, outfit: ExecutionSpec): Promise<void> {
    await putInputs(workspace, {
      prompt: task.prompt,
      payload: outfit.payload,
      attachments: filesOf(this.parts.attachments, task),
    });
  }

  /** The agent, or the command, does what it was given. */
  private async work(
    task: Task,
    workspace: Workspace,
    outfit: ExecutionSpec,
  ): Promise<{ end: CommandEnd; turn?: TurnEnd }> {
    const { run, config, builtInAgent } = this.parts;
    const agent = (this.agent = supervisedAgent({
      ...this.parts,
      told: this.told,
      reports: this.reports,
      outfit,
      workspace,
      task,
      mayGoOn: () => !this.stopping.signal.aborted,
    }));
    this.hasWorked = true;
    const end = await this.finished({
      ...this.commandSpec(outfit, workspace),
      command: config.runCommand ?? EXAMPLE_COMMAND,
      ...agent?.spec,
      readOnly: outfit.profile?.id === BUILT_IN_HARNESS ? builtInAgent.readOnly : (outfit.profile?.readOnly ?? []),
      told: {
        mode: task.mode,
        interactive: run.interactive,
        conversationId: run.conversationId,
        parentRunId: run.parentRunId,
      },
      prompt: task.prompt,
      deadlineMs: Number.POSITIVE_INFINITY, // the time of the whole execution counts
    });
    return { end, turn: agent?.ended() };
  }

  /** What is to outlive the workspace: diffs, reports and files. */
  private async keep(end: CommandEnd, workspace: Workspace, outfit: ExecutionSpec): Promise<void> {
    const { run, log } = this.parts;
    await leaveDiffs({
      end,
      workspace,
      runId: run.runId,
      log,
      signal: this.stopping.signal,
      say: (text) => this.told.say({ text }),
      run: (spec) => this.finished({ ...this.commandSpec(outfit, workspace), ...spec }),
    });
    this.over = true;
    await this.told.flush(); // whoever watches sees the last words before we look for files
    if (!this.lost)
      await storeArtifacts({
        ...this.parts,
        told: this.told,
        reports: this.reports,
        workspace,
        secretValues: outfit.secretValues,
      });
  }

  /** What every command of this run has. */
  private commandSpec(
    { sandbox, secrets, secretValues, network }: ExecutionSpec,
    workspace: Workspace,
    onText?: (text: string) => void,
  ): Omit<CommandSpec, 'command' | 'prompt' | 'deadlineMs'> {
    const { runDiskBytesMax: diskBytesMax, runMemoryBytesMax: memoryBytesMax } = this.parts.config;
    return {
      workspace,
      sandbox,
      network,
      secretValues,
      env: secrets,
      usage: { diskBytesMax, memoryBytesMax },
      onEvent: ({ kind, text, at }) => {
        if (kind !== 'status') onText?.(text);
        this.told.push({ kind, atMs: at, body: JSON.stringify({ text }) });
      },
    };
  }

  /** Runs one command of this execution to its end; a cancel, a loss or a deadline ends it. */
  private async finished(spec: CommandSpec): Promise<CommandEnd> {
    if (this.stopping.signal.aborted) return { kind: 'cancelled' };
    const command = await startCommand(spec);
    this.command = command;
    if (this.stopping.signal.aborted) this.endCommand();
    const noted = this.note(command, spec.sandbox.kind);
    noted.catch(() => command.cancel()); // nothing goes on that nobody could find
    this.look(); // a cancel may have come while we were starting
    const end = await command.finished;
    await noted;
    this.heedLease(); // it may have been ended by whoever took the run over
    return end;
  }

  /** Remembers which process it is, for whoever takes the run over; until then it is ours alone to end. */
  private async note({ identity, finished }: RunningCommand, sandbox: string): Promise<void> {
    if (identity === undefined) return;
    const { run, runs } = this.parts;
    let hasEnded = false;
    void finished.then(() => (hasEnded = true));
    const noted = await this.insist(
      () => runs.noteProcess(run, JSON.stringify(identity), sandbox),
      () => !hasEnded,
    );
    if (noted?.answer === false) this.loseClaim(CLAIM_GONE);
  }

  /**
   * Ends what runs, as its reason wants it. An agent that is handed over is not asked: it would keep in its session that somebody refused
   * or cancelled what nobody did, and the next execution goes on with that session.
   */
  private endCommand(): void {
    // What is over its budget is not given time to spend more.
    const isAtOnce =
      this.lost ||
      this.isHurried ||
      this.endedFor?.errorCode === 'budget_exceeded' ||
      (this.isHandingOver() && this.agent !== undefined);
    void (isAtOnce ? this.command?.kill() : this.command?.cancel(this.whyEnded()));
  }

  /** For the run's log; undefined: nobody but who asked for it. */
  private whyEnded(): string | undefined {
    if (this.isHandingOver()) return STOPPING;
    return this.isTimeOver ? `the deadline of ${Math.round(this.timeMs() / 1_000)} s is over` : undefined;
  }

  /** The end of an execution that was ended before its work had begun. `isUnsure`: the store may have it as begun. */
  private endedBefore(isUnsure = false): RunEnd {
    if (this.endedFor !== undefined) return { state: 'FAILED', ...this.endedFor, retryable: false };
    if (this.isTimeOver) return this.outOfTime();
    this.isUnsure ||= isUnsure;
    return { state: 'CANCELLED', message: 'cancelled before it started' };
  }

  private outOfTime(): RunEnd {
    const message = overTime(runBounds(this.parts.config, this.parts.run));
    return message === undefined ? commandOutcome({ kind: 'deadline' }, this.timeMs()) : overspent(message);
  }

  /** What the agent said of its turn, unless its process ended for a reason of ours or could not begin. */
  private toEnding(end: CommandEnd, turn: TurnEnd | undefined, outfit: ExecutionSpec): RunEnd {
    if (this.endedFor !== undefined) return { state: 'FAILED', ...this.endedFor, retryable: false };
    if (this.isTimeOver && end.kind === 'cancelled') return this.outOfTime();
    return turn === undefined || (end.kind !== 'exited' && end.kind !== 'signalled')
      ? commandOutcome(end, this.timeMs())
      : withModelRemark(toRunOutcome(turn), outfit, this.parts.config);
  }

  private async renew(): Promise<void> {
    const { run, runs, leaseMs, log } = this.parts;
    const askedAtMs = performance.now();
    try {
      const renewed = await runs.renew(run, leaseMs);
      if (renewed === undefined) return this.loseClaim(CLAIM_GONE);
      this.renewedAtMs = askedAtMs;
      // Not waited for: a command that takes its time to end is still ours, and its lease is to be renewed.
      if (!renewed.cancelRequested) return;
      this.stopping.abort();
      this.endCommand();
    } catch (error) {
      log.fault('a lease could not be renewed', error, { run_id: run.runId });
    }
  }

  /** Another one may take the run over when the lease is out, and must find nobody. */
  private heedLease(): void {
    if (this.over || mayRunOn(performance.now() - this.renewedAtMs, this.parts.leaseMs)) return;
    this.loseClaim('a lease could not be renewed in time: its processes are killed, the run is left to be taken over');
  }

  /** The run is somebody else's, or will be: what runs of it is killed first, and nothing more is written. */
  private loseClaim(why: string): void {
    if (this.lost) return;
    this.lost = true;
    this.stopping.abort();
    this.endCommand();
    this.told.forget();
    if (!this.over) this.parts.log.warn(why, { run_id: this.parts.run.runId, epoch: this.parts.run.epoch });
  }

  /** Nothing of the execution runs any more: the next one may begin at once. */
  private async handBack(): Promise<void> {
    const { run, runs, config, log, tell } = this.parts;
    const harness = harnessOf(run.agentConfig);
    await this.told.persist(async () => {
      const isGiven = await runs.release(run, (state) => {
        if (!this.hasWorked) return 'requeue';
        const decision = afterHandOver({ state, harness, restartable: config.runRestartable, cancelRequested: false });
        return decision.next === 'requeue' ? 'requeue' : STOPPED_COMMAND;
      });
      if (isGiven) log.info('an execution was handed over', { run_id: run.runId, epoch: run.epoch });
    });
    tell(run.runId);
  }

  private async finish(ending: RunEnd): Promise<void> {
    const { run, runs, tell } = this.parts;
    await this.told.drain();
    await this.told.persist(() => runs.finish(run, ending));
    tell(run.runId);
  }

  private isHandingOver(): boolean {
    return this.handingOverAtMs !== undefined;
  }

  /** A service that stops waits for its database as long as the run is safely its own; then whoever takes the run over decides. */
  private isTooLate(): boolean {
    if (this.handingOverAtMs === undefined) return false;
    const [nowMs, { leaseMs }] = [performance.now(), this.parts];
    return (
      this.isHurried || !mayRunOn(nowMs - this.handingOverAtMs, leaseMs) || !mayRunOn(nowMs - this.renewedAtMs, leaseMs)
    );
  }
}

function unready(message: string): RunEnd {
  return { state: 'FAILED', message, errorCode: 'environment_setup_failed', retryable: false };
}

/** What becomes of a command that a stopping service ended and that must not be started twice. */
const STOPPED_COMMAND: RunEnd = {
  state: 'ERROR',
  message:
    'the service was stopped, and a command that had begun is not started twice (MILLWRIGHT_RUN_RESTARTABLE=true allows it)',
  errorCode: 'internal_error',
  retryable: true,
};

function overspent(message: string): RunEnd {
  return { state: 'FAILED', message, errorCode: 'budget_exceeded', retryable: false };
}
