/**
 * What deliveries are decided against: serving versions, rate windows and accepted identities; and how the only writer
 * of a database remembers them. contract §5.8 (Transaction).
 */
import { type MergePolicy } from '#deliveries';
import { findInChunks, type KeyPlace } from './identity-merges.ts';
import { IdentityRuns, OwnIdentities } from './identity-runs.ts';
import type { PendingDelivery } from './pending-deliveries.ts';
import { RateWindows } from './rate-windows.ts';
import type { Database } from '../database/database.ts';
import { databaseNow, matching, row, type Transaction } from '../database/transactions.ts';

/** What was accepted once is never accepted again. Identities by their keys (`identityKey`). */
export interface AcceptedIdentities {
  /** Those that were accepted. */
  known(keys: readonly string[]): Transaction<Set<string>>;
  /** Writes down new ones. */
  store(keys: readonly string[], nowMs: number): Transaction<void>;
}

/** How keys get into the database. Nobody else writes there while a process may maintain its runs. */
export interface IdentityDatabase {
  /** Of each place, whether the chunk holds the key; undefined: the chunk is gone. */
  find(places: readonly KeyPlace[]): Transaction<(boolean | undefined)[]>;
  /** Whether this process may write what is maintained. */
  mayMaintain(): boolean;
  /** One transaction of maintenance, which a power cut may take back. */
  maintain<T>(body: () => Transaction<T>): Promise<T>;
  /** What memory says is not true any more: it is read again before the next batch. */
  forget(): void;
}

/** The state that one attempt at a batch is decided against. */
export interface Acceptance {
  nowMs: number;
  /** Of the factories of the batch that are there. Whoever changes one in another transaction waits for this one. */
  versions: ReadonlyMap<string, number>;
  /** Still to be loaded for the webhooks of the batch, under the locks that are held by then. */
  windows: RateWindows;
  identities: AcceptedIdentities;
  /** An entry of a lower ID would be found by no count of slots; '' where slots are not counted by IDs. */
  oldestEntryId: string;
}

/**
 * What the only writer of a database remembers. Changed while a transaction decides, and true once that has committed;
 * when an attempt fails, at its commit or before, all is dropped, and the next begins with what a start does.
 */
export class AcceptanceMemory {
  private readonly database: Database;
  private readonly identities: IdentityRuns;
  private readonly windows = new RateWindows();
  private readonly versions = new ServingVersions();
  /** Whether it says what the database says: not while a transaction decides, nor before the first. */
  private isInSync = false;

  /** `policy`: how runs of identities grow. */
  constructor(database: Database, policy?: MergePolicy) {
    this.database = database;
    this.identities = new IdentityRuns(
      {
        find: findInChunks,
        mayMaintain: () => true,
        maintain: (body) => database.run(body, 'lazily'),
        forget: () => void (this.isInSync = false),
      },
      policy,
    );
  }

  /**
   * Reads ahead most of what `start` reads, while another process writes. Answers the webhooks that had deliveries in
   * the last minute.
   */
  async prepare(): Promise<readonly string[]> {
    await this.database.run(() => this.identities.recover());
    return this.windows.prepare(this.database);
  }

  /** Does at a start what the first transaction would do. */
  async start(): Promise<void> {
    const { windows } = this;
    const recover = (): Transaction<void> => this.recover();
    await this.database.read(function* () {
      yield* recover();
      yield* windows.takePrepared(yield* databaseNow());
    });
    this.isInSync = true;
    this.identities.maintain();
  }

  /** Runs a transaction that decides these deliveries; its body may be run again. */
  async run<T>(arrivals: readonly PendingDelivery[], body: (acceptance: Acceptance) => Transaction<T>): Promise<T> {
    const identities = new OwnIdentities(this.identities);
    const [result, nowMs] = await this.database.run(() => this.decided(arrivals, identities, body));
    this.windows.commit(nowMs);
    identities.committed();
    this.isInSync = true;
    return result;
  }

  /**
   * A generator of the class and none of each call: what makes one of a closure is a map (V8's hidden class) that lives
   * until all memory is looked through, and with it everything that the closure sees, here all deliveries.
   */
  private *decided<T>(
    arrivals: readonly PendingDelivery[],
    identities: AcceptedIdentities,
    body: (acceptance: Acceptance) => Transaction<T>,
  ): Transaction<[T, number]> {
    const acceptance = yield* this.begin(arrivals, identities);
    return [yield* body(acceptance), acceptance.nowMs];
  }

  private *begin(arrivals: readonly PendingDelivery[], identities: AcceptedIdentities): Transaction<Acceptance> {
    if (!this.isInSync) yield* this.recover();
    this.isInSync = false;
    const versions = yield* this.versions.of(arrivals.map(({ factoryUid }) => factoryUid));
    const nowMs = yield* databaseNow();
    return { nowMs, versions, windows: this.windows, identities, oldestEntryId: '' };
  }

  /** Drops what is remembered, and reads what the database holds. */
  private *recover(): Transaction<void> {
    this.windows.forget();
    this.versions.forget();
    yield* this.identities.recover();
  }
}

/** The number that was given out last: no factory has changed while it has not. */
function* readServingClock(): Transaction<number> {
  return (yield* row<{ version: number }>('SELECT version FROM serving_clock WHERE id = 1'))?.version ?? 0;
}

/**
 * Serving versions as of a number of the clock, for who holds the clock still while it compares. Exact, because every
 * change of what a factory serves, its deletion too, takes the next number in its own transaction: while the number is
 * the same, what was read of a factory is true.
 */
export class ServingVersions {
  /** As of which number; -1: of none. */
  clock = -1;
  /** By UID; undefined: the factory is gone. Another number has another map: who reads meanwhile fills its own. */
  private versions = new Map<string, number | undefined>();

  /** Those that are known, where all of these factories are. */
  known(factoryUids: readonly string[]): ReadonlyMap<string, number> | undefined {
    const isKnown = this.clock !== -1 && factoryUids.every((uid) => this.versions.has(uid));
    return isKnown ? (this.versions as ReadonlyMap<string, number>) : undefined;
  }

  /** Versions of these factories; one that is gone has none. */
  *of(factoryUids: readonly string[]): Transaction<ReadonlyMap<string, number>> {
    const clock = yield* readServingClock();
    if (clock !== this.clock) this.versions = new Map();
    this.clock = clock;
    const { versions } = this;
    const missing = new Set(factoryUids.filter((uid) => !versions.has(uid)));
    const found = yield* matching<{ uid: string; serving_version: number }>(
      { columns: 'uid, serving_version', table: 'factory', keys: ['uid'], and: 'AND deleted_at IS NULL' },
      [...missing].map((uid) => [uid]),
    );
    for (const uid of missing) versions.set(uid, undefined);
    for (const { uid, serving_version: version } of found) versions.set(uid, version);
    return versions as ReadonlyMap<string, number>;
  }

  /** Nothing that was read is trusted any more. */
  forget(): void {
    this.clock = -1;
  }
}
