/**
 * Reads of automations: pages, single ones, which select a webhook, when they last fired, how many runs they started.
 * contract §4.
 */
import type { AutomationDefinition } from '#definitions';
import { IsNull, MoreThan } from 'typeorm';
import { firstUuidv7 } from '#runs';
import type { Database } from '../database/database.ts';
import { withStoreErrors } from '../database/store-errors.ts';
import { row, rows, type Transaction } from '../database/transactions.ts';
import { AUTOMATION, type AutomationRow } from './definition.entities.ts';
import { phrase, type Sql, sql } from '../database/sql.ts';

/** An automation as others refer to it. */
export interface AutomationReference {
  uid: string;
  slug: string;
  name: string;
  enabled: boolean;
}

export class AutomationStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Live automations of a factory by slug, from behind the slug `after`. */
  list(factoryUid: string, limit: number, after = ''): Promise<AutomationRow[]> {
    const where = { factory_uid: factoryUid, deleted_at: IsNull(), slug: MoreThan(after) };
    return withStoreErrors(
      this.database.source.getRepository(AUTOMATION).find({ where, order: { slug: 'ASC' }, take: limit }),
    );
  }

  /** Slugs of all live automations of a factory. */
  async slugs(factoryUid: string): Promise<string[]> {
    return (
      await this.database.read(() =>
        rows<{ slug: string }>('SELECT slug FROM automation WHERE factory_uid = ? AND deleted_at IS NULL', factoryUid),
      )
    ).map(({ slug }) => slug);
  }

  /** Names of the environments and skills that automations of a factory may refer to. */
  async resourceNames(factoryUid: string): Promise<{ environments: string[]; skills: string[] }> {
    const found = await this.database.read(() =>
      rows<{ kind: string; slug: string }>(
        'SELECT kind, slug FROM resource WHERE factory_uid = ? AND deleted_at IS NULL ORDER BY slug',
        factoryUid,
      ),
    );
    const named = (wanted: string): string[] => found.filter(({ kind }) => kind === wanted).map(({ slug }) => slug);
    return { environments: named('environment'), skills: named('skill') };
  }

  async find(uid: string): Promise<AutomationRow | undefined> {
    return (
      (await withStoreErrors(
        this.database.source.getRepository(AUTOMATION).findOneBy({ uid, deleted_at: IsNull() }),
      )) ?? undefined
    );
  }

  /** Text of the file that an automation of a managed factory was applied from; undefined where none was kept. */
  async fileText(uid: string): Promise<string | undefined> {
    return (
      (await this.database.read(() => row<{ text: string | null }>('SELECT text FROM automation WHERE uid = ?', uid)))
        ?.text ?? undefined
    );
  }

  /** Live automations of a factory that a delivery of this webhook can start, by slug. */
  async selecting(factoryUid: string, webhookUid: string): Promise<AutomationReference[]> {
    const found = await this.database.longRead(() =>
      rows<{ uid: string; slug: string; name: string; enabled: number; definition: string }>(
        'SELECT uid, slug, name, enabled, definition FROM automation WHERE factory_uid = ? ' +
          'AND deleted_at IS NULL AND definition LIKE ? ORDER BY slug',
        factoryUid,
        `%"${webhookUid}"%`,
      ),
    );
    const selects = ({ definition }: { definition: string }): boolean =>
      (JSON.parse(definition) as AutomationDefinition).triggers.some(
        (trigger) => trigger.provider === 'webhook' && trigger.webhookUids.includes(webhookUid),
      );
    return found.filter(selects).map(({ uid, slug, name, enabled }) => ({ uid, slug, name, enabled: enabled === 1 }));
  }

  /** Runs that each of these automations of a factory started since then; those that started none are absent. */
  recentRuns(factoryUid: string, automationUids: readonly string[], sinceMs: number): Promise<Map<string, RecentRuns>> {
    const { dialect } = this.database;
    return this.database.longRead(() => recentRunsOf(factoryUid, automationUids, sinceMs, dialect));
  }

  /**
   * When each of these automations of a factory last started a run, in milliseconds; those that never did are absent.
   */
  lastFired(factoryUid: string, automationUids: readonly string[]): Promise<Map<string, number>> {
    return this.database.longRead(function* () {
      const open = yield* rows<{ uid: string; at: number }>(
        'SELECT automation_uid AS uid, max(created_at) AS at FROM run WHERE settled_at IS NULL ' +
          'AND factory_uid = ? AND automation_uid IS NOT NULL GROUP BY automation_uid',
        factoryUid,
      );
      const waiting = yield* rows<{ uid: string; at: number }>(
        'SELECT automation_uid AS uid, max(created_at) AS at FROM waiting_run_row WHERE factory_uid = ? ' +
          'GROUP BY automation_uid',
        factoryUid,
      );
      const last = new Map<string, number>();
      for (const { uid, at } of [...open, ...waiting]) last.set(uid, Math.max(at, last.get(uid) ?? 0));
      const fired = new Map<string, number>();
      for (const uid of automationUids) {
        const at = Math.max(last.get(uid) ?? 0, (yield* lastEnded(uid)) ?? 0);
        if (at > 0) fired.set(uid, at);
      }
      return fired;
    });
  }
}

/**
 * When the latest of an automation's ended runs was created. It ended no earlier than the run that ended last was
 * created: only those are looked at.
 */
function* lastEnded(automationUid: string): Transaction<number | undefined> {
  const found = yield* row<{ at: number | null }>(
    `SELECT max(created_at) AS at FROM run WHERE automation_uid = ? AND settled_at IS NOT NULL AND settled_at >=
      (SELECT latest.created_at FROM run latest WHERE latest.automation_uid = ? AND latest.settled_at IS NOT NULL
      ORDER BY latest.settled_at DESC LIMIT 1)`,
    automationUid,
    automationUid,
  );
  return found?.at ?? undefined;
}

/**
 * Runs of one automation that are counted: a page of automations, each of which starts as many as one webhook may, is
 * still counted within a second or so.
 */
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

/**
 * Runs created since then of these automations of a factory; those without any are absent. Open runs are few, and are
 * looked at once for all of them.
 */
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
  const counted = (runs: Sql) => sql`SELECT automation_uid AS uid, state, count(*) AS n FROM ${runs}
    AND factory_uid = ${factoryUid} AND automation_uid IS NOT NULL AND run_id >= ${first}
    GROUP BY automation_uid, state`;
  return sql`${counted(sql`run${hint} WHERE settled_at IS NULL`)}
    UNION ALL ${counted(phrase('waiting_run_row WHERE true'))} ORDER BY uid, state`;
}

/** What was created since then ended since then, too: the index is in order of the ends, and holds the states. */
function endedRuns(automationUid: string, sinceMs: number, first: string, dialect: Database['dialect']): Sql {
  const hint = phrase(dialect === 'postgres' ? '' : ' INDEXED BY run_settled_automation_uid');
  return sql`SELECT state, count(*) AS n FROM (
      SELECT state FROM run${hint} WHERE automation_uid = ${automationUid} AND settled_at IS NOT NULL
      AND settled_at >= ${sinceMs} AND run_id >= ${first}
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
