/** The two key files of an installation: where they lie, and whether they are those that a database was made with. */
import { existsSync } from 'node:fs';
import type { BackupFileName } from '#management';
import type { Config } from '../config/config.ts';
import { KeyFileError, keyLocations, readKeyFile } from '../process/key-files.ts';
import { keyProof, sameProof } from '../secrets/vault.ts';
import { BackupError } from '../store/backup/backup-errors.ts';

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

/** Throws BackupError for a key that is missing, unreadable, or another one than the database was made with. */
export function verifyKeyFiles(
  files: readonly InstallationKeyFile[],
  proofs: { master: Uint8Array; uid: Uint8Array } | undefined,
): void {
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
