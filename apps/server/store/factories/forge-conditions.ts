/**
 * Which process answers the pull requests of a factory, and how its forge answered last. contract §9.9 (Feedback in
 * pull requests).
 */
import type { Database } from '../database/database.ts';
import { withStoreErrors } from '../database/store-errors.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, row, rows } from '../database/transactions.ts';
import { recordEvents, type NamedEvent } from './events.ts';
import { forgetFeedback } from './feedback-rows.ts';
import { FORGE, type ForgeRow } from './feedback.entities.ts';

/** How a forge answered last. Times are of the database. */
export interface ForgeCondition {
  place: string;
  polledAtMs?: number;
  failures: number;
  fault?: string;
  message?: string;
  retryAtMs: number;
  passSeen?: string;
}

const FORGE_COLUMNS = FORGE.columns.join(', ');

export class ForgeStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** UIDs of the live factories whose source names a forge. */
  async factories(): Promise<string[]> {
    const found = await this.database.longRead(() =>
      rows<{ uid: string }>(
        `SELECT uid FROM factory WHERE deleted_at IS NULL AND source LIKE '%"forge":"%' ORDER BY uid`,
      ),
    );
    return found.map(({ uid }) => uid);
  }

  async condition(uid: string): Promise<ForgeCondition | undefined> {
    const found = await withStoreErrors(this.database.source.getRepository(FORGE).findOneBy({ factory_uid: uid }));
    return found === null ? undefined : toCondition(found);
  }

  /**
   * The right to answer the pull requests of a factory, for `forMs`; undefined while another process has it. Another
   * place begins anew.
   */
  acquire(uid: string, place: string, owner: string, forMs: number): Promise<ForgeCondition | undefined> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const fresh = { factory_uid: uid, place, failures: 0, retry_at: 0, lease_until: 0 };
      yield* insertInto(FORGE, [fresh], { ignoreConflicts: true });
      const acquired = yield* row<ForgeRow>(
        'UPDATE forge SET lease_owner = ?, lease_until = ? WHERE factory_uid = ? AND (lease_owner = ? ' +
          `OR lease_until < ?) RETURNING ${FORGE_COLUMNS}`,
        owner,
        nowMs + forMs,
        uid,
        owner,
        nowMs,
      );
      if (acquired === undefined) return undefined;
      if (acquired.place === place) return toCondition(acquired);
      yield* forgetFeedback(uid, false);
      yield* change(
        'UPDATE forge SET place = ?, polled_at = NULL, failures = 0, fault = NULL, message = NULL, retry_at = 0, ' +
          'pass_seen = NULL WHERE factory_uid = ?',
        place,
        uid,
      );
      return { place, failures: 0, retryAtMs: 0 };
    });
  }

  /** False where another process has taken over. */
  async renew(uid: string, owner: string, forMs: number): Promise<boolean> {
    const renewed = await this.database.run(function* () {
      const nowMs = yield* databaseNow();
      return yield* change(
        'UPDATE forge SET lease_until = ? WHERE factory_uid = ? AND lease_owner = ?',
        nowMs + forMs,
        uid,
        owner,
      );
    }, 'lazily');
    return renewed === 1;
  }

  async release(uid: string, owner: string): Promise<void> {
    await this.database.run(
      () => change('UPDATE forge SET lease_until = 0 WHERE factory_uid = ? AND lease_owner = ?', uid, owner),
      'lazily',
    );
  }

  /** The forge answered: what was wrong with it is over. Answers whether something was. */
  answered(uid: string, event: NamedEvent): Promise<boolean> {
    return this.database.run(function* () {
      const healed = yield* change(
        'UPDATE forge SET failures = 0, fault = NULL, message = NULL, retry_at = 0 WHERE factory_uid = ? ' +
          'AND failures > 0',
        uid,
      );
      if (healed === 1) yield* recordEvents(uid, [event], yield* databaseNow());
      return healed === 1;
    }, 'lazily');
  }

  /** The forge took nothing. The event is recorded once for each kind of fault. */
  faulted(
    uid: string,
    { fault, message, delayMs }: { fault: string; message: string; delayMs: number },
    event: NamedEvent,
  ): Promise<void> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const before = yield* row<{ fault: string | null }>(
        'SELECT fault FROM forge WHERE factory_uid = ? FOR UPDATE',
        uid,
      );
      yield* change(
        'UPDATE forge SET failures = failures + 1, fault = ?, message = ?, retry_at = ? WHERE factory_uid = ?',
        fault,
        message,
        nowMs + delayMs,
        uid,
      );
      if (before !== undefined && before.fault !== fault) yield* recordEvents(uid, [event], nowMs);
    });
  }
}

function toCondition(found: ForgeRow): ForgeCondition {
  return {
    place: found.place,
    polledAtMs: found.polled_at ?? undefined,
    failures: found.failures,
    fault: found.fault ?? undefined,
    message: found.message ?? undefined,
    retryAtMs: found.retry_at,
    passSeen: found.pass_seen ?? undefined,
  };
}
