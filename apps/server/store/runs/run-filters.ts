/** What a list of runs is narrowed by, and each filter as a condition on a run. contract §3.7 (List). */
import { isEnded, type RunState } from '#runs';
import { joinSql, oneOf, phrase, sql, type Sql } from '../database/sql.ts';

/** Runs above a run that are looked at: nobody starts runs that deep. */
const ANCESTORS_MAX = 1_000;

/** Columns that are asked for one exact value, those that fewest runs share first. */
export const EXACT_COLUMNS = [
  'delivery_id',
  'automation_uid',
  'schedule_id',
  'webhook_uid',
  'creator_uid',
  'config_name',
  'skill_spec',
  'environment_id',
  'model_id',
  'definition_revision',
] as const;
export type ExactColumn = (typeof EXACT_COLUMNS)[number];

/** Runs that count for what goes on below them, whatever became of themselves. */
export interface ActiveBelow {
  /** States of which some run below is in one. */
  active: readonly RunState[];
  /** States that such a run itself may be in; any, if not said. */
  own?: readonly RunState[];
  /** Runs below are found through runs of these factories only, where some are named. */
  factoryUids?: readonly string[];
}

/** Members narrow a list together; absent ones do not. */
export interface RunFilter {
  states?: readonly RunState[];
  /** Runs that are shown beside those of `states`; without these it says nothing. */
  activeBelow?: ActiveBelow;
  sources?: readonly string[];
  /** Also what a limited key may see: no member leads to a run of another factory, or of none. */
  factoryUids?: readonly string[];
  exact?: Readonly<Partial<Record<ExactColumn, string>>>;
  withoutEnvironment?: boolean;
  /** Only runs of a factory, whichever. */
  ofAnyFactory?: boolean;
  runId?: string;
  /** Who works: the creator, where a run names nobody else. */
  executorUid?: string;
  /** Exclusive, milliseconds since the epoch. */
  createdAfterMs?: number;
  createdBeforeMs?: number;
  updatedAfterMs?: number;
  /** All runs below this one. */
  ancestorRunId?: string;
  artifactType?: string;
  /** Entries of the caller's own, all of them. */
  metadata?: Readonly<Record<string, string>>;
  /** Each stands somewhere in title, prompt or skill; A–Z are a–z. */
  words?: readonly string[];
}

/** One thing that must be true of a run, which it calls `c`. */
export interface FilterCondition {
  /** The filter that it is. */
  name: string;
  test: Sql;
  /** What it looks at in the run's row. */
  columns: readonly string[];
}

/** Everything that a filter asks for, what is cheap to look at first. `dialect` decides how text is compared. */
export function filterConditions(filter: RunFilter, dialect: 'sqlite' | 'postgres'): FilterCondition[] {
  const {
    states,
    sources,
    factoryUids,
    executorUid,
    createdAfterMs,
    createdBeforeMs,
    updatedAfterMs,
    artifactType,
    ancestorRunId,
  } = filter;
  const conditions: (FilterCondition | undefined)[] = [
    states && inStates(states, filter.activeBelow),
    sources && among('source', sources),
    factoryUids && among('factory_uid', factoryUids),
    ...EXACT_COLUMNS.map((column) =>
      filter.exact?.[column] === undefined ? undefined : among(column, [filter.exact[column]]),
    ),
    filter.withoutEnvironment === true
      ? { name: 'environment', test: phrase('c.environment_id IS NULL'), columns: ['environment_id'] }
      : undefined,
    filter.ofAnyFactory === true
      ? { name: 'of factory', test: phrase('c.factory_uid IS NOT NULL'), columns: ['factory_uid'] }
      : undefined,
    filter.runId === undefined ? undefined : { name: 'run', test: sql`c.run_id = ${filter.runId}`, columns: [] },
    executorUid === undefined
      ? undefined
      : {
          name: 'executor',
          test: sql`COALESCE(c.executor_uid, c.creator_uid) = ${executorUid}`,
          columns: ['executor_uid', 'creator_uid'],
        },
    createdAfterMs === undefined
      ? undefined
      : { name: 'created', test: sql`c.created_at > ${createdAfterMs}`, columns: ['created_at'] },
    createdBeforeMs === undefined
      ? undefined
      : { name: 'created', test: sql`c.created_at < ${createdBeforeMs}`, columns: ['created_at'] },
    updatedAfterMs === undefined
      ? undefined
      : { name: 'updated', test: sql`c.updated_at > ${updatedAfterMs}`, columns: ['updated_at'] },
    ...Object.entries(filter.metadata ?? {}).map(([key, value]) => ({
      name: `metadata.${key}`,
      test: sql`EXISTS (SELECT 1 FROM run_metadata m WHERE m.run_id = c.run_id AND m.key = ${key}
        AND m.value = ${value})`,
      columns: [],
    })),
    artifactType === undefined
      ? undefined
      : {
          name: 'artifact',
          test: sql`EXISTS (SELECT 1 FROM artifact a WHERE a.run_id = c.run_id AND a.artifact_type = ${artifactType})`,
          columns: [],
        },
    ancestorRunId === undefined
      ? undefined
      : { name: 'ancestor', test: sql`c.run_id IN (${descendantsOf(ancestorRunId, factoryUids)})`, columns: [] },
    ...(filter.words ?? []).map((word) => containing(word, dialect)),
  ];
  return conditions.filter((condition) => condition !== undefined);
}

/**
 * The states of a filter that are ends, or that are none; undefined: it asks for no state. Empty: for no run of this
 * kind.
 */
export function statesOf(filter: RunFilter, kind: 'open' | 'ended'): readonly RunState[] | undefined {
  return filter.states?.filter((state) => isEnded(state) === (kind === 'ended'));
}

/** IDs of all runs below one; found through runs of these factories only, where some are named. */
export function descendantsOf(runId: string, factoryUids: readonly string[] | undefined): Sql {
  const visible = factoryUids === undefined ? phrase('') : sql` AND ${oneOf('r.factory_uid', factoryUids)}`;
  return sql`WITH RECURSIVE below (run_id) AS (
    SELECT r.run_id FROM run r WHERE r.parent_run_id = ${runId}${visible}
    UNION SELECT r.run_id FROM below JOIN run r ON r.parent_run_id = below.run_id${visible}) SELECT below.run_id
    FROM below`;
}

/** IDs of all runs that have an active one below them. */
export function aboveActive({ active, factoryUids }: ActiveBelow): Sql {
  const visible = factoryUids === undefined ? phrase('') : sql` AND ${oneOf('r.factory_uid', factoryUids)}`;
  return sql`WITH RECURSIVE above (run_id) AS (
    SELECT r.parent_run_id FROM run r WHERE r.parent_run_id IS NOT NULL AND r.settled_at IS NULL
      AND ${oneOf('r.state', active)}${visible}
    UNION SELECT r.parent_run_id FROM above JOIN run r ON r.run_id = above.run_id
      WHERE r.parent_run_id IS NOT NULL${visible}) SELECT above.run_id FROM above`;
}

/** A run that counts for what is below it, by its own state. */
function isAboveActive(below: ActiveBelow): Sql {
  const own = below.own === undefined ? phrase('') : sql`${oneOf('c.state', below.own)} AND `;
  return sql`${own}c.run_id IN (${aboveActive(below)})`;
}

/**
 * Each of these runs with the one at the top of those that it was started by; found through runs of these factories
 * only, where some are named. One that waits as a reference was started by no run, and is the top of what it is above.
 */
export function rootsOf(runIds: readonly string[], factoryUids: readonly string[] | undefined): Sql {
  const visible = factoryUids === undefined ? phrase('') : sql` AND ${oneOf('p.factory_uid', factoryUids)}`;
  return sql`WITH RECURSIVE above (run_id, root_run_id, height) AS (
    SELECT r.run_id, r.run_id, 0 FROM run r WHERE ${oneOf('r.run_id', runIds)}
    UNION SELECT above.run_id, c.parent_run_id, above.height + 1 FROM above JOIN run c ON c.run_id = above.root_run_id
    WHERE above.height < ${ANCESTORS_MAX} AND (
      EXISTS (SELECT 1 FROM run p WHERE p.run_id = c.parent_run_id${visible})
      OR EXISTS (SELECT 1 FROM waiting_run w JOIN run_snapshot p ON p.digest = w.snapshot
        WHERE w.run_id = c.parent_run_id${visible})))
    SELECT a.run_id, a.root_run_id FROM above a
    WHERE a.height = (SELECT max(b.height) FROM above b WHERE b.run_id = a.run_id)`;
}

function inStates(states: readonly RunState[], below: ActiveBelow | undefined): FilterCondition {
  const own = among('state', states);
  return below === undefined ? own : { ...own, test: sql`(${own.test} OR (${isAboveActive(below)}))` };
}

function among(column: string, values: readonly string[]): FilterCondition {
  return { name: column, test: oneOf(`c.${column}`, values), columns: [column] };
}

const SEARCHED = ['title', 'skill_spec', 'prompt'] as const;

/** SQLite's LIKE takes A–Z for a–z and nothing else for another; so does PostgreSQL's ILIKE in this collation. */
const LIKE = { sqlite: 'LIKE', postgres: 'COLLATE "C" ILIKE' } as const;

function containing(word: string, dialect: keyof typeof LIKE): FilterCondition {
  const pattern = `%${word.replace(/[\\%_]/g, String.raw`\$&`)}%`;
  const tests = SEARCHED.map((column) => sql`${phrase(`c.${column} ${LIKE[dialect]}`)} ${pattern} ESCAPE '\\'`);
  return { name: 'word', test: sql`(${joinSql(tests, ' OR ')})`, columns: SEARCHED };
}
