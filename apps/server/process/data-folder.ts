/** The data folder belongs to one process at a time: a second one is refused before it touches anything. */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** The folder cannot be used; the message says what to do. */
export class DataFolderError extends Error {}

export interface DataFolderLock {
  release(): void;
}

/**
 * Creates the folder (0700) if needed and locks it. The lock is a transaction on a tiny database of its own: the
 * operating system drops it with the process, however that ends.
 */
export async function lockDataFolder(folder: string): Promise<DataFolderLock> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new DataFolderError(
      `the data folder ${folder} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown'}); ` +
        'set MILLWRIGHT_DATA_DIR to a folder of this user',
    );
  }
  if ((statSync(folder).mode & 0o077) !== 0) closeToOthers(folder);
  return hold(folder);
}

/** The database of a data folder that has one; its write-ahead log lies beside it. */
export function sqliteFileOf(dataDir: string): string {
  return join(dataDir, 'millwright.sqlite');
}

/** Whether a process holds the folder now; makes and changes nothing. */
export function isDataFolderUsed(folder: string): boolean {
  const file = join(folder, 'lock.sqlite');
  if (!existsSync(file)) return false;
  let lock: Database.Database | undefined;
  try {
    lock = new Database(file, { readonly: true, fileMustExist: true, timeout: 0 });
    lock.prepare('SELECT count(*) FROM sqlite_master').get();
    return false;
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true) return true;
    throw error;
  } finally {
    lock?.close();
  }
}

/** What the command line on this machine reads to find the service. contract §11.8. */
const SERVICE_FILE = 'service.json';

/** Says where this process answers, as this machine reaches it. */
export function announceService(folder: string, { host, port, isTls }: ServiceAddress): void {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const url = `${isTls ? 'https' : 'http'}://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
  const draft = join(folder, `${SERVICE_FILE}.${process.pid}`);
  writeFileSync(draft, `${JSON.stringify({ url, pid: process.pid })}\n`, { mode: 0o600 });
  renameSync(draft, join(folder, SERVICE_FILE));
}

/** This process answers here no more; another one may by now. */
export function withdrawService(folder: string): void {
  const file = join(folder, SERVICE_FILE);
  try {
    if ((JSON.parse(readFileSync(file, 'utf8')) as { pid?: unknown }).pid !== process.pid) return;
  } catch {
    return; // there is none, or none of ours
  }
  rmSync(file, { force: true });
}

export interface ServiceAddress {
  host: string;
  port: number;
  isTls: boolean;
}

// Keys and payloads lie inside: nobody else may look.
function closeToOthers(folder: string): void {
  try {
    chmodSync(folder, 0o700);
  } catch {
    throw new DataFolderError(`the data folder ${folder} can be read by others; run: chmod 700 ${folder}`);
  }
}

function hold(folder: string): DataFolderLock {
  let lock: Database.Database | undefined;
  try {
    lock = new Database(join(folder, 'lock.sqlite'), { timeout: 0 });
    lock.pragma('journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    const code = (error as { code?: string }).code;
    if (code?.startsWith('SQLITE_') !== true) throw error; // the driver itself is broken: not the folder's fault
    if (code.startsWith('SQLITE_BUSY'))
      throw new DataFolderError(
        `the data folder ${folder} is used by another millwright process; stop that one or set MILLWRIGHT_DATA_DIR`,
      );
    throw new DataFolderError(`the data folder ${folder} cannot be written (${code})`);
  }
  return { release: () => void lock.close() };
}
