/** What a database takes: its bytes, and the processes of a PostgreSQL server. */
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { Client } from 'pg';
import { DELIVERY_LOG } from '../../../apps/server/store/deliveries/delivery.entities.ts';
import { WAITING_QUEUE } from '../../../apps/server/store/runs/run.entities.ts';
import { parentOf } from './process-times.ts';
import type { EmptyService } from '../seeds/seeded-service.ts';

type Where = Pick<EmptyService, 'dataDir' | 'databaseUrl'>;

/** Bytes of all pages that are in use, those in the write-ahead log included; the service may run. */
export async function databaseBytes({ dataDir, databaseUrl }: Where): Promise<number> {
  return databaseUrl === undefined ? sqliteBytes(dataDir) : postgresBytes(databaseUrl);
}

/** What a database has, and what it lacks of tables that are filled later. */
export interface DatabaseUsage {
  bytes: number;
  /** Rows that each of them lacks, and bytes of one of those that it has: 0 where it has none. */
  lacking: readonly { rows: number; rowBytes: number }[];
}

/** Looks at whole tables. On PostgreSQL all are filled at once. */
export async function databaseUsage(where: Where): Promise<DatabaseUsage> {
  const { dataDir, databaseUrl } = where;
  return { bytes: await databaseBytes(where), lacking: databaseUrl === undefined ? lackingRows(dataDir) : [] };
}

/** Bytes by which a database has grown, with what it lacks as if it were filled: how much that is is the moment's. */
export function growthOf(before: DatabaseUsage, after: DatabaseUsage): number {
  return after.lacking.reduce(
    (sum, { rows, rowBytes }, at) => sum + (rows - (before.lacking[at]?.rows ?? 0)) * rowBytes,
    after.bytes - before.bytes,
  );
}

function sqliteBytes(dataDir: string): number {
  return onSqlite(dataDir, (database) => {
    const amount = (pragma: string): number => Number(database.pragma(pragma, { simple: true }));
    return (amount('page_count') - amount('freelist_count')) * amount('page_size');
  });
}

function lackingRows(dataDir: string): DatabaseUsage['lacking'] {
  return onSqlite(dataDir, (database) => {
    const single = (statement: string): number => Number(database.prepare(statement).pluck().get());
    // A row for each of their sources.
    return [DELIVERY_LOG, WAITING_QUEUE].map(({ name, source }) => {
      const rows = single(`SELECT count(*) FROM ${name}`);
      const bytes = single(`SELECT sum(pgsize) FROM dbstat WHERE name = '${name}'`);
      return {
        rows: single(`SELECT count(*) FROM ${source}`) - rows,
        rowBytes: rows === 0 ? 0 : bytes / rows,
      };
    });
  });
}

function onSqlite<T>(dataDir: string, read: (database: SQLite.Database) => T): T {
  const database = new SQLite(join(dataDir, 'millwright.sqlite'), { readonly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

function postgresBytes(url: string): Promise<number> {
  return asked(url, 'SELECT pg_database_size(current_database())', (bytes) => bytes);
}

/** The process of a server on this machine that started all others. */
export function postmasterOf(url: string): Promise<number> {
  // while the backend that answers lives
  return asked(url, 'SELECT pg_backend_pid()', parentOf);
}

async function asked<T>(url: string, statement: string, use: (value: number) => T): Promise<T> {
  const client = new Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement);
    return use(Number(Object.values(rows[0] ?? {})[0]));
  } finally {
    await client.end();
  }
}
