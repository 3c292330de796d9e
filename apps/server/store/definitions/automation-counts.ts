/** How many runs automations started lately, by state: counted along indexes, up to a bound. contract 4 (automations). */
import { firstUuidv7 } from '#runs';
import type { Database } from '../database/database.ts';
import { phrase, sql, type Sql } from '../database/sql.ts';
import { rows, type Transaction } from '../database/transactions.ts';

/** Runs of one automation that are counted: a page of automations, each of which starts as many as one webhook may, is still counted within a second or so. */
export const RECENT_RUNS_MAX = 10_000;

/** Runs by state; `total` is their sum. */
export interface RecentRuns {
  total: number;
  states: Readonly<Record<string, number>>;
}

interface StateCount {
  state: string;
  n: number;
}

/** Runs created since then of these automations of a factory; those without any are absent. Open runs are few, and are looked at once for all of them. */
export function* recentRunsOf(
  factoryUid: string,
  automationUids: readonly string[],
  sinceMs: number,
  dialect: Database['dialect'],
): Transaction<Map<string, RecentRuns>> {
  const first = firstUuidv7(sinceMs);
  const open =
    automationUids.length === 0 ? [] : yield* query<StateCount & { uid: string }>(openRuns(factoryUid, first, dialect));
  const recent = new Map<string, RecentRuns>();
  for (const uid of automationUids) {
    const ended = yield* query<StateCount>(endedRuns(uid, sinceMs, first, dialect));
    const runs = tallied([...open.filter((run) => run.uid === uid), ...ended]);
    if (runs.total > 0) recent.set(uid, runs);
  }
  return recent;
}

function openRuns(factoryUid: string, first: string, dialect: Database['dialect']): Sql {
  const hint = phrase(dialect === 'postgres' ? '' : ' INDEXED BY run_open');
  return sql`SELECT automation_uid AS uid, state, count(*) AS n FROM run${hint}
    WHERE settled_at IS NULL AND factory_uid = ${factoryUid} AND automation_uid IS NOT NULL AND run_id >= ${first} GROUP BY automation_uid, state ORDER BY automation_uid, state`;
}

/** What was created since then ended since then, too: the index is in order of the ends, and holds the states. */
function endedRuns(automationUid: string, sinceMs: number, first: string, dialect: Database['dialect']): Sql {
  const hint = phrase(dialect === 'postgres' ? '' : ' INDEXED BY run_settled_automation_uid');
  return sql`SELECT state, count(*) AS n FROM (
      SELECT state FROM run${hint} WHERE automation_uid = ${automationUid} AND settled_at IS NOT NULL AND settled_at >= ${sinceMs} AND run_id >= ${first}
      ORDER BY settled_at DESC, run_id DESC LIMIT ${RECENT_RUNS_MAX}
    ) newest GROUP BY state ORDER BY state`;
}

function tallied(counts: readonly StateCount[]): RecentRuns {
  const states: Record<string, number> = {};
  let total = 0;
  for (const { state, n } of counts) {
    const counted = Math.min(n, RECENT_RUNS_MAX - total);
    if (counted > 0) states[state] = (states[state] ?? 0) + counted;
    total += counted;
  }
  return { total, states };
}

function query<R>({ text, params }: Sql): Transaction<R[]> {
  return rows<R>(text, ...params);
}
