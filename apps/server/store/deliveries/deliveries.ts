/**
 * The delivery log and the door through which deliveries are accepted. spec: Webhook delivery (log entry); contract §5.
 */
import type { MergePolicy, OutcomeKind } from '#deliveries';
import { firstUuidv7, isUuid, type WebhookRunSnapshot } from '#runs';
import { type Acceptance, AcceptanceMemory } from './acceptance.ts';
import { commitDeliveries, type DeliveryOutcome, type PendingDelivery } from './pending-deliveries.ts';
import { StoreError, withStoreErrors } from '../database/store-errors.ts';
import type { Database } from '../database/database.ts';
import { encodingOf, readEntry, type UnreadEntry } from './delivery-entries.ts';
import { shortRevision } from './short-forms.ts';
import { DELIVERY, type DeliveryRow, ENTRY_TIME_SLACK_MS, ID_LEAD_MS_MAX } from './delivery.entities.ts';
import { caughtUpRelation } from '../database/deferred-index.ts';
import { SharedAcceptance } from './shared-acceptance.ts';
import { type CommitWaiter, GroupCommit, type Grouping, ShardedGroupCommit } from '../database/group-commit.ts';
import { insertInto } from '../database/table.ts';
import { change, placeholders, row, rows, type SqlValue } from '../database/transactions.ts';

export interface RefusedEntry {
  entryId: string;
  webhookUid: string;
  factoryUid: string;
  deliveryId: string;
  outcome: OutcomeKind;
  sizeBytes: number;
  sizeExact: boolean;
  receivedAtMs: number;
  clientAddress: string;
  revision: string;
  reason: string;
  /** JSON of RefusalDetails; none for one that stands for many. */
  refusal?: string;
}

/** Entries to list; what is absent asks for nothing. Times are milliseconds since the epoch. */
export interface DeliveryFilter {
  outcomes?: readonly OutcomeKind[];
  /** Received then or later. */
  sinceMs?: number;
  /** Received before. */
  untilMs?: number;
}

/**
 * Entries of refused deliveries are committed so far apart under load, milliseconds: connections without a key are read
 * a few at a time (contract §5.11), so that a transaction as often as for acceptances would hold few of them, and take
 * the disk from those.
 */
const REFUSALS_APART_MS = 25;

/**
 * Acceptances that commit side by side: while one waits for its commit, the next is sent. More make each smaller, and
 * dearer by the delivery. A webhook's all go through one, so that they do not wait for its row.
 */
const SHARDS = 2;

function conditionsOf(
  { outcomes, sinceMs, untilMs }: DeliveryFilter,
  before: string | undefined,
): { text: string; params: SqlValue[] }[] {
  return [
    ...(before === undefined ? [] : [{ text: 'entry_id < ?', params: [before] }]),
    ...(outcomes === undefined
      ? []
      : [
          {
            text: outcomes.length === 0 ? '1 = 0' : `outcome IN (${placeholders(outcomes.length)})`,
            params: [...outcomes],
          },
        ]),
    ...(sinceMs === undefined
      ? []
      : [
          { text: 'received_at >= ? AND entry_id >= ?', params: [sinceMs, firstUuidv7(sinceMs - ENTRY_TIME_SLACK_MS)] },
        ]),
    ...(untilMs === undefined
      ? []
      : [{ text: 'received_at < ? AND entry_id < ?', params: [untilMs, firstUuidv7(untilMs + ID_LEAD_MS_MAX)] }]),
  ];
}

export class DeliveryStore {
  private readonly database: Database;
  private readonly arrivals: ShardedGroupCommit<PendingDelivery, DeliveryOutcome>;
  private readonly refusals: GroupCommit<RefusedEntry, void>;
  /** Only the owner of an SQLite file may remember what it wrote: elsewhere other replicas write too. */
  private readonly memory: AcceptanceMemory | undefined;
  private readonly shared: SharedAcceptance;
  /** Hears what each transaction of acceptances decided, and how long it took. */
  onBatch: ((outcomes: readonly DeliveryOutcome[], tookMs: number) => void) | undefined;
  /** Snapshots that are stored, where the file has no other writer. */
  private readonly snapshots = new WeakSet<WebhookRunSnapshot>();

  /** `policy`: how runs of identities grow. */
  constructor(database: Database, policy?: MergePolicy) {
    this.database = database;
    this.memory = database.dialect === 'sqlite' ? new AcceptanceMemory(database, policy) : undefined;
    this.shared = new SharedAcceptance(database, policy);
    const concernsAll = (error: unknown) =>
      error instanceof StoreError && error.kind !== 'conflict' && error.kind !== 'broken';
    const shards = database.dialect === 'sqlite' ? 1 : SHARDS; // an SQLite file has one writer
    const grouping: Grouping<PendingDelivery> | undefined =
      database.dialect === 'sqlite'
        ? undefined
        : { kindOf: (one) => this.shared.isCallable(one), keyOf: ({ webhookUid }) => webhookUid };
    this.arrivals = new ShardedGroupCommit(
      shards,
      ({ webhookUid }) => webhookUid,
      () =>
        new GroupCommit({ commit: (batch) => this.commitBatch(batch), bytesOf: payloadBytes, concernsAll, grouping }),
    );
    this.refusals = new GroupCommit({
      commit: (batch) => this.insertRefused(batch),
      concernsAll,
      apartMs: REFUSALS_APART_MS,
    });
  }

  /**
   * Reads ahead what `start` reads, while another process writes to the database. Answers the webhooks that had
   * deliveries in the last minute.
   */
  async prepare(): Promise<readonly string[]> {
    return (await this.memory?.prepare()) ?? [];
  }

  /** Reads what is remembered of the database, so that the first delivery does not wait for it. */
  async start(): Promise<void> {
    await (this.memory?.start() ?? this.shared.prepare());
  }

  /**
   * Accepts one authenticated delivery: answers only after identity, log entry and runs are committed. Throws
   * StoreError when nothing was stored.
   */
  acceptOnce(arrival: PendingDelivery): Promise<DeliveryOutcome> {
    return this.arrivals.add(arrival);
  }

  /** The same for who needs no promise. */
  accept(arrival: PendingDelivery, waiter: CommitWaiter<DeliveryOutcome>): void {
    this.arrivals.enqueue(arrival, waiter);
  }

  /** Logs a delivery that failed authentication or was too large to be read; takes no slot. */
  logRefused(entry: RefusedEntry, waiter: CommitWaiter<void>): void {
    this.refusals.enqueue(entry, waiter);
  }

  /** Resolved when what was to be logged before is over. */
  refusalsLogged(): Promise<void> {
    return this.refusals.drained();
  }

  /** Counts further refusals into existing counted entries, by their IDs. Throws StoreError when none was. */
  async countRefused(raised: ReadonlyMap<string, number>): Promise<void> {
    await this.database.run(function* () {
      // Sorted, so that two replicas lock in the same order.
      for (const [entryId, by] of [...raised].sort(([a], [b]) => (a < b ? -1 : 1)))
        yield* change('UPDATE delivery SET entries = COALESCE(entries, 1) + ? WHERE entry_id = ?', by, entryId);
    });
  }

  /**
   * Newest first, from before `before`. Matches are looked for along the log of the webhook, and away from acceptances:
   * a flood of refusals makes a long way.
   */
  async list(webhookUid: string, limit: number, before?: string, filter: DeliveryFilter = {}): Promise<DeliveryRow[]> {
    const conditions = conditionsOf(filter, before);
    const wanted = ['webhook_uid = ?', ...conditions.map(({ text }) => text)].join(' AND ');
    const columns = DELIVERY.columns.map((column) => `d.${column}`).join(', ');
    return this.database.longRead(function* () {
      const log = yield* caughtUpRelation('delivery_log', [webhookUid]);
      const found = yield* rows<UnreadEntry>(
        `SELECT ${columns} FROM (SELECT entry_id FROM ${log} AS delivery_log WHERE ${wanted} ` +
          'ORDER BY entry_id DESC LIMIT ?) AS found JOIN delivery d ON d.entry_id = found.entry_id ' +
          'ORDER BY d.entry_id DESC',
        webhookUid,
        ...conditions.flatMap(({ params }) => params),
        limit,
      );
      return found.map(readEntry);
    });
  }

  async find(entryId: string): Promise<DeliveryRow | undefined> {
    if (!isUuid(entryId)) return undefined;
    const found = await withStoreErrors(this.database.source.getRepository(DELIVERY).findOneBy({ entry_id: entryId }));
    return found === null ? undefined : readEntry(found);
  }

  /** Stored bytes of an accepted delivery and how they are encoded. */
  async payload(entryId: string): Promise<{ bytes: Uint8Array; encoding: string } | undefined> {
    if (!isUuid(entryId)) return undefined;
    return this.database.read(function* () {
      const found = yield* row<{ payload: Uint8Array | null; payload_encoding: string | null }>(
        'SELECT payload, payload_encoding FROM delivery WHERE entry_id = ?',
        entryId,
      );
      if (found?.payload === undefined || found.payload === null) return undefined;
      return { bytes: found.payload, encoding: encodingOf(found) };
    });
  }

  /**
   * IDs of the newest accepted entries of each of these webhooks, newest first; one step of the log for each webhook.
   */
  newestAccepted(webhookUids: readonly string[], limit: number): Promise<{ entryId: string; webhookUid: string }[]> {
    return this.database.longRead(function* () {
      const log = yield* caughtUpRelation('delivery_log', webhookUids);
      const newest: { entryId: string; webhookUid: string }[] = [];
      for (const webhookUid of webhookUids) {
        const found = yield* rows<{ entry_id: string }>(
          `SELECT entry_id FROM ${log} AS delivery_log WHERE webhook_uid = ? AND outcome = 'accepted' ` +
            'ORDER BY entry_id DESC LIMIT ?',
          webhookUid,
          limit,
        );
        newest.push(...found.map(({ entry_id: entryId }) => ({ entryId, webhookUid })));
      }
      return newest;
    });
  }

  private async commitBatch(batch: readonly PendingDelivery[]): Promise<DeliveryOutcome[]> {
    const { memory, shared } = this;
    const startedAtMs = performance.now();
    const outcomes = await (memory === undefined ? shared.run(batch) : this.commitAlone(batch, memory));
    this.onBatch?.(outcomes, performance.now() - startedAtMs);
    return outcomes;
  }

  private async commitAlone(batch: readonly PendingDelivery[], memory: AcceptanceMemory): Promise<DeliveryOutcome[]> {
    const { snapshots: stored } = this;
    const { outcomes, snapshots } = await memory.run(batch, (acceptance: Acceptance) =>
      commitDeliveries(batch, acceptance, stored),
    );
    for (const snapshot of snapshots) stored.add(snapshot);
    return outcomes;
  }

  private async insertRefused(batch: readonly RefusedEntry[]): Promise<void[]> {
    const entries = batch.map((entry) => ({
      entry_id: entry.entryId,
      webhook_uid: entry.webhookUid,
      factory_uid: entry.factoryUid,
      delivery_id: entry.deliveryId,
      outcome: entry.outcome,
      size: entry.sizeBytes,
      size_exact: entry.sizeExact ? 1 : 0,
      received_at: entry.receivedAtMs,
      client_address: entry.clientAddress,
      revision: shortRevision(entry.revision),
      entries: 1,
      reason: entry.reason,
      refusal: entry.refusal ?? null,
    }));
    await this.database.run(() => insertInto(DELIVERY, entries));
    return batch.map(() => undefined);
  }
}

function payloadBytes({ verdict }: PendingDelivery): number {
  return verdict.kind === 'refuse' ? 0 : verdict.payload.length;
}
