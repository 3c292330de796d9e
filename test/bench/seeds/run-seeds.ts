/** A store as it is after a year of work: runs by the million, written by set-based statements past every store. */
import type { Database } from '../../../apps/server/store/database/database.ts';
import { change, rows, type Transaction } from '../../../apps/server/store/database/transactions.ts';

const FACTORIES = 200;
const CONFIG_NAMES = 50;
/** Runs that have not ended: a queue and what is being worked on, however many have ended before. */
const OPEN_RUNS = 1_000;
/** Between two creations: a million runs are a year. */
const SPACING_MS = 30_000;
/** Rows of one statement: no transaction grows out of memory. */
export const SLICE = 100_000;

/** How the two databases write what seeds need. */
export interface Dialect {
  /** Numbers from the first parameter to below the second, as `n (i)`. */
  numbers: string;
  hex12(value: string): string;
  /** Of a text. */
  uuid(value: string): string;
  /** About 1 KiB of text that does not compress away. */
  filler: string;
  /** A text as its bytes. */
  bytes(text: string): string;
  /** What a database does by itself after a while. */
  settle: string;
}

export const DIALECTS: Readonly<Record<Database['dialect'], Dialect>> = {
  sqlite: {
    numbers: 'WITH RECURSIVE n (i) AS (SELECT CAST(? AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1)',
    hex12: (value) => `printf('%012x', ${value})`,
    uuid: (value) => value,
    filler: 'hex(randomblob(480))',
    bytes: (text) => `CAST(${text} AS BLOB)`,
    settle: 'PRAGMA wal_checkpoint(TRUNCATE)',
  },
  postgres: {
    numbers: 'WITH n (i) AS (SELECT generate_series(?::bigint, ?::bigint - 1))',
    hex12: (value) => `lpad(to_hex(${value}), 12, '0')`,
    uuid: (value) => `CAST(${value} AS UUID)`,
    filler: "(SELECT string_agg(md5((i * 31 + part)::text), '') FROM generate_series(1, 30) AS part)",
    bytes: (text) => `convert_to(${text}, 'UTF8')`,
    settle: 'VACUUM ANALYZE',
  },
};

/** Fills an empty store with `count` runs, the newest of now. Indexes are built afterwards, at once. */
export async function seedRuns(database: Database, count: number): Promise<void> {
  const dialect = DIALECTS[database.dialect];
  const startMs = Date.now() - count * SPACING_MS;
  await database.run(() =>
    change(
      `${dialect.numbers} INSERT INTO principal (uid, kind, display_name, created_at) ` +
        `SELECT 'sa_' || i, 'service_account', 'Factory ' || i, ${startMs} FROM n`,
      0,
      FACTORIES,
    ),
  );
  await withoutIndexes(database, ['run', 'run_metadata'], async () => {
    for (let from = 0; from < count; from += SLICE) {
      const until = Math.min(count, from + SLICE);
      await database.run(() => change(runs(dialect, startMs, count - OPEN_RUNS), from, until));
      await database.run(() => change(metadata(dialect, startMs), from, until));
    }
  });
}

/**
 * Does some work while the tables have no indexes but their keys; then builds those, and does what the database would
 * do by itself after a while.
 */
export async function withoutIndexes(
  database: Database,
  tables: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const indexes = await database.read(() =>
    rows<{ name: string; definition: string }>(indexesOf(tables)[database.dialect]),
  );
  await database.run(() => each(indexes.map(({ name }) => `DROP INDEX ${name}`)));
  await work();
  // one by one: no statement takes longer than one may
  for (const { definition } of indexes) await database.run(() => change(definition));
  await database.read(function* () {
    if (database.dialect === 'postgres') yield* rows('SET statement_timeout = 0');
    yield* rows(DIALECTS[database.dialect].settle);
  });
}

function indexesOf(tables: readonly string[]): Readonly<Record<Database['dialect'], string>> {
  const names = tables.map((table) => `'${table}'`).join(', ');
  return {
    sqlite:
      `SELECT name, sql AS definition FROM sqlite_master WHERE type = 'index' AND tbl_name IN (${names}) ` +
      'AND sql IS NOT NULL',
    postgres:
      `SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename IN (${names}) ` +
      `AND indexname NOT LIKE '%_pkey'`,
  };
}

function* each(statements: readonly string[]): Transaction<void> {
  for (const statement of statements) yield* change(statement);
}

function runs({ numbers, hex12, filler }: Dialect, startMs: number, firstOpen: number): string {
  const created = `${startMs} + i * ${SPACING_MS}`;
  const ended = `${created} + 60000 + ${chance(1, 3_600_000)}`;
  const ifOpen = (open: string, over: string): string => `CASE WHEN i >= ${firstOpen} THEN ${open} ELSE ${over} END`;
  const columns: Readonly<Record<string, string>> = {
    run_id: idAt(hex12, created),
    title:
      `'automation-' || ${chance(4, CONFIG_NAMES)} || ' · Build ' || ${chance(5, 900_000)} || ' of the main ` +
      `branch failed'`,
    state: ifOpen(
      oneOf('i % 100', [
        [70, 'QUEUED'],
        [72, 'CLAIMED'],
        [75, 'PENDING'],
        [97, 'INPROGRESS'],
        [100, 'BLOCKED'],
      ]),
      oneOf(chance(2, 1_000), [
        [800, 'SUCCEEDED'],
        [930, 'FAILED'],
        [998, 'CANCELLED'],
        [1_000, 'ERROR'],
      ]),
    ),
    prompt: `'Look at build ' || i || ' and find out why it failed. ' || ${filler}`,
    source: oneOf('i % 10', [
      [6, 'CUSTOM_WEBHOOK'],
      [8, 'SCHEDULED_AGENT'],
      [10, 'API'],
    ]),
    creator_uid: `'sa_' || ${chance(3, FACTORIES)}`,
    config_name: `'config-' || ${chance(4, CONFIG_NAMES)}`,
    agent_config:
      `'{"name":"config-' || ${chance(4, CONFIG_NAMES)} || '","model_id":"model-' || (i % 5) || ` +
      `'","environment_id":"env-' || (i % 20) || '","harness":{"type":"command"}}'`,
    metadata:
      `CASE WHEN i % 5 = 0 THEN '{"team":"team-' || (i / 5 % 10) || '","ticket":"T-' || (i / 50) || '"}' ELSE ` +
      `'{}' END`,
    factory_uid: `'fac_' || ${chance(3, FACTORIES)}`,
    automation_uid: `'auto_' || ${chance(6, 4_000)}`,
    webhook_uid: `CASE WHEN i % 10 < 6 THEN 'wh_' || ${chance(7, 4_000)} END`,
    delivery_id: `CASE WHEN i % 10 < 6 THEN 'delivery-' || i END`,
    epoch: '1',
    takeovers: '0',
    created_at: created,
    updated_at: ifOpen(`${created} + ${chance(8, 10_000)}`, ended),
    started_at: ifOpen('NULL', `${created} + 30000`),
    finished_at: ifOpen('NULL', ended),
    model_id: `'model-' || (i % 5)`,
    environment_id: `'env-' || (i % 20)`,
  };
  return (
    `${numbers} INSERT INTO run (${Object.keys(columns).join(', ')}) ` +
    `SELECT ${Object.values(columns).join(', ')} FROM n`
  );
}

/** Two entries of every fifth run: one of ten teams, one of many tickets. */
function metadata({ numbers, hex12 }: Dialect, startMs: number): string {
  const id = idAt(hex12, `${startMs} + i * ${SPACING_MS}`);
  const entry = (key: string, value: string): string =>
    `SELECT r.run_id, '${key}', '${key}-' || (${value}), r.settled_at FROM n JOIN run r ` +
    `ON r.run_id = ${id} WHERE i % 5 = 0`;
  return (
    `${numbers} INSERT INTO run_metadata (run_id, key, value, settled_at) ${entry('team', 'i / 5 % 10')} ` +
    `UNION ALL ${entry('ticket', 'i / 50')}`
  );
}

/** The ID of number `i` that was made at a time, like our own: the time first. */
export function idAt(hex12: Dialect['hex12'], ms: string): string {
  const created = hex12(ms);
  return `substr(${created}, 1, 8) || '-' || substr(${created}, 9, 4) || '-7000-8000-' || ${hex12('i')}`;
}

/** A number below `bound` that looks like chance and is a function of the run's number; another for another `salt`. */
function chance(salt: number, bound: number): string {
  return `(i * ${2_654_435_761 + salt * 123_456_790} % 4294967296 / 4096 % ${bound})`;
}

/** The word of the first limit that a number is below. */
function oneOf(number: string, words: readonly (readonly [number, string])[]): string {
  return `CASE ${words.map(([limit, word]) => `WHEN ${number} < ${limit} THEN '${word}'`).join(' ')} END`;
}
