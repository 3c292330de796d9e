/**
 * Sweeps of old rows: how far each is, and which process owns it. Another process continues that of a killed one. spec:
 * Limits (Delivery log retention).
 */
import type { Database } from '../database/database.ts';
import { defineTable, insertInto } from '../database/table.ts';
import { change, databaseNow, row, type Transaction } from '../database/transactions.ts';

/** How far each sweep is, and which process does it. */
export const SWEEP = defineTable('sweep', {
  name: 'key',
  place: 'text',
  owner: 'text?',
  lease_until: 'int',
  done_at: 'int',
});

/** One kind of rows that grow old. `T`: what is removed at once, wholly or not at all. */
export interface Sweep<T = unknown> {
  /** Under which its place is stored. */
  readonly name: string;
  /** A round begins this long after the last one has ended. */
  readonly everyMs: number;
  /**
   * What may go behind a place ('' is the beginning), a bounded part of the way. Only reads, and away from acceptances.
   */
  scan(place: string, nowMs: number): Transaction<SweepBatch<T>>;
  /** Removes these, unless something needs them by now. Answers the rows that went. */
  remove(targets: readonly T[], nowMs: number): Transaction<number>;
}

/** What a look has found. */
export interface SweepBatch<T = unknown> {
  targets: readonly WeightedTarget<T>[];
  /** Where the next look goes on, once these are gone. */
  place: string;
  /** The round ends here; the next one begins at `place`. */
  isOver: boolean;
}

/** `weight`: about what removing it costs, in small rows. */
export interface WeightedTarget<T> {
  target: T;
  weight: number;
}

/** A sweeper that is silent for so long has ended: longer than any look or removal takes. */
const LEASE_MS = 60_000;

export class SweepStore {
  private readonly database: Database;
  private readonly owner: string;
  /** `owner`: this process, among all that share the database. */
  constructor(database: Database, owner: string) {
    this.database = database;
    this.owner = owner;
  }

  /** Takes a sweep and answers its place; undefined while another process does it, or it is not due. */
  claim({ name, everyMs }: Sweep): Promise<string | undefined> {
    const { owner } = this;
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      yield* insertInto(SWEEP, [{ name, place: '', lease_until: 0, done_at: 0 }], { ignoreConflicts: true });
      // A round that ended in the future, and a lease of more than its length, were timed by a clock that was wrong.
      const claimed = yield* row<{ place: string }>(
        'UPDATE sweep SET owner = ?, lease_until = ? WHERE name = ? AND (owner = ? OR lease_until < ? ' +
          'OR lease_until > ?) AND (done_at <= ? OR done_at > ?) RETURNING place',
        owner,
        nowMs + LEASE_MS,
        name,
        owner,
        nowMs,
        nowMs + LEASE_MS,
        nowMs - everyMs,
        nowMs,
      );
      return claimed?.place;
    });
  }

  scan<T>(sweep: Sweep<T>, place: string): Promise<SweepBatch<T>> {
    return this.database.longRead(function* () {
      return yield* sweep.scan(place, yield* databaseNow());
    });
  }

  /**
   * Removes in one transaction with the place that they were found behind; undefined when another process has taken the
   * sweep over.
   */
  remove<T>(sweep: Sweep<T>, place: string, targets: readonly T[]): Promise<number | undefined> {
    return this.database.run(() => this.removeOwned(sweep, place, targets));
  }

  /** Keeps the sweep while nothing is found, and where it is; false when another process has taken it over. */
  renew(sweep: Sweep, place: string): Promise<boolean> {
    return this.database.run(() => this.renewLease(sweep.name, place));
  }

  /** Lets go of a sweep: its round has ended, or goes on later from this place. */
  async release({ name }: Sweep, place: string, isOver: boolean): Promise<void> {
    const { owner } = this;
    await this.database.run(function* () {
      yield* change(
        'UPDATE sweep SET owner = NULL, lease_until = 0, place = ?, done_at = ? WHERE name = ? AND owner = ?',
        place,
        isOver ? yield* databaseNow() : 0,
        name,
        owner,
      );
    });
  }

  private *removeOwned<T>(sweep: Sweep<T>, place: string, targets: readonly T[]): Transaction<number | undefined> {
    if (!(yield* this.renewLease(sweep.name, place))) return undefined;
    return yield* sweep.remove(targets, yield* databaseNow());
  }

  /** The row is locked until the transaction ends: two processes never remove the same. */
  private *renewLease(name: string, place: string): Transaction<boolean> {
    const nowMs = yield* databaseNow();
    return (
      (yield* change(
        'UPDATE sweep SET lease_until = ?, place = ? WHERE name = ? AND owner = ?',
        nowMs + LEASE_MS,
        place,
        name,
        this.owner,
      )) === 1
    );
  }
}
