/** The files and folders that the service is told of: whether they can be used as they are. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { statfs } from 'node:fs/promises';
import { findTools, isProgram, STANDARD_PATH } from '../process/program.ts';
import { KeyFileError, keyLocations, readKeyFile, type KeyLocation } from '../process/key-files.ts';
import type { DoctorTarget } from './doctor.ts';
import { ok, problem, warning, type Remark, megabytes } from './findings.ts';

export async function configuredFiles({ config, faulty }: DoctorTarget): Promise<Remark[]> {
  const { databaseUrl, tls } = config;
  const { master, uid } = keyLocations(config);
  const named: [variable: string, path: string | undefined][] = [
    ['MILLWRIGHT_TLS_CERT_FILE', tls?.certFile],
    ['MILLWRIGHT_TLS_KEY_FILE', tls?.keyFile],
    ['MILLWRIGHT_GIT_CA_FILE', config.gitCaFile],
    ['MILLWRIGHT_GIT_KNOWN_HOSTS_FILE', config.gitKnownHostsFile],
  ];
  const isEmbedded = databaseUrl === undefined;
  const remarks = [
    ...key(master, isEmbedded),
    ...key(uid, isEmbedded),
    ...named.flatMap(([variable, path]) => (path === undefined ? [] : readable(variable, path))),
    ...(await command(config.runCommand, config.searchPath)),
  ];
  // What cannot be read may name files too.
  if (faulty.size > 0)
    return [
      ...remarks,
      warning(
        'not looked at as a whole, because the configuration cannot be read',
        'mend what is said of the configuration, then ask again',
      ),
    ];
  return remarks.length > 0
    ? remarks
    : [ok('everything that the configuration names is there, and the keys are for nobody else')];
}

/** With SQLite the start makes keys that are not there, unless the operator named them. */
function key({ variable, path, isNamed }: KeyLocation, isEmbedded: boolean): Remark[] {
  if (!isNamed && isEmbedded && !existsSync(path)) return [];
  try {
    readKeyFile(path, { create: false, variable });
    return [];
  } catch (error) {
    if (error instanceof KeyFileError)
      return [
        problem(
          error.message,
          'put the right file there; the data of this installation cannot be read with another key',
        ),
      ];
    return [problem(`${variable}: ${path} cannot be read (${codeOf(error)})`, 'let the user of the service read it')];
  }
}

function readable(variable: string, path: string): Remark[] {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    return [
      problem(
        `${variable}: ${path} cannot be read (${codeOf(error)})`,
        'name a file that the user of the service can read',
      ),
    ];
  }
  if (variable === 'MILLWRIGHT_TLS_KEY_FILE' && (statSync(path).mode & 0o007) !== 0)
    return [warning(`${variable}: ${path} can be read by everybody`, `run: chmod o-rwx ${path}`)];
  return statSync(path).isFile() ? [] : [problem(`${variable}: ${path} is no file`, 'name a file')];
}

async function command(words: readonly string[] | undefined, searchPath: string | undefined): Promise<Remark[]> {
  const [name = ''] = words ?? [];
  if (words === undefined) return [];
  const isThere = name.includes('/')
    ? await isProgram(name)
    : (await findTools([name], [searchPath, STANDARD_PATH].filter((path) => path !== undefined).join(':'))).size > 0;
  return isThere
    ? []
    : [
        problem(
          'MILLWRIGHT_RUN_COMMAND names a program that is not found',
          'install it, or name it by its absolute path',
        ),
      ];
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}

/** A reserve and so much more: below it the first large run meets the reserve. */
const COMFORT_BYTES = 1_024 * 1_048_576;

const ELSEWHERE = 'set MILLWRIGHT_DATA_DIR to a folder of the user that runs the service';

export function dataFolder({ config: { dataDir } }: DoctorTarget): Remark[] {
  if (!existsSync(dataDir)) return [toBeMade(dataDir)];
  if (!statSync(dataDir).isDirectory()) return [problem(`${dataDir} is no folder`, ELSEWHERE)];
  const refused = refusal(dataDir);
  if (refused !== undefined) return [problem(`${dataDir} cannot be written by this user (${refused})`, ELSEWHERE)];
  const others = statSync(dataDir).mode & 0o077;
  if (others !== 0)
    return [
      warning(
        `${dataDir} is open to other users of this machine`,
        `run: chmod 700 ${dataDir} (the start of the service does it too)`,
      ),
    ];
  return [ok(`${dataDir}, for this user only`)];
}

function toBeMade(folder: string): Remark {
  const parent = existing(folder);
  if (!statSync(parent).isDirectory())
    return problem(`${folder} cannot be made, because ${parent} is no folder`, ELSEWHERE);
  const refused = refusal(parent);
  if (refused !== undefined)
    return problem(
      `${folder} cannot be made, because ${parent} cannot be written by this user (${refused})`,
      ELSEWHERE,
    );
  return ok(`${folder} will be made at the first start`);
}

function refusal(folder: string): string | undefined {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

/** Free space against the reserve that the service keeps. */
export async function disk({ config: { dataDir, diskReserveBytes } }: DoctorTarget): Promise<Remark[]> {
  const { bavail, bsize, files, ffree } = await statfs(existing(dataDir));
  const free = bavail * bsize;
  const reserve = megabytes(diskReserveBytes);
  const room =
    'free some space (folders of ended runs lie in runs/ of the data folder), or set MILLWRIGHT_DATA_DIR to a ' +
    'larger disk';
  if (files > 0 && ffree === 0) return [problem('the disk of the data folder can hold no more files', room)];
  if (free < diskReserveBytes)
    return [
      problem(
        `${megabytes(free)} are free, less than the reserve of ${reserve} (MILLWRIGHT_DISK_RESERVE_MB): ` +
          'deliveries are answered 503',
        room,
      ),
    ];
  if (free < diskReserveBytes + COMFORT_BYTES)
    return [warning(`${megabytes(free)} are free, not much more than the reserve of ${reserve}`, room)];
  return [ok(`${megabytes(free)} are free; the service keeps a reserve of ${reserve}`)];
}

/** The folder itself, or the nearest one above it that is there. */
function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}
