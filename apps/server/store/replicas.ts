/** Processes that take deliveries, as rows: when each was heard of last, and the serving version that it has loaded. contract 5, 9. */
import type { Database } from './database.ts';
import { change, databaseNow, insert, row, rows } from './statements.ts';

/** Who was not heard of for this long serves nothing any more. */
const REPLICA_LIVE_MS = 15_000;
/** Who was not heard of for this long is forgotten. */
const REPLICA_KEPT_MS = 60_000;

export interface Replica {
  name: string;
  seenAtMs: number;
  servingVersion: number;
}

export class ReplicaStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Notes that a process lives and what it has loaded; forgets those that were not heard of for long. */
  async beat(owner: string, servingVersion: number): Promise<void> {
    await this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const known = yield* change('UPDATE replica SET seen_at = ?, serving_version = ? WHERE owner = ?', nowMs, servingVersion, owner);
      if (known === 1) return;
      yield* insert('replica', ['owner', 'started_at', 'seen_at', 'serving_version'], [[owner, nowMs, nowMs, servingVersion]], { ignoreConflicts: true });
      yield* change('DELETE FROM replica WHERE seen_at < ?', nowMs - REPLICA_KEPT_MS);
    });
  }

  /** For a process that ends, and says so. */
  async leave(owner: string): Promise<void> {
    await this.database.run(() => change('DELETE FROM replica WHERE owner = ?', owner));
  }

  /** For a process that knows that it is the only one, after one that ended without saying so. */
  async forgetAll(): Promise<void> {
    await this.database.run(() => change('DELETE FROM replica'));
  }

  /** Those that live, by name, and the serving version of a factory: who has loaded that one or a later one serves it. */
  async of(factoryUid: string): Promise<{ replicas: Replica[]; servingVersion: number }> {
    return this.database.read(function* () {
      const nowMs = yield* databaseNow();
      const factory = yield* row<{ version: number }>('SELECT serving_version AS version FROM factory WHERE uid = ?', factoryUid);
      const found = yield* rows<{ owner: string; seen_at: number; serving_version: number }>('SELECT owner, seen_at, serving_version FROM replica WHERE seen_at > ? ORDER BY owner', nowMs - REPLICA_LIVE_MS);
      const replicas = found.map(({ owner, seen_at: seenAt, serving_version: version }) => ({ name: owner, seenAtMs: seenAt, servingVersion: version }));
      return { replicas, servingVersion: factory?.version ?? 0 };
    });
  }
}
