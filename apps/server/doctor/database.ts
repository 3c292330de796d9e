/** Whether the database can be used as it is, looked at without migrating or making anything. */
import { join } from 'node:path';
import { StoreFault } from '../store/faults.ts';
import { inspectPostgres, inspectSqlite, type SchemaFound } from '../store/inspection.ts';
import type { Patient } from './examine.ts';
import { ok, problem, warning, type Remark } from './findings.ts';

export const SQLITE_FILE = 'millwright.sqlite';

export async function database({ config: { databaseUrl, dataDir }, faulty, nowMs }: Patient): Promise<Remark[]> {
  if (faulty.has('MILLWRIGHT_DATABASE_URL')) return [problem('not looked at, because MILLWRIGHT_DATABASE_URL is wrong', 'mend it, or unset it for SQLite in the data folder')];
  return databaseUrl === undefined ? sqlite(join(dataDir, SQLITE_FILE)) : postgres(databaseUrl, nowMs);
}

function sqlite(file: string): Remark[] {
  try {
    const found = inspectSqlite(file);
    if (found === 'absent') return [ok(`SQLite; ${file} will be made at the first start`)];
    if (found === 'too-large') return [ok(`SQLite, ${file}; too large to be looked into while no service runs`)];
    return [schema(`SQLite ${found.version}, ${file}`, found)];
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    const way = error.code === 'SQLITE_CANTOPEN' || error.code.startsWith('SQLITE_READONLY') ? 'let the user of the service read and write it' : 'restore it from a backup, or move it away to begin anew';
    return [problem(`${file} cannot be used (${error.code})`, way)];
  }
}

/** What a server's refusals mean. PostgreSQL, "Error Codes". */
const REFUSALS: Readonly<Record<string, readonly [what: string, wayOut: string]>> = {
  '28P01': ['refuses the password', 'give MILLWRIGHT_DATABASE_URL the right user and password'],
  '28000': ['does not let this user in', 'give MILLWRIGHT_DATABASE_URL another user, or allow this one in pg_hba.conf'],
  '3D000': ['has no database of that name', 'make it (createdb), or name another one in MILLWRIGHT_DATABASE_URL'],
  '42501': ['does not let this user read the tables', 'grant the user of MILLWRIGHT_DATABASE_URL the rights on its schema'],
  '53300': ['takes no more connections', 'raise max_connections, or end some clients'],
  ECONNREFUSED: ['refuses the connection', 'start the server, or mend host and port in MILLWRIGHT_DATABASE_URL'],
  ENOTFOUND: ['is not known by its name', 'mend the host in MILLWRIGHT_DATABASE_URL'],
  EAI_AGAIN: ['cannot be looked up by its name now', 'look after the name service of this machine'],
  ETIMEDOUT: ['does not answer in time', 'look whether a firewall stands between, or mend host and port in MILLWRIGHT_DATABASE_URL'],
};

async function postgres(url: string, nowMs: () => number): Promise<Remark[]> {
  const place = placeOf(url);
  try {
    const found = await inspectPostgres(url, nowMs);
    return [schema(`PostgreSQL ${found.version} at ${place}`, found), ...skew(found)];
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    const [what, wayOut] = REFUSALS[error.code] ?? [`cannot be used (${error.code})`, 'look whether it runs, and check MILLWRIGHT_DATABASE_URL'];
    return [problem(`PostgreSQL at ${place} ${what}`, wayOut)];
  }
}

/** Host and port; never user, password or parameters. */
function placeOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname === '' ? 'localhost' : hostname}:${port === '' ? 5432 : port}`;
}

function schema(what: string, { pending, unknown, mayMigrate = true }: SchemaFound): Remark {
  if (unknown.length > 0) return problem(`${what}: a newer version of Millwright has migrated it (${unknown.length} unknown migration${unknown.length === 1 ? '' : 's'})`, 'start that version, or a newer one');
  if (pending.length === 0) return ok(`${what}; its schema is up to date`);
  if (!mayMigrate) return problem(`${what}: ${counted(pending)}, and this user may not`, 'grant CREATE on the schema to the user of MILLWRIGHT_DATABASE_URL, or let another user start the new version once');
  return ok(`${what}; the next start runs ${counted(pending)}`);
}

function counted(pending: readonly string[]): string {
  return `${pending.length} migration${pending.length === 1 ? '' : 's'}`;
}

/** Seconds between the two clocks: leases are the database's time, signatures ours. contract 1 (Clocks). */
const SKEW_SECONDS_NOTED = 5;
const SKEW_SECONDS_BAD = 120;

function skew({ clock }: SchemaFound): Remark[] {
  if (clock === undefined) return [];
  const seconds = Math.abs(clock.databaseMs - clock.oursMs) / 1_000;
  const wayOut = 'let both machines follow the same time servers (NTP)';
  if (seconds > SKEW_SECONDS_BAD) return [problem(`the clocks of this machine and of the database differ by ${Math.round(seconds)} s: signed deliveries would be refused`, wayOut)];
  if (seconds > SKEW_SECONDS_NOTED) return [warning(`the clocks of this machine and of the database differ by ${Math.round(seconds)} s`, wayOut)];
  return [ok(`the clocks of this machine and of the database differ by ${seconds.toFixed(1)} s`)];
}
