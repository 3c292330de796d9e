/**
 * How an installation stands, for its operator's figures: runs that have not ended, conditions of factories, size of
 * the database. Read away from acceptances. contract §1.7 (Metrics).
 */
import { uuidv7TimeMs, type RunState } from '#runs';
import type { StoredCondition, StoredConditions } from '#reconcile';
import type { Database } from '../database/database.ts';
import { databaseNow, row, rows } from '../database/transactions.ts';

export interface LiveRunFigures {
  /** How many there are in each state that is met. */
  byState: ReadonlyMap<RunState, number>;
  /** Milliseconds since the run waits that waits longest; undefined: none does. */
  oldestWaitMs?: number;
}

export interface FactoryConditions {
  slug: string;
  suspended: boolean;
  /** Of each condition its status; what it says beside that is no figure, and kept for nobody. */
  conditions: Readonly<Record<string, StoredCondition['status']>>;
}

export class InstallationFigureStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  liveRuns(): Promise<LiveRunFigures> {
    return this.database.longRead(function* () {
      // In one statement, so that a run whose row is made meanwhile is counted once.
      const found = yield* rows<{ state: RunState; runs: number; since: number | null; oldest: string | null }>(
        `SELECT state, count(*) AS runs, min(updated_at) AS since, NULL AS oldest FROM run WHERE settled_at IS NULL
          GROUP BY state UNION ALL
        SELECT 'QUEUED' AS state, count(*) AS runs, NULL AS since, min(run_id) AS oldest FROM waiting_run`,
      );
      const nowMs = yield* databaseNow();
      const byState = new Map<RunState, number>();
      const since: number[] = [];
      for (const { state, runs, since: changedMs, oldest } of found) {
        byState.set(state, (byState.get(state) ?? 0) + runs);
        if (state === 'QUEUED' && changedMs !== null) since.push(changedMs);
        if (oldest !== null) since.push(uuidv7TimeMs(oldest));
      }
      return { byState, ...(since.length === 0 ? {} : { oldestWaitMs: Math.max(0, nowMs - Math.min(...since)) }) };
    });
  }

  /** As their last passes left them, in the order of their slugs. */
  async conditions(): Promise<FactoryConditions[]> {
    const found = await this.database.longRead(() =>
      rows<{ slug: string; suspended: number; conditions: string }>(
        'SELECT slug, suspended, conditions FROM factory WHERE deleted_at IS NULL ORDER BY slug',
      ),
    );
    return found.map(({ slug, suspended, conditions }) => ({
      slug,
      suspended: suspended === 1,
      conditions: statusesOf(JSON.parse(conditions) as StoredConditions),
    }));
  }

  async sizeBytes(): Promise<number> {
    const text =
      this.database.dialect === 'sqlite'
        ? 'SELECT c.page_count * s.page_size AS bytes FROM pragma_page_count AS c, pragma_page_size AS s'
        : 'SELECT pg_database_size(current_database()) AS bytes';
    return (await this.database.longRead(() => row<{ bytes: number }>(text)))?.bytes ?? 0;
  }
}

function statusesOf(conditions: StoredConditions): FactoryConditions['conditions'] {
  return Object.fromEntries(Object.entries(conditions).map(([condition, { status }]) => [condition, status]));
}
