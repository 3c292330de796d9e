/**
 * A backup: the database as of one moment and the keys that open it, in one archive. Made beside a running service,
 * which goes on. contract §1.5.
 */
import { existsSync } from 'node:fs';
import { chmod, link, mkdtemp, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BACKUP_FORMAT, databaseFileOf, type BackupDialect, type BackupManifest } from '#management';
import type { Config } from '../config/config.ts';
import { programVersion } from '../store/database/migrations.ts';
import { archiveOf, describeFile, type ArchivedFile } from './archive.ts';
import { BackupError, toBackupError } from '../store/backup/backup-errors.ts';
import { encrypt, type EncryptionKey } from './encryption.ts';
import { keyFilesOf, keyFilesToArchive, verifyKeyFiles, type InstallationKeyFile } from './installation-keys.ts';
import { dumpPostgres, postgresKeyProofs } from '../store/backup/postgres-backup.ts';
import { copySqlite, describeSqlite, keyProofsOf, sqliteBytes } from '../store/backup/sqlite-backup.ts';

export interface BackupOptions {
  config: Config;
  /** A new file, or a stream. */
  to: { file: string } | { stream: Writable };
  encryption: EncryptionKey | undefined;
  withKeys: boolean;
  nowMs: number;
}

/** Makes a backup and answers what is in it. Leaves nothing behind where it fails. Throws BackupError. */
export async function makeBackup({ config, to, encryption, withKeys, nowMs }: BackupOptions): Promise<BackupManifest> {
  if ('file' in to && existsSync(to.file)) throw new BackupError(`${to.file} is there already; nothing is overwritten`);
  const nearby = 'file' in to ? dirname(to.file) : existsSync(config.dataDir) ? config.dataDir : tmpdir();
  await refuseWithoutRoom(config, nearby, 'file' in to);
  const folder = await workingFolder(nearby);
  try {
    const { facts, files } = await collect(config, folder, withKeys);
    const manifest: BackupManifest = {
      format: BACKUP_FORMAT,
      program: programVersion(),
      created_at: new Date(nowMs).toISOString(),
      ...facts,
      files: await Promise.all(files.map(describeFile)),
    };
    const bytes = await encrypt(archiveOf(manifest, files), encryption);
    if ('stream' in to) await pipeline(bytes, to.stream);
    else await writeWhole(to.file, folder, (file) => pipeline(bytes, file));
    return manifest;
  } catch (error) {
    throw toBackupError('the backup cannot be written', error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A copy of the database lies on the disk until the archive is made, and the archive beside it where that is a file:
 * known before, so that a service whose disk it is goes on with its reserve. What a dump takes nobody knows before.
 * Throws BackupError.
 */
async function refuseWithoutRoom(config: Config, nearby: string, withArchive: boolean): Promise<void> {
  const { dataDir, databaseUrl, diskReserveBytes } = config;
  if (databaseUrl !== undefined || ![dataDir, nearby].every(existsSync)) return;
  const copyBytes = sqliteBytes(dataDir);
  const [{ bavail, bsize }, { dev }, data] = [await statfs(nearby), await stat(nearby), await stat(dataDir)];
  const isShared = dev === data.dev;
  const neededBytes = copyBytes * (withArchive ? 2 : 1) + (isShared ? diskReserveBytes : 0);
  if (bavail * bsize >= neededBytes) return;
  throw new BackupError(
    `there is no space left for a backup in ${nearby}: it takes ${megabytes(neededBytes)} MB for a while` +
      (isShared ? ', the reserve of deliveries among them (MILLWRIGHT_DISK_RESERVE_MB)' : '') +
      '; name a FILE on another disk',
  );
}

const megabytes = (bytes: number): string => Math.ceil(bytes / 1_048_576).toLocaleString('en-US');

/** A private folder for what is not yet part of the archive, where the archive goes: there has to be room anyway. */
export async function workingFolder(nearby: string): Promise<string> {
  try {
    const folder = await mkdtemp(join(nearby, '.millwright-backup-'));
    await chmod(folder, 0o700);
    return folder;
  } catch (error) {
    throw toBackupError(`no file can be written in ${nearby}`, error);
  }
}

interface Collected {
  facts: Pick<BackupManifest, 'database' | 'migrations' | 'tables'>;
  files: ArchivedFile[];
}

async function collect(config: Config, folder: string, withKeys: boolean): Promise<Collected> {
  const { dataDir } = config;
  const database: BackupDialect = config.databaseUrl === undefined ? 'sqlite' : 'postgres';
  const copy: ArchivedFile = { name: databaseFileOf(database), path: join(folder, 'database') };
  const url = config.databaseDirectUrl ?? config.databaseUrl;
  if (url === undefined) await copySqlite(dataDir, copy.path);
  const described =
    url === undefined
      ? describeSqlite(copy.path)
      : await dumpPostgres(url, copy.path, { searchPath: config.searchPath, folder });
  const keys = withKeys ? await keysToArchive(config, copy.path) : [];
  return { facts: { database, ...described }, files: [...keys.map(({ name, path }) => ({ name, path })), copy] };
}

/** The two keys of the database, which was copied before: a rotation that began since then is not in the copy. */
async function keysToArchive(config: Config, copy: string): Promise<InstallationKeyFile[]> {
  const url = config.databaseDirectUrl ?? config.databaseUrl;
  const proofs = url === undefined ? keyProofsOf(copy) : await postgresKeyProofs(url);
  const keys = keyFilesToArchive(keyFilesOf(config), proofs);
  verifyKeyFiles(keys, proofs);
  return keys;
}

/** Written beside it, flushed, and only then called by its name. */
async function writeWhole(to: string, folder: string, write: (file: Writable) => Promise<void>): Promise<void> {
  const partial = join(folder, basename(to));
  const file = await open(partial, 'wx', 0o600);
  await write(file.createWriteStream({ flush: true }));
  await giveName(partial, to);
}

/** A link overwrites nothing, whoever makes a file of that name meanwhile; some disks have none. */
async function giveName(partial: string, to: string): Promise<void> {
  try {
    await link(partial, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(to))
      throw new BackupError(`${to} is there by now; nothing is overwritten`, { cause: error });
    await rename(partial, to);
  }
}
