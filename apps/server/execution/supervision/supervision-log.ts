/** What one execution writes of its run: events in order, and everything else that has to be stored however long the database is away. contract 3 (events). */
import type { RunUsage } from '#agents';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../process/log.ts';
import type { RunEvent } from '../../store/runs/run-log.ts';
import type { ClaimedRun, RunStore } from '../../store/runs/runs.ts';

/** A database that is away is asked again after this time, for as long as the run is ours. */
const PERSIST_AGAIN_MS = 1_000;

export interface SupervisionLogDeps {
  run: ClaimedRun;
  runs: RunStore;
  nowMs(): number;
  /** Tells who watches a run that something new is stored of it. */
  tell(runId: string): void;
  log: Log;
  /** The run is ours no longer: nothing more is written. */
  isLost(): boolean;
  /** The store says that the run is ours no longer. */
  onLost(): void;
  /** What could not be written by now is left to whoever takes the run over: the service stops. */
  isTooLate(): boolean;
}

export class SupervisionLog {
  /** What is stored with the next entries; undefined until it is known what earlier executions have used. */
  usage: RunUsage | undefined;
  private readonly parts: SupervisionLogDeps;
  private readonly events: RunEvent[] = [];
  private writing: Promise<void> = Promise.resolve();

  constructor(parts: SupervisionLogDeps) {
    this.parts = parts;
  }

  push(event: RunEvent): void {
    this.events.push(event);
  }

  say(body: { text: string } | { state: string; message: string }): void {
    this.push({ kind: 'status', atMs: this.parts.nowMs(), body: JSON.stringify(body) });
  }

  /** Writes what was told since the last time, in order; what could not be written is kept for the next time. */
  flush(): Promise<void> {
    this.writing = this.writing.then(async () => {
      const { run, runs, log, tell } = this.parts;
      const batch = this.events.splice(0);
      const used = this.usage?.unstored();
      if ((batch.length === 0 && used === undefined) || this.parts.isLost()) return;
      try {
        if ((await runs.append(run, batch, used)) === undefined) return this.parts.onLost();
        if (used !== undefined) this.usage?.stored(used);
        tell(run.runId);
      } catch (error) {
        this.events.unshift(...batch);
        log.fault('the log of a run could not be written', error, { run_id: run.runId });
      }
    });
    return this.writing;
  }

  /** Writes everything, however long that takes. */
  async drain(): Promise<void> {
    const { run, runs } = this.parts;
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

  /** Writes something however long the database is away; undefined when the run is taken from us, or an attempt failed and it is not wanted any more. */
  async persist<T>(write: () => Promise<T>, isWanted = (): boolean => true): Promise<T | undefined> {
    while (!this.parts.isLost()) {
      try {
        return await write();
      } catch (error) {
        this.parts.log.fault('something of an execution could not be written yet', error, {
          run_id: this.parts.run.runId,
        });
        if (!isWanted() || this.parts.isTooLate()) return undefined;
        await sleep(PERSIST_AGAIN_MS);
      }
    }
    return undefined;
  }
}
