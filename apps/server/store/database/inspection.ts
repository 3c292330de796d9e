/** Looks at a database without changing anything in it: nothing is made, migrated or locked. contract §11.1. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { obstacleMigration } from '#management';
import { MIGRATION_NAMES } from './migrations.ts';
import { OLDEST_READER_QUERY } from './replicas.ts';
import { toStoreError } from './store-errors.ts';
import { BoundedClient, CONNECT_MS_MAX } from './postgres/postgres-connections.ts';
import { toConnectionError } from './postgres/postgres-refusals.ts';

export interface SchemaFound {
  /** Version of the database program. */
  version: string;
  /** Migrations of this program that are still to be run, in their order. */
  pending: readonly string[];
  /** Migrations of a newer program, which keep this one out. */
  unknown: readonly string[];
  /** Those of a newer program that this one can work with. */
  added: readonly string[];
  /** The database's clock, and ours in the middle of the question; absent where there is only one clock. */
  clock?: { databaseMs: number; oursMs: number };
  /** Whether migrations may be run; absent where everybody may who can write the file. */
  mayMigrate?: boolean;
}

/** A database of no use without its log is read into memory; one that is larger than this is not. */
const READ_BYTES_MAX = 256 * 1_048_576;

/**
 * What lies in a SQLite file; `too-large`: only an open connection could tell, and that would make files beside it.
 * Throws StoreError when it is no database, or a damaged one.
 */
export function inspectSqlite(file: string): SchemaFound | 'absent' | 'too-large' {
  if (!existsSync(file)) return 'absent';
  // Beside a log that is there nothing is made. Without one the file is complete, and opening it would make one: it is
  // read into memory.
  const hasLog = existsSync(`${file}-wal`) && existsSync(`${file}-shm`);
  if (!hasLog && statSync(file).size > READ_BYTES_MAX) return 'too-large';
  let connection: Sqlite.Database | undefined;
  try {
    connection = hasLog
      ? new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 1_000 })
      : new Sqlite(withoutLog(readFileSync(file)));
    const version = connection.prepare('SELECT sqlite_version() AS version').get() as { version: string };
    const has = connection.prepare("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?").pluck();
    const applied =
      has.get('migrations') === 0 ? [] : (connection.prepare('SELECT name FROM migrations').pluck().all() as string[]);
    const oldest =
      has.get('schema_reader') === 0 ? undefined : (connection.prepare(OLDEST_READER_QUERY).pluck().get() as number);
    return { version: version.version, ...compared(applied, oldest) };
  } catch (error) {
    throw toStoreError(error);
  } finally {
    connection?.close();
  }
}

/**
 * Bytes 18 and 19 of the header say that a log belongs to the file (SQLite, "Database File Format", 1.3.3); in memory
 * there can be none.
 */
function withoutLog(file: Buffer): Buffer {
  if (file.length > 19 && file[18] === 2) file.fill(1, 18, 20);
  return file;
}

/** What a PostgreSQL server holds. Throws StoreError; nothing of the URL is in its message. */
export async function inspectPostgres(url: string, nowMs: () => number): Promise<SchemaFound> {
  const source = new DataSource({
    type: 'postgres',
    driver: pg,
    url,
    poolSize: 1,
    synchronize: false,
    extra: { Client: BoundedClient, connectionTimeoutMillis: CONNECT_MS_MAX },
    poolErrorHandler: () => undefined,
  });
  try {
    await source.initialize();
    const one = async <T>(text: string): Promise<T> => (await source.query<T[]>(text))[0] as T;
    await one('SELECT 1'); // the first statement opens the connection
    const before = nowMs();
    const { ms } = await one<{ ms: string }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms');
    const oursMs = (before + nowMs()) / 2;
    const about = await one<{ version: string; migrations: string | null; readers: string | null; may: boolean }>(
      "SELECT current_setting('server_version') AS version, to_regclass('migrations')::text AS migrations, " +
        "to_regclass('schema_reader')::text AS readers, " +
        "coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) " +
        "AND current_setting('transaction_read_only') = 'off' AS may",
    );
    const applied =
      about.migrations === null ? [] : ((await source.query('SELECT name FROM migrations')) as { name: string }[]);
    const readers = about.readers === null ? undefined : await one<{ oldest: string }>(OLDEST_READER_QUERY);
    return {
      version: about.version,
      clock: { databaseMs: Number(ms), oursMs },
      mayMigrate: about.may,
      ...compared(
        applied.map(({ name }) => name),
        readers && Number(readers.oldest),
      ),
    };
  } catch (error) {
    throw toConnectionError(error);
  } finally {
    if (source.isInitialized) await source.destroy();
  }
}

function compared(
  applied: readonly string[],
  oldestReader: number | undefined,
): Pick<SchemaFound, 'pending' | 'unknown' | 'added'> {
  const unknown = applied.filter((name) => !MIGRATION_NAMES.includes(name));
  const isUsable = obstacleMigration(MIGRATION_NAMES, applied, oldestReader) === undefined;
  return {
    pending: MIGRATION_NAMES.filter((name) => !applied.includes(name)),
    unknown: isUsable ? [] : unknown,
    added: isUsable ? unknown : [],
  };
}
