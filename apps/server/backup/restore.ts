/**
 * A restore: an archive is read whole, judged, and compared row by row before anything of it gets its name. It goes to
 * an empty place only. contract §1.5.
 */
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  databaseFileOf,
  judgeManifest,
  tableDifferences,
  type BackupFileName,
  type BackupManifest,
  type TableDigest,
} from '#management';
import type { Config } from '../config/config.ts';
import { lockDataFolder, DataFolderError, sqliteFileOf, type DataFolderLock } from '../process/data-folder.ts';
import { MIGRATION_NAMES } from '../store/database/migrations.ts';
import { extractArchive } from './archive.ts';
import { workingFolder } from './backup.ts';
import { BackupError, toBackupError } from '../store/backup/backup-errors.ts';
import { decrypt, type DecryptionKey } from './encryption.ts';
import { keyFilesOf, verifyKeyFiles, type InstallationKeyFile } from './installation-keys.ts';
import {
  clearPostgres,
  postgresKeyProofs,
  refuseUsedPostgres,
  restorePostgres,
  type ToolOptions,
} from '../store/backup/postgres-backup.ts';
import { describeSqlite, keyProofsOf } from '../store/backup/sqlite-backup.ts';

export interface RestoreOptions {
  config: Config;
  archive: Readable;
  key: DecryptionKey | undefined;
}

/** What was restored. `keys`: false where the archive held none. */
export interface Restored {
  manifest: BackupManifest;
  keys: boolean;
}

type Files = ReadonlyMap<BackupFileName, string>;

/** Restores an archive; what it fails at is left as it was. Throws BackupError. */
export async function restoreBackup({ config, archive, key }: RestoreOptions): Promise<Restored> {
  const lock = await lockFolder(config.dataDir);
  const url = config.databaseDirectUrl ?? config.databaseUrl;
  let folder: string | undefined;
  try {
    await refuseUsed(config, url);
    folder = await workingFolder(config.dataDir);
    const { manifest, files } = await extractArchive(await decrypt(archive, key), folder);
    const verdict = judgeManifest(manifest, {
      database: url === undefined ? 'sqlite' : 'postgres',
      migrations: MIGRATION_NAMES,
    });
    if (!verdict.ok) throw new BackupError(`the backup cannot be restored: ${verdict.reason}`);
    const keys = keysToRestore(config, files);
    await (url === undefined
      ? restoreSqlite(config, { manifest, files, keys })
      : restoreServer(config, { manifest, files, keys }, { searchPath: config.searchPath, folder }));
    return { manifest, keys: keys.length > 0 };
  } catch (error) {
    throw toBackupError('the backup cannot be restored', error);
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    lock.release();
  }
}

async function lockFolder(dataDir: string): Promise<DataFolderLock> {
  try {
    return await lockDataFolder(dataDir);
  } catch (error) {
    if (error instanceof DataFolderError) throw new BackupError(error.message, { cause: error });
    throw error;
  }
}

/** Nothing is overwritten. */
async function refuseUsed({ dataDir }: Config, url: string | undefined): Promise<void> {
  if (url !== undefined) return refuseUsedPostgres(url);
  const used = [sqliteFileOf(dataDir), `${sqliteFileOf(dataDir)}-wal`].find((file) => existsSync(file));
  if (used !== undefined)
    throw new BackupError(`${used} is there already; restore into an empty folder (MILLWRIGHT_DATA_DIR)`);
}

/** A key of the archive, and where the service will look for it. */
interface RestoredKey extends InstallationKeyFile {
  from: string;
}

/** One that lies there already has to be the same. */
function keysToRestore(config: Config, files: Files): RestoredKey[] {
  const keys = keyFilesOf(config).flatMap((file) => {
    const from = files.get(file.name);
    return from === undefined ? [] : [{ ...file, from }];
  });
  const other = keys.find(({ path, from }) => existsSync(path) && !readFileSync(path).equals(readFileSync(from)));
  if (other !== undefined)
    throw new BackupError(`${other.path} is another key than the backup's; move it away, nothing is overwritten`);
  return keys;
}

/** An archive that may be restored here. */
interface JudgedArchive {
  manifest: BackupManifest;
  files: Files;
  keys: readonly RestoredKey[];
}

async function restoreSqlite(config: Config, { manifest, files, keys }: JudgedArchive): Promise<void> {
  const database = files.get(databaseFileOf('sqlite')) ?? '';
  refuseDifferences(manifest, describeSqlite(database).tables);
  verifyKeyFiles(atArchive(config, keys), keyProofsOf(database));
  await writeKeys(keys);
  await flush(database);
  await rename(database, sqliteFileOf(config.dataDir));
  await flush(config.dataDir);
}

async function restoreServer(config: Config, archive: JudgedArchive, tools: ToolOptions): Promise<void> {
  const { manifest, files, keys } = archive;
  const url = config.databaseDirectUrl ?? config.databaseUrl ?? '';
  const { tables } = await restorePostgres(url, files.get(databaseFileOf('postgres')) ?? '', tools);
  try {
    refuseDifferences(manifest, tables);
    verifyKeyFiles(atArchive(config, keys), await postgresKeyProofs(url));
    await writeKeys(keys);
  } catch (error) {
    await clearPostgres(url);
    throw error;
  }
}

/** The keys that will be used: the archive's, or those of the place where it has none. */
function atArchive(config: Config, keys: readonly RestoredKey[]): InstallationKeyFile[] {
  return keys.length > 0
    ? keys.map(({ from, ...key }) => ({ ...key, path: from }))
    : keyFilesOf(config).filter(({ path }) => existsSync(path));
}

function refuseDifferences(manifest: BackupManifest, found: readonly TableDigest[]): void {
  const differences = tableDifferences(manifest.tables, found);
  if (differences.length > 0) throw new BackupError(`the backup is damaged: ${differences.slice(0, 5).join('; ')}`);
}

async function writeKeys(keys: readonly RestoredKey[]): Promise<void> {
  for (const { from, path } of keys) {
    if (existsSync(path)) continue;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const partial = join(dirname(path), `.millwright-restored-${process.pid}`);
    await copyFile(from, partial);
    await flush(partial);
    await rename(partial, path);
  }
}

/** Makes sure that a file or a folder's names are on disk. */
async function flush(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
