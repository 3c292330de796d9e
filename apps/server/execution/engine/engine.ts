/** What this process works on: claims by conditional update, supervises, takes up what was lost, hands over. The same whoever tells it that something waits. reference: Engine. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterLeaseExpiry, isUuid, type LeasedState, type LiveBounds } from '#runs';
import type { Log } from '../../process/log.ts';
import type { ArtifactStore, AttachmentStore } from '../../store/runs/run-files.ts';
import { ABANDONED_MAX, type AbandonedRun } from '../../store/runs/run-executions.ts';
import type { PermissionStore } from '../../store/runs/permissions.ts';
import type { RunHistoryStore } from '../../store/runs/run-history.ts';
import type { ClaimedRun, RunEnd, RunStore } from '../../store/runs/runs.ts';
import type { Dispatch } from './dispatch.ts';
import { killLeftover, type ProcessIdentity } from '../command/process-tree.ts';
import { detectSandbox } from '../sandbox/sandboxes-detection.ts';
import type { Sandbox } from '../sandbox/sandboxes.ts';
import { type ExecutionSpecDeps, harnessOf } from '../preparation/execution-spec.ts';
import { Supervision } from '../supervision/supervisor.ts';
import { bytesBelow } from '../workspace/workspaces-size.ts';
import { removeWorkspace } from '../workspace/workspaces.ts';

/** A supervisor that does not renew for this long has lost its run. */
export const EXECUTION_LEASE_MS = 30_000;
/** A disk that fills up is noticed this late at most. */
const DISK_MS = 1_000;
/** Folders looked at in one sweep; names sort by age. */
const SWEPT_MAX = 500;
const DAY_MS = 86_400_000;
/** A run that takes less than this is not what fills a disk. */
const RELIEF_BYTES_MIN = 16 * 1_048_576;

export interface EngineParts extends Omit<ExecutionSpecDeps, 'sandbox'> {
  runs: RunStore;
  attachments: AttachmentStore;
  artifacts: ArtifactStore;
  permissions: PermissionStore;
  histories: RunHistoryStore;
  owner: string;
  /** Tells who watches a run that something new is stored of it. */
  tell(runId: string): void;
  dispatch: Dispatch;
  /** Whether the data folder's disk has less than its reserve. */
  isDiskLow(): boolean;
  /** Gives back what copies of repositories take, while the disk is low; what `isDiskLow` says afterwards is as it then is. */
  relieveOfRepositories(): Promise<void>;
  nowMs(): number;
  newId(): string;
  log: Log;
  /** Milliseconds; LEASE_MS unless said. */
  leaseMs?: number;
}

export class Engine {
  private readonly parts: EngineParts;
  private readonly supervised = new Map<string, Supervision>();
  private sandbox: Promise<Sandbox> | undefined;
  /** Places that runs are being claimed for. */
  private claiming = 0;
  private recovering: Promise<void> | undefined;
  private readonly hurried = new AbortController();
  private stopped = false;
  private sweptUpTo = '';
  private diskTimer: NodeJS.Timeout | undefined;

  constructor(parts: EngineParts) {
    this.parts = parts;
  }

  start(): void {
    this.diskTimer = setInterval(
      () =>
        void this.relieveDisk().catch((error: unknown) =>
          this.parts.log.fault('the disk could not be relieved', error),
        ),
      DISK_MS,
    );
    this.parts.dispatch.start({ count: this.places(), free: () => this.free(), take: (count) => this.take(count) });
  }

  /** Something waits, or somebody wants a run cancelled: look now. */
  wake(): void {
    for (const supervision of this.supervised.values()) supervision.look();
    if (!this.stopped) this.parts.dispatch.wake();
  }

  /** Runs that could be started at once; where other processes do the work, one: nobody here knows of more. */
  freePlaces(): number {
    if (this.places() === 0 && this.parts.config.databaseUrl !== undefined) return 1;
    return this.free();
  }

  /** The means of isolation on this machine, found once. */
  means(): Promise<Sandbox> {
    const { config } = this.parts;
    return (this.sandbox ??= detectSandbox({
      dataDir: config.dataDir,
      hidden: [config.masterKeyFile, config.uidKeyFile, config.tls?.keyFile].filter((file) => file !== undefined),
      path: config.searchPath,
    }));
  }

  /** Kills what is left of executions that nobody supervises and decides what becomes of their runs. */
  async recover(): Promise<void> {
    await (this.recovering ??= this.takeUp().finally(() => {
      this.recovering = undefined;
    }));
    this.wake();
  }

  private async takeUp(): Promise<void> {
    const { runs, owner, config } = this.parts;
    for (let isMore = true; isMore;) {
      const found = await runs.abandoned(owner, config.databaseUrl === undefined);
      for (const lost of found) if (!this.supervised.has(lost.run.run_id)) await this.takeOver(lost);
      // Only what was decided makes room for others.
      isMore = found.length === ABANDONED_MAX && !found.some(({ run }) => this.supervised.has(run.run_id));
    }
  }

  private async takeOver({ run, process }: AbandonedRun): Promise<void> {
    const { runs, config, log, tell } = this.parts;
    await killLeftover(
      process === undefined ? undefined : (JSON.parse(process) as ProcessIdentity),
      run.run_id,
      run.epoch,
    );
    const decision = afterLeaseExpiry({
      state: run.state as LeasedState,
      takeovers: run.takeovers,
      harness: harnessOf(run.agent_config),
      restartable: config.runRestartable,
      cancelRequested: run.cancel_requested_at !== null,
    });
    if (!(await runs.reclaim(run.run_id, run.epoch, decision.next === 'requeue' ? 'requeue' : lossEnding(decision))))
      return;
    log.warn('a lost execution was taken over', { run_id: run.run_id, epoch: run.epoch, next: decision.next });
    tell(run.run_id);
  }

  /** Removes the folders of runs that ended long ago; a bounded number at a time, the next ones the next time. */
  async sweepWorkspaces(): Promise<number> {
    const { runs, config, nowMs, log } = this.parts;
    const root = this.workspaces();
    const present = (await readdir(root).catch(() => []))
      .filter((name) => isUuid(name) && !this.supervised.has(name))
      .sort();
    const some = present.filter((name) => name > this.sweptUpTo).slice(0, SWEPT_MAX);
    this.sweptUpTo = some.length === SWEPT_MAX ? (some.at(-1) ?? '') : '';
    const over = await runs.expired(some, nowMs() - config.workspaceRetentionDays * DAY_MS);
    for (const runId of over) {
      await removeWorkspace(root, runId).catch((error: unknown) =>
        log.fault('a workspace could not be removed', error, { run_id: runId }),
      );
    }
    return over.length;
  }

  /** While the disk is nearly full, gives back what no run needs, then ends the run whose folders take the most: one run must not stop the service. */
  async relieveDisk(): Promise<void> {
    if (!this.parts.isDiskLow()) return;
    await this.parts.relieveOfRepositories();
    if (!this.parts.isDiskLow() || this.supervised.size === 0) return;
    const used = await Promise.all(
      [...this.supervised.keys()].map(async (runId) => ({
        runId,
        bytes: await bytesBelow(join(this.workspaces(), runId)),
      })),
    );
    const [largest] = used.sort((a, b) => b.bytes - a.bytes);
    if (largest === undefined || largest.bytes < RELIEF_BYTES_MIN) return;
    this.supervised.get(largest.runId)?.endFor('the disk was nearly full, and this run had taken the most of it');
  }

  private workspaces(): string {
    return join(this.parts.config.dataDir, 'runs');
  }

  /** Claims nothing more, gives what runs the time of the drain to end, then ends it and hands it over to whoever claims it next. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.diskTimer);
    await this.parts.dispatch.stop();
    await this.recovering?.catch(() => undefined);
    const endings = Promise.all([...this.supervised.values()].map(({ done }) => done));
    await Promise.race([
      endings,
      sleep(this.parts.config.drainMs, undefined, { signal: this.hurried.signal, ref: false }).catch(() => undefined),
    ]);
    for (const supervision of this.supervised.values()) supervision.handOver(this.hurried.signal.aborted);
    await endings;
    await this.parts.dispatch.close();
  }

  /** Somebody asks a second time that the service stops: what still runs is killed at once, and handed over. */
  hurry(): void {
    this.hurried.abort();
    if (this.stopped) for (const supervision of this.supervised.values()) supervision.handOver(true);
  }

  private places(): number {
    const { roles, runConcurrency } = this.parts.config;
    return roles.has('worker') ? runConcurrency : 0;
  }

  private free(): number {
    return Math.max(0, this.places() - this.supervised.size - this.claiming);
  }

  /** Claims what may begin, `count` runs at most, and works on it. Answers for each when it is over. */
  private async take(count: number): Promise<Promise<void>[]> {
    const { runs, owner, newId, tell, config } = this.parts;
    const placement = { host: config.workerHost, environments: config.workerEnvironments };
    const ids = Array.from({ length: count }, () => newId());
    const askedAtMs = performance.now();
    this.claiming += count;
    try {
      const claimed = await runs.claim(owner, this.leaseMs(), count, ids, this.bounds(), placement);
      return claimed.map((run) => {
        tell(run.runId);
        return this.supervise(run, askedAtMs);
      });
    } finally {
      this.claiming -= count;
    }
  }

  private leaseMs(): number {
    return this.parts.leaseMs ?? EXECUTION_LEASE_MS;
  }

  private bounds(): LiveBounds {
    const { runsPerFactoryMax, runsPerAutomationMax } = this.parts.config;
    return { perFactory: runsPerFactoryMax, perAutomation: runsPerAutomationMax };
  }

  private supervise(run: ClaimedRun, claimedAtMs: number): Promise<void> {
    const supervision = new Supervision({
      ...this.parts,
      run,
      sandbox: this.means(),
      root: this.workspaces(),
      leaseMs: this.leaseMs(),
      claimedAtMs,
    });
    this.supervised.set(run.runId, supervision);
    return supervision.done.then(() => {
      this.supervised.delete(run.runId);
      this.parts.dispatch.ended(run);
    });
  }
}

function lossEnding(
  decision: { next: 'cancel' } | { next: 'error'; reason: 'takeovers-exhausted' | 'not-restartable' },
): RunEnd {
  if (decision.next === 'cancel') return { state: 'CANCELLED', message: 'cancelled on request' };
  const why =
    decision.reason === 'not-restartable'
      ? 'a command that had begun is not started twice (MILLWRIGHT_RUN_RESTARTABLE=true allows it)'
      : 'it was lost too often';
  return {
    state: 'ERROR',
    message: `the service lost this execution, and ${why}`,
    errorCode: 'internal_error',
    retryable: true,
  };
}
