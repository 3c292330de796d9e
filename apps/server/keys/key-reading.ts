/** The keys of this process, out of their files. contract §2.3 (Encryption at rest). */
import { existsSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { keyLocations, readKeyFile, readKeyFiles, readNextKey, type KeyLocation } from '../process/key-files.ts';
import { sqliteFileOf } from '../process/data-folder.ts';

/** The two keys of an installation. */
export interface InstallationKeys {
  masterKey: Uint8Array;
  uidKey: Uint8Array;
}

/**
 * With a new database of its own the process makes the keys that it does not find: those of one that is there are put
 * back, never made again.
 */
export function readKeys(config: Config): InstallationKeys {
  const { master, uid } = keyLocations(config);
  const isEmbedded = config.databaseUrl === undefined;
  const hasDatabase = isEmbedded && existsSync(sqliteFileOf(config.dataDir));
  const options = ({ path, variable, isNamed }: KeyLocation) => ({
    path,
    variable,
    create: isEmbedded && !isNamed && !hasDatabase,
    hasDatabase,
  });
  const [masterKey, uidKey] = readKeyFiles([options(master), options(uid)]);
  return { masterKey, uidKey };
}

/** Read again when a value was wrapped by one that is not known yet. Throws KeyFileError. */
export function masterKeys(config: Config): Uint8Array[] {
  const { master } = keyLocations(config);
  const next = readNextKey(master);
  const current = existsSync(master.path) ? [readKeyFile(master.path, { ...master, create: false })] : [];
  return next === undefined ? current : [...current, next];
}
