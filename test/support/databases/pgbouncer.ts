/** A real PgBouncer in transaction mode before a PostgreSQL server of the tests. */
import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../network/ports.ts';
import { serverIdentity } from './postgres.ts';

const PROGRAMS = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'];
const STARTS_WITHIN_MS = 15_000;

/** The program, or why there is none; with REQUIRE_PGBOUNCER=1 that is an error. */
export function pgbouncerProgram(): { ok: true; program: string } | { ok: false; reason: string } {
  const program = PROGRAMS.find(existsSync);
  if (program !== undefined) return { ok: true, program };
  if (process.env['REQUIRE_PGBOUNCER'] === '1') throw new Error('REQUIRE_PGBOUNCER=1, and there is no pgbouncer');
  process.stderr.write('\nPgBouncer suites are SKIPPED: there is no pgbouncer (Debian package pgbouncer)\n\n');
  return { ok: false, reason: 'there is no pgbouncer' };
}

export interface PgBouncer {
  /** `postgres://…` of the same database, through the pooler. */
  url: string;
  /** What it wrote to its log. */
  logged(): string;
  close(): Promise<void>;
}

/** Starts one before the server of `url`, with so many connections to the server. */
export async function startPgBouncer(program: string, url: string, poolSize: number): Promise<PgBouncer> {
  const identity = serverIdentity();
  const folder = mkdtempSync(join(tmpdir(), 'millwright-pgbouncer-'));
  if (identity.uid !== undefined) chownSync(folder, identity.uid, identity.gid ?? identity.uid);
  const port = await freePort();
  const { port: serverPort, pathname } = new URL(url);
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(
    settings,
    [
      '[databases]',
      `${pathname.slice(1)} = host=127.0.0.1 port=${serverPort} user=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      `default_pool_size = ${poolSize}`,
      'max_client_conn = 300',
      'server_login_retry = 1',
      '',
    ].join('\n'),
    { mode: 0o644 },
  );
  const child = spawn(program, [settings], { ...identity, stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const through = new URL(url);
  through.port = String(port);
  const pooler: PgBouncer = {
    url: through.href,
    logged: () => log,
    async close() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const deadline = performance.now() + STARTS_WITHIN_MS;
  while (!(await answers(pooler.url))) {
    if (performance.now() < deadline && child.exitCode === null) continue;
    await pooler.close();
    throw new Error(`pgbouncer did not start: ${log}`);
  }
  return pooler;
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
