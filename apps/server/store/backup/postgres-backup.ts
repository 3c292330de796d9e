/**
 * PostgreSQL by its own tools: a dump of one snapshot, digests of the same snapshot's rows, and a restore in one
 * transaction. The URL reaches the tools in a private file, never in their arguments.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TableDigest } from '#management';
import { BackupError, toKeyProofs, type DatabaseKeyProofs } from './backup-errors.ts';

/** Output of a tool that is looked through for its first line, bytes. */
const STDERR_BYTES_MAX = 8_192;

/** The function that accepts a batch of deliveries. */
const ACCEPTANCE_CALL = 'accept_deliveries';

/** Where tools are found, and a private folder for what they are told. */
export interface ToolOptions {
  /** The PATH of the service. */
  searchPath: string | undefined;
  folder: string;
}

/** What a dump was made of. */
export interface PostgresFacts {
  migrations: string[];
  tables: TableDigest[];
}

/** Dumps a database to a new file and describes what is in it, both as of one moment. Throws BackupError. */
export async function dumpPostgres(url: string, to: string, tools: ToolOptions): Promise<PostgresFacts> {
  return withClient(url, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const exported = await client.query<{ snapshot: string }>('SELECT pg_export_snapshot() AS snapshot');
    const snapshot = exported.rows[0]?.snapshot ?? '';
    const facts = await describe(client);
    const options = ['--format=custom', '--no-owner', '--no-privileges', `--snapshot=${snapshot}`, `--file=${to}`];
    await runTool('pg_dump', options, url, tools);
    await client.query('COMMIT');
    return facts;
  });
}

/** Throws BackupError where the database is not empty. */
export async function refuseUsedPostgres(url: string): Promise<void> {
  await withClient(url, async (client) => {
    if ((await tableNames(client)).length > 0)
      throw new BackupError(
        'the database is not empty; name an empty one in MILLWRIGHT_DATABASE_URL: nothing is overwritten',
      );
  });
}

/** Restores a dump into an empty database, whole or not at all, and describes what is there. Throws BackupError. */
export async function restorePostgres(url: string, dump: string, tools: ToolOptions): Promise<PostgresFacts> {
  const options = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges', '--dbname=', dump];
  await runTool('pg_restore', options, url, tools);
  return withClient(url, describe);
}

/** Empties a database that was empty before its restore. */
export async function clearPostgres(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const names = await tableNames(client);
    if (names.length > 0) await client.query(`DROP TABLE ${names.map((name) => `"${name}"`).join(', ')} CASCADE`);
    // What triggers and the service called is left behind, and would stand in the way of the next restore.
    const functions = await client.query<{ name: string }>(
      'SELECT oid::regprocedure::text AS name FROM pg_proc ' +
        `WHERE (prorettype = 'trigger'::regtype OR proname = '${ACCEPTANCE_CALL}') ` +
        'AND pronamespace = current_schema()::regnamespace AND proowner = current_user::regrole ' +
        "AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = pg_proc.oid AND d.deptype = 'e')",
    );
    for (const { name } of functions.rows) await client.query(`DROP FUNCTION ${name}`);
  });
}

/** What the database holds to recognize the keys that it was made with. */
export function postgresKeyProofs(url: string): Promise<DatabaseKeyProofs | undefined> {
  return withClient(url, async (client) => {
    const found = await client.query<object>('SELECT * FROM installation');
    return toKeyProofs(found.rows[0]);
  });
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url);
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    if (error instanceof BackupError) throw error;
    const { code = 'unknown' } = error as { code?: string };
    throw new BackupError(`PostgreSQL refused (${code}); see MILLWRIGHT_DATABASE_URL`, { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function tableNames(client: Client): Promise<string[]> {
  const found = await client.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace " +
      'ORDER BY relname COLLATE "C"',
  );
  return found.rows.map(({ name }) => name);
}

async function describe(client: Client): Promise<PostgresFacts> {
  await client.query("SET bytea_output = 'hex'");
  const names = await tableNames(client);
  if (!names.includes('migrations')) throw new BackupError('the database is not one of Millwright');
  const migrations = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY timestamp');
  const tables: TableDigest[] = [];
  for (const name of names) tables.push({ name, ...(await digestOf(client, name)) });
  return { migrations: migrations.rows.map((row) => row.name), tables };
}

/** The digests of all rows, added up by the server in four parts: rows have no order. */
async function digestOf(client: Client, table: string): Promise<{ rows: number; digest: string }> {
  const part = (from: number): string => `sum(('x' || substr(h, ${from}, 15))::bit(60)::bigint::numeric)::text`;
  const found = await client.query<{ rows: string; parts: (string | null)[] }>(
    `SELECT count(*)::text AS rows, ARRAY[${[1, 16, 31, 46].map(part).join(', ')}] AS parts FROM ` +
      `(SELECT encode(sha256(convert_to(t::text, 'UTF8')), 'hex') AS h FROM "${table}" t) AS digests`,
  );
  const [first] = found.rows;
  return { rows: Number(first?.rows ?? 0), digest: (first?.parts ?? []).map((sum) => sum ?? '0').join('.') };
}

/** Runs a tool of PostgreSQL on a database. Throws BackupError with the first line that it says. */
async function runTool(
  tool: 'pg_dump' | 'pg_restore',
  args: readonly string[],
  url: string,
  { searchPath, folder }: ToolOptions,
): Promise<void> {
  const services = join(folder, 'pg_service.conf');
  writeFileSync(services, serviceText(url), { mode: 0o600 });
  const child = spawn(
    tool,
    args.map((arg) => (arg === '--dbname=' ? '--dbname=service=millwright' : arg)),
    {
      env: { PATH: searchPath, HOME: folder, PGSERVICEFILE: services, PGSERVICE: 'millwright' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < STDERR_BYTES_MAX) said += text;
  });
  const ended = await new Promise<number | string>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  if (ended === 0) return;
  if (ended === 'ENOENT')
    throw new BackupError(`${tool} is not on the PATH; install PostgreSQL's client programs (postgresql-client)`);
  throw new BackupError(`${tool} failed: ${firstLine(said) ?? String(ended)}`);
}

/** What the tool says about itself, its server or its versions; what follows may repeat rows. */
function firstLine(said: string): string | undefined {
  const line = said.split('\n').find((text) => text.trim() !== '');
  return line?.replace(/^pg_\w+: (error: )?/, '').slice(0, 200);
}

/** The URL as a file of libpq, whose parameters have the same names. */
function serviceText(url: string): string {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const facts: Record<string, string> = {
    host: decodeURIComponent(hostname.replace(/^\[(.*)\]$/, '$1')),
    port,
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    dbname: decodeURIComponent(pathname.slice(1)),
    ...Object.fromEntries(searchParams),
  };
  const lines = Object.entries(facts).filter(([, value]) => value !== '');
  if (lines.some(([, value]) => /[\r\n]/.test(value)))
    throw new BackupError('MILLWRIGHT_DATABASE_URL holds a line break; percent-encoded ones are no part of a URL here');
  return `[millwright]\n${lines.map(([name, value]) => `${name}=${value}\n`).join('')}`;
}
