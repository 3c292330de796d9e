/**
 * Accepting where several processes may write: a batch is one call of a function of the database, which compares what
 * was decided on under locks; and a transaction of several statements where something has to be read between, or
 * another process accepts too. contract §5.8 (Transaction).
 */
import { firstUuidv7 } from '#runs';
import { randomUUID } from 'node:crypto';
import { type Acceptance, type AcceptedIdentities, ServingVersions } from './acceptance.ts';
import { RateWindows, unique } from './rate-windows.ts';
import { ENTRY_TIME_SLACK_MS, IDENTITY } from './delivery.entities.ts';
import {
  commitDeliveries,
  type CommitResult,
  decideDeliveries,
  type DeliveryOutcome,
  identityKeysOf,
  type PendingDelivery,
} from './pending-deliveries.ts';
import { type CallAnswer, type Named, WrittenBatch } from './written-batch.ts';
import { type Ownership, OwnershipLostError, RateOwner } from './rate-owner.ts';
import type { Database } from '../database/database.ts';
import { LostRaceError } from '../database/store-errors.ts';
import { insertInto } from '../database/table.ts';
import { databaseNow, type Match, matching, together, type Transaction } from '../database/transactions.ts';
import { isDeferred, type StoredSnapshots } from '../runs/waiting-runs.ts';

/** Calls in vain until a batch is written under the locks of its factories and webhooks. */
const CALLS_MAX = 3;

/** Changes of the owner that one batch meets at most before it fails: each of them was somebody else's batch. */
const ATTEMPTS_MAX = 20;

/** Whether all that a delivery needs is known before its transaction, once it is known what is served. */
export function isCallable({ verdict }: PendingDelivery, stored: StoredSnapshots): boolean {
  if (verdict.kind === 'refuse') return true;
  return verdict.kind === 'deliver' && verdict.runs.every((run) => isDeferred(run) && stored.has(run.snapshot));
}

export class SharedAcceptance {
  private readonly database: Database;
  private readonly owner: RateOwner;
  /** True while this process owns the epoch that they were read in. */
  private readonly windows = new RateWindows(LOG_OF_WEBHOOKS);
  private readonly versions = new ServingVersions();

  constructor(database: Database) {
    this.database = database;
    this.owner = new RateOwner(database, randomUUID());
  }

  /** Settles a batch; of one webhook there is no other meanwhile. */
  async run(arrivals: readonly PendingDelivery[], stored: StoredSnapshots): Promise<CommitResult> {
    const named = arrivals.map(identityKeysOf);
    let calls = arrivals.every((one) => isCallable(one, stored)) && !isEntangled(named) ? CALLS_MAX : 0;
    for (let attempt = 1; ; attempt += 1) {
      const ownership = await this.owner.current();
      try {
        if (calls === 0 || !ownership.isSole)
          return await this.database.run(() => this.transact(arrivals, stored, ownership));
        const outcomes = await this.callOnce(arrivals, named, ownership);
        if (typeof outcomes !== 'string') return { outcomes, snapshots: [] };
        calls = outcomes === 'moved' ? calls - 1 : 0;
      } catch (error) {
        // What it was may still be under way, or have been committed.
        this.forget(ownership);
        if (!(error instanceof OwnershipLostError) || attempt >= ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** Unless the other lane has done so, and begun anew. */
  private forget(ownership: Ownership): void {
    if (!this.owner.isHeld(ownership)) return;
    this.owner.forget();
    this.windows.forget();
  }

  /**
   * Decides by what is in memory, and writes it where that was true. `moved`: it was not, and is read again. `moving`:
   * somebody is just changing what is served.
   */
  private async callOnce(
    arrivals: readonly PendingDelivery[],
    named: Named,
    ownership: Ownership,
  ): Promise<DeliveryOutcome[] | 'moved' | 'moving'> {
    const { windows, versions, owner } = this;
    const webhookUids = arrivals.map(({ webhookUid }) => webhookUid);
    const factoryUids = arrivals.map(({ factoryUid }) => factoryUid);
    if (!windows.has(webhookUids) || versions.known(factoryUids) === undefined)
      await this.database.read(() => together(windows.load(webhookUids, owner.nowMs()), versions.of(factoryUids)));
    const served = versions.known(factoryUids);
    // The other lane may have met something new meanwhile.
    if (served === undefined || !owner.isHeld(ownership) || !windows.has(webhookUids)) return 'moved';
    const nowMs = owner.nowMs();
    const oldestEntryId = firstUuidv7(nowMs - ENTRY_TIME_SLACK_MS);
    const acceptance = { nowMs, versions: served, windows, identities: ACCEPTED, oldestEntryId };
    const decided = decideDeliveries(arrivals, named, acceptance, { known: new Set(), resends: new Map() });
    const written = new WrittenBatch(decided, arrivals, named);
    const decidedAs = { epoch: ownership.epoch, clock: versions.clock, nowMs };
    const answer = (await this.database.run(() => written.call(decidedAs))) as CallAnswer;
    if (answer.now_ms !== null) owner.observe(answer.now_ms);
    if (answer.lost !== null) {
      windows.commit(nowMs);
      return written.outcomes(answer.lost.map(Number));
    }
    // Nothing was stored: the slots that were taken are free.
    windows.forget(webhookUids);
    if (answer.epoch === null) return 'moving';
    if (answer.epoch !== ownership.epoch) this.forget(ownership);
    if (answer.clock !== decidedAs.clock) versions.forget();
    return 'moved';
  }

  private *transact(
    arrivals: readonly PendingDelivery[],
    stored: StoredSnapshots,
    ownership: Ownership,
  ): Transaction<CommitResult> {
    const windows = ownership.isSole ? this.windows : undefined;
    const [, versions, , nowMs] = yield* together(
      this.owner.share(ownership),
      lockVersions(arrivals),
      lockWebhooks(arrivals),
      databaseNow(),
    );
    windows?.forget(arrivals.map(({ webhookUid }) => webhookUid)); // an attempt before this one may have taken slots
    const acceptance: Acceptance = {
      nowMs,
      versions,
      windows: windows ?? new RateWindows(LOG_OF_WEBHOOKS),
      identities: ACCEPTED,
      // A process may have stood still for minutes.
      oldestEntryId: firstUuidv7(nowMs - ENTRY_TIME_SLACK_MS),
    };
    return yield* commitDeliveries(arrivals, acceptance, stored);
  }
}

/**
 * Whether an identity comes twice in a batch in which deliveries have several: if one of these is known to the
 * database, others of it are not stored, and who has them only may be accepted.
 */
function isEntangled(named: Named): boolean {
  if (!named.some(({ length }) => length > 1)) return false;
  const keys = named.flatMap((identities) => [...new Set(identities)]);
  return new Set(keys).size < keys.length;
}

/** Slots of the log, by the index of the log of a webhook. */
const LOG_OF_WEBHOOKS: Match = {
  columns: 'webhook_uid, slot_at',
  table: 'delivery',
  keys: ['webhook_uid'],
  and: 'AND entry_id >= ? AND slot_at > ?',
};

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
    unique(arrivals.map(({ webhookUid }) => webhookUid)),
  );
}

/** A table whose primary key arbitrates between processes. */
const ACCEPTED: AcceptedIdentities = {
  *known(keys) {
    const found = yield* matching<{ key: Buffer }>(
      { columns: 'key', table: 'identity', keys: ['key'] },
      keys.map((key) => [Buffer.from(key, 'latin1')]),
    );
    return new Set(found.map(({ key }) => key.toString('latin1')));
  },

  *store(keys, nowMs) {
    // Sorted, so that two replicas lock in the same order.
    const sorted = [...new Set(keys)].sort();
    const rows = sorted.map((key) => ({ key: Buffer.from(key, 'latin1'), accepted_at: nowMs }));
    const won = yield* insertInto(IDENTITY, rows, { ignoreConflicts: true });
    // Another replica committed one of them since we looked: look again.
    if (won !== rows.length) throw new LostRaceError('an identity was accepted elsewhere');
  },
};
