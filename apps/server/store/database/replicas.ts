/**
 * The processes of one database as rows: which program each is and what it does, when it was heard of last, and the
 * serving version that it has loaded. contract §5, §9.
 */
import { knownToProgram } from '#management';
import type { Database } from './database.ts';
import { defineTable, insertInto } from './table.ts';
import { change, databaseNow, lock, row, rows, type Transaction } from './transactions.ts';

/** Processes that live on the database; `roles`, `master_keys`: names with commas between. */
export const REPLICA = defineTable('replica', {
  owner: 'key',
  started_at: 'int',
  seen_at: 'int',
  serving_version: 'int',
  version: 'text',
  roles: 'text',
  host: 'text',
  master_keys: 'text',
});

/** One row: the number of the migration that a program has to know to use this database. */
export const SCHEMA_READER = defineTable('schema_reader', { id: 'int key', oldest: 'int' });

/** Where a table may not be there yet: what programs have to know to use the database. */
export const OLDEST_READER_QUERY = 'SELECT oldest FROM schema_reader WHERE id = 1';

/** Who was not heard of for this long does nothing any more. */
export const REPLICA_LIVE_MS = 15_000;

/** Who was not heard of for this long is forgotten. */
const REPLICA_FORGOTTEN_MS = 60_000;

/** A process as it names itself. */
export interface Process {
  /** Unique among all that ever were. */
  owner: string;
  /** Its program; see `programVersion`. */
  version: string;
  roles: readonly string[];
  /** Its machine. */
  host: string;
  /** Names of the master keys that it has. */
  masterKeys?: readonly string[];
}

export interface Replica {
  name: string;
  seenAtMs: number;
  servingVersion: number;
}

/** A process of another version lives on this database, and one of the two could not use what the other one leaves. */
export class VersionMismatchError extends Error {
  constructor(
    ours: string,
    { version, owner, silentMs }: { version: string; owner: string; silentMs: number | string },
  ) {
    const theirs = version === '' ? 'an older version' : `version ${version}`;
    super(
      `this is version ${ours}, and process ${owner} of ${theirs} was heard of on the same database ` +
        `${Math.round(Number(silentMs) / 1_000)} s ago: stop all processes of the other version first (one that ` +
        `was killed is forgotten after ${REPLICA_LIVE_MS / 1_000} s)`,
    );
  }
}

/** Asks one statement of PostgreSQL, with `$1` …; answers its rows. */
type PostgresQuery = (text: string, params?: unknown[]) => Promise<unknown>;

/** What a program is, and what others have to know to use what it leaves. */
interface Program {
  version: string;
  oldestReader: number;
}

/**
 * Throws VersionMismatchError for a process that could not use what this program is going to leave; answers how many
 * of other versions there are that can. To be asked before a database is migrated.
 */
export async function refuseOtherVersions(ask: PostgresQuery, { version, oldestReader }: Program): Promise<number> {
  const columns = (await ask(
    'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema() ' +
      "AND table_name = 'replica'",
  )) as { name: string }[];
  if (columns.length === 0) return 0; // nobody has ever been here
  const theirs = columns.some(({ name }) => name === 'version') ? 'version' : "''";
  const others = (await ask(
    `SELECT owner, ${theirs} AS version, now.ms - seen_at AS "silentMs" ` +
      'FROM replica, (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms) AS now ' +
      `WHERE seen_at > now.ms - $1 AND ${theirs} <> $2 ORDER BY seen_at DESC`,
    [REPLICA_LIVE_MS, version],
  )) as { owner: string; version: string; silentMs: number | string }[];
  const other = others.find((process) => knownToProgram(process.version) < oldestReader);
  if (other !== undefined) throw new VersionMismatchError(version, other);
  return others.length;
}

export class ReplicaStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /**
   * Notes a process that begins. Throws VersionMismatchError where it or another one of another version could not use
   * the schema: of two that begin together, the later one.
   */
  async join(me: Process): Promise<void> {
    await this.database.run(function* () {
      yield* lock('replicas');
      const nowMs = yield* databaseNow();
      const others = yield* rows<{ owner: string; version: string; seen_at: number }>(
        'SELECT owner, version, seen_at FROM replica WHERE seen_at > ? AND version <> ? ORDER BY seen_at DESC',
        nowMs - REPLICA_LIVE_MS,
        me.version,
      );
      const { oldest = 0 } = (yield* row<{ oldest: number }>(OLDEST_READER_QUERY)) ?? {};
      const isLeftBehind = knownToProgram(me.version) < oldest;
      const other = others.find(({ version }) => isLeftBehind || knownToProgram(version) < oldest);
      if (other !== undefined)
        throw new VersionMismatchError(me.version, { ...other, silentMs: nowMs - other.seen_at });
      yield* insertReplica(me, 0, nowMs);
    });
  }

  /**
   * Notes that a process lives and what it has loaded; forgets those that were not heard of for long. Answers the
   * migration of a newer program beside which this one cannot work, and notes nothing then; undefined: there is none.
   */
  async beat(me: Process, servingVersion: number): Promise<string | undefined> {
    return this.database.run(function* () {
      const obstacle = yield* migrationBeyond(me);
      if (obstacle !== undefined) return obstacle;
      const nowMs = yield* databaseNow();
      const known = yield* change(
        'UPDATE replica SET seen_at = ?, serving_version = ?, master_keys = ? WHERE owner = ?',
        nowMs,
        servingVersion,
        (me.masterKeys ?? []).join(','),
        me.owner,
      );
      if (known === 1) return undefined;
      yield* insertReplica(me, servingVersion, nowMs);
      yield* change('DELETE FROM replica WHERE seen_at < ?', nowMs - REPLICA_FORGOTTEN_MS);
      return undefined;
    }, 'lazily'); // who forgets it in a power cut was in it
  }

  /** For a process that takes nothing more and still lives. */
  async retire(owner: string): Promise<void> {
    await this.database.run(() => change("UPDATE replica SET roles = '' WHERE owner = ?", owner));
  }

  /** For a process that ends, and says so. */
  async leave(owner: string): Promise<void> {
    await this.database.run(() => change('DELETE FROM replica WHERE owner = ?', owner), 'lazily');
  }

  /** For a process that knows that it is the only one, after one that ended without saying so. */
  async forgetAll(): Promise<void> {
    await this.database.run(() => change('DELETE FROM replica'), 'lazily');
  }

  /**
   * Those that take deliveries, by name, and the serving version of a factory: who has loaded that one or a later one
   * serves it.
   */
  async of(factoryUid: string): Promise<{ replicas: Replica[]; servingVersion: number }> {
    return this.database.read(function* () {
      const nowMs = yield* databaseNow();
      const factory = yield* row<{ version: number }>(
        'SELECT serving_version AS version FROM factory WHERE uid = ?',
        factoryUid,
      );
      const found = yield* rows<{ owner: string; seen_at: number; serving_version: number }>(
        `SELECT owner, seen_at, serving_version FROM replica WHERE seen_at > ? ` +
          `AND ',' || roles || ',' LIKE '%,ingress,%' ORDER BY owner`,
        nowMs - REPLICA_LIVE_MS,
      );
      const replicas = found.map(({ owner, seen_at: seenAt, serving_version: version }) => ({
        name: owner,
        seenAtMs: seenAt,
        servingVersion: version,
      }));
      return { replicas, servingVersion: factory?.version ?? 0 };
    });
  }

  /** Every process that lives, by name. */
  async living(): Promise<(Process & { seenAtMs: number })[]> {
    return this.database.read(function* () {
      const nowMs = yield* databaseNow();
      const found = yield* rows<{ owner: string; version: string; roles: string; host: string; seen_at: number }>(
        'SELECT owner, version, roles, host, seen_at FROM replica WHERE seen_at > ? ORDER BY owner',
        nowMs - REPLICA_LIVE_MS,
      );
      return found.map(({ roles, seen_at: seenAtMs, ...named }) => ({
        ...named,
        roles: roles.split(',').filter((role) => role !== ''),
        seenAtMs,
      }));
    });
  }
}

/** Of a process that slept while others migrated; one that does not say what it knows is of a test. */
function* migrationBeyond({ version }: Process): Transaction<string | undefined> {
  const known = knownToProgram(version);
  const { oldest = 0 } = (yield* row<{ oldest: number | string }>(OLDEST_READER_QUERY)) ?? {};
  if (known === 0 || known >= Number(oldest)) return undefined;
  const newest = yield* row<{ name: string }>('SELECT name FROM migrations ORDER BY timestamp DESC LIMIT 1');
  return newest?.name;
}

function* insertReplica(
  { owner, version, roles, host, masterKeys }: Process,
  servingVersion: number,
  nowMs: number,
): Transaction<void> {
  const replica = {
    owner,
    started_at: nowMs,
    seen_at: nowMs,
    serving_version: servingVersion,
    version,
    roles: roles.join(','),
    host,
    master_keys: (masterKeys ?? []).join(','),
  };
  yield* insertInto(REPLICA, [replica], { ignoreConflicts: true });
}
