/** The two keys that live beside the data folder, never in the database: master key and UID key. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';

const KEY_BYTES = 32;

/**
 * The configuration is wrong in a way that only its owner can mend; the message names file and way out, never a value;
 * a line for each file.
 */
export class KeyFileError extends Error {}

/** How a key file is read: the variable that may name it, and whether it is made where there is none. */
export interface KeyFileOptions {
  create: boolean;
  variable: string;
  /** There is a database already: its key is put back, another one is no help. */
  hasDatabase?: boolean;
}

/** Where the service looks for one of its two keys. */
export interface KeyLocation {
  path: string;
  variable: string;
  /** The operator named it: nobody makes it. */
  isNamed: boolean;
}

/** What the operator says of the two keys. */
export interface KeySettings {
  dataDir: string;
  masterKeyFile?: string;
  uidKeyFile?: string;
}

/** Where the two keys are: where the operator named them, else in the data folder. */
export function keyLocations({
  dataDir,
  masterKeyFile,
  uidKeyFile,
}: KeySettings): Record<'master' | 'uid', KeyLocation> {
  const location = (named: string | undefined, file: string, variable: string): KeyLocation => ({
    path: named ?? join(dataDir, file),
    variable,
    isNamed: named !== undefined,
  });
  return {
    master: location(masterKeyFile, 'master-key', 'MILLWRIGHT_MASTER_KEY_FILE'),
    uid: location(uidKeyFile, 'uid-key', 'MILLWRIGHT_UID_KEY_FILE'),
  };
}

/** Where the master key lies that takes over from this one: beside it, so that one mounted folder holds both. */
export function nextKeyPath(path: string): string {
  return `${path}.next`;
}

/** Throws KeyFileError where the file is there and cannot be read as a key. */
export function readNextKey({ path, variable }: Pick<KeyLocation, 'path' | 'variable'>): Uint8Array | undefined {
  const next = nextKeyPath(path);
  return existsSync(next) ? readKeyFile(next, { create: false, variable }) : undefined;
}

/**
 * The next key takes the place of the last one, which is called `to` from then on. There is a key at `path` at every
 * moment.
 */
export function promoteNextKey(path: string, to: string): void {
  rmSync(to, { force: true });
  if (existsSync(path)) linkSync(path, to);
  renameSync(nextKeyPath(path), path);
}

/** Reads the files in this order. Throws KeyFileError that names every bad one at once. */
export function readKeyFiles<const Files extends readonly (KeyFileOptions & { path: string })[]>(
  files: Files,
): { [File in keyof Files]: Uint8Array } {
  const problems: string[] = [];
  const keys = files.map(({ path, ...options }) => {
    try {
      return readKeyFile(path, options);
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
      problems.push(error.message);
      return undefined;
    }
  });
  if (problems.length > 0) throw new KeyFileError(problems.join('\n'));
  return keys as { [File in keyof Files]: Uint8Array };
}

/**
 * Reads a key file: 32 bytes, or 64 hex digits, or their base64 with an optional final newline. Creates it (0600) only
 * when `create` is set.
 */
export function readKeyFile(path: string, options: KeyFileOptions): Uint8Array {
  if (!existsSync(path)) {
    if (!options.create) throw new KeyFileError(`${options.variable}: no file at ${path}; ${wayToKey(options)}`);
    writePrivateFile(path, randomBytes(KEY_BYTES).toString('hex') + '\n');
  }
  refuseReadableByOthers(path, options.variable);
  const key = parseKey(readFileSync(path));
  if (key === undefined)
    throw new KeyFileError(
      `${options.variable}: ${path} does not hold a key of 32 bytes (raw, 64 hex digits or base64)`,
    );
  return key;
}

/** Writes a new file with mode 0600 and flushes it; fails if it exists. */
export function writePrivateFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function wayToKey({ hasDatabase = false }: KeyFileOptions): string {
  return hasDatabase
    ? 'put the key of this database back there: a backup with keys holds it below keys/'
    : 'make one with: openssl rand -hex 32 > FILE && chmod 600 FILE';
}

function refuseReadableByOthers(path: string, variable: string): void {
  if ((statSync(path).mode & 0o077) !== 0)
    throw new KeyFileError(`${variable}: ${path} can be read by others; run: chmod 600 ${path}`);
}

function parseKey(bytes: Buffer): Uint8Array | undefined {
  if (bytes.length === KEY_BYTES) return bytes;
  const text = bytes.toString('latin1').replace(/\r?\n$/, '');
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return Buffer.from(text, 'base64');
  return undefined;
}
