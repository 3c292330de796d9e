/**
 * PostgreSQL servers of one suite's own, which it may stop, kill, restart, starve and fail over; commits are durable,
 * as in production.
 */
import { spawn } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../network/ports.ts';
import { INITDB, NO_BINARIES, serverBinaries, serverIdentity, type Identity } from './postgres.ts';

const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  max_connections: '100',
  shared_buffers: '16MB',
  unix_socket_directories: '',
  listen_addresses: '127.0.0.1',
  max_wal_senders: '4',
  wal_keep_size: '64MB',
};
const STARTS_WITHIN_SECONDS = '60';

export type StopMode = 'fast' | 'immediate';
export type Settings = Readonly<Record<string, string>>;

/** One server: its folder and port stay the same over stops and starts. */
export class OwnPostgres {
  readonly port: number;
  private readonly bin: string;
  private readonly data: string;
  private readonly identity: Identity;
  private settings: Settings = {};

  constructor(bin: string, data: string, port: number, identity: Identity) {
    [this.bin, this.data, this.port, this.identity] = [bin, data, port, identity];
  }

  /** `postgres://…` of a database; through another port, if said. */
  url(database = 'postgres', port = this.port): string {
    return `postgres://postgres@127.0.0.1:${port}/${database}`;
  }

  /** Starts it and waits until it answers. `settings` are kept for the starts to come. */
  async start(settings: Settings = this.settings): Promise<void> {
    this.settings = settings;
    const options = Object.entries({ ...SETTINGS, ...settings, port: String(this.port) })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' ');
    await this.control([
      '-w',
      '-t',
      STARTS_WITHIN_SECONDS,
      '-l',
      join(this.data, 'server.log'),
      '-o',
      options,
      'start',
    ]);
  }

  /** `fast`: as an operator stops it. `immediate`: as if it had crashed. */
  async stop(mode: StopMode): Promise<void> {
    await this.control(['-w', '-t', STARTS_WITHIN_SECONDS, '-m', mode, 'stop']);
  }

  async restart(mode: StopMode, settings?: Settings): Promise<void> {
    await this.stop(mode);
    await this.start(settings);
  }

  /** Makes a standby the primary, and waits until it is. */
  async promote(): Promise<void> {
    await this.control(['-w', '-t', STARTS_WITHIN_SECONDS, 'promote']);
  }

  /** Asks it something over a connection of its own. */
  async ask<T = Record<string, unknown>>(text: string, database = 'postgres'): Promise<T[]> {
    const client = new Client(this.url(database));
    await client.connect();
    try {
      return (await client.query(text)).rows as T[];
    } finally {
      await client.end();
    }
  }

  /** Changes a setting of the running server. */
  async set(name: string, value: string): Promise<void> {
    await this.ask(`ALTER SYSTEM SET ${name} = '${value}'`);
    await this.ask('SELECT pg_reload_conf()');
  }

  /** Puts a line before all others of pg_hba.conf; it holds after a reload. */
  allow(line: string): void {
    const file = join(this.data, 'pg_hba.conf');
    writeFileSync(file, `${line}\n${readFileSync(file, 'utf8')}`);
  }

  /**
   * A server that follows this one and takes no writes until it is promoted. Restarts this one, which afterwards
   * commits nothing that the other does not hold.
   */
  async standby(): Promise<OwnPostgres> {
    const follower = new OwnPostgres(this.bin, `${this.data}-standby`, await freePort(), this.identity);
    await this.stop('fast');
    await this.copyFolder(this.data, follower.data);
    writeFileSync(join(follower.data, 'standby.signal'), '');
    await this.start({ ...this.settings, synchronous_standby_names: '*' });
    await follower.start({ primary_conninfo: `'host=127.0.0.1 port=${this.port} user=postgres'` });
    return follower;
  }

  /** Copies what it holds, and starts it again. Answers what brings it back to that: all commits since are lost. */
  async snapshot(): Promise<() => Promise<void>> {
    const copy = `${this.data}-snapshot`;
    rmSync(copy, { recursive: true, force: true });
    await this.stop('fast');
    await this.copyFolder(this.data, copy);
    await this.start();
    return async () => {
      await this.stop('immediate');
      rmSync(this.data, { recursive: true });
      await this.copyFolder(copy, this.data);
      await this.start();
    };
  }

  private async copyFolder(from: string, to: string): Promise<void> {
    cpSync(from, to, { recursive: true });
    const { uid, gid } = this.identity;
    if (uid !== undefined) await run('chown', ['-R', `${uid}:${gid}`, to], {});
  }

  private control(args: readonly string[]): Promise<void> {
    return run(join(this.bin, 'pg_ctl'), ['-D', this.data, ...args], this.identity);
  }
}

export type Owned = { ok: true; server: OwnPostgres; close(): Promise<void> } | { ok: false; reason: string };

/**
 * Whether there is what such a server is made of; a reason where not. For suites that have to say so before they begin.
 */
export async function canOwnPostgres(
  programs: readonly string[] = [],
): Promise<{ ok: true } | { ok: false; reason: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'millwright-own-postgres-'));
  try {
    return (await serverBinaries(folder, serverIdentity(), programs)) === undefined
      ? { ok: false, reason: NO_BINARIES }
      : { ok: true };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A server that comes with these programs, started. Close it; a test run that is killed leaves none behind either. */
export async function ownPostgres(
  settings: Settings = {},
  programs: readonly string[] = [],
): Promise<{ server: OwnPostgres; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'millwright-own-postgres-'));
  const identity = serverIdentity();
  // Its user has to come to the folder of the data.
  if (identity.uid !== undefined) chownSync(folder, identity.uid, identity.gid ?? identity.uid);
  const bin = await serverBinaries(folder, identity, programs);
  if (bin === undefined) throw new Error(NO_BINARIES);
  watch(folder);
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (identity.uid !== undefined) chownSync(data, identity.uid, identity.gid ?? identity.uid);
  await run(join(bin, 'initdb'), ['-D', data, ...INITDB], identity);
  const server = new OwnPostgres(bin, data, await freePort(), identity);
  await server.start(settings);
  return { server, close: () => run('/bin/sh', ['-c', END, 'sh', folder], {}) };
}

/** Ends every server below a folder and removes it. */
const END =
  'for f in "$1"/*/postmaster.pid; do [ -e "$f" ] && kill -QUIT "$(head -n 1 "$f")" 2>/dev/null; done; sleep ' +
  '0.2; rm -rf "$1"';

/** Outlives us. */
function watch(folder: string): void {
  const script = `while kill -0 "$2" 2>/dev/null; do sleep 0.5; [ -d "$1" ] || exit 0; done; ${END}`;
  spawn('/bin/sh', ['-c', script, 'sh', folder, String(process.pid)], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
  }).unref();
}

/** Not in this thread: the service under test goes on meanwhile. */
function run(program: string, args: readonly string[], identity: Identity): Promise<void> {
  return new Promise((resolve, reject) => {
    // The server inherits what pg_ctl writes to; were it a pipe, nobody would see its end.
    const child = spawn(program, args, { ...identity, stdio: 'ignore', cwd: '/' });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ${args.at(-1)} failed (${code})`)),
    );
  });
}
