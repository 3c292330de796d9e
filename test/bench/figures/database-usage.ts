/** What a database takes: its bytes, and the processes of a PostgreSQL server. */
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { Client } from 'pg';
import { parentOf } from './process-times.ts';
import type { EmptyService } from '../seeds/seeded-service.ts';

type Where = Pick<EmptyService, 'dataDir' | 'databaseUrl'>;

/** Bytes of all pages that are in use, those in the write-ahead log included; the service may run. */
export async function databaseBytes({ dataDir, databaseUrl }: Where): Promise<number> {
  return databaseUrl === undefined ? sqliteBytes(dataDir) : postgresBytes(databaseUrl);
}

function sqliteBytes(dataDir: string): number {
  const database = new SQLite(join(dataDir, 'millwright.sqlite'), { readonly: true });
  try {
    const amount = (pragma: string): number => Number(database.pragma(pragma, { simple: true }));
    return (amount('page_count') - amount('freelist_count')) * amount('page_size');
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
