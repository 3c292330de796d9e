/** Files and programs that the configuration names: there, readable, and the keys for nobody else. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findTools, isProgram, STANDARD_PATH } from '../process/program-paths.ts';
import { KeyFileError, readKeyFile } from '../secrets/key-files.ts';
import type { DoctorTarget } from './doctor.ts';
import { ok, problem, warning, type Remark } from './findings.ts';

export async function configuredFiles({ config, faulty }: DoctorTarget): Promise<Remark[]> {
  const { dataDir, databaseUrl, masterKeyFile, uidKeyFile, tls } = config;
  const named: [variable: string, path: string | undefined][] = [
    ['MILLWRIGHT_TLS_CERT_FILE', tls?.certFile],
    ['MILLWRIGHT_TLS_KEY_FILE', tls?.keyFile],
    ['MILLWRIGHT_GIT_CA_FILE', config.gitCaFile],
    ['MILLWRIGHT_GIT_KNOWN_HOSTS_FILE', config.gitKnownHostsFile],
  ];
  const isEmbedded = databaseUrl === undefined;
  const remarks = [
    ...key('MILLWRIGHT_MASTER_KEY_FILE', masterKeyFile, join(dataDir, 'master-key'), isEmbedded),
    ...key('MILLWRIGHT_UID_KEY_FILE', uidKeyFile, join(dataDir, 'uid-key'), isEmbedded),
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
function key(variable: string, path: string | undefined, byDefault: string, isEmbedded: boolean): Remark[] {
  if (path === undefined && isEmbedded && !existsSync(byDefault)) return [];
  try {
    readKeyFile(path ?? byDefault, { create: false, variable });
    return [];
  } catch (error) {
    if (error instanceof KeyFileError)
      return [
        problem(
          error.message,
          'put the right file there; the data of this installation cannot be read with another key',
        ),
      ];
    return [
      problem(
        `${variable}: ${path ?? byDefault} cannot be read (${codeOf(error)})`,
        'let the user of the service read it',
      ),
    ];
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
