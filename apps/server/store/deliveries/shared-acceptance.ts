/**
 * Accepting where several processes may write: a batch is one call of a function of the database, which compares what
 * was decided on under locks; and a transaction of several statements where something has to be read between, or
 * another process accepts too. contract §5.8 (Transaction).
 */
import type { MergePolicy } from '#deliveries';
import { firstUuidv7, type WebhookRunSnapshot } from '#runs';
import { randomUUID } from 'node:crypto';
import { type Acceptance, ServingVersions } from './acceptance.ts';
import { RateWindows, unique } from './rate-windows.ts';
import { ENTRY_TIME_SLACK_MS } from './delivery.entities.ts';
import {
  commitDeliveries,
  type CommitResult,
  decideDeliveries,
  type DeliveryOutcome,
  identityKeysOf,
  type PendingDelivery,
} from './pending-deliveries.ts';
import { type CallAnswer, callOf } from './written-batch.ts';
import { IdentityRuns, OwnIdentities } from './identity-runs.ts';
import { findByServer, SharedIdentities, SharedIdentityTable } from './shared-identities.ts';
import { type Ownership, OwnershipLostError, RateOwner } from './rate-owner.ts';
import type { Database } from '../database/database.ts';
import { serverNumber } from '../database/server-number.ts';
import { LostRaceError } from '../database/store-errors.ts';
import { databaseNow, type Match, matching, together, type Transaction } from '../database/transactions.ts';
import { isDeferred, type StoredSnapshots } from '../runs/waiting-runs.ts';

/** Calls in vain until a batch is written under the locks of its factories and webhooks. */
const CALLS_MAX = 3;

/** Changes of the owner that one batch meets at most before it fails: each of them was somebody else's batch. */
const ATTEMPTS_MAX = 20;

/** Keys of the identities of each delivery of a batch. */
type Named = readonly (readonly string[])[];

/** Whether all that a delivery needs is known before its transaction, once it is known what is served. */
function isCallable({ verdict }: PendingDelivery, stored: StoredSnapshots): boolean {
  if (verdict.kind === 'refuse') return true;
  return verdict.kind === 'deliver' && verdict.runs.every((run) => isDeferred(run) && stored.has(run.snapshot));
}

/**
 * Identities of an epoch in which this process accepts alone are keys in its memory, and in batches and runs that only
 * it writes; those of an epoch in which several accept are rows of a table, whose primary key arbitrates, while batches
 * and runs stay as they are. So whoever has read both since an epoch began knows all that came before it.
 */
export class SharedAcceptance {
  private readonly database: Database;
  private readonly owner: RateOwner;
  /** Of one epoch that this process owns, and of no other: what is read late of another one's stays in its own. */
  private windows = new RateWindows(LOG_OF_WEBHOOKS);
  private readonly versions = new ServingVersions();
  private readonly identities: IdentityRuns;
  /** Since which epoch began the memory of identities was read; undefined: it may be behind. */
  private recoveredIn: number | undefined;
  private recovering: Promise<void> | undefined;
  /** Whose identities memory has read. */
  private server: number | undefined;
  /** Snapshots that are stored there. */
  private snapshots = new WeakSet<WebhookRunSnapshot>();

  /** `policy`: how runs of identities grow. */
  constructor(database: Database, policy?: MergePolicy) {
    this.database = database;
    this.owner = new RateOwner(database, randomUUID());
    this.identities = new IdentityRuns(
      {
        find: findByServer,
        mayMaintain: () => this.owned !== undefined,
        maintain: (body) => this.maintain(body),
        forget: () => this.forget(this.owned),
      },
      policy,
      new SharedIdentityTable(),
    );
  }

  /** Reads ahead what the first batch would wait for; what changes meanwhile is read with that. */
  async prepare(): Promise<void> {
    this.server = await this.database.read(serverNumber);
    await this.database.read(() => this.identities.recover());
  }

  /** Whether all that a delivery needs is known before its transaction. */
  isCallable(one: PendingDelivery): boolean {
    return isCallable(one, this.snapshots);
  }

  /** Settles a batch; of one webhook there is no other meanwhile. */
  async run(arrivals: readonly PendingDelivery[]): Promise<DeliveryOutcome[]> {
    const named = arrivals.map(identityKeysOf);
    let calls = CALLS_MAX;
    let looksFirst = false;
    for (let attempt = 1; ; attempt += 1) {
      const ownership = await this.owner.current();
      try {
        if (this.recoveredIn !== ownership.epoch) await this.recover(ownership);
        if (this.owned !== ownership || calls === 0 || !arrivals.every((one) => this.isCallable(one)))
          return await this.transact(arrivals, ownership);
        const outcomes = await this.callOnce(arrivals, named, { ownership, looksFirst });
        if (typeof outcomes !== 'string') return outcomes;
        looksFirst = outcomes === 'known';
        calls = outcomes === 'moving' ? 0 : calls - 1;
      } catch (error) {
        // What it was may still be under way, or have been committed.
        this.forget(ownership);
        if (!isLost(error) || attempt >= ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** The epoch that is this process's own, where it knows all identities. */
  private get owned(): Ownership | undefined {
    const { held } = this.owner;
    return held?.isSole === true && held.epoch === this.recoveredIn ? held : undefined;
  }

  /** Reads the identities, once for both lanes. Throws OwnershipLostError where the epoch was given up meanwhile. */
  private async recover(ownership: Ownership): Promise<void> {
    await (this.recovering ??= this.recoverIn(ownership).finally(() => (this.recovering = undefined)));
    if (this.recoveredIn !== ownership.epoch) throw new OwnershipLostError();
    this.identities.maintain();
  }

  private async recoverIn(ownership: Ownership): Promise<void> {
    if (ownership.server !== this.server) {
      this.identities.distrust();
      this.versions.forget();
      this.snapshots = new WeakSet();
    }
    this.server = ownership.server;
    this.windows = new RateWindows(LOG_OF_WEBHOOKS);
    await this.database.read(() => this.identities.recover());
    if (this.owner.isHeld(ownership)) this.recoveredIn = ownership.epoch;
  }

  /** Unless the other lane has done so, and begun anew. */
  private forget(ownership: Ownership | undefined): void {
    if (ownership === undefined || !this.owner.isHeld(ownership)) return;
    this.owner.forget();
    this.recoveredIn = undefined;
  }

  /** Where it fails, what it was may have been committed. */
  private async maintain<T>(body: () => Transaction<T>): Promise<T> {
    const { owned: ownership, owner } = this;
    if (ownership === undefined) throw new OwnershipLostError();
    try {
      return await this.database.run(function* () {
        yield* owner.share(ownership);
        return yield* body();
      });
    } catch (error) {
      this.forget(ownership);
      throw error;
    }
  }

  /**
   * Decides by what is in memory, and writes it where that was true. `moved`: it was not, and is read again. `known`:
   * an identity may be, which is to be looked for first. `moving`: somebody is just changing what is served.
   */
  private async callOnce(
    arrivals: readonly PendingDelivery[],
    named: Named,
    { ownership, looksFirst }: { ownership: Ownership; looksFirst: boolean },
  ): Promise<DeliveryOutcome[] | 'known' | 'moved' | 'moving'> {
    const { windows, versions, owner, identities } = this;
    const webhookUids = arrivals.map(({ webhookUid }) => webhookUid);
    const factoryUids = arrivals.map(({ factoryUid }) => factoryUid);
    if (!windows.has(webhookUids) || versions.known(factoryUids) === undefined)
      await this.database.read(() => together(windows.load(webhookUids, owner.nowMs()), versions.of(factoryUids)));
    const keys = named.flat();
    const atOnce = looksFirst ? undefined : identities.knownAtOnce(keys);
    const known = atOnce?.known ?? (await this.database.read(() => identities.known(keys)));
    const served = versions.known(factoryUids);
    // The other lane may have met something new meanwhile.
    if (served === undefined || !owner.isHeld(ownership) || !windows.has(webhookUids)) return 'moved';
    const nowMs = owner.nowMs();
    const oldestEntryId = firstUuidv7(nowMs - ENTRY_TIME_SLACK_MS);
    const acceptance = { nowMs, versions: served, windows, oldestEntryId };
    const { outcomes, batch } = decideDeliveries(arrivals, named, acceptance, { known, resends: new Map() });
    const accepted = identities.reserve(batch.identities);
    const { epoch, server } = ownership;
    const decidedAs = { epoch, server, clock: versions.clock, nowMs };
    const called = { accepted, unsure: atOnce?.unsure ?? [] };
    const answer = (await this.database.run(() => callOf(batch, called, decidedAs))) as CallAnswer;
    if (answer.now_ms !== null) owner.observe(answer.now_ms);
    if (answer.is_stored === true) {
      windows.commit(nowMs);
      identities.finish(accepted);
      return outcomes;
    }
    // Nothing was stored: the slots that were taken are free.
    windows.forget(webhookUids);
    if (answer.is_known === true) return 'known';
    if (answer.epoch === null) return 'moving';
    if (answer.epoch !== epoch || answer.server !== server) this.forget(ownership);
    if (answer.clock !== decidedAs.clock) versions.forget();
    return 'moved';
  }

  private async transact(arrivals: readonly PendingDelivery[], ownership: Ownership): Promise<DeliveryOutcome[]> {
    // The other lane may have given it up in this moment.
    if (!this.owner.isHeld(ownership)) throw new OwnershipLostError();
    const { snapshots } = this; // of this server, whatever comes
    const attempt: Attempt = {
      ownership,
      identities: ownership.isSole ? new OwnIdentities(this.identities) : new SharedIdentities(this.identities),
      windows: ownership.isSole ? this.windows : undefined,
    };
    const result = await this.database.run(() => this.decided(arrivals, snapshots, attempt));
    attempt.identities.committed();
    for (const snapshot of result.snapshots) snapshots.add(snapshot);
    return result.outcomes;
  }

  private *decided(
    arrivals: readonly PendingDelivery[],
    stored: StoredSnapshots,
    { ownership, identities, windows }: Attempt,
  ): Transaction<CommitResult> {
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
      identities,
      // A process may have stood still for minutes.
      oldestEntryId: firstUuidv7(nowMs - ENTRY_TIME_SLACK_MS),
    };
    return yield* commitDeliveries(arrivals, acceptance, stored);
  }
}

/** What a batch is decided against that is written in several statements. */
interface Attempt {
  ownership: Ownership;
  identities: OwnIdentities | SharedIdentities;
  /** Undefined: slots are counted in the log. */
  windows: RateWindows | undefined;
}

/** The ownership is another's by now, or what memory says of the identities is not true any more. */
function isLost(error: unknown): boolean {
  return error instanceof OwnershipLostError || error instanceof LostRaceError;
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
