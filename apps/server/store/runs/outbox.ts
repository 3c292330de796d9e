/**
 * The outbox of waiting runs: which were not published to the queue yet, and which may have been lost there.
 * explanation: Engine.
 */
import type { Database } from '../database/database.ts';
import { CLAIMS_LOCK } from './run-claims.ts';
import { waitsForOthers, type Placement } from './run-placement.ts';
import { change, databaseNow, lock, placeholders, row, rows, type Transaction } from '../database/transactions.ts';
import { isAnyReferring, materializeOldest } from './waiting-runs.ts';

/**
 * A run that waits to be claimed; each time that it waits it has a higher epoch than the last time that it was claimed.
 */
export interface WaitingRun {
  runId: string;
  epoch: number;
}

export class Outbox {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Waiting runs that were not published yet, oldest first. */
  async unpublished(limit: number): Promise<WaitingRun[]> {
    // What was published is noted in rows of `run`.
    if (await this.database.read(isAnyReferring)) await this.database.run(() => materializeOldest(limit));
    return this.database.read(() =>
      waiting('AND (told_epoch IS NULL OR told_epoch < epoch) ORDER BY run_id LIMIT ?', limit),
    );
  }

  /** Notes that these were published to the queue. One that was claimed meanwhile stays as it is. */
  async markPublished(published: readonly WaitingRun[]): Promise<void> {
    await this.database.run(function* () {
      yield* lock(CLAIMS_LOCK); // or whoever got the token would not find the run
      for (const epoch of new Set(published.map((run) => run.epoch))) {
        const runIds = published.filter((run) => run.epoch === epoch).map(({ runId }) => runId);
        yield* change(
          `UPDATE run SET told_epoch = ? WHERE run_id IN (${placeholders(runIds.length)}) AND epoch = ? ` +
            `AND state = 'QUEUED'`,
          epoch,
          ...runIds,
          epoch,
        );
      }
    });
  }

  /** Some of the runs that wait although they were published more than `longMs` ago. */
  leftBehind(longMs: number, limit: number): Promise<WaitingRun[]> {
    return this.database.read(function* () {
      const beforeMs = (yield* databaseNow()) - longMs;
      return yield* waiting('AND told_epoch = epoch AND updated_at < ? LIMIT ?', beforeMs, limit);
    });
  }

  /** Whether any run waits. */
  async isAnyWaiting(): Promise<boolean> {
    return (
      (await this.database.read(isAnyReferring)) ||
      (await this.database.read(() => row("SELECT 1 AS waits FROM run WHERE state = 'QUEUED' LIMIT 1"))) !== undefined
    );
  }

  /** Whether any run waits that only other processes may take. */
  isAnyForOthers(placement: Placement): Promise<boolean> {
    return this.database.read(() => waitsForOthers(placement));
  }
}

function* waiting(which: string, ...params: number[]): Transaction<WaitingRun[]> {
  const found = yield* rows<{ run_id: string; epoch: number }>(
    `SELECT run_id, epoch FROM run WHERE state = 'QUEUED' ${which}`,
    ...params,
  );
  return found.map(({ run_id: runId, epoch }) => ({ runId, epoch }));
}
