/** Whether the database can be used as it is, looked at without migrating or making anything. */
import { QUEUE_NEEDS_DIRECT_URL, type Config } from '../config/config.ts';
import { sqliteFileOf } from '../process/data-folder.ts';
import { StoreError } from '../store/database/store-errors.ts';
import { inspectPostgres, inspectSqlite, type SchemaFound } from '../store/database/inspection.ts';
import { probePostgres } from '../store/database/postgres/postgres-probe.ts';
import { describeAddress, PostgresUnusableError } from '../store/database/postgres/postgres-refusals.ts';
import type { DoctorTarget } from './doctor.ts';
import { ok, problem, warning, type Remark } from './findings.ts';

const DIRECT = 'set MILLWRIGHT_DATABASE_DIRECT_URL to the URL of the server itself';

export async function database({ config, faulty, nowMs }: DoctorTarget): Promise<Remark[]> {
  if (faulty.has('MILLWRIGHT_DATABASE_URL'))
    return [
      problem(
        'not looked at, because MILLWRIGHT_DATABASE_URL is wrong',
        'mend it, or unset it for SQLite in the data folder',
      ),
    ];
  return config.databaseUrl === undefined
    ? sqlite(sqliteFileOf(config.dataDir))
    : postgres(config.databaseUrl, config, nowMs);
}

function sqlite(file: string): Remark[] {
  try {
    const found = inspectSqlite(file);
    if (found === 'absent') return [ok(`SQLite; ${file} will be made at the first start`)];
    if (found === 'too-large') return [ok(`SQLite, ${file}; too large to be looked into while no service runs`)];
    return [schema(`SQLite ${found.version}, ${file}`, found)];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const way =
      error.code === 'SQLITE_CANTOPEN' || error.code.startsWith('SQLITE_READONLY')
        ? 'let the user of the service read and write it'
        : 'restore it from a backup, or move it away to begin anew';
    return [problem(`${file} cannot be used (${error.code})`, way)];
  }
}

async function postgres(
  url: string,
  { databaseDirectUrl: directUrl, engine, redisUrl }: Config,
  nowMs: () => number,
): Promise<Remark[]> {
  const place = describeAddress(url);
  const isQueueHere = engine === 'bullmq' && redisUrl === undefined;
  try {
    const { remarks, isPooled } = await probePostgres({ url, directUrl });
    const found = await inspectPostgres(directUrl ?? url, nowMs);
    return [
      schema(`PostgreSQL ${found.version} at ${place}`, found),
      ...skew(found),
      ...remarks.map((remark) => warning(remark, DIRECT)),
      ...(isPooled && isQueueHere ? [problem(`MILLWRIGHT_DATABASE_DIRECT_URL ${QUEUE_NEEDS_DIRECT_URL}`, DIRECT)] : []),
    ];
  } catch (error) {
    if (error instanceof PostgresUnusableError)
      return [problem(`PostgreSQL at ${error.place} ${error.what}`, error.wayOut)];
    if (!(error instanceof StoreError)) throw error;
    const unusable = new PostgresUnusableError(error, url, 'MILLWRIGHT_DATABASE_URL');
    return [problem(`PostgreSQL at ${unusable.place} ${unusable.what}`, unusable.wayOut)];
  }
}

function schema(what: string, { pending, unknown, added, mayMigrate = true }: SchemaFound): Remark {
  if (unknown.length > 0)
    return problem(
      `${what}: a newer version of Millwright has migrated it (${unknown.length} unknown ` +
        `migration${unknown.length === 1 ? '' : 's'})`,
      'start that version, or a newer one',
    );
  if (added.length > 0 && pending.length === 0)
    return ok(`${what}; a newer version has migrated it, and this one can use it`);
  if (pending.length === 0) return ok(`${what}; its schema is up to date`);
  if (!mayMigrate)
    return problem(
      `${what}: ${counted(pending)}, and this user may not`,
      'grant CREATE on the schema to the user of MILLWRIGHT_DATABASE_URL, or let another user start the new ' +
        'version once',
    );
  return ok(`${what}; the next start runs ${counted(pending)}`);
}

function counted(pending: readonly string[]): string {
  return `${pending.length} migration${pending.length === 1 ? '' : 's'}`;
}

/** Seconds between the two clocks: leases are the database's time, signatures ours. contract §1.4 (Clocks). */
const SKEW_SECONDS_NOTED = 5;
const SKEW_SECONDS_BAD = 120;

function skew({ clock }: SchemaFound): Remark[] {
  if (clock === undefined) return [];
  const seconds = Math.abs(clock.databaseMs - clock.oursMs) / 1_000;
  const wayOut = 'let both machines follow the same time servers (NTP)';
  if (seconds > SKEW_SECONDS_BAD)
    return [
      problem(
        `the clocks of this machine and of the database differ by ${Math.round(seconds)} s: signed deliveries ` +
          'would be refused',
        wayOut,
      ),
    ];
  if (seconds > SKEW_SECONDS_NOTED)
    return [warning(`the clocks of this machine and of the database differ by ${Math.round(seconds)} s`, wayOut)];
  return [ok(`the clocks of this machine and of the database differ by ${seconds.toFixed(1)} s`)];
}
