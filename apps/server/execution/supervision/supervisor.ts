/**
 * Supervises one execution from claim to end: preparation, work, collection, end; its lease, its log, its stop. spec:
 * States and transitions; contract §3, §10.
 */
import {
  advanceSupervision,
  BUDGET_EXCEEDED,
  endsAtOnce,
  mayHaveProcesses,
  SUPERVISION_START,
  supervisionOutcome,
  type SupervisionEvent,
  type RunEnd,
} from '#runs';
import type { Log } from '../../process/log.ts';
import type { Metrics } from '../../process/metrics.ts';
import type { Traces } from '../../process/traces.ts';
import type { ArtifactStore, AttachmentStore } from '../../store/runs/run-files.ts';
import type { PermissionStore } from '../../store/runs/permissions.ts';
import type { RunHistoryStore } from '../../store/runs/run-history.ts';
import type { InterruptStore } from '../../store/runs/run-interrupts.ts';
import type { ClaimedRun, RunStore } from '../../store/runs/runs.ts';
import { AgentReports } from '../agent/agent-events.ts';
import { runBounds, runUsage } from '#agents';
import type { ExecutionSlot } from '../engine/execution-slots.ts';
import { SetupError, type Executor } from '../executor.ts';
import { resolveExecution, type ExecutionSpec, type ExecutionSpecDeps } from '../preparation/execution-spec.ts';
import { storeArtifacts } from './artifact-storage.ts';
import { Lease } from './lease.ts';
import {
  budgetExceeded,
  deadlineTimerMs,
  endAfterWork,
  endBeforeWork,
  releaseDecision,
  SERVICE_FAULT,
  setupFailed,
  STOPPING,
  stopText,
} from './run-ends.ts';
import { startupWarnings } from './startup-warnings.ts';
import { SupervisedExecution, type Beginning } from './supervised-execution.ts';
import { RunEventWriter } from './run-event-writer.ts';
import { RunFigures } from './run-figures.ts';

/** Milliseconds between two renewals of the lease; the answers say whether somebody wants the run cancelled. */
const RENEWAL_MS = 2_000;
/** A short lease is renewed more often. */
const RENEWALS_PER_LEASE = 6;
/** Milliseconds between two batches of the log. */
const LOG_MS = 200;

const CLAIM_GONE = 'claim lost: its processes are killed, nothing more is written';
const LEASE_OUT = 'lease ran out: its processes are killed, the run is left to be taken over';

/** The claim was lost or a cancel came first: nothing more is written. */
const CLAIM_LOST = Symbol('claim lost');

export interface SupervisionDeps extends ExecutionSpecDeps {
  runs: RunStore;
  attachments: AttachmentStore;
  artifacts: ArtifactStore;
  permissions: PermissionStore;
  interrupts: InterruptStore;
  histories: RunHistoryStore;
  executor: Executor;
  nowMs(): number;
  newId(): string;
  /** Tells who watches a run that something new is stored of it. */
  publish(runId: string): void;
  isDiskLow(): boolean;
  log: Log;
  metrics: Metrics;
  traces: Traces;
  run: ClaimedRun;
  /** Its place in this process. */
  slot: ExecutionSlot;
  leaseMs: number;
  /** Monotonic time at which the claim was asked for: the lease may count from then on. */
  claimedAtMs: number;
}

export class Supervision {
  private readonly deps: SupervisionDeps;
  private readonly lease: Lease;
  private readonly events: RunEventWriter;
  private readonly figures: RunFigures;
  private readonly reports = new AgentReports();
  /** Aborted when the execution is stopped: what the service itself does for it ends, too. */
  private readonly stopping = new AbortController();
  private state = SUPERVISION_START;
  private running: Promise<void> | undefined;
  private deadline: NodeJS.Timeout | undefined;
  /** Undefined until everything that it needs is resolved. */
  private execution: SupervisedExecution | undefined;

  constructor(deps: SupervisionDeps) {
    this.deps = deps;
    this.figures = new RunFigures({ ...deps, say: (text) => this.events.say({ text }) });
    this.lease = new Lease({
      ...deps,
      onLost: () => this.loseClaim(CLAIM_GONE),
      onCancelRequested: () => this.stop({ kind: 'stop', reason: 'cancelled' }),
      onInterruptRequested: (interruptId) => this.execution?.agent?.interrupt(interruptId),
    });
    this.events = new RunEventWriter({
      ...deps,
      isLost: () => this.state.stop === 'lost',
      isStopped: () => this.stopping.signal.aborted,
      onLost: () => this.loseClaim(CLAIM_GONE),
      hasDrainTimedOut: () => this.lease.hasDrainTimedOut(this.state),
    });
  }

  /** Begins, once. Resolves, without ever rejecting, when the execution is over and written down. */
  start(): Promise<void> {
    return (this.running ??= this.execute());
  }

  /** Renews the lease and checks for cancellation and follow-ups. */
  poll(): void {
    this.execution?.agent?.poll();
    this.enforceLease(); // also while a renewal hangs
    if (this.state.stop !== 'lost') this.lease.renew();
  }

  /** Ends the execution for a reason of the service's; the run is FAILED with this message. */
  endFor(message: string, errorCode = 'resource_unavailable'): void {
    this.stop({ kind: 'stop', reason: 'budget', failure: { message, errorCode } });
  }

  /** The service stops: ends what runs, `atOnce` without a grace, and gives the run back to whoever claims it next. */
  handOver(atOnce = false): void {
    if (this.state.draining === undefined && this.execution?.agent !== undefined && mayHaveProcesses(this.state))
      this.events.say({ text: STOPPING });
    this.stop({ kind: 'stop', reason: 'draining', atMs: performance.now(), urgent: atOnce });
  }

  private async execute(): Promise<void> {
    const { run, leaseMs, log } = this.deps;
    const timers = [
      setInterval(() => this.poll(), Math.min(RENEWAL_MS, leaseMs / RENEWALS_PER_LEASE)),
      setInterval(() => void this.events.flush(), LOG_MS),
    ];
    try {
      const end = await this.attempt();
      this.advance({ kind: 'over' });
      await this.events.flush();
      if (end !== CLAIM_LOST) await this.conclude(end);
    } catch (error) {
      log.fault('execution end write failed', error, { run_id: run.runId });
    } finally {
      this.figures.over();
      timers.forEach((timer) => clearInterval(timer));
      clearTimeout(this.deadline);
    }
  }

  /** The execution, whatever it throws. */
  private async attempt(): Promise<RunEnd | typeof CLAIM_LOST> {
    const { run, executor, log } = this.deps;
    try {
      return await this.carryOut();
    } catch (error) {
      await executor.kill(run); // whatever failed: nothing of it may go on unsupervised
      if (error instanceof SetupError) return setupFailed(error.message);
      if (this.stopping.signal.aborted && error instanceof Error && error.name === 'AbortError')
        return this.unbegunEnd();
      log.fault('execution failed: internal error', error, { run_id: run.runId });
      return SERVICE_FAULT;
    }
  }

  /** Preparation, task, work, and what it leaves. */
  private async carryOut(): Promise<RunEnd | typeof CLAIM_LOST> {
    const { run, runs, config, executor } = this.deps;
    const prepared = await this.events.retryWhileOwned(() => runs.prepare(run));
    if (prepared?.answer === false && !prepared.isRepeated) return CLAIM_LOST;
    if (prepared?.answer !== true) return this.unbegunEnd(prepared?.isRepeated);
    this.startDeadline();
    const resolved = await this.events.retryWhileOwned(() => resolveExecution(this.deps, run, this.stopping.signal));
    if (resolved === undefined) return this.unbegunEnd();
    const spec = resolved.answer;
    for (const text of [...spec.reach, ...startupWarnings(spec, config)]) this.events.say({ text });
    const refusal = await this.startUsage();
    // what was asked is answered by this end
    if (refusal !== undefined) return (await this.begin()).end ?? budgetExceeded(refusal);
    const execution = (this.execution = this.executionOf(spec));
    const result = await executor.start(execution);
    if (result.kind === 'setup-failed') return setupFailed(result.message);
    if (result.kind === 'not-begun') return execution.unbegun ?? this.unbegunEnd();
    if (this.state.hasWorked) await this.collect(spec);
    return endAfterWork({ state: this.state, end: result.end, turn: execution.agent?.ended(), spec, config, run });
  }

  /** Set-up and work have one time together. */
  private startDeadline(): void {
    this.deadline = setTimeout(
      () => {
        if (!this.stopping.signal.aborted) this.stop({ kind: 'stop', reason: 'deadline' });
      },
      deadlineTimerMs(this.deps.config, this.deps.run),
    );
  }

  /** Begins to count; answers why the run may not go on, because of what it has used before. */
  private async startUsage(): Promise<string | undefined> {
    const { run, runs, config } = this.deps;
    const stored = await this.events.retryWhileOwned(() => runs.usage(run.runId));
    this.events.usage = runUsage({
      stored: stored?.answer,
      bounds: runBounds(config, run),
      onOver: (message) => this.endFor(message, BUDGET_EXCEEDED),
    });
    return this.events.usage.refusal();
  }

  private executionOf(spec: ExecutionSpec): SupervisedExecution {
    return new SupervisedExecution({
      ...this.deps,
      spec,
      signal: this.stopping.signal,
      events: this.events,
      reports: this.reports,
      activity: this.figures.trace,
      takeTask: () => this.takeTask(),
      onWork: () => this.advance({ kind: 'work-began' }),
      onStarted: () => this.poll(),
      onProcessEnd: () => this.enforceLease(),
      onLost: () => this.loseClaim(CLAIM_GONE),
    });
  }

  /** The place is ready: takes what is to be done, unless it is stopped. */
  private async takeTask(): Promise<Beginning> {
    const { draining, stop } = this.state;
    return draining !== undefined || stop === 'deadline' ? { end: this.unbegunEnd() } : this.begin();
  }

  private async begin(): Promise<Beginning> {
    const { run, runs } = this.deps;
    const begun = await this.events.retryWhileOwned(() => runs.begin(run));
    if (begun?.answer !== undefined) this.figures.begun();
    return begun?.answer === undefined ? { end: this.unbegunEnd(begun?.isRepeated) } : { task: begun.answer };
  }

  /** Nothing of the execution runs any more: stores what is to outlive it. */
  private async collect({ secretValues }: ExecutionSpec): Promise<void> {
    const { events, reports } = this;
    this.advance({ kind: 'work-ended' });
    await events.flush(); // whoever watches sees the last words before we look for files
    if (this.state.stop !== 'lost') await storeArtifacts({ ...this.deps, events, reports, secretValues });
  }

  /** Writes the end, or gives the run back. */
  private async conclude(end: RunEnd): Promise<void> {
    const { run, runs, publish } = this.deps;
    this.figures.used(this.events.usage);
    switch (supervisionOutcome(this.state, end.state)) {
      case 'discard':
        return;
      case 'release':
        await this.release();
        break;
      case 'finish':
        await this.events.drain();
        await this.events.persist(() => runs.finish(run, end));
        this.figures.ended(end);
    }
    publish(run.runId);
  }

  /** Nothing of the execution runs any more: the next one may begin at once. */
  private async release(): Promise<void> {
    const { run, runs, config, log } = this.deps;
    await this.events.persist(async () => {
      const isReleased = await runs.release(run, (state) => releaseDecision(this.state, state, config, run));
      if (isReleased) {
        this.figures.trace.over({ state: 'RELEASED' }, false);
        log.info('execution released', { run_id: run.runId, epoch: run.epoch });
      }
    });
  }

  /** The end of an execution stopped before its work had begun. `isUncertain`: the store may have it as begun. */
  private unbegunEnd(isUncertain = false): RunEnd {
    const end = endBeforeWork(this.state, this.deps.config, this.deps.run);
    if (end.state === 'CANCELLED' && isUncertain) this.advance({ kind: 'unanswered' });
    return end;
  }

  /** Another one may take the run over when the lease is out, and must find nothing running. */
  private enforceLease(): void {
    if (mayHaveProcesses(this.state) && !this.lease.isSafe()) this.loseClaim(LEASE_OUT);
  }

  /** The run is somebody else's, or will be: what runs of it is killed first, and nothing more is written. */
  private loseClaim(why: string): void {
    if (this.state.stop === 'lost') return;
    const { run, log } = this.deps;
    this.stop({ kind: 'stop', reason: 'lost' });
    this.figures.leaseLost();
    this.events.forget();
    if (mayHaveProcesses(this.state)) log.warn(why, { run_id: run.runId, epoch: run.epoch });
  }

  private stop(event: Extract<SupervisionEvent, { kind: 'stop' }>): void {
    const { run, config, executor } = this.deps;
    this.advance(event);
    this.stopping.abort();
    void executor.kill(run, {
      atOnce: endsAtOnce(this.state, this.execution?.agent !== undefined),
      why: stopText(this.state, config, run),
    });
  }

  private advance(event: SupervisionEvent): void {
    this.state = advanceSupervision(this.state, event);
  }
}
