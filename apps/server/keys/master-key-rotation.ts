/**
 * The master key is replaced beside running services: every value is wrapped anew, a few at a time, and whoever reads
 * meanwhile has both keys. Killed anywhere, the next call goes on. contract §2.3 (Encryption at rest).
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { masterKeyNameOf } from '#management';
import { uuidv7Sequence } from '#runs';
import type { Config } from '../config/config.ts';
import {
  KeyFileError,
  keyLocations,
  nextKeyPath,
  promoteNextKey,
  readKeyFile,
  readNextKey,
  writePrivateFile,
} from '../process/key-files.ts';
import { keyProof, sameProof, Vault } from '../secrets/vault.ts';
import { bySystem, type ChangedBy } from '../store/access/audit.ts';
import { inspectPostgres, inspectSqlite } from '../store/database/inspection.ts';
import { programVersion } from '../store/database/migrations.ts';
import { sqliteFileOf } from '../process/data-folder.ts';
import { openDatabase } from '../store/open-database.ts';
import { MasterKeyStore, type MasterKeyState, type RewrapPlace } from '../store/secrets/master-keys.ts';

/** What keeps the key from being replaced; one line with the way out, never a key. */
export class RotationError extends Error {}

/** Processes say which keys they have with their heartbeat; three of them. */
const WAIT_FOR_PROCESSES_MS = 15_000;
const LOOK_AGAIN_MS = 500;

export interface RotationOptions {
  config: Config;
  nowMs: () => number;
  /** Told after each part how many values are left. */
  progress?(left: number): void;
  /** How long to wait for processes that lack the next key; the usual, if not said. */
  waitMs?: number;
}

/** `oldKey`: where the key lies that is not needed any more; undefined where the operator has to move the files. */
export interface Rotated {
  rewrapped: number;
  name: string;
  oldKey?: string;
}

/** Rotates, or ends a rotation that was begun. Throws RotationError, KeyFileError, StoreError. */
export async function rotateMasterKey(options: RotationOptions): Promise<Rotated> {
  const { config, nowMs } = options;
  await refuseOtherSchema(config, nowMs);
  const database = await openDatabase({
    url: config.databaseUrl,
    directUrl: config.databaseDirectUrl,
    version: programVersion(),
    dataDir: config.dataDir,
    nowMs,
  });
  try {
    return await rotate(new MasterKeyStore(database), options);
  } finally {
    await database.close();
  }
}

async function rotate(store: MasterKeyStore, options: RotationOptions): Promise<Rotated> {
  const { master } = keyLocations(options.config);
  const state = await store.state();
  if (state === undefined) throw new RotationError('no service has used this database yet; there is nothing to rotate');
  const current = readKeyFile(master.path, { ...master, create: false, hasDatabase: true });
  if (state.next === undefined && isOf(state.current, readNextKey(master)))
    return { rewrapped: 0, name: masterKeyNameOf(state.current), oldKey: promoted(master.path, current) };
  if (!isOf(state.current, current))
    throw new RotationError(`${master.path} is not the master key of this database; see ${master.variable}`);
  const proof = keyProof(nextKeyFor(state, master), 'master');
  await begin(store, proof, options);
  const vault = new Vault(() => [current, readNextKey(master) ?? current]);
  const rewrapped = await rewrapAll(store, proof, vault, options);
  return { rewrapped, name: masterKeyNameOf(proof), oldKey: promoted(master.path, current) };
}

/** The next key: the one that lies there, else a new one, but never another than a rotation has begun with. */
function nextKeyFor({ next }: MasterKeyState, location: { path: string; variable: string }): Uint8Array {
  const file = nextKeyPath(location.path);
  const found = readNextKey(location);
  if (next !== undefined && !isOf(next, found))
    throw new RotationError(`a rotation has begun, and its key is not at ${file}; put it there and call this again`);
  if (found !== undefined) return found;
  try {
    writePrivateFile(file, `${randomBytes(32).toString('hex')}\n`);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new KeyFileError(
      `${file} cannot be written (${code}); make it where the key is kept: openssl rand -hex 32 > FILE`,
      { cause: error },
    );
  }
  return readKeyFile(file, { create: false, variable: location.variable });
}

/** Waits until every process that lives has the next key: without it a process could not read what is sealed next. */
async function begin(store: MasterKeyStore, proof: Uint8Array, options: RotationOptions): Promise<void> {
  const deadline = performance.now() + (options.waitMs ?? WAIT_FOR_PROCESSES_MS);
  for (;;) {
    const begun = await store.begin(proof, author(options));
    if (begun.ok) return;
    if (begun.reason === 'other')
      throw new RotationError('another rotation has begun meanwhile; call this again to end it');
    if (performance.now() >= deadline)
      throw new RotationError(
        `these processes do not have the next key: ${begun.processes.join(', ')}; put the file ` +
          `${nextKeyPath(keyLocations(options.config).master.path)} beside the master key of each, and call this again`,
      );
    await sleep(LOOK_AGAIN_MS);
  }
}

async function rewrapAll(
  store: MasterKeyStore,
  proof: Uint8Array,
  vault: Vault,
  options: RotationOptions,
): Promise<number> {
  const name = masterKeyNameOf(proof);
  let total = 0;
  for (;;) {
    const damaged = new Set<string>();
    let place: RewrapPlace | undefined = { secretId: '', version: 0 };
    while (place !== undefined) {
      const part = await store.rewrapSome(name, place, (value) =>
        vault.rewrap(value, value.secretId, value.version, name),
      );
      total += part.rewrapped;
      for (const secret of part.damaged) damaged.add(secret);
      place = part.place;
      options.progress?.(await store.remaining(name));
    }
    if (damaged.size > 0)
      throw new RotationError(
        `the values of these secrets cannot be opened: ${[...damaged].join(', ')}; set or delete them, and call this ` +
          'again. Both keys are needed until then',
      );
    if (await store.finish(proof, author(options))) return total;
    // Written by a process of before, that knows no names of keys: once more.
  }
}

/** The files of this machine; undefined where they cannot be moved. */
function promoted(path: string, current: Uint8Array): string | undefined {
  const old = `${path}.${masterKeyNameOf(keyProof(current, 'master'))}`;
  if (!existsSync(nextKeyPath(path))) return undefined;
  try {
    promoteNextKey(path, old);
    return old;
  } catch {
    return undefined; // a folder that is mounted to be read
  }
}

function isOf(proof: Uint8Array, key: Uint8Array | undefined): boolean {
  return key !== undefined && sameProof(proof, keyProof(key, 'master'));
}

function author({ nowMs }: RotationOptions): ChangedBy {
  return bySystem(uuidv7Sequence((bytes) => randomBytes(bytes))(nowMs()));
}

/** The service migrates, nobody else: a program of another version may run on the database. */
async function refuseOtherSchema(
  { dataDir, databaseUrl, databaseDirectUrl }: Config,
  nowMs: () => number,
): Promise<void> {
  const found =
    databaseUrl === undefined
      ? inspectSqlite(sqliteFileOf(dataDir))
      : await inspectPostgres(databaseDirectUrl ?? databaseUrl, nowMs);
  if (found === 'absent')
    throw new RotationError(`there is no database in ${dataDir}; set MILLWRIGHT_DATA_DIR to the service's data folder`);
  if (found !== 'too-large' && found.pending.length > 0)
    throw new RotationError('the database is of an older version; start the service of this version first');
}
