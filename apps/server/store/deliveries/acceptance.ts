/**
 * What deliveries are decided against: serving versions, rate windows and accepted identities. Where processes share a
 * database it is asked for them under locks; the only writer of one remembers them. contract §5.8 (Transaction).
 */
import { type MergePolicy, RATE_WINDOW_MS, SlotRing, type SlotResult } from '#deliveries';
import { firstUuidv7 } from '#runs';
import { ENTRY_TIME_SLACK_MS, IDENTITY } from './delivery.entities.ts';
import { IdentityRuns } from './identity-runs.ts';
import type { PendingDelivery } from './pending-deliveries.ts';
import type { Database } from '../database/database.ts';
import { catchUp } from '../database/deferred-index.ts';
import { LostRaceError } from '../database/store-errors.ts';
import { insertInto } from '../database/table.ts';
import { databaseNow, type Match, matching, row, together, type Transaction } from '../database/transactions.ts';

/** One identity of a delivery. `key`: of webhook and hash, as text that others compare. */
export interface DeliveryIdentity {
  key: string;
  webhookUid: string;
  hash: Uint8Array;
}

/** What was accepted once is never accepted again. */
export interface AcceptedIdentities {
  keyOf(webhookUid: string, hash: Uint8Array): string;
  /** Keys of those that were accepted. */
  known(identities: readonly DeliveryIdentity[]): Transaction<Set<string>>;
  /** Writes down new ones. */
  store(identities: readonly DeliveryIdentity[], nowMs: number): Transaction<void>;
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

/** Where processes share the database: everything is read under locks that hold until the transaction ends. */
export function* sharedAcceptance(arrivals: readonly PendingDelivery[]): Transaction<Acceptance> {
  const [versions, , nowMs] = yield* together(lockVersions(arrivals), lockWebhooks(arrivals), databaseNow());
  // A process may have stood still for minutes.
  return {
    nowMs,
    versions,
    windows: new RateWindows(),
    identities: IDENTITY_TABLE,
    oldestEntryId: firstUuidv7(nowMs - ENTRY_TIME_SLACK_MS),
  };
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
    this.identities = new IdentityRuns(database, policy);
  }

  /** Does at a start what the first transaction would do. */
  async start(): Promise<void> {
    await this.database.read(() => this.recover());
    this.isInSync = true;
    this.identities.maintain();
  }

  /** Runs a transaction that decides these deliveries; its body may be run again. */
  async run<T>(arrivals: readonly PendingDelivery[], body: (acceptance: Acceptance) => Transaction<T>): Promise<T> {
    const begin = (): Transaction<Acceptance> => this.begin(arrivals);
    const [result, nowMs] = await this.database.run(function* (): Transaction<[T, number]> {
      const acceptance = yield* begin();
      return [yield* body(acceptance), acceptance.nowMs];
    });
    this.windows.commit(nowMs);
    this.identities.commit();
    this.isInSync = true;
    return result;
  }

  private *begin(arrivals: readonly PendingDelivery[]): Transaction<Acceptance> {
    if (!this.isInSync) yield* this.recover();
    this.isInSync = false;
    const versions = yield* this.versions.of(arrivals.map(({ factoryUid }) => factoryUid));
    const nowMs = yield* databaseNow();
    return { nowMs, versions, windows: this.windows, identities: this.identities, oldestEntryId: '' };
  }

  /** Drops what is remembered, and reads what the database holds. */
  private *recover(): Transaction<void> {
    this.windows.forget();
    this.versions.forget();
    yield* this.identities.recover();
  }
}

function webhooksOf(arrivals: readonly PendingDelivery[]): string[] {
  return arrivals.map(({ webhookUid }) => webhookUid);
}

function* lockVersions(arrivals: readonly PendingDelivery[]): Transaction<Map<string, number>> {
  // FOR SHARE: a disable, rotation or edit that commits before us is seen, one that comes later waits for us. Of the
  // factories, not of the clock: an edit holds its factory first and the clock last, behind rows that we wait for, and
  // would make the deliveries of all other factories wait for it.
  const versions: Match = {
    columns: 'uid, serving_version',
    table: 'factory',
    keys: ['uid'],
    and: 'AND deleted_at IS NULL',
    tail: 'ORDER BY uid FOR SHARE',
  };
  const found = yield* matching<{ uid: string; serving_version: number }>(
    versions,
    unique(arrivals.map((arrival) => arrival.factoryUid)),
  );
  return new Map(found.map(({ uid, serving_version: version }) => [uid, version]));
}

/** Batches of several processes take turns at a webhook, so that its slots are counted exactly. */
function* lockWebhooks(arrivals: readonly PendingDelivery[]): Transaction<void> {
  yield* matching(
    { columns: 'uid', table: 'webhook', keys: ['uid'], tail: 'ORDER BY uid FOR UPDATE' },
    unique(webhooksOf(arrivals)),
  );
}

/** A table whose primary key arbitrates between processes. */
const IDENTITY_TABLE: AcceptedIdentities = {
  /** Sorts as the rows of the table do: neighbours are written together. */
  keyOf(webhookUid, hash) {
    return `${webhookUid}/${Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')}`;
  },

  *known(identities) {
    const found = yield* matching<{ webhook_uid: string; hash: Uint8Array }>(
      { columns: 'webhook_uid, hash', table: 'identity', keys: ['webhook_uid', 'hash'] },
      identities.map(({ webhookUid, hash }) => [webhookUid, hash]),
    );
    return new Set(found.map(({ webhook_uid: webhookUid, hash }) => IDENTITY_TABLE.keyOf(webhookUid, hash)));
  },

  *store(identities, nowMs) {
    // Sorted, so that two replicas lock in the same order.
    const rows = identities
      .toSorted((a, b) => compare(a.key, b.key))
      .map(({ webhookUid, hash }) => ({ webhook_uid: webhookUid, hash, accepted_at: nowMs }));
    const won = yield* insertInto(IDENTITY, rows, { ignoreConflicts: true });
    // Another replica committed one of them since we looked: look again.
    if (won !== rows.length) throw new LostRaceError('an identity was accepted elsewhere');
  },
};

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The number that was given out last: no factory has changed while it has not. */
function* readServingClock(): Transaction<number> {
  return (yield* row<{ version: number }>('SELECT version FROM serving_clock WHERE id = 1'))?.version ?? 0;
}

/**
 * Serving versions as of a number of the clock, for the only writer of a database. Exact, because every change of what
 * a factory serves, its deletion too, takes the next number in its own transaction: while the number is the same, what
 * was read of a factory is true.
 */
class ServingVersions {
  private clock = -1;
  /** By UID; undefined: the factory is gone. */
  private readonly versions = new Map<string, number | undefined>();

  /** Versions of these factories; one that is gone has none. */
  *of(factoryUids: readonly string[]): Transaction<ReadonlyMap<string, number>> {
    const clock = yield* readServingClock();
    if (clock !== this.clock) this.versions.clear();
    this.clock = clock;
    const missing = new Set(factoryUids.filter((uid) => !this.versions.has(uid)));
    for (const uid of missing) this.versions.set(uid, undefined);
    const found = yield* matching<{ uid: string; serving_version: number }>(
      { columns: 'uid, serving_version', table: 'factory', keys: ['uid'], and: 'AND deleted_at IS NULL' },
      [...missing].map((uid) => [uid]),
    );
    for (const { uid, serving_version: version } of found) this.versions.set(uid, version);
    return this.versions as ReadonlyMap<string, number>;
  }

  /** Nothing that was read is trusted any more. */
  forget(): void {
    this.clock = -1;
  }
}

/** Beyond this many webhooks, those without a slot in the last minute are forgotten. */
const WEBHOOKS_MAX = 20_000;

/** A ring for each webhook, changed while a transaction decides: when that fails, all are read from the log again. */
export class RateWindows {
  private readonly rings = new Map<string, SlotRing>();
  private webhooksMax = WEBHOOKS_MAX;

  /** Reads the windows of these webhooks from the log, unless they are known. */
  *load(webhookUids: readonly string[], nowMs: number): Transaction<void> {
    const missing = unique(webhookUids.filter((uid) => !this.rings.has(uid)));
    if (missing.length === 0) return;
    const [, found] = yield* together(
      catchUp('delivery_log', missing.flat()),
      matching<{ webhook_uid: string; slot_at: number }>(
        {
          columns: 'l.webhook_uid, d.slot_at',
          table: 'delivery_log l CROSS JOIN delivery d',
          keys: ['l.webhook_uid'],
          and: 'AND l.entry_id >= ? AND d.entry_id = l.entry_id AND d.slot_at > ?',
          params: [firstUuidv7(nowMs - RATE_WINDOW_MS - ENTRY_TIME_SLACK_MS), nowMs - RATE_WINDOW_MS],
        },
        missing,
      ),
    );
    const times = new Map<string, number[]>(missing.map(([uid]) => [uid, []]));
    for (const { webhook_uid: uid, slot_at: slotAt } of found) times.get(uid)?.push(slotAt);
    for (const [uid, slotTimes] of times) this.rings.set(uid, new SlotRing(slotTimes, nowMs));
  }

  /** A slot of a webhook that was loaded. */
  take(webhookUid: string, nowMs: number): SlotResult {
    return (this.rings.get(webhookUid) as SlotRing).take(nowMs);
  }

  /** What was taken is in the log: the windows of webhooks without deliveries may go. */
  commit(nowMs: number): void {
    if (this.rings.size <= this.webhooksMax) return;
    for (const [uid, ring] of this.rings) if (ring.isIdle(nowMs)) this.rings.delete(uid);
    // Where nearly all are busy, none is looked through at every commit.
    this.webhooksMax = Math.max(WEBHOOKS_MAX, this.rings.size * 2);
  }

  /** What was taken may not be in the log, which is asked again. */
  forget(): void {
    this.rings.clear();
  }
}

/** As keys to look for: each once, in the order in which all lock them. */
function unique(values: readonly string[]): [string][] {
  return [...new Set(values)].sort().map((value) => [value]);
}
