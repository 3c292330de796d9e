/** The delivery log and the door through which deliveries are accepted. spec: Webhook delivery (log entry); contract 5. */
import type { OutcomeKind } from '#deliveries';
import { settle, type Acceptance, type Arrival } from './arrivals.ts';
import { RememberedWindows } from './remembered-windows.ts';
import type { Database } from './database.ts';
import { looking, StoreFault } from './faults.ts';
import { GroupCommit } from './group-commit.ts';
import { pruneSome } from './retention.ts';
import { change, insert, row } from './statements.ts';
import { DELIVERY, type DeliveryRow } from './tables.ts';

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
}

export class DeliveryStore {
  private readonly database: Database;
  private readonly arrivals: GroupCommit<Arrival, Acceptance>;
  private readonly refusals: GroupCommit<RefusedEntry, void>;
  /** A flood of failures costs one update a commit, not one a failure. */
  private readonly counts: GroupCommit<string, void>;
  private prunedUpTo = '';
  private readonly windows = new RememberedWindows();

  constructor(database: Database) {
    this.database = database;
    const concernsAll = (error: unknown) => error instanceof StoreFault && error.kind !== 'conflict' && error.kind !== 'broken';
    this.arrivals = new GroupCommit((batch) => this.settleBatch(batch), payloadBytes, concernsAll);
    this.refusals = new GroupCommit((batch) => this.insertRefused(batch), () => 0, concernsAll);
    this.counts = new GroupCommit((batch) => this.raiseCounts(batch), () => 0, concernsAll);
  }

  /** Accepts one authenticated delivery: answers only after identity, log entry and runs are committed. Throws StoreFault when nothing was stored. */
  acceptOnce(arrival: Arrival): Promise<Acceptance> {
    return this.arrivals.add(arrival);
  }

  /** Logs a delivery that failed authentication or was too large to be read; takes no slot. */
  logRefused(entry: RefusedEntry): Promise<void> {
    return this.refusals.add(entry);
  }

  /** Counts one more refusal into an existing counted entry. */
  countRefused(entryId: string): Promise<void> {
    return this.counts.add(entryId);
  }

  /** Newest first, from before `before`. */
  list(webhookUid: string, limit: number, before?: string): Promise<DeliveryRow[]> {
    const query = this.database.source.getRepository(DELIVERY).createQueryBuilder('delivery');
    query.where('delivery.webhook_uid = :webhookUid', { webhookUid }).orderBy('delivery.entry_id', 'DESC').take(limit);
    if (before !== undefined) query.andWhere('delivery.entry_id < :before', { before });
    return looking(query.getMany());
  }

  async find(entryId: string): Promise<DeliveryRow | undefined> {
    return (await looking(this.database.source.getRepository(DELIVERY).findOneBy({ entry_id: entryId }))) ?? undefined;
  }

  /** Stored bytes of an accepted delivery and how they are encoded. */
  payload(entryId: string): Promise<{ bytes: Uint8Array; encoding: string } | undefined> {
    return this.database.read(function* () {
      const found = yield* row<{ payload: Uint8Array | null; payload_encoding: string | null }>('SELECT payload, payload_encoding FROM delivery WHERE entry_id = ?', entryId);
      if (found?.payload === undefined || found.payload === null) return undefined;
      return { bytes: found.payload, encoding: found.payload_encoding ?? 'identity' };
    });
  }

  /**
   * Removes what need not be kept, a bounded part of the webhooks at a time: entries older than 7 days that are not among the
   * latest 50 of their class and that no live run needs. Answers how many went.
   */
  async prune(nowMs: number, identityRetentionDays?: number): Promise<number> {
    const after = this.prunedUpTo;
    const { removed, last } = await this.database.run(() => pruneSome(after, nowMs, identityRetentionDays));
    this.prunedUpTo = last;
    return removed;
  }

  private async settleBatch(batch: readonly Arrival[]): Promise<Acceptance[]> {
    // Only the owner of an SQLite file may remember what it wrote: elsewhere other replicas write too.
    const alone = this.database.dialect === 'sqlite';
    const { acceptances, windows } = await this.database.run(() => settle(batch, alone ? this.windows.all() : undefined));
    if (alone) this.windows.keep(windows);
    return acceptances;
  }

  private async raiseCounts(batch: readonly string[]): Promise<void[]> {
    const raised = new Map<string, number>();
    for (const entryId of batch) raised.set(entryId, (raised.get(entryId) ?? 0) + 1);
    await this.database.run(function* () {
      for (const [entryId, by] of [...raised].sort(([a], [b]) => (a < b ? -1 : 1))) yield* change('UPDATE delivery SET entries = entries + ? WHERE entry_id = ?', by, entryId);
    });
    return batch.map(() => undefined);
  }

  private async insertRefused(batch: readonly RefusedEntry[]): Promise<void[]> {
    const values = batch.map((entry) => [
      entry.entryId, entry.webhookUid, entry.factoryUid, entry.deliveryId, entry.outcome, entry.sizeBytes, entry.sizeExact ? 1 : 0, entry.receivedAtMs,
      entry.clientAddress, entry.revision, 1, entry.reason,
    ]);
    await this.database.run(() =>
      insert('delivery', ['entry_id', 'webhook_uid', 'factory_uid', 'delivery_id', 'outcome', 'size', 'size_exact', 'received_at', 'client_address', 'revision', 'entries', 'reason'], values));
    return batch.map(() => undefined);
  }
}

function payloadBytes({ verdict }: Arrival): number {
  return verdict.kind === 'deliver' ? verdict.payload.length : 0;
}
