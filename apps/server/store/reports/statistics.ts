/**
 * Deliveries and runs counted by time, for charts: grouped in the database, along indexes, the newest first, and no
 * more rows than a bound.
 * One question is many short statements, so that other long reads get their turn between them. contract §3.7, §12.2.
 */
import type { OutcomeKind } from '#deliveries';
import { firstUuidv7, readLatencies, type RunState, type TimeBuckets } from '#runs';
import type { Database } from '../database/database.ts';
import type { VisibleFactories } from '../runs/run-history.ts';
import { allOf, oneOf, phrase, sql, type Sql } from '../database/sql.ts';
import { caughtUpRelation } from '../database/deferred-index.ts';
import { row, rows, type Transaction } from '../database/transactions.ts';

/** Rows that one question reads: one or two seconds of work for a database, in parts. */
const ROWS_MAX = 500_000;
/** Parts of a span that are read one after the other: of a question at its bound each takes tens of milliseconds. */
const SLICES = 24;
/**
 * An ID is made after what it names was received, and two clocks of an installation differ: its time is right to this
 * many milliseconds.
 */
const CLOCK_SLACK_MS = 300_000;
/** Last time that an ID can name; later than every other. */
const TIME_MS_MAX = 2 ** 48 - 1;

/** Whose log is counted; what is absent asks for nothing. */
export interface DeliveryScope {
  /** Also what a limited key may see. */
  factoryUids: VisibleFactories;
  webhookUid?: string;
}

/** Whose runs are counted. */
export interface RunScope extends DeliveryScope {
  automationUid?: string;
}

/** Deliveries of one outcome in one bucket; a bucket may come several times. */
export interface DeliveryCount {
  bucket: number;
  outcome: OutcomeKind;
  deliveries: number;
}

/** Runs in one state that were created in one bucket; a bucket may come several times. */
export interface RunCount {
  bucket: number;
  state: RunState;
  runs: number;
  /** Milliseconds from creation to the first start of those that have started, ascending. */
  latencies: Float64Array;
}

export interface Counted<C> {
  counts: C[];
  /** There are more rows than one question may read: the oldest buckets lack some. */
  truncated: boolean;
}

/** [`fromMs`, `untilMs`), in milliseconds since the epoch. */
interface Span {
  fromMs: number;
  untilMs: number;
}

/** What every statement tells of the rows that it read; bucket -1: of no bucket. */
interface Found {
  bucket: number;
  looked: number;
}

/** A statement that reads so many rows at most. */
type Bounded = (limit: number) => Sql;

export class StatisticsStore {
  private readonly database: Database;
  private readonly rowsMax: number;
  /** `rowsMax`: rows that one question reads at most. */
  constructor(database: Database, rowsMax = ROWS_MAX) {
    this.database = database;
    this.rowsMax = rowsMax;
  }

  /** Deliveries by the time of their receipt; a counted entry is as many as it counts. */
  async deliveries(scope: DeliveryScope, buckets: TimeBuckets): Promise<Counted<DeliveryCount>> {
    const slices = slicesOf(buckets, { olderMs: CLOCK_SLACK_MS, newerMs: CLOCK_SLACK_MS });
    const log = await this.database.longRead(() =>
      caughtUpRelation('delivery_log', scope.webhookUid === undefined ? undefined : [scope.webhookUid]),
    );
    const statements = slices.map(
      (slice): Bounded =>
        (limit) =>
          deliveriesIn({ log, ...scope }, slice, buckets, limit),
    );
    return this.count<Found & DeliveryCount, DeliveryCount>(statements, ({ bucket, outcome, deliveries }) => ({
      bucket,
      outcome,
      deliveries,
    }));
  }

  /** Runs by the time of their creation. */
  async runs(scope: RunScope, buckets: TimeBuckets): Promise<Counted<RunCount>> {
    const home = await this.database.longRead(() => homeOf(scope));
    if (home === 'nowhere') return { counts: [], truncated: false };
    const statements = runStatements({ ...scope, factoryUids: home }, buckets, this.database.dialect);
    return this.count<Found & { state: RunState; latencies: string | null }, RunCount>(
      statements,
      ({ bucket, state, looked, latencies }) => ({
        bucket,
        state,
        runs: looked,
        latencies: readLatencies(latencies ?? ''),
      }),
    );
  }

  /** Each statement in its turn, while rows may be read. */
  private async count<F extends Found, C>(
    statements: readonly Bounded[],
    toCount: (found: F) => C,
  ): Promise<Counted<C>> {
    const counts: C[] = [];
    let left = this.rowsMax;
    for (const statement of statements) {
      const { text, params } = statement(left + 1);
      const found = await this.database.longRead(() => rows<F>(text, ...params));
      counts.push(...found.filter(({ bucket }) => bucket >= 0).map(toCount));
      left -= found.reduce((sum, { looked }) => sum + looked, 0);
      if (left < 0) return { counts, truncated: true };
    }
    return { counts, truncated: false };
  }
}

/** Parts of the buckets' span, newest first; the outer ones reach farther. */
function slicesOf(
  { fromMs, lengthMs, count }: TimeBuckets,
  { olderMs, newerMs }: { olderMs: number; newerMs: number },
): Span[] {
  const edges = Array.from({ length: SLICES + 1 }, (_, at) => fromMs + Math.floor((count * lengthMs * at) / SLICES));
  edges[0] = fromMs - olderMs;
  edges[SLICES] = fromMs + count * lengthMs + newerMs;
  return edges
    .slice(1)
    .map((untilMs, at) => ({ fromMs: edges[at] ?? fromMs, untilMs }))
    .toReversed();
}

/** Through the log of each webhook: its entries stand in the order of their IDs, and these name their times. */
function deliveriesIn(
  { log, factoryUids, webhookUid }: DeliveryScope & { log: string },
  { fromMs, untilMs }: Span,
  buckets: TimeBuckets,
  limit: number,
): Sql {
  const ofWhom = [
    ...(factoryUids === undefined ? [] : [oneOf('w.factory_uid', factoryUids)]),
    ...(webhookUid === undefined ? [] : [sql`w.uid = ${webhookUid}`]),
  ];
  // Of two tables as one, SQLite would read all of the log and look for the webhook of each entry.
  const webhookFirst = phrase(log === 'delivery_log' ? 'w.uid' : "(w.uid || '')");
  return sql`SELECT bucket, outcome, CAST(sum(entries) AS BIGINT) AS deliveries, count(*) AS looked FROM (
      SELECT ${bucketOf('d.received_at', buckets)} AS bucket, d.outcome, d.entries FROM webhook w CROSS
      JOIN ${phrase(log)} AS d
      WHERE ${allOf(ofWhom)} AND d.webhook_uid = ${webhookFirst} AND d.entry_id >= ${firstUuidv7(fromMs)}
      AND d.entry_id < ${firstUuidv7(untilMs)} LIMIT ${limit}
    ) AS entry GROUP BY bucket, outcome`;
}

/** Factories whose runs can be of the scope: those of its automation and its webhook, as far as they may be seen. */
function* homeOf({ factoryUids, webhookUid, automationUid }: RunScope): Transaction<VisibleFactories | 'nowhere'> {
  if (factoryUids?.length === 0) return 'nowhere';
  let home = factoryUids;
  for (const [table, uid] of [
    ['automation', automationUid],
    ['webhook', webhookUid],
  ] as const) {
    if (uid === undefined) continue;
    const found = yield* row<{ factory_uid: string }>(`SELECT factory_uid FROM ${table} WHERE uid = ?`, uid);
    if (found === undefined || home?.includes(found.factory_uid) === false) return 'nowhere';
    home = [found.factory_uid];
  }
  return home;
}

/**
 * Open runs stand in one index and ended ones in others. Both are read in one statement, so that a run that ends
 * meanwhile is counted once. Ended runs of a factory stand in the order of their creation, those of an automation or a
 * webhook in the order of their last change: what was created in the span may have changed at any time since.
 */
function runStatements(scope: RunScope, buckets: TimeBuckets, dialect: Database['dialect']): Bounded[] {
  const whole: Span = { fromMs: buckets.fromMs, untilMs: buckets.fromMs + buckets.count * buckets.lengthMs };
  if (scope.automationUid === undefined && scope.webhookUid === undefined) {
    const index = scope.factoryUids === undefined ? 'run_settled_created' : 'run_settled_factory_uid_created';
    return slicesOf(buckets, { olderMs: 0, newerMs: 0 }).map(
      (slice) => (limit) =>
        runsOf(
          [
            openRuns(slice, scope, buckets, dialect),
            waitingRuns(slice, scope, buckets),
            endedRuns(index, within('created_at', slice), scope, buckets, dialect),
          ],
          limit,
        ),
    );
  }
  const index = scope.automationUid === undefined ? 'run_settled_webhook_uid' : 'run_settled_automation_uid';
  return slicesOf(buckets, { olderMs: CLOCK_SLACK_MS, newerMs: TIME_MS_MAX - whole.untilMs }).map(
    (slice, at) => (limit) =>
      runsOf(
        [
          ...(at === 0 ? [openRuns(whole, scope, buckets, dialect), waitingRuns(whole, scope, buckets)] : []),
          endedRuns(index, within('settled_at', slice), scope, buckets, dialect),
        ],
        limit,
      ),
  );
}

function runsOf(parts: readonly Sql[], limit: number): Sql {
  const [first = phrase(''), ...others] = parts.map((part) => sql`SELECT * FROM (${part}) AS part`);
  const all = others.reduce((before, part) => sql`${before} UNION ALL ${part}`, first);
  return sql`SELECT bucket, state, count(*) AS looked, string_agg(CAST(latency AS TEXT), ',') AS latencies FROM (${all}
    LIMIT ${limit}) AS counted GROUP BY bucket, state`;
}

function openRuns(span: Span, scope: RunScope, buckets: TimeBuckets, dialect: Database['dialect']): Sql {
  const conditions = [
    phrase('settled_at IS NULL'),
    sql`updated_at >= ${span.fromMs - CLOCK_SLACK_MS}`,
    within('created_at', span),
    ...conditionsOf(scope),
  ];
  return sql`SELECT ${countedColumns(buckets)} FROM run${hint('run_open', dialect)} WHERE ${allOf(conditions)}`;
}

/** Those that wait as references: their IDs name the times of their creation. */
function waitingRuns(span: Span, scope: RunScope, buckets: TimeBuckets): Sql {
  const conditions = [
    sql`run_id >= ${firstUuidv7(span.fromMs)} AND run_id < ${firstUuidv7(span.untilMs)}`,
    ...conditionsOf(scope),
  ];
  return sql`SELECT ${countedColumns(buckets)} FROM waiting_run_row WHERE ${allOf(conditions)}`;
}

function endedRuns(
  index: string,
  inSlice: Sql,
  scope: RunScope,
  buckets: TimeBuckets,
  dialect: Database['dialect'],
): Sql {
  return sql`SELECT ${countedColumns(buckets)} FROM run${hint(index, dialect)}
    WHERE ${allOf([phrase('settled_at IS NOT NULL'), ...conditionsOf(scope), inSlice])}`;
}

function conditionsOf({ factoryUids, automationUid, webhookUid }: RunScope): Sql[] {
  return [
    ...(factoryUids === undefined ? [] : [oneOf('factory_uid', factoryUids)]),
    ...(automationUid === undefined ? [] : [oneOf('automation_uid', [automationUid])]),
    ...(webhookUid === undefined ? [] : [oneOf('webhook_uid', [webhookUid])]),
  ];
}

/** What is counted of a run. Two clocks may have it started before it was created. */
function countedColumns(buckets: TimeBuckets): Sql {
  return sql`${bucketOf('created_at', buckets)} AS bucket, state,
    CASE WHEN started_at > created_at THEN started_at - created_at WHEN started_at IS NOT NULL THEN 0 END AS latency`;
}

/** Both databases divide integers alike; SQLite takes numbers that it is given for fractions. */
function bucketOf(column: string, { fromMs, lengthMs, count }: TimeBuckets): Sql {
  const time = phrase(column);
  return sql`CASE WHEN ${time} >= ${fromMs} AND ${time} < ${fromMs + count * lengthMs}
    THEN (${time} - CAST(${fromMs} AS BIGINT)) / CAST(${lengthMs} AS BIGINT) ELSE -1 END`;
}

function within(column: string, { fromMs, untilMs }: Span): Sql {
  return sql`${phrase(column)} >= ${fromMs} AND ${phrase(column)} < ${untilMs}`;
}

/** SQLite knows too little of the rows to choose; PostgreSQL chooses. */
function hint(index: string, dialect: Database['dialect']): Sql {
  return phrase(dialect === 'postgres' ? '' : ` INDEXED BY ${index}`);
}
