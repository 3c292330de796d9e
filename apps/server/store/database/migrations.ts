/**
 * What brings a database up to date, oldest first, the lock under which one process does it, and the version of the
 * program that expects it. contract §1.
 */
import { existsSync, readFileSync } from 'node:fs';
import { DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { FirstSchema1700000000001 } from '../migrations/0001-first-schema.ts';
import { Interface1700000000002 } from '../migrations/0002-interface.ts';
import { Agents1700000000003 } from '../migrations/0003-agents.ts';
import { Reconciling1700000000004 } from '../migrations/0004-reconciling.ts';
import { Dashboard1700000000005 } from '../migrations/0005-dashboard.ts';
import { ManyMachines1700000000006 } from '../migrations/0006-many-machines.ts';
import { WaitingRuns1700000000007 } from '../migrations/0007-waiting-runs.ts';
import { IdentityRuns1700000000008 } from '../migrations/0008-identity-runs.ts';
import { DeliveryLog1700000000009 } from '../migrations/0009-delivery-log.ts';
import { SecretGrants1700000000010 } from '../migrations/0010-secret-grants.ts';
import { CONNECT_MS_MAX } from './postgres/postgres-connections.ts';
import { refuseOtherVersions } from './replicas.ts';

export const MIGRATIONS = [
  FirstSchema1700000000001,
  Interface1700000000002,
  Agents1700000000003,
  Reconciling1700000000004,
  Dashboard1700000000005,
  ManyMachines1700000000006,
  WaitingRuns1700000000007,
  IdentityRuns1700000000008,
  DeliveryLog1700000000009,
  SecretGrants1700000000010,
];

/** Their names, oldest first. */
export const MIGRATION_NAMES: readonly string[] = MIGRATIONS.map(({ name }) => name);

/** Arbitrary, fixed number of the advisory lock that one migrating process holds. */
export const MIGRATION_LOCK = 7_305_118_402;

/** The database was migrated by a newer version of this program. */
export class SchemaTooNewError extends Error {
  constructor(name: string) {
    super(
      `the database holds migration ${name}, which this version does not know: start the version that wrote ` +
        'it, or a newer one',
    );
  }
}

/** Throws SchemaTooNewError for names that this program does not know. */
export function refuseUnknown(applied: readonly { name: string }[]): void {
  const unknown = applied.find(({ name }) => !MIGRATION_NAMES.includes(name));
  if (unknown !== undefined) throw new SchemaTooNewError(unknown.name);
}

/**
 * Migrates a PostgreSQL database over a connection of its own; another process that does the same is waited for.
 * `version`: this program, where processes of others must not be on the database. Throws SchemaTooNewError and
 * VersionMismatchError before anything is touched.
 */
export async function migratePostgres(url: string, version?: string): Promise<void> {
  const source = new DataSource({
    type: 'postgres',
    url,
    poolSize: 1,
    migrations: MIGRATIONS,
    synchronize: false,
    extra: { connectionTimeoutMillis: CONNECT_MS_MAX, keepAlive: true },
    poolErrorHandler: () => undefined,
  });
  try {
    await source.initialize();
    const runner = source.createQueryRunner();
    try {
      await migrateAlone(source, runner, version);
    } finally {
      await runner.release();
    }
  } finally {
    if (source.isInitialized) await source.destroy();
  }
}

/**
 * One transaction with its lock: nothing of it outlives a process that is killed, and a pooler in transaction mode
 * carries it too.
 */
async function migrateAlone(source: DataSource, runner: QueryRunner, version: string | undefined): Promise<void> {
  await runner.startTransaction();
  try {
    // A large table takes its time; what a role was given for its daily work is not meant for this.
    for (const bound of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
      await runner.query(`SET LOCAL ${bound} = 0`);
    await runner.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const [found] = (await runner.query("SELECT to_regclass('migrations')::text AS name")) as { name: string | null }[];
    if (found?.name) refuseUnknown((await runner.query('SELECT name FROM migrations')) as { name: string }[]);
    if (version !== undefined) await refuseOtherVersions((text, params) => runner.query(text, params), version);
    const executor = new MigrationExecutor(source, runner);
    executor.transaction = 'all';
    await executor.executePendingMigrations();
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined); // the connection may be the thing that failed
    throw error;
  }
}

/** The package's file lies four folders up in the source and five in the built program. */
const PACKAGE_FILES = ['../../../../package.json', '../../../../../package.json'];

/**
 * Version of the package, and the last migration that it knows: two builds of one version may differ in what they
 * expect of the database.
 */
export function programVersion(): string {
  const file = PACKAGE_FILES.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  const { version } =
    file === undefined ? { version: 'unknown' } : (JSON.parse(readFileSync(file, 'utf8')) as { version: string });
  return `${version}/${MIGRATION_NAMES.at(-1) ?? ''}`;
}
