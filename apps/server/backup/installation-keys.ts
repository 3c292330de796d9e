/** The two key files of an installation: where they lie, and whether they are those that a database was made with. */
import { existsSync } from 'node:fs';
import type { BackupFileName } from '#management';
import type { Config } from '../config/config.ts';
import { KeyFileError, keyLocations, nextKeyPath, readKeyFile } from '../process/key-files.ts';
import { keyProof, sameProof } from '../secrets/vault.ts';
import { BackupError, type DatabaseKeyProofs } from '../store/backup/backup-errors.ts';

export interface InstallationKeyFile {
  name: BackupFileName;
  purpose: 'master' | 'uid';
  path: string;
  variable: string;
}

/** Where the service looks for its keys. */
export function keyFilesOf(config: Config): InstallationKeyFile[] {
  const { master, uid } = keyLocations(config);
  return [
    { name: 'keys/master-key', purpose: 'master', path: master.path, variable: master.variable },
    { name: 'keys/uid-key', purpose: 'uid', path: uid.path, variable: uid.variable },
  ];
}

/**
 * The files with the key that the database is sealed with, where the file of every day holds the one of before: a
 * rotation has ended, and nobody has moved its file yet. Throws BackupError while it has not ended: one key of the
 * archive would open half of it.
 */
export function keyFilesToArchive(
  files: readonly InstallationKeyFile[],
  proofs: DatabaseKeyProofs | undefined,
): InstallationKeyFile[] {
  if (proofs?.next != null)
    throw new BackupError(
      'the master key rotates: end that with millwright keys rotate-master, or leave keys out with --without-keys',
    );
  return files.map((file) => {
    const next = nextKeyPath(file.path);
    if (file.purpose !== 'master' || proofs === undefined || !existsSync(next)) return file;
    const isNext = sameProof(proofs.master, keyProof(readKey(next, file.variable), 'master'));
    return isNext ? { ...file, path: next } : file;
  });
}

/** Throws BackupError for a key that is missing, unreadable, or another one than the database was made with. */
export function verifyKeyFiles(files: readonly InstallationKeyFile[], proofs: DatabaseKeyProofs | undefined): void {
  for (const { path, purpose, variable } of files) {
    if (!existsSync(path))
      throw new BackupError(
        `there is no key at ${path}; name it in ${variable}, or leave keys out with --without-keys`,
      );
    const key = readKey(path, variable);
    if (proofs !== undefined && !sameProof(proofs[purpose], keyProof(key, purpose)))
      throw new BackupError(`the key at ${path} is not the one that the database was made with; see ${variable}`);
  }
}

function readKey(path: string, variable: string): Uint8Array {
  try {
    return readKeyFile(path, { create: false, variable });
  } catch (error) {
    if (error instanceof KeyFileError) throw new BackupError(error.message, { cause: error });
    throw error;
  }
}
