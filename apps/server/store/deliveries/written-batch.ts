/**
 * A batch as the function of the database takes it that stores it: arrays of identities, log entries and runs. contract
 * §5.8 (Transaction).
 */
import { packKeys } from '#deliveries';
import type { KeyBatch, KeyPlace } from './identity-merges.ts';
import type { Batch } from './pending-deliveries.ts';
import { type ArrayType, call, type Transaction } from '../database/transactions.ts';
import { isDeferred, toWaitingRow } from '../runs/waiting-runs.ts';

/**
 * What the function says. `is_stored` null: nothing was, because what was decided on has changed, or just changes; or
 * because an identity may be known (`is_known`).
 */
export interface CallAnswer {
  epoch: number | null;
  server: number | null;
  clock: number | null;
  now_ms: number | null;
  is_known: boolean | null;
  is_stored: boolean | null;
}

/** Accepted identities of a batch, and where those that were taken for unknown ones would be. */
export interface CalledIdentities {
  accepted: KeyBatch;
  unsure: readonly KeyPlace[];
}

/** What the function compares: epoch and server of the ownership, clock of what is served, milliseconds. */
export interface DecidedAs {
  epoch: number;
  server: number;
  clock: number;
  nowMs: number;
}

/** A batch that is decided, as the function takes it. */
export function callOf(
  { deliveries, runs }: Batch,
  { accepted: { no, keys }, unsure }: CalledIdentities,
  { epoch, server, clock, nowMs }: DecidedAs,
): Transaction<CallAnswer | undefined> {
  return call<CallAnswer>({
    name: 'accept_deliveries',
    columns: ['epoch', 'server', 'clock', 'now_ms', 'is_known', 'is_stored'],
    params: [epoch, server, clock, nowMs],
    tables: [
      { types: KEY_TYPES, rows: unsure.map(({ chunk, key }) => [chunk, Buffer.from(key, 'latin1')]) },
      { types: KEY_TYPES, rows: keys.length === 0 ? [] : [[no, packKeys(keys)]] },
      { types: DELIVERY_TYPES, rows: deliveries.map((row) => DELIVERY_COLUMNS.map((column) => row[column])) },
      { types: RUN_TYPES, rows: runs.filter(isDeferred).map((run) => Object.values(toWaitingRow(run))) },
    ],
  });
}

/** A chunk's number, or a batch's, and keys. */
const KEY_TYPES: readonly ArrayType[] = ['bigint[]', 'bytea[]'];

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

/** The columns of `waiting_run`. */
const RUN_TYPES: readonly ArrayType[] = [
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
