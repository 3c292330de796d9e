/** A copy of a live SQLite database as of one moment, and digests of its rows. */
import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import type { TableDigest } from '#management';
import { sqliteFileOf } from '../../process/data-folder.ts';
import { BackupError, toBackupError, toKeyProofs, type DatabaseKeyProofs } from './backup-errors.ts';

/** All pages in one step: a step that finds the database changed begins anew, and under load it always is. */
const ALL_PAGES = 0x7fffffff;

/**
 * Copies the database to a new file, with what its write-ahead log holds. Whoever writes meanwhile goes on; the log
 * cannot be emptied before the copy is made. Throws BackupError.
 */
export async function copySqlite(dataDir: string, to: string): Promise<void> {
  const file = sqliteFileOf(dataDir);
  if (!existsSync(file))
    throw new BackupError(`there is no database in ${dataDir}; set MILLWRIGHT_DATA_DIR to the service's data folder`);
  let live: Sqlite.Database | undefined;
  try {
    live = new Sqlite(file, { readonly: true, fileMustExist: true });
    await live.backup(to, { progress: () => ALL_PAGES });
    const copy = new Sqlite(to);
    copy.pragma('journal_mode = DELETE'); // one file, whole without a log
    copy.close();
  } catch (error) {
    throw toBackupError(`the database in ${dataDir} cannot be copied`, error);
  } finally {
    live?.close();
  }
}

/** What a copy takes at most: the file, and what its write-ahead log holds. */
export function sqliteBytes(dataDir: string): number {
  const file = sqliteFileOf(dataDir);
  return [file, `${file}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** What a database file says of itself. Throws BackupError for one that is damaged. */
export function describeSqlite(file: string): { migrations: string[]; tables: TableDigest[] } {
  const database = openReadOnly(file);
  try {
    const [check] = database.pragma('integrity_check(1)') as { integrity_check: string }[];
    if (check?.integrity_check !== 'ok') throw new BackupError('the database is damaged: its integrity check failed');
    const names = database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
      .pluck()
      .all() as string[];
    if (!names.includes('migrations')) throw new BackupError('the database is not one of Millwright');
    return {
      migrations: database.prepare('SELECT name FROM migrations ORDER BY timestamp').pluck().all() as string[],
      tables: names.map((name) => ({ name, ...digestOf(database, name) })),
    };
  } finally {
    database.close();
  }
}

/** What the database holds to recognize the keys that it was made with. */
export function keyProofsOf(file: string): DatabaseKeyProofs | undefined {
  const database = openReadOnly(file);
  try {
    return toKeyProofs(database.prepare('SELECT * FROM installation').get() as object | undefined);
  } finally {
    database.close();
  }
}

function openReadOnly(file: string): Sqlite.Database {
  try {
    return new Sqlite(file, { readonly: true, fileMustExist: true });
  } catch (error) {
    throw toBackupError('the database cannot be opened', error);
  }
}

const BITS = 2n ** 256n;

/** The digests of all rows, added up: rows have no order. */
function digestOf(database: Sqlite.Database, table: string): { rows: number; digest: string } {
  let [rows, sum] = [0, 0n];
  const all = database.prepare(`SELECT * FROM "${table}"`).raw().safeIntegers();
  for (const row of all.iterate() as IterableIterator<unknown[]>) {
    rows += 1;
    sum = (sum + BigInt(`0x${createHash('sha256').update(canonical(row)).digest('hex')}`)) % BITS;
  }
  return { rows, digest: sum.toString(16).padStart(64, '0') };
}

/** Values with their types, so that no two rows are written alike. */
function canonical(row: readonly unknown[]): string {
  return JSON.stringify(
    row.map((value) => {
      if (typeof value === 'bigint') return ['i', value.toString()];
      return value instanceof Uint8Array ? ['b', Buffer.from(value).toString('base64')] : value;
    }),
  );
}
