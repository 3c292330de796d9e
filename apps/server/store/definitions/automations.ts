/**
 * Reads of automations: pages, single ones, which select a webhook, when they last fired, how many runs they started.
 * contract §4.
 */
import type { AutomationDefinition } from '#definitions';
import { IsNull, MoreThan } from 'typeorm';
import { firstUuidv7, isEnded, type RunState } from '#runs';
import type { Database } from '../database/database.ts';
import { withStoreErrors } from '../database/store-errors.ts';
import { FACTORY_OF_WAITING } from '../runs/waiting-runs.ts';
import { row, rows, type Transaction } from '../database/transactions.ts';
import { AUTOMATION, type AutomationRow } from './definition.entities.ts';
import { joinSql, phrase, type Sql, sql } from '../database/sql.ts';

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
      if (automationUids.length === 0) return new Map();
      const found = yield* query<{ uid: string; at: number | null }>(lastCreated(factoryUid, automationUids));
      const asked = new Set(automationUids);
      const fired = new Map<string, number>();
      for (const { uid, at } of found)
        if (at !== null && asked.has(uid)) fired.set(uid, Math.max(at, fired.get(uid) ?? 0));
      return fired;
    });
  }
}

/**
 * When the latest run of each automation was created: of those that wait as references, of open and of ended ones. In
 * one statement, so that a run that moves meanwhile is among them. An automation's latest ended run ended no earlier
 * than the run that ended last was created: only those are looked at.
 */
function lastCreated(factoryUid: string, automationUids: readonly string[]): Sql {
  return sql`${asked(automationUids)} SELECT automation_uid AS uid, max(created_at) AS at FROM run
      WHERE settled_at IS NULL AND factory_uid = ${factoryUid} AND automation_uid IS NOT NULL GROUP BY automation_uid
    UNION ALL SELECT automation_uid AS uid, max(created_at) AS at FROM waiting_run_row
      WHERE ${phrase(FACTORY_OF_WAITING)} = ${factoryUid} GROUP BY automation_uid
    UNION ALL SELECT a.uid, (SELECT max(r.created_at) FROM run r WHERE r.automation_uid = a.uid
      AND r.settled_at IS NOT NULL AND r.settled_at >= (SELECT latest.created_at FROM run latest
      WHERE latest.automation_uid = a.uid AND latest.settled_at IS NOT NULL
      ORDER BY latest.settled_at DESC LIMIT 1)) AS at FROM asked a`;
}

/** What a statement asks about: the table `asked` of their UIDs, one at least. */
function asked(uids: readonly string[]): Sql {
  return sql`WITH asked (uid) AS (VALUES ${joinSql(
    uids.map((uid) => sql`(${uid})`),
    ', ',
  )})`;
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

/** Runs of an automation by state, as in `FAILED 3,SUCCEEDED 7`; there may be several of one. */
interface CountedStates {
  uid: string;
  counts: string | null;
}

/**
 * Runs created since then of these automations of a factory; those without any are absent. Open runs are few, and are
 * looked at once for all of them. In one statement, so that a run that moves meanwhile is counted once.
 */
export function* recentRunsOf(
  factoryUid: string,
  automationUids: readonly string[],
  sinceMs: number,
  dialect: Database['dialect'],
): Transaction<Map<string, RecentRuns>> {
  if (automationUids.length === 0) return new Map();
  const first = firstUuidv7(sinceMs);
  const [open, ended] = [openRuns(factoryUid, first, dialect), endedRuns(sinceMs, first, dialect)];
  const found = yield* query<CountedStates>(sql`${asked(automationUids)} ${open} UNION ALL ${ended}`);
  const countsOf = new Map(automationUids.map((uid): [string, StateCount[]] => [uid, []]));
  for (const { uid, counts } of found) countsOf.get(uid)?.push(...stateCounts(counts ?? ''));
  const recent = new Map<string, RecentRuns>();
  for (const [uid, counts] of countsOf) {
    const runs = tallied(counts);
    if (runs.total > 0) recent.set(uid, runs);
  }
  return recent;
}

function openRuns(factoryUid: string, first: string, dialect: Database['dialect']): Sql {
  const hint = phrase(dialect === 'postgres' ? '' : ' INDEXED BY run_open');
  const counted = (runs: Sql) => sql`SELECT automation_uid AS uid, state || ' ' || count(*) AS counts FROM ${runs}
    = ${factoryUid} AND automation_uid IS NOT NULL AND run_id >= ${first}
    GROUP BY automation_uid, state`;
  return sql`${counted(sql`run${hint} WHERE settled_at IS NULL AND factory_uid`)}
    UNION ALL ${counted(phrase(`waiting_run_row WHERE ${FACTORY_OF_WAITING}`))}`;
}

/** What was created since then ended since then, too: the index is in order of the ends, and holds the states. */
function endedRuns(sinceMs: number, first: string, dialect: Database['dialect']): Sql {
  const hint = phrase(dialect === 'postgres' ? '' : ' INDEXED BY run_settled_automation_uid');
  return sql`SELECT a.uid, (SELECT string_agg(state || ' ' || n, ',') FROM (SELECT state, count(*) AS n FROM (
      SELECT state FROM run${hint} WHERE automation_uid = a.uid AND settled_at IS NOT NULL
      AND settled_at >= ${sinceMs} AND run_id >= ${first}
      ORDER BY settled_at DESC, run_id DESC LIMIT ${RECENT_RUNS_MAX}
    ) newest GROUP BY state) counted) AS counts FROM asked a`;
}

function stateCounts(counts: string): StateCount[] {
  return [...counts.matchAll(/(\w+) (\d+)/g)].map(([, state = '', n]) => ({ state, n: Number(n) }));
}

/** Open ones first, each in the order of their names. */
function tallied(counts: readonly StateCount[]): RecentRuns {
  const rank = ({ state }: StateCount): string => `${isEnded(state as RunState) ? 1 : 0} ${state}`;
  const states: Record<string, number> = {};
  let total = 0;
  for (const { state, n } of counts.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
    const counted = Math.min(n, RECENT_RUNS_MAX - total);
    if (counted > 0) states[state] = (states[state] ?? 0) + counted;
    total += counted;
  }
  return { total, states };
}

function query<R>({ text, params }: Sql): Transaction<R[]> {
  return rows<R>(text, ...params);
}
