/**
 * A batch as the function of the database takes it that stores it: arrays of identities, log entries and runs. contract
 * §5.8 (Transaction).
 */
import type { Batch, DeliveryOutcome, PendingDelivery } from './pending-deliveries.ts';
import { type ArrayType, call, type SqlValue, type Transaction } from '../database/transactions.ts';
import { isDeferred, toWaitingRow } from '../runs/waiting-runs.ts';

/** Keys of the identities of each delivery of a batch. */
export type Named = readonly (readonly string[])[];

/** What the function says. */
export interface CallAnswer {
  epoch: number | null;
  clock: number | null;
  now_ms: number | null;
  /** Numbers of deliveries that turned out to be duplicates; null: nothing was stored. */
  lost: (number | string)[] | null;
}

/** A batch that is decided, but for what other processes and times have accepted, as the function takes it. */
export class WrittenBatch {
  private readonly decided: { outcomes: DeliveryOutcome[]; batch: Batch };
  private readonly arrivals: readonly PendingDelivery[];
  private readonly named: Named;
  /** Of entries, by their IDs, from 1. */
  private readonly numbers: ReadonlyMap<string, number>;

  constructor(decided: WrittenBatch['decided'], arrivals: readonly PendingDelivery[], named: Named) {
    [this.decided, this.arrivals, this.named] = [decided, arrivals, named];
    this.numbers = new Map(decided.batch.deliveries.map(({ entry_id: entryId }, at) => [entryId, at + 1]));
  }

  call({ epoch, clock, nowMs }: { epoch: number; clock: number; nowMs: number }): Transaction<CallAnswer | undefined> {
    const { deliveries, runs } = this.decided.batch;
    return call<CallAnswer>({
      name: 'accept_deliveries',
      columns: ['epoch', 'clock', 'now_ms', 'lost'],
      params: [epoch, clock, nowMs],
      tables: [
        { types: KEY_TYPES, rows: this.keys() },
        { types: DELIVERY_TYPES, rows: deliveries.map((row) => DELIVERY_COLUMNS.map((column) => row[column])) },
        {
          types: RUN_TYPES,
          rows: runs.filter(isDeferred).map((run) => [this.number(run.entryId), ...Object.values(toWaitingRow(run))]),
        },
      ],
    });
  }

  /** What is answered, now that it is known which were accepted before. */
  outcomes(lost: readonly number[]): DeliveryOutcome[] {
    const { outcomes } = this.decided;
    if (lost.length === 0) return outcomes;
    const duplicates = new Set(lost);
    return outcomes.map((outcome, at) => (duplicates.has(this.numberAt(at)) ? { kind: 'duplicate' } : outcome));
  }

  /** Sorted, so that two replicas wait for each other in the same order. */
  private keys(): SqlValue[][] {
    const numbers = new Map<string, number>();
    this.decided.outcomes.forEach(({ kind }, at) => {
      if (kind === 'accepted') for (const key of this.named[at] ?? []) numbers.set(key, this.numberAt(at));
    });
    return [...numbers.keys()].sort().map((key) => [Buffer.from(key, 'latin1'), numbers.get(key) as number]);
  }

  private numberAt(at: number): number {
    return this.number((this.arrivals[at] as PendingDelivery).entryId);
  }

  private number(entryId: string): number {
    return this.numbers.get(entryId) ?? 0;
  }
}

const KEY_TYPES: readonly ArrayType[] = ['bytea[]', 'bigint[]'];

const DELIVERY_COLUMNS = [
  'entry_id',
  'webhook_uid',
  'factory_uid',
  'delivery_id',
  'outcome',
  'size',
  'size_exact',
  'received_at',
  'client_address',
  'revision',
  'reason',
  'decision',
  'payload',
  'payload_encoding',
  'refusal',
] as const;
const DELIVERY_TYPES = DELIVERY_COLUMNS.map((column): ArrayType => {
  if (column === 'payload') return 'bytea[]';
  return ['size', 'size_exact', 'received_at'].includes(column) ? 'bigint[]' : 'text[]';
});

/** A delivery's number, and the columns of `waiting_run`. */
const RUN_TYPES: readonly ArrayType[] = [
  'bigint[]',
  'text[]',
  'text[]',
  'bytea[]',
  'bigint[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
];
