/**
 * What one execution writes of its run: events in order, and everything else that has to be stored however long the
 * database is away. contract §3.1 (events).
 */
import type { RunUsage } from '#agents';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../process/log.ts';
import { StoreError } from '../../store/database/store-errors.ts';
import type { RunEvent } from '../../store/runs/run-log.ts';
import type { ClaimedRun, RunStore } from '../../store/runs/runs.ts';

/** Milliseconds after which a database that is away is asked again, for as long as the run is ours. */
const PERSIST_AGAIN_MS = 1_000;

export interface RunEventWriterDeps {
  run: ClaimedRun;
  runs: RunStore;
  nowMs(): number;
  /** Tells who watches a run that something new is stored of it. */
  publish(runId: string): void;
  log: Log;
  /** The run is ours no longer: nothing more is written. */
  isLost(): boolean;
  /** The execution is to be ended: nothing that it would need is waited for. */
  isStopped(): boolean;
  /** The store says that the run is ours no longer. */
  onLost(): void;
  /** What could not be written by now is left to whoever takes the run over: the service stops. */
  hasDrainTimedOut(): boolean;
}

/**
 * What the store answered. `isRepeated`: an attempt before may have been carried out, with its answer lost on the way.
 */
export interface StoreAnswer<T> {
  answer: T;
  isRepeated: boolean;
}

export class RunEventWriter {
  /** What is stored with the next entries; undefined until it is known what earlier executions have used. */
  usage: RunUsage | undefined;
  private readonly deps: RunEventWriterDeps;
  private readonly events: RunEvent[] = [];
  private writing: Promise<void> = Promise.resolve();

  constructor(deps: RunEventWriterDeps) {
    this.deps = deps;
  }

  push(event: RunEvent): void {
    this.events.push(event);
  }

  say(body: { text: string } | { state: string; message: string }): void {
    this.push({ kind: 'status', atMs: this.deps.nowMs(), body: JSON.stringify(body) });
  }

  /** Writes what was pushed since the last time, in order; what could not be written waits for the next time. */
  flush(): Promise<void> {
    this.writing = this.writing.then(async () => {
      const { run, runs, log, publish } = this.deps;
      const batch = this.events.splice(0);
      const used = this.usage?.unstored();
      if ((batch.length === 0 && used === undefined) || this.deps.isLost()) return;
      try {
        if ((await runs.append(run, batch, used)) === undefined) return this.deps.onLost();
        if (used !== undefined) this.usage?.stored(used);
        publish(run.runId);
      } catch (error) {
        this.events.unshift(...batch);
        log.fault('run log write failed', error, { run_id: run.runId });
      }
    });
    return this.writing;
  }

  /** Writes everything, however long that takes. */
  async drain(): Promise<void> {
    const { run, runs } = this.deps;
    await this.persist(async () => {
      const batch = this.events.splice(0);
      try {
        await runs.append(run, batch, this.usage?.unstored());
      } catch (error) {
        this.events.unshift(...batch);
        throw error;
      }
    });
  }

  forget(): void {
    this.events.length = 0;
  }

  /**
   * Writes something however long the database is away; undefined when the run is taken from us, or an attempt failed
   * and it is not wanted any more.
   */
  async persist<T>(write: () => Promise<T>, isWanted = (): boolean => true): Promise<T | undefined> {
    while (!this.deps.isLost()) {
      try {
        return await write();
      } catch (error) {
        const { log, run } = this.deps;
        log.fault('execution write failed, retrying', error, { run_id: run.runId });
        if (!isWanted() || this.deps.hasDrainTimedOut()) return undefined;
        await sleep(PERSIST_AGAIN_MS);
      }
    }
    return undefined;
  }

  /**
   * Asks the store until it can answer, for as long as the run is ours and wanted. Throws what another attempt would
   * not mend.
   */
  async retryWhileOwned<T>(ask: () => Promise<T>, isWanted = (): boolean => true): Promise<StoreAnswer<T> | undefined> {
    let attempts = 0;
    const asked = await this.persist(
      async () => {
        attempts += 1;
        try {
          return { answer: await ask(), isRepeated: attempts > 1 };
        } catch (fault) {
          if (fault instanceof StoreError && fault.kind !== 'broken') throw fault;
          return { fault };
        }
      },
      () => isWanted() && !this.deps.isStopped(),
    );
    if (asked !== undefined && 'fault' in asked) throw asked.fault;
    return asked;
  }
}
