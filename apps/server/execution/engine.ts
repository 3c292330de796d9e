/** The embedded engine: an in-process loop over the run tables. Claims by conditional update, supervises, takes up what was lost. reference: Engine. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterLeaseExpiry, isUuid, type LeasedState } from '#runs';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { SecretReader } from '../secrets/reader.ts';
import type { DeliveryStore } from '../store/deliveries.ts';
import type { ClaimedRun, Ending, RunStore } from '../store/runs.ts';
import { killLeftover, type ProcessIdentity } from './processes.ts';
import { detectSandbox } from './sandboxes-detection.ts';
import type { Sandbox } from './sandboxes.ts';
import { harnessOf, Supervision } from './supervisor.ts';
import { removeWorkspace } from './workspaces.ts';

/** A supervisor that does not renew for this long has lost its run. */
export const LEASE_MS = 30_000;
/** Runs made by another process are found this late at most. */
const POLL_MS = 1_000;
/** How long a stopping service lets executions end by themselves. */
const DRAIN_MS = 5_000;
/** Folders looked at in one sweep; names sort by age. */
const SWEPT_MAX = 500;
const DAY_MS = 86_400_000;

export interface EngineParts {
  config: Config;
  runs: RunStore;
  deliveries: DeliveryStore;
  secrets: SecretReader;
  owner: string;
  nowMs(): number;
  newId(): string;
  log: Log;
}

export class Engine {
  private readonly parts: EngineParts;
  private readonly supervised = new Map<string, Supervision>();
  private sandbox: Promise<Sandbox> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private turning: Promise<void> | undefined;
  private again = false;
  private stopped = false;

  constructor(parts: EngineParts) {
    this.parts = parts;
  }

  start(): void {
    if (this.parts.config.runConcurrency === 0) return;
    this.timer = setInterval(() => this.wake(), POLL_MS);
    this.wake();
  }

  /** Something waits, or somebody wants a run cancelled: look now. */
  wake(): void {
    for (const supervision of this.supervised.values()) supervision.look();
    if (this.timer === undefined || this.stopped) return;
    this.again = true;
    this.turning ??= this.turn().finally(() => {
      this.turning = undefined;
    });
  }

  /** The means of isolation on this machine, found once. */
  means(): Promise<Sandbox> {
    const { config } = this.parts;
    return (this.sandbox ??= detectSandbox({ dataDir: config.dataDir, hidden: [config.masterKeyFile, config.uidKeyFile, config.tls?.keyFile].filter((file) => file !== undefined), path: config.searchPath }));
  }

  /** Kills what is left of executions that nobody supervises and decides what becomes of their runs. */
  async recover(): Promise<void> {
    const { runs, owner, config } = this.parts;
    for (const { run, process } of await runs.abandoned(owner, config.databaseUrl === undefined)) {
      if (this.supervised.has(run.run_id)) continue;
      if (process !== undefined) await killLeftover(JSON.parse(process) as ProcessIdentity, run.run_id);
      const decision = afterLeaseExpiry({
        state: run.state as LeasedState, takeovers: run.takeovers, harness: harnessOf(run.agent_config), restartable: config.runRestartable,
        cancelRequested: run.cancel_requested_at !== null,
      });
      await runs.takeOver(run.run_id, run.epoch, decision.next === 'requeue' ? 'requeue' : lossEnding(decision));
    }
    this.wake();
  }

  /** Removes the folders of runs that ended long ago; a bounded number at a time. */
  async sweepWorkspaces(): Promise<number> {
    const { runs, config, nowMs } = this.parts;
    const root = join(config.dataDir, 'runs');
    const present = (await readdir(root).catch(() => [])).filter((name) => isUuid(name) && !this.supervised.has(name)).sort();
    const over = await runs.over(present.slice(0, SWEPT_MAX), nowMs() - config.workspaceRetentionDays * DAY_MS);
    for (const runId of over) await removeWorkspace(root, runId);
    return over.length;
  }

  /** Claims nothing more, lets what runs end, then ends it. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.turning;
    const endings = Promise.all([...this.supervised.values()].map(({ done }) => done));
    await Promise.race([endings, new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())]);
    for (const supervision of this.supervised.values()) supervision.handOver();
    await endings;
  }

  private async turn(): Promise<void> {
    while (this.again && !this.stopped) {
      this.again = false;
      const free = this.parts.config.runConcurrency - this.supervised.size;
      if (free <= 0) return;
      try {
        const ids = Array.from({ length: free }, () => this.parts.newId());
        for (const run of await this.parts.runs.claim(this.parts.owner, LEASE_MS, free, ids)) this.supervise(run);
      } catch (error) {
        this.parts.log.fault('runs could not be claimed', error); // the next poll tries again
      }
    }
  }

  private supervise(run: ClaimedRun): void {
    const { config } = this.parts;
    const supervision = new Supervision({ ...this.parts, run, sandbox: this.means(), root: join(config.dataDir, 'runs'), leaseMs: LEASE_MS });
    this.supervised.set(run.runId, supervision);
    void supervision.done.finally(() => {
      this.supervised.delete(run.runId);
      this.wake();
    });
  }
}

function lossEnding(decision: { next: 'cancel' } | { next: 'error'; reason: 'takeovers-exhausted' | 'not-restartable' }): Ending {
  if (decision.next === 'cancel') return { state: 'CANCELLED', message: 'cancelled on request' };
  const why = decision.reason === 'not-restartable' ? 'a command that had begun is not started twice (MILLWRIGHT_RUN_RESTARTABLE=true allows it)' : 'it was lost too often';
  return { state: 'ERROR', message: `the service lost this execution, and ${why}`, errorCode: 'internal_error', retryable: true };
}
