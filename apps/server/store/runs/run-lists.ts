/**
 * Lists of runs: filtered, sorted, paged by key, each page bounded in what it looks at and in what it holds. contract
 * §3.7 (List).
 */
import { runsOnPage } from '#runs';
import type { Database } from '../database/database.ts';
import {
  askedOf,
  branchesOf,
  INDEXES,
  type Branch,
  type Indexed,
  type ListBounds,
  type Narrow,
  type RunOrder,
} from './run-branches.ts';
import { descendantsOf, EXACT_COLUMNS, filterConditions, type RunFilter } from './run-filters.ts';
import { allOf, joinSql, oneOf, phrase, sql, type Sql } from '../database/sql.ts';
import { row, rows, type SqlValue, type Transaction } from '../database/transactions.ts';
import { RUN, type RunRow } from './run.entities.ts';
import { waitingBehind } from './waiting-runs.ts';

/** Place in a list: behind this run. */
export interface RunListKey {
  /** What the list is sorted by: milliseconds since the epoch, or a title. */
  value: string | number;
  runId: string;
}

export interface RunPage {
  runs: RunRow[];
  /** Where the next page begins, while there may be more. */
  next?: RunListKey;
}

/**
 * 20,000 runs are looked at in tens of milliseconds, 5,000 sorted in some. Clients stop at an empty page, so that a
 * store of 100,000 runs
 * shows none before its end.
 */
const BOUNDS: ListBounds = { branches: 32, few: 5_000, candidates: 20_000, statements: 5 };

/** A prompt of this size counts as one further run to look at. */
const CANDIDATE_BYTES = 4_096;

interface Found {
  run_id: string;
  sort_key: string | number;
  /** Memory that the run takes on a page. */
  bytes: number;
  /** 1: it matches. */
  hit: number;
  /** 1: its branch looked no further. */
  stop: number;
}

export class RunLists {
  private readonly database: Database;
  private readonly bounds: ListBounds;
  constructor(database: Database, bounds: ListBounds = BOUNDS) {
    this.database = database;
    this.bounds = bounds;
  }

  /**
   * The page behind `after`. It ends at `limit` runs, where its runs would take too much memory, or where too many were
   * looked at:
   * then it may be short, even empty, and still have a next one.
   */
  page(filter: RunFilter, order: RunOrder, limit: number, after?: RunListKey): Promise<RunPage> {
    const {
      database: { dialect },
      bounds,
    } = this;
    return this.database.longRead(function* () {
      const branches = branchesOf(filter, order, bounds, dialect, yield* fewest(narrowsOf(filter, order), bounds.few));
      const statement = (count: number, behind?: RunListKey): Sql =>
        listStatement({ branches, order, dialect, candidates: bounds.candidates, limit: count, after: behind });
      const found = yield* findMatches(statement, bounds.statements, limit, after);
      const shown = found.hits.slice(
        0,
        runsOnPage(
          found.hits.map(({ bytes }) => bytes),
          limit,
        ),
      );
      const next = shown.length < found.hits.length ? shown.at(-1) : found.end;
      return {
        runs: yield* readRows(shown, allOf(filterConditions(filter, dialect).map(({ test }) => test))),
        next: next && toKey(next),
      };
    });
  }
}

/** What a statement is made for. */
export interface ListRequest {
  branches: readonly Branch[];
  order: RunOrder;
  dialect: 'sqlite' | 'postgres';
  /** Runs that each branch looks at, at most. */
  candidates: number;
  /** Rows, at most. */
  limit: number;
  after?: RunListKey;
}

/** The statement of one page: what the branches find, merged, as `Found`. Where one stops, another may have a hit. */
export function listStatement(request: ListRequest): Sql {
  const { branches, order, limit } = request;
  const direction = phrase(order.direction);
  const parts = branches.map(
    (branch, at) => sql`SELECT * FROM (${branchStatement(branch, request)}) AS ${phrase(`branch_${at}`)}`,
  );
  return sql`SELECT found.run_id, found.sort_key, found.hit, found.stop,
    COALESCE(${ROW_BYTES}, ${WAITING_BYTES}) AS bytes
    FROM (
      SELECT * FROM (${joinSql(parts, ' UNION ALL ')}) AS merged
      ORDER BY sort_key ${direction}, run_id ${direction}, hit DESC LIMIT ${limit}
    ) AS found LEFT JOIN run ON run.run_id = found.run_id LEFT JOIN waiting_run w ON w.run_id = found.run_id
    LEFT JOIN run_snapshot s ON s.digest = w.snapshot
    ORDER BY found.sort_key ${direction}, found.run_id ${direction}, found.hit DESC`;
}

/** What a row takes in memory, as far as people decide it; both databases know it without reading the text. */
const ROW_BYTES = phrase(
  'octet_length(run.prompt) + COALESCE(octet_length(run.submitted_prompt), octet_length(run.prompt)) + ' +
    'octet_length(run.agent_config)',
);

/** The same of a run that waits as a reference; what its prompt has beside the head is short. */
const WAITING_BYTES = phrase('2 * octet_length(s.prompt_head) + octet_length(s.agent_config)');

function branchStatement(
  branch: Branch,
  { order: { by, direction }, dialect, candidates, limit, after }: ListRequest,
): Sql {
  const { where, key, id, rest } = branch;
  const isInOrderOfIds = branch.table === 'waiting_run_row' && by !== 'title';
  const behind = after === undefined ? [] : [behindKey(branch, direction, after, isInOrderOfIds)];
  const sorted = isInOrderOfIds ? `${id} ${direction}` : `${key} ${direction}, ${id} ${direction}`;
  const tail = sql`FROM ${tablesOf(branch, dialect)} WHERE ${allOf([...where, ...behind])} ORDER BY ${phrase(sorted)}`;
  if (rest.length === 0)
    return sql`SELECT ${phrase(`${id} AS run_id, ${key} AS sort_key, 1 AS hit, 0 AS stop`)} ${tail} LIMIT ${limit}`;
  const columns = [...new Set(rest.flatMap((condition) => condition.columns))];
  const selected = phrase(
    [`${id} AS run_id`, `${key} AS sort_key`, ...columns.map((column) => `run.${column}`)].join(', '),
  );
  // What is looked at goes through in the order of the index, so that a page that is full looks no further.
  return sql`SELECT run_id, sort_key, CASE WHEN hit THEN 1 ELSE 0 END AS hit, CASE WHEN stop THEN 1 ELSE 0 END AS stop
    FROM (
      SELECT c.run_id, c.sort_key, (${allOf(rest.map(({ test }) => test))}) AS hit, ${phrase(effortOf(columns))} >=
      ${candidates} AS stop FROM (
        SELECT ${selected} ${tail} LIMIT ${candidates}
      ) AS c
    ) AS looked WHERE hit OR stop LIMIT ${limit}`;
}

function behindKey(
  { key, id }: Branch,
  direction: RunOrder['direction'],
  { value, runId }: RunListKey,
  isInOrderOfIds: boolean,
): Sql {
  if (isInOrderOfIds && typeof value === 'number') {
    const behind = waitingBehind(direction, { value, runId });
    return sql`${phrase(`${id} ${behind.comparison}`)} ${behind.runId}`;
  }
  return sql`(${phrase(key)}, ${phrase(id)}) ${phrase(direction === 'desc' ? '<' : '>')} (${value}, ${runId})`;
}

function tablesOf({ table, index }: Branch, dialect: ListRequest['dialect']): Sql {
  const indexed = index === undefined || dialect === 'postgres' ? '' : ` INDEXED BY ${index}`;
  switch (table) {
    case 'run':
      return phrase(`run${indexed}`);
    case 'waiting_run_row':
      return phrase('waiting_run_row AS run');
    case 'run_metadata':
      return phrase(`run_metadata m${indexed} JOIN run ON run.run_id = m.run_id`);
  }
}

/** How much was looked at so far: runs, and pieces of their prompts, where these are read. */
function effortOf(columns: readonly string[]): string {
  return columns.includes('prompt')
    ? `sum(1 + octet_length(c.prompt) / ${CANDIDATE_BYTES}) OVER (ROWS UNBOUNDED PRECEDING)`
    : 'row_number() OVER ()';
}

/** Runs in order, one more than asked for where there are so many. `end`: what lies behind was not looked at. */
function* findMatches(
  statement: (count: number, after?: RunListKey) => Sql,
  statements: number,
  limit: number,
  after?: RunListKey,
): Transaction<{ hits: Found[]; end?: Found }> {
  let place = after;
  for (let left = statements; ; left -= 1) {
    const { text, params } = statement(limit + 1, place);
    const found = yield* rows<Found>(text, ...params);
    const stop = found.findIndex((one) => one.stop === 1);
    const seen = stop < 0 ? found : found.slice(0, stop + 1);
    const hits = seen.filter((one) => one.hit === 1);
    const end = stop < 0 ? undefined : found[stop];
    if (hits.length > 0 || end === undefined || left === 1) return { hits, end };
    place = toKey(end);
  }
}

/** The rows of a page, in its order; without those that have come to match no longer. */
function* readRows(shown: readonly Found[], matches: Sql): Transaction<RunRow[]> {
  if (shown.length === 0) return [];
  const ids = shown.map(({ run_id: runId }) => runId);
  const { text, params } = sql`SELECT ${ROW_COLUMNS} FROM every_run c WHERE ${oneOf('c.run_id', ids)} AND ${matches}`;
  const found = new Map((yield* rows<RunRow>(text, ...params)).map((run) => [run.run_id, run]));
  return ids.flatMap((runId) => found.get(runId) ?? []);
}

const ROW_COLUMNS = phrase(RUN.columns.map((column) => `c.${column}`).join(', '));

/** Every narrow of a filter in an order, the likeliest to leave few runs first. */
export function narrowsOf(filter: RunFilter, { by }: RunOrder): Narrow[] {
  const { ancestorRunId, artifactType, createdAfterMs, createdBeforeMs, updatedAfterMs } = filter;
  const served: readonly Indexed[] = INDEXES[by].flatMap(({ columns }) => (columns.length === 1 ? columns : []));
  const columns = ([...EXACT_COLUMNS, 'state', 'source'] as const).filter(
    (column) => column !== 'definition_revision' && !served.includes(column) && askedOf(filter, column).length > 0,
  );
  const isWindow =
    by === 'title'
      ? createdAfterMs !== undefined || createdBeforeMs !== undefined
      : by === 'updated_at' && createdBeforeMs !== undefined;
  return [
    ...(filter.runId === undefined ? [] : [endedRuns(['run'], sql`r.run_id = ${filter.runId}`)]),
    ...(ancestorRunId === undefined
      ? []
      : [{ ids: descendantsOf(ancestorRunId, filter.factoryUids), covers: ['ancestor'], hasOpen: true }]),
    ...columns.map((column) => endedRuns([column], oneOf(`r.${column}`, askedOf(filter, column)))),
    ...(by === 'updated_at'
      ? []
      : Object.entries(filter.metadata ?? {}).map(([key, value]) => withMetadata(key, value))),
    ...(by === 'updated_at' || filter.executorUid === undefined ? [] : [executedBy(filter.executorUid)]),
    ...(artifactType === undefined
      ? []
      : [
          {
            ids: sql`SELECT a.run_id FROM artifact a WHERE a.artifact_type = ${artifactType}`,
            covers: ['artifact'],
            hasOpen: true,
          },
        ]),
    ...(by === 'updated_at' || updatedAfterMs === undefined
      ? []
      : [endedRuns(['updated'], sql`r.settled_at > ${updatedAfterMs}`)]),
    ...(isWindow ? [endedRuns(['created'], sql`${within('r.created_at', createdAfterMs, createdBeforeMs)}`)] : []),
  ];
}

function endedRuns(covers: readonly string[], where: Sql): Narrow {
  return { ids: sql`SELECT r.run_id FROM run r WHERE ${where} AND r.settled_at IS NOT NULL`, covers, hasOpen: false };
}

/** Also what somebody else executes for them: that is looked at in each run. */
function executedBy(uid: string): Narrow {
  const [own, others] = ['creator_uid', 'executor_uid'].map(
    (column) => endedRuns([], sql`${phrase(`r.${column}`)} = ${uid}`).ids,
  ) as [Sql, Sql];
  return { ids: sql`${own} UNION ALL ${others}`, covers: [], hasOpen: false };
}

function withMetadata(key: string, value: string): Narrow {
  return {
    ids: sql`SELECT m.run_id FROM run_metadata m WHERE m.key = ${key} AND m.value = ${value}
      AND m.settled_at IS NOT NULL`,
    covers: [`metadata.${key}`],
    hasOpen: false,
  };
}

function within(column: string, after: SqlValue | undefined, before: SqlValue | undefined): Sql {
  const above = after === undefined ? [] : [sql`${phrase(column)} > ${after}`];
  return joinSql([...above, ...(before === undefined ? [] : [sql`${phrase(column)} < ${before}`])], ' AND ');
}

/** The first of these filters that leaves few runs. */
function* fewest(narrows: readonly Narrow[], few: number): Transaction<Narrow | undefined> {
  for (const narrow of narrows) {
    const { text, params } = sql`SELECT count(*) AS runs FROM (${narrow.ids} LIMIT ${few + 1}) AS few`;
    const counted = yield* row<{ runs: number }>(text, ...params);
    if (Number(counted?.runs) <= few) return narrow;
  }
  return undefined;
}

function toKey({ sort_key: value, run_id: runId }: Found): RunListKey {
  return { value, runId };
}
