/**
 * What the stages of the benchmark share: a folder, a load generator, a bare server, databases, and the end of
 * everything that was started.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, fdatasyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { freePort } from '../support/network/ports.ts';
import { freshDatabase, started, type PostgresServer } from '../support/databases/postgres.ts';
import type { Backend, Options } from './figures/arguments.ts';
import { quantile } from './figures/figures.ts';
import { LoadGenerator } from './loads/loads.ts';
import type { Report } from './figures/report.ts';

/** One part of the benchmark, which runs alone as well. */
export interface Stage {
  name: string;
  run(bench: Bench): Promise<Report[]>;
}

/** A server that is measured. */
export interface Server {
  port: number;
  pid: number;
}

export type { Backend };

/** As somebody would set it who keeps what was accepted: a commit is on disk before it is answered. */
const POSTGRES_SETTINGS = [
  'fsync=on',
  'synchronous_commit=on',
  'full_page_writes=on',
  'max_connections=300',
  'shared_buffers=256MB',
  'max_wal_size=4GB',
  'min_wal_size=3GB', // more than USED_SEGMENTS, so that a checkpoint removes none of them
  'unix_socket_directories=',
];
/**
 * Segments of the write-ahead log, 16 MiB each, that the server has written before it is measured: like any that has
 * run for a while it writes to them again, instead of filling a new one with zeros while commits wait.
 */
const USED_SEGMENTS = { quick: 32, whole: 128 } as const;
/** Writes that a disk is tried with. */
const SYNCED_WRITES = 100;

/** How a program is started where it is not as usual. */
export interface ProgramOptions {
  cwd?: string;
  environment?(port: number): Readonly<Record<string, string>>;
}

/** How much is measured; see the members of Bench. */
type Extent = Pick<Options, 'quick' | 'backends' | 'soakMinutes' | 'soakRate'>;

export class Bench {
  /** Fewer rounds, shorter ones, fewer rows. */
  readonly quick: boolean;
  /** Databases that are measured by stages that measure each. */
  readonly backends: readonly Backend[];
  /** How long the soak lasts, minutes. */
  readonly soakMinutes: number;
  /** Its deliveries a second; undefined: a share of what the machine takes. */
  readonly soakRate: number | undefined;
  readonly box: string;
  private readonly ends: (() => Promise<void>)[] = [];
  private server: Promise<PostgresServer> | undefined;

  private constructor(box: string, { quick, backends, soakMinutes, soakRate }: Extent) {
    this.box = box;
    this.quick = quick;
    this.backends = backends;
    this.soakMinutes = soakMinutes;
    this.soakRate = soakRate;
  }

  static async begin(extent: Extent): Promise<Bench> {
    return new Bench(await mkdtemp(join(tmpdir(), 'millwright-bench-')), extent);
  }

  /** Done when the stage is over, the last one first. */
  atEnd(work: () => Promise<void>): void {
    this.ends.push(work);
  }

  /** Ends what a stage has started. */
  async endStage(): Promise<void> {
    for (const end of this.ends.splice(0).toReversed()) await end();
  }

  async end(): Promise<void> {
    await this.endStage();
    await rm(this.box, { recursive: true, force: true });
  }

  /** A new folder in the box. */
  folder(name: string): string {
    const path = join(this.box, `${name}-${randomBytes(4).toString('hex')}`);
    mkdirSync(path, { mode: 0o700 });
    this.atEnd(() => rm(path, { recursive: true, force: true }));
    return path;
  }

  generator(): LoadGenerator {
    const generator = new LoadGenerator();
    this.atEnd(async () => generator.end());
    return generator;
  }

  /** A program that listens on a port of its own and has begun when `isReady` says so. */
  async program(
    command: string,
    args: (port: number) => readonly string[],
    isReady: (port: number) => Promise<boolean>,
    { cwd, environment }: ProgramOptions = {},
  ): Promise<Server> {
    const port = await freePort();
    const child = spawn(command, args(port), {
      cwd,
      env: { PATH: process.env['PATH'], HOME: this.box, ...environment?.(port) },
      stdio: 'ignore',
    });
    const gone = once(child, 'close');
    this.atEnd(async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await gone;
      clearTimeout(timer);
    });
    const givenUpAtMs = performance.now() + 60_000;
    while (!(await isReady(port))) {
      if (child.exitCode !== null || performance.now() > givenUpAtMs) throw new Error(`${command} did not start`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return { port, pid: child.pid ?? 0 };
  }

  /** The counterpart: node:http alone. */
  bare(environment: Readonly<Record<string, string>> = {}): Promise<Server> {
    return this.program(
      process.execPath,
      (port) => [fileURLToPath(new URL('./peers/bare-server.js', import.meta.url)), String(port)],
      answers,
      { environment: () => environment },
    );
  }

  /** An empty database of a PostgreSQL server of our own; undefined for SQLite, a reason where there is no server. */
  async database(backend: Backend): Promise<{ ok: true; url: string | undefined } | { ok: false; reason: string }> {
    if (backend === 'SQLite') return { ok: true, url: undefined };
    this.server ??= (async () => {
      const folder = await mkdtemp(join(tmpdir(), 'millwright-bench-postgres-'));
      chmodSync(folder, 0o755); // the server may run as another user
      const server = await started(folder, POSTGRES_SETTINGS);
      if (server.ok) await useSegments(server.url, USED_SEGMENTS[this.quick ? 'quick' : 'whole']);
      return server;
    })().catch((error: unknown) => ({ ok: false, reason: (error as Error).message }));
    const server = await this.server;
    if (!server.ok) return server;
    const { url, drop } = await freshDatabase(server.url);
    this.atEnd(drop);
    return { ok: true, url };
  }

  /**
   * What a commit costs here at least: one small write that is on disk, milliseconds in the median; and what kind of
   * file system it is.
   */
  async disk(): Promise<{ synced_write_ms: number; file_system: string }> {
    const file = openSync(join(this.box, 'synced'), 'w');
    const took = Array.from({ length: SYNCED_WRITES }, () => {
      const beganAtMs = performance.now();
      writeSync(file, Buffer.alloc(4_096, 1), 0, 4_096, 0);
      fdatasyncSync(file);
      return performance.now() - beganAtMs;
    });
    closeSync(file);
    const { type } = await statfs(this.box);
    return {
      synced_write_ms: Number(quantile(took, 0.5).toFixed(3)),
      file_system: FILE_SYSTEMS[type] ?? `0x${type.toString(16)}`,
    };
  }
}

async function useSegments(url: string, count: number): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    for (let segment = 0; segment < count; segment += 1) {
      await client.query("SELECT pg_logical_emit_message(false, 'bench', 'a segment that is not empty')");
      await client.query('SELECT pg_switch_wal()');
    }
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

/** statfs(2). */
const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0xef53: 'ext',
  0x01021994: 'tmpfs (no disk: commits cost nothing)',
  0x794c7630: 'overlay',
  0x58465342: 'xfs',
  0x9123683e: 'btrfs',
};

/** Whether anything takes connections there. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Whether anything answers HTTP there. */
export async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).then(
    () => true,
    () => false,
  );
}
