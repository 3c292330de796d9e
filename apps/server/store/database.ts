/** Opens the database, brings its schema up to date under a lock, and hands out the one door to it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { types } from 'pg';
import { DataSource } from 'typeorm';
import type { TransactionRunner } from './engine.ts';
import { toStoreFault } from './faults.ts';
import { longReads } from './long-reads.ts';
import { FirstSchema1700000000001 } from './migrations/0001-first-schema.ts';
import { Interface1700000000002 } from './migrations/0002-interface.ts';
import { Agents1700000000003 } from './migrations/0003-agents.ts';
import { Reconciling1700000000004 } from './migrations/0004-reconciling.ts';
import { Dashboard1700000000005 } from './migrations/0005-dashboard.ts';
import { ManyMachines1700000000006 } from './migrations/0006-many-machines.ts';
import { postgresLongReads, postgresRunner } from './postgres.ts';
import { sqliteRunner } from './sqlite.ts';
import { row, rows, type Work } from './statements.ts';
import { SCHEMA } from './tables.ts';

const MIGRATIONS = [FirstSchema1700000000001, Interface1700000000002, Agents1700000000003, Reconciling1700000000004, Dashboard1700000000005, ManyMachines1700000000006];
/** What brings a database up to date, oldest first. */
export const MIGRATION_NAMES: readonly string[] = MIGRATIONS.map(({ name }) => name);
/** Arbitrary, fixed number of the advisory lock that one migrating process holds. */
const MIGRATION_LOCK = 7_305_118_402;
/** Connections of one process: writes are batched, so a handful saturates PostgreSQL. */
const POOL_CONNECTIONS_MAX = 10;

export interface Database extends TransactionRunner {
  readonly source: DataSource;
  /** A read that may look at many rows, like a list: on SQLite in a thread of its own, on PostgreSQL few at a time, so that no write waits for it. */
  longRead<T>(body: () => Work<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `postgres://…`, or undefined for SQLite in the data folder. */
  url?: string;
  dataDir: string;
  nowMs: () => number;
}

/** Opens and migrates. Throws `SchemaTooNew` for a database that a newer program has migrated, StoreFault when it cannot be reached. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.url === undefined ? openSqlite(options) : openPostgres(options.url);
}

/** The database was migrated by a newer version of this program. */
export class SchemaTooNew extends Error {
  constructor(name: string) {
    super(`the database holds migration ${name}, which this version does not know: start the version that wrote it, or a newer one`);
  }
}

async function openSqlite({ dataDir, nowMs }: DatabaseOptions): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'millwright.sqlite');
  const source = new DataSource({
    type: 'better-sqlite3',
    database: file,
    enableWAL: true,
    // FULL: an accepted delivery survives a power cut, not only a crash of the process.
    prepareDatabase: (connection: Sqlite.Database) => {
      connection.pragma('synchronous = FULL');
      connection.pragma('foreign_keys = ON');
      connection.pragma('busy_timeout = 5000');
      // 64 MiB: the index pages that a minute of deliveries touches stay in memory, and no transaction spills in its middle.
      connection.pragma('cache_size = -65536');
      // Pages that change in every commit are copied back once for many commits; bounds the log at about 40 MB.
      connection.pragma('wal_autocheckpoint = 10000');
    },
    migrations: MIGRATIONS,
    entities: SCHEMA,
    synchronize: false,
    migrationsTransactionMode: 'all',
  });
  try {
    await source.initialize();
    const connection = (source.driver as unknown as { databaseConnection: Sqlite.Database }).databaseConnection;
    const runner = sqliteRunner(connection, nowMs);
    await refuseNewerSchema(runner, source);
    await source.runMigrations();
    const reads = longReads(file, nowMs);
    return { ...runner, source, longRead: (body) => reads.read(body), close: () => reads.close().then(() => source.destroy()) };
  } catch (error) {
    if (source.isInitialized) await source.destroy();
    throw toStoreFault(error);
  }
}

async function openPostgres(url: string): Promise<Database> {
  types.setTypeParser(types.builtins.INT8, Number); // our integers are below 2^53
  const source = new DataSource({
    type: 'postgres',
    url,
    poolSize: POOL_CONNECTIONS_MAX,
    migrations: MIGRATIONS,
    entities: SCHEMA,
    synchronize: false,
    migrationsTransactionMode: 'all',
    extra: { connectionTimeoutMillis: 5_000, statement_timeout: 30_000 },
    poolErrorHandler: () => undefined, // an idle connection that breaks is replaced; the next statement tells
  });
  try {
    await source.initialize();
    const runner = postgresRunner(source);
    await migrateUnderLock(source, runner);
    return { ...runner, source, longRead: postgresLongReads(runner), close: () => source.destroy() };
  } catch (error) {
    if (source.isInitialized) await source.destroy();
    throw toStoreFault(error);
  }
}

async function migrateUnderLock(source: DataSource, runner: TransactionRunner): Promise<void> {
  const holder = source.createQueryRunner();
  try {
    await holder.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
    await refuseNewerSchema(runner, source);
    await source.runMigrations();
  } finally {
    await holder.query(`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`).catch(() => undefined);
    await holder.release();
  }
}

async function refuseNewerSchema(runner: TransactionRunner, source: DataSource): Promise<void> {
  const known = new Set(MIGRATIONS.map((migration) => migration.name));
  const table = source.options.type === 'postgres' ? "to_regclass('migrations')::text" : "(SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'migrations')";
  const present = await runner.read(() => row<{ name: string | null }>(`SELECT ${table} AS name`));
  if (!present?.name) return;
  for (const applied of await runner.read(() => rows<{ name: string }>('SELECT name FROM migrations'))) {
    if (!known.has(applied.name)) throw new SchemaTooNew(applied.name);
  }
}
