/**
 * How one of the two databases is opened, its schema brought up to date under a lock, and what everybody asks it
 * through.
 */
import { mkdirSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import pg, { types } from 'pg';
import { DataSource, type EntitySchema } from 'typeorm';
import { row, rows, type Transaction, type TransactionRunner } from './transactions.ts';
import { toStoreError } from './store-errors.ts';
import { Checkpoints } from './checkpoints.ts';
import { DeferredIndex, type DeferredTable } from './deferred-index.ts';
import { longReads } from './long-reads.ts';
import { migratePostgres, MIGRATIONS, OLDEST_READER_UPDATE, refuseUnknown, SchemaTooNewError } from './migrations.ts';
import { BoundedClient, CONNECT_MS_MAX, refuseReadOnly } from './postgres/postgres-connections.ts';
import { type PostgresUrls, probePostgres } from './postgres/postgres-probe.ts';
import { PostgresUnusableError, toConnectionError } from './postgres/postgres-refusals.ts';
import { postgresLongReads, postgresRunner } from './postgres/postgres.ts';
import { OLDEST_READER_QUERY, VersionMismatchError } from './replicas.ts';
import { sqliteFileOf } from '../../process/data-folder.ts';
import { sqliteRunner } from './sqlite.ts';
import { entitiesFor } from './table.ts';

/** Connections of one process: writes are batched, so a handful saturates PostgreSQL. */
const POOL_CONNECTIONS_MAX = 10;

export interface Database extends TransactionRunner {
  readonly source: DataSource;
  /** Whether a pooler stands between even where the direct URL leads: nothing that belongs to a session lasts there. */
  readonly isPooled: boolean;
  /**
   * A read that may look at many rows, like a list: on SQLite in a thread of its own, on PostgreSQL few at a time, so
   * that no write waits for it.
   */
  longRead<T>(body: () => Transaction<T>): Promise<T>;
  /** Writes nothing any more, so that another process can have the database; what else is open ends with `close`. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `postgres://…`, or undefined for SQLite in the data folder. */
  url?: string;
  /** The same PostgreSQL without a pooler between; undefined: `url` is that. */
  directUrl?: string;
  /** This program: processes of another version on the same PostgreSQL are refused, where it is said. */
  version?: string;
  dataDir: string;
  nowMs: () => number;
}

/** What the migrations make. */
export interface DatabaseSchema {
  tables: readonly EntitySchema[];
  /** On SQLite; elsewhere they are views. */
  deferred: readonly DeferredTable[];
}

/** Opens and migrates the database of these tables; see `openDatabase`. */
export async function connectDatabase(options: DatabaseOptions, schema: DatabaseSchema): Promise<Database> {
  return options.url === undefined
    ? openSqlite(options, schema)
    : openPostgres({ url: options.url, directUrl: options.directUrl }, options.version, schema.tables);
}

async function openSqlite(options: DatabaseOptions, schema: DatabaseSchema): Promise<Database> {
  const { database, takeOver } = await standbySqlite(options, schema);
  await takeOver();
  return database;
}

/** A SQLite database that another process writes to meanwhile. */
export interface StandbyDatabase {
  /** Can be read as far as this program knows what is there. Writes fail before `takeOver`. */
  database: Database;
  /** Starts and reads ahead what it can. What it throws is met again, or is no obstacle, when it takes over. */
  prepare(): Promise<void>;
  /** Once the other process has left it: migrates. Throws what `connectDatabase` throws; it is closed then. */
  takeOver(): Promise<void>;
}

/** Opens SQLite beside the process that works on it, and changes nothing. See `connectDatabase`. */
export async function standbySqlite(
  { dataDir, nowMs }: DatabaseOptions,
  { tables, deferred }: DatabaseSchema,
): Promise<StandbyDatabase> {
  const file = sqliteFileOf(dataDir);
  const source = sqliteSource(file, tables);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    await source.initialize();
  } catch (error) {
    throw toStoreError(error);
  }
  const connection = (source.driver as unknown as { databaseConnection: Sqlite.Database }).databaseConnection;
  let runner = sqliteRunner(connection, nowMs);
  const indexes = deferred.map((table) => new DeferredIndex(table));
  let isOurs = false;
  connection.pragma('query_only = ON');
  const reads = longReads(file, { nowMs, catchUp: (statement) => runner.catchUp(statement) });
  const checkpoints = new Checkpoints(connection);
  // One state of the file for all statements, and no lock that the other process would wait for.
  const readOnly = async <T>(body: () => Transaction<T>): Promise<T> => {
    connection.exec('BEGIN');
    try {
      return await runner.read(body);
    } finally {
      connection.exec('COMMIT');
    }
  };
  const leave = async (): Promise<void> => {
    if (source.isInitialized) await source.destroy();
  };
  // The threads first: the connection that closes last leaves a file without a log.
  const close = (): Promise<void> => Promise.all([reads.close(), checkpoints.close()]).then(leave);
  const prepare = async (): Promise<void> => {
    checkpoints.prepare();
    await reads.read(() => row('SELECT 1 AS one'));
    for (const index of indexes) await readOnly(() => index.prepare());
  };
  const database: Database = {
    dialect: 'sqlite',
    run: async (body, durability) => {
      if (!isOurs) return readOnly(body);
      checkpoints.schedule();
      return runner.run(body, durability);
    },
    read: (body) => runner.read(body),
    source,
    isPooled: false,
    longRead: (body) => reads.read(body),
    leave,
    close,
  };
  const takeOver = async (): Promise<void> => {
    try {
      connection.pragma('query_only = OFF');
      await refuseNewerSchema(runner);
      await source.runMigrations();
      connection.exec(OLDEST_READER_UPDATE);
      runner = sqliteRunner(connection, nowMs, indexes);
      isOurs = true;
    } catch (error) {
      await close();
      throw toStoreError(error);
    }
  };
  return { database, prepare, takeOver };
}

function sqliteSource(file: string, tables: readonly EntitySchema[]): DataSource {
  return new DataSource({
    type: 'better-sqlite3',
    driver: Sqlite, // given, not looked for by its name in folders around
    database: file,
    enableWAL: true,
    // FULL: an accepted delivery survives a power cut, not only a crash of the process.
    prepareDatabase: (connection: Sqlite.Database) => {
      connection.pragma('synchronous = FULL');
      connection.pragma('foreign_keys = ON');
      connection.pragma('busy_timeout = 5000');
      // 8 MiB: deliveries are appended, so that few pages are touched again; and no transaction of theirs spills in
      // its middle.
      connection.pragma('cache_size = -8192');
    },
    migrations: MIGRATIONS,
    entities: entitiesFor('sqlite', tables),
    synchronize: false,
    migrationsTransactionMode: 'all',
  });
}

async function openPostgres(
  urls: PostgresUrls,
  version: string | undefined,
  tables: readonly EntitySchema[],
): Promise<Database> {
  types.setTypeParser(types.builtins.INT8, Number); // our integers are below 2^53
  const { wire, directUrl, isPooled } = await probePostgres(urls);
  const source = new DataSource({
    type: 'postgres',
    driver: pg,
    url: urls.url,
    poolSize: POOL_CONNECTIONS_MAX,
    entities: entitiesFor('postgres', tables),
    synchronize: false,
    extra: {
      Client: BoundedClient,
      onConnect: refuseReadOnly,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
      pipeline: true, // statements that were sent together do not wait for each other's answers
      ...wire.startup,
    },
    poolErrorHandler: () => undefined, // an idle connection that breaks is replaced; the next statement tells
  });
  try {
    await migratePostgres(directUrl, version);
    await source.initialize();
    const runner = postgresRunner(source, wire);
    const close = async (): Promise<void> => {
      if (source.isInitialized) await source.destroy();
    };
    return { ...runner, source, isPooled, longRead: postgresLongReads(source, wire), leave: close, close };
  } catch (error) {
    if (source.isInitialized) await source.destroy();
    if (error instanceof SchemaTooNewError || error instanceof VersionMismatchError) throw error;
    throw new PostgresUnusableError(
      toConnectionError(error),
      directUrl,
      urls.directUrl === undefined ? 'MILLWRIGHT_DATABASE_URL' : 'MILLWRIGHT_DATABASE_DIRECT_URL',
    );
  }
}

async function refuseNewerSchema(runner: TransactionRunner): Promise<void> {
  const present = await runner.read(() =>
    rows<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('migrations', 'schema_reader') ORDER BY name",
    ),
  );
  if (present[0]?.name !== 'migrations') return;
  const reader =
    present.length === 1 ? undefined : await runner.read(() => row<{ oldest: number }>(OLDEST_READER_QUERY));
  refuseUnknown(await runner.read(() => rows<{ name: string }>('SELECT name FROM migrations')), reader?.oldest);
}
