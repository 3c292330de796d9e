/**
 * What this process works on: claims by conditional update, supervises, takes up what was lost, hands over. The same
 * whoever tells it that something waits. explanation: Engine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveBounds } from '#runs';
import { ABANDONED_MAX, type AbandonedRun } from '../../store/runs/run-executions.ts';
import type { ClaimedRun } from '../../store/runs/runs.ts';
import type { Dispatch } from './dispatch.ts';
import { ExecutionSlots } from './execution-slots.ts';
import type { Isolation } from '../executor.ts';
import { reclaimDecision } from '../supervision/run-ends.ts';
import { Supervision, type SupervisionDeps } from '../supervision/supervisor.ts';

/** A supervisor that does not renew for this long has lost its run. */
export const EXECUTION_LEASE_MS = 30_000;
/** A disk that fills up is noticed this late at most. */
const DISK_MS = 1_000;
/** Workspaces checked in one sweep; names sort by age. */
const SWEPT_MAX = 500;
const DAY_MS = 86_400_000;
/** A run that takes less than this is not what fills a disk. */
const RELIEF_BYTES_MIN = 16 * 1_048_576;

export interface EngineDeps extends Omit<SupervisionDeps, 'run' | 'slot' | 'leaseMs' | 'claimedAtMs'> {
  owner: string;
  dispatch: Dispatch;
  /** Whether the data folder's disk has less than its reserve. */
  isDiskLow(): boolean;
  /**
   * Gives back what copies of repositories take, while the disk is low; what `isDiskLow` says afterwards is as it then
   * is.
   */
  freeRepositorySpace(): Promise<void>;
  /** Milliseconds; EXECUTION_LEASE_MS unless given. */
  leaseMs?: number;
}

export class Engine {
  private readonly deps: EngineDeps;
  private readonly supervised = new Map<string, Supervision>();
  private readonly executionSlots: ExecutionSlots;
  private recovering: Promise<void> | undefined;
  private readonly hurried = new AbortController();
  private stopped = false;
  private sweptUpTo = '';
  private diskTimer: NodeJS.Timeout | undefined;

  constructor(deps: EngineDeps) {
    this.deps = deps;
    this.executionSlots = new ExecutionSlots({
      count: this.slots(),
      perFactoryMax: deps.config.runsPerFactoryHereMax,
      onChange: (parked) => deps.dispatch.parked(parked),
    });
  }

  start(): void {
    this.diskTimer = setInterval(
      () => void this.relieveDisk().catch((error: unknown) => this.deps.log.fault('disk relief failed', error)),
      DISK_MS,
    );
    this.deps.dispatch.start({ count: this.slots(), free: () => this.free(), take: (count) => this.take(count) });
  }

  /** Something waits, or somebody wants a run cancelled: poll now. */
  wake(): void {
    for (const supervision of this.supervised.values()) supervision.poll();
    if (!this.stopped) this.deps.dispatch.wake();
  }

  /** Runs that could be started at once; where other processes do the work, one: nobody here knows of more. */
  freeSlots(): number {
    if (this.slots() === 0 && this.deps.config.databaseUrl !== undefined) return 1;
    return this.free();
  }

  /** What tells it that runs wait. */
  get name(): string {
    return this.deps.config.engine;
  }

  /** How many runs are worked on, may be started at once, and wait for people without a place. */
  occupancy(): { busy: number; free: number; parked: number } {
    const parked = this.executionSlots.parkedCount;
    return { busy: Math.max(0, this.supervised.size - parked), free: this.free(), parked };
  }

  /** How runs are isolated; found once. */
  isolation(): Promise<Isolation> {
    return this.deps.executor.isolation();
  }

  /** Kills what is left of executions that nobody supervises and decides what becomes of their runs. */
  async recover(): Promise<void> {
    await (this.recovering ??= this.reclaimAll().finally(() => {
      this.recovering = undefined;
    }));
    this.wake();
  }

  private async reclaimAll(): Promise<void> {
    await this.reclaimAbandoned();
    await this.deps.executor.redactLeft();
  }

  private async reclaimAbandoned(): Promise<void> {
    const { runs, owner, config } = this.deps;
    for (let isMore = true; isMore;) {
      const found = await runs.abandoned(owner, config.databaseUrl === undefined);
      for (const lost of found) if (!this.supervised.has(lost.run.run_id)) await this.reclaim(lost);
      // Only what was decided makes room for others.
      isMore = found.length === ABANDONED_MAX && !found.some(({ run }) => this.supervised.has(run.run_id));
    }
  }

  private async reclaim({ run, process }: AbandonedRun): Promise<void> {
    const { runs, config, log, publish, executor, metrics } = this.deps;
    await executor.killOrphan({ runId: run.run_id, epoch: run.epoch }, process);
    const { next, decision } = reclaimDecision(run, config);
    if (!(await runs.reclaim(run.run_id, run.epoch, decision))) return;
    metrics.count('millwright_executions_reclaimed_total');
    log.warn('abandoned execution reclaimed', { run_id: run.run_id, epoch: run.epoch, next });
    publish(run.run_id);
  }

  /** Removes the folders of runs that ended long ago; a bounded number at a time, the next ones the next time. */
  async sweepWorkspaces(): Promise<number> {
    const { runs, config, nowMs, log, executor } = this.deps;
    const present = (await executor.workspaces()).filter((runId) => !this.supervised.has(runId)).sort();
    const some = present.filter((runId) => runId > this.sweptUpTo).slice(0, SWEPT_MAX);
    this.sweptUpTo = some.length === SWEPT_MAX ? (some.at(-1) ?? '') : '';
    const over = await runs.expired(some, nowMs() - config.workspaceRetentionDays * DAY_MS);
    for (const runId of over) {
      await executor
        .remove(runId)
        .catch((error: unknown) => log.fault('workspace removal failed', error, { run_id: runId }));
    }
    return over.length;
  }

  /**
   * While the disk is nearly full, gives back what no run needs, then ends the run whose folders take the most: one run
   * must not stop the service.
   */
  async relieveDisk(): Promise<void> {
    if (!this.deps.isDiskLow()) return;
    await this.deps.freeRepositorySpace();
    if (!this.deps.isDiskLow() || this.supervised.size === 0) return;
    const used = await Promise.all(
      [...this.supervised.keys()].map(async (runId) => ({
        runId,
        bytes: await this.deps.executor.bytesUsed(runId),
      })),
    );
    const [largest] = used.sort((a, b) => b.bytes - a.bytes);
    if (largest === undefined || largest.bytes < RELIEF_BYTES_MIN) return;
    this.supervised.get(largest.runId)?.endFor('the disk was nearly full, and this run had taken the most of it');
  }

  /**
   * Claims nothing more, gives what runs the time of the drain to end, then ends it and hands it over to whoever claims
   * it next.
   */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.diskTimer);
    await this.deps.dispatch.stop();
    await this.recovering?.catch(() => undefined);
    const endings = Promise.all([...this.supervised.values()].map((supervision) => supervision.start()));
    await Promise.race([
      endings,
      sleep(this.deps.config.drainMs, undefined, { signal: this.hurried.signal, ref: false }).catch(() => undefined),
    ]);
    for (const supervision of this.supervised.values()) supervision.handOver(this.hurried.signal.aborted);
    await endings;
    await this.deps.dispatch.close();
  }

  /** Somebody asks a second time that the service stops: what still runs is killed at once, and handed over. */
  hurry(): void {
    this.hurried.abort();
    if (this.stopped) for (const supervision of this.supervised.values()) supervision.handOver(true);
  }

  private slots(): number {
    const { roles, runConcurrency } = this.deps.config;
    return roles.has('worker') ? runConcurrency : 0;
  }

  private free(): number {
    return this.executionSlots.free();
  }

  /** Claims what may begin, `count` runs at most, and works on it. Answers for each when it is over. */
  private async take(count: number): Promise<Promise<void>[]> {
    const { runs, owner, newId, publish, config } = this.deps;
    const placement = { host: config.workerHost, environments: config.workerEnvironments };
    const ids = Array.from({ length: count }, () => newId());
    const askedAtMs = performance.now();
    this.executionSlots.reserve(count);
    try {
      const claimed = await runs.claim(owner, this.leaseMs(), count, ids, this.bounds(), placement);
      return claimed.map((run) => {
        publish(run.runId);
        return this.supervise(run, askedAtMs);
      });
    } finally {
      this.executionSlots.unreserve(count);
    }
  }

  private leaseMs(): number {
    return this.deps.leaseMs ?? EXECUTION_LEASE_MS;
  }

  private bounds(): LiveBounds {
    const { runsPerFactoryMax, runsPerAutomationMax, runsPerFactoryHereMax } = this.deps.config;
    return {
      perFactory: runsPerFactoryMax,
      perAutomation: runsPerAutomationMax,
      perFactoryHere: runsPerFactoryHereMax,
    };
  }

  private supervise(run: ClaimedRun, claimedAtMs: number): Promise<void> {
    const slot = this.executionSlots.hold(run.factoryUid);
    const supervision = new Supervision({
      ...this.deps,
      run,
      slot,
      leaseMs: this.leaseMs(),
      claimedAtMs,
    });
    this.supervised.set(run.runId, supervision);
    return supervision.start().then(() => {
      this.supervised.delete(run.runId);
      slot.release();
      this.deps.dispatch.ended(run);
    });
  }
}
