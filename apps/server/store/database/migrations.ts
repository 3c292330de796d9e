/**
 * What brings a database up to date, oldest first, the lock under which one process does it, and the version of the
 * program that expects it. contract §1.
 */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { obstacleMigration, oldestReaderOf } from '#management';
import pg from 'pg';
import { DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { FirstSchema1700000000001 } from '../migrations/0001-0010/0001-first-schema.ts';
import { Interface1700000000002 } from '../migrations/0001-0010/0002-interface.ts';
import { Agents1700000000003 } from '../migrations/0001-0010/0003-agents.ts';
import { Reconciling1700000000004 } from '../migrations/0001-0010/0004-reconciling.ts';
import { Dashboard1700000000005 } from '../migrations/0001-0010/0005-dashboard.ts';
import { ManyMachines1700000000006 } from '../migrations/0001-0010/0006-many-machines.ts';
import { WaitingRuns1700000000007 } from '../migrations/0001-0010/0007-waiting-runs.ts';
import { IdentityRuns1700000000008 } from '../migrations/0001-0010/0008-identity-runs.ts';
import { DeliveryLog1700000000009 } from '../migrations/0001-0010/0009-delivery-log.ts';
import { SecretGrants1700000000010 } from '../migrations/0001-0010/0010-secret-grants.ts';
import { MasterKeys1700000000011 } from '../migrations/0011-master-keys.ts';
import { SecretOverlap1700000000012 } from '../migrations/0012-secret-overlap.ts';
import { SchemaReaders1700000000013 } from '../migrations/0013-schema-readers.ts';
import { FederatedCredentials1700000000014 } from '../migrations/0014-federated-credentials.ts';
import { Feedback1700000000015 } from '../migrations/0015-feedback.ts';
import { ScheduledAgents1700000000016 } from '../migrations/0016-scheduled-agents.ts';
import { MergedPullRequests1700000000018 } from '../migrations/0018-merged-pull-requests.ts';
import { Interrupts1700000000017 } from '../migrations/0017-interrupts.ts';
import { AcceptanceCalls1700000000019 } from '../migrations/0019-acceptance-calls.ts';
import { ShortDecisions1700000000020 } from '../migrations/0020-short-decisions.ts';
import { ScheduleIdentities1700000000021 } from '../migrations/0021-schedule-identities.ts';
import { QueuedRuns1700000000022 } from '../migrations/0022-queued-runs.ts';
import { SharedIdentityRuns1700000000023 } from '../migrations/0023-shared-identity-runs.ts';
import { SnapshotHosts1700000000024 } from '../migrations/0024-snapshot-hosts.ts';
import { QueuePeriods1700000000025 } from '../migrations/0025-queue-periods.ts';
import { ShortEntries1700000000026 } from '../migrations/0026-short-entries.ts';
import { CONNECT_MS_MAX } from './postgres/postgres-connections.ts';
import { OLDEST_READER_QUERY, refuseOtherVersions } from './replicas.ts';

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
  MasterKeys1700000000011,
  SecretOverlap1700000000012,
  SchemaReaders1700000000013,
  FederatedCredentials1700000000014,
  Feedback1700000000015,
  ScheduledAgents1700000000016,
  Interrupts1700000000017,
  MergedPullRequests1700000000018,
  AcceptanceCalls1700000000019,
  ShortDecisions1700000000020,
  ScheduleIdentities1700000000021,
  QueuedRuns1700000000022,
  SharedIdentityRuns1700000000023,
  SnapshotHosts1700000000024,
  QueuePeriods1700000000025,
  ShortEntries1700000000026,
];

/** Their names, oldest first. */
export const MIGRATION_NAMES: readonly string[] = MIGRATIONS.map(({ name }) => name);

/** Arbitrary, fixed number of the advisory lock that one migrating process holds. */
export const MIGRATION_LOCK = 7_305_118_402;

/** What programs have to know to use a database that this one has migrated. */
export const OLDEST_READER = oldestReaderOf(MIGRATIONS);

/** The database was migrated by a newer version of this program, which this one cannot work beside or after. */
export class SchemaTooNewError extends Error {
  constructor(name: string) {
    super(
      `the database holds migration ${name}, which this version does not know: start the version that wrote ` +
        'it, or a newer one',
    );
  }
}

/**
 * Throws SchemaTooNewError for names that this program does not know, unless the database says that it can be used all
 * the same. `oldestReader`: what it says.
 */
export function refuseUnknown(applied: readonly { name: string }[], oldestReader: number | undefined): void {
  const names = applied.map(({ name }) => name);
  const obstacle = obstacleMigration(MIGRATION_NAMES, names, oldestReader);
  if (obstacle !== undefined) throw new SchemaTooNewError(obstacle);
}

/** What is asked for grows and never shrinks: the strictest program that has migrated decides. */
const NEWEST = String(OLDEST_READER);
export const OLDEST_READER_UPDATE = `UPDATE schema_reader SET oldest = ${NEWEST} WHERE oldest < ${NEWEST}`;

/**
 * Migrates a PostgreSQL database over a connection of its own; another process that does the same is waited for.
 * `version`: this program, where others may be on the database that could not use what it leaves. Throws
 * SchemaTooNewError and VersionMismatchError before anything is touched.
 */
export async function migratePostgres(url: string, version?: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce(url, version);
    } catch (error) {
      if (attempt >= LOCK_ATTEMPTS_MAX || !LOST_LOCKS.has((error as { code?: string }).code)) throw error;
      await sleep(LOCK_PAUSE_MS); // those who queue behind our lock go first
    }
  }
}

/** A table that is locked by a long transaction of others is waited for so long while processes serve. */
const LOCK_MS_MAX = 500;
const LOCK_PAUSE_MS = 1_000;
const LOCK_ATTEMPTS_MAX = 120;
/** SQLSTATEs of a lock that did not come in time, and of one that was given up for others that serve: a deadlock. */
const LOST_LOCKS: ReadonlySet<string | undefined> = new Set(['55P03', '40P01']);

async function migrateOnce(url: string, version: string | undefined): Promise<void> {
  const source = new DataSource({
    type: 'postgres',
    driver: pg,
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
    await refuseNewerPostgres(runner);
    const ask = (text: string, params?: unknown[]): Promise<unknown> => runner.query(text, params);
    const others = version === undefined ? 0 : await refuseOtherVersions(ask, { version, oldestReader: OLDEST_READER });
    if (others > 0) await runner.query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`);
    const executor = new MigrationExecutor(source, runner);
    executor.transaction = 'all';
    await executor.executePendingMigrations();
    await runner.query(OLDEST_READER_UPDATE);
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined); // the connection may be the thing that failed
    throw error;
  }
}

async function refuseNewerPostgres(runner: QueryRunner): Promise<void> {
  const [found] = (await runner.query(
    "SELECT to_regclass('migrations')::text AS migrations, to_regclass('schema_reader')::text AS readers",
  )) as { migrations: string | null; readers: string | null }[];
  if (found?.migrations == null) return;
  const [reader] = found.readers === null ? [] : ((await runner.query(OLDEST_READER_QUERY)) as { oldest: string }[]);
  const applied = (await runner.query('SELECT name FROM migrations')) as { name: string }[];
  refuseUnknown(applied, reader && Number(reader.oldest));
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
