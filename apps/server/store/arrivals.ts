/** The one transaction behind a 202: slot, identity, log entry and runs commit together, many deliveries to a commit. spec: Delivery identity; contract 5. */
import { packWindow, takeSlot, unpackWindow } from '#deliveries';
import { LostRace } from './faults.ts';
import { RUN_COLUMNS, toRunValues, type NewRun } from './new-run.ts';
import { databaseNow, insert, placeholders, rows, change, type SqlValue, type Work } from './statements.ts';

/** A delivery that passed authentication, decided against one version of the serving state. */
export interface Arrival {
  entryId: string;
  webhookUid: string;
  factoryUid: string;
  /** Version of the factory's serving state that the decision was made on. */
  servingVersion: number;
  receivedAtMs: number;
  sizeBytes: number;
  sizeExact: boolean;
  clientAddress: string;
  revision: string;
  deliveryId: string;
  verdict:
    | { kind: 'deliver'; identities: readonly Uint8Array[]; payload: Uint8Array; payloadEncoding: string; runs: readonly NewRun[]; decision: string }
    | { kind: 'refuse'; outcome: 'rejectedInvalidJson' | 'rejectedTooLarge'; reason: string };
}

/** What became of an arrival. `stale`: the serving state has moved; decide again. `throttled`: no slot was free and nothing was stored. */
export type Acceptance = { kind: 'accepted' } | { kind: 'duplicate' } | { kind: 'refused' } | { kind: 'throttled'; retryAfterSeconds: number } | { kind: 'stale' };

const DELIVERY_COLUMNS = [
  'entry_id', 'webhook_uid', 'factory_uid', 'delivery_id', 'outcome', 'size', 'size_exact', 'received_at', 'client_address', 'revision',
  'entries', 'reason', 'decision', 'payload', 'payload_encoding',
] as const;

/** Settles a batch in order of arrival, as if one after the other. */
export function* settle(arrivals: readonly Arrival[]): Work<Acceptance[]> {
  const current = yield* currentVersions(arrivals);
  const windows = yield* lockedWindows(arrivals);
  const known = yield* knownIdentities(arrivals);
  const nowMs = yield* databaseNow();
  const batch: Batch = { windows, known, touched: new Set(), identities: [], deliveries: [], runs: [] };
  const acceptances = arrivals.map((arrival) => (current.get(arrival.factoryUid) === arrival.servingVersion ? settleOne(arrival, batch, nowMs) : STALE));
  yield* store(batch, nowMs);
  return acceptances;
}

const STALE: Acceptance = { kind: 'stale' };

interface Batch {
  windows: Map<string, number[]>;
  /** `webhook/hash` of every identity already accepted, this batch's included. */
  known: Set<string>;
  touched: Set<string>;
  identities: { webhookUid: string; hash: Uint8Array; entryId: string }[];
  deliveries: SqlValue[][];
  runs: NewRun[];
}

/** Steps 4 to 6 of the ingress for one delivery: slot, refusal of the body, identity. */
function settleOne(arrival: Arrival, batch: Batch, nowMs: number): Acceptance {
  const slot = takeSlot(batch.windows.get(arrival.webhookUid) ?? [], nowMs);
  const tooLarge = arrival.verdict.kind === 'refuse' && arrival.verdict.outcome === 'rejectedTooLarge';
  // A body that is too large is answered before the rate is looked at; it uses up a slot if one is left.
  if (!slot.ok && !tooLarge) return { kind: 'throttled', retryAfterSeconds: slot.retryAfterSeconds };
  if (slot.ok) {
    batch.windows.set(arrival.webhookUid, slot.window);
    batch.touched.add(arrival.webhookUid);
  }
  if (arrival.verdict.kind === 'refuse') {
    batch.deliveries.push(toDeliveryValues(arrival, arrival.verdict.outcome, arrival.verdict.reason, null, null, null));
    return { kind: 'refused' };
  }
  return settleIdentified(arrival, arrival.verdict, batch);
}

function settleIdentified(arrival: Arrival, verdict: Extract<Arrival['verdict'], { kind: 'deliver' }>, batch: Batch): Acceptance {
  const keys = verdict.identities.map((hash) => identityKey(arrival.webhookUid, hash));
  if (keys.some((key) => batch.known.has(key))) {
    batch.deliveries.push(toDeliveryValues(arrival, 'duplicate', null, null, null, null));
    return { kind: 'duplicate' };
  }
  for (const key of keys) batch.known.add(key);
  for (const hash of verdict.identities) batch.identities.push({ webhookUid: arrival.webhookUid, hash, entryId: arrival.entryId });
  batch.deliveries.push(toDeliveryValues(arrival, 'accepted', null, verdict.decision, verdict.payload, verdict.payloadEncoding));
  batch.runs.push(...verdict.runs);
  return { kind: 'accepted' };
}

function* store(batch: Batch, nowMs: number): Work<void> {
  // Sorted, so that two replicas lock in the same order.
  const identities = batch.identities
    .toSorted((a, b) => compare(identityKey(a.webhookUid, a.hash), identityKey(b.webhookUid, b.hash)))
    .map(({ webhookUid, hash, entryId }) => [webhookUid, hash, entryId, nowMs]);
  const won = yield* insert('identity', ['webhook_uid', 'hash', 'entry_id', 'accepted_at'], identities, { ignoreConflicts: true });
  // Another replica committed one of them since we looked: look again.
  if (won !== identities.length) throw new LostRace('an identity was accepted elsewhere');
  yield* insert('delivery', DELIVERY_COLUMNS, batch.deliveries);
  yield* insert('run', RUN_COLUMNS, batch.runs.map(toRunValues));
  for (const uid of [...batch.touched].sort()) {
    yield* change('UPDATE rate_window SET slots = ? WHERE webhook_uid = ?', packWindow(batch.windows.get(uid) ?? []), uid);
  }
}

function* currentVersions(arrivals: readonly Arrival[]): Work<Map<string, number>> {
  const uids = unique(arrivals.map((arrival) => arrival.factoryUid));
  const current = new Map<string, number>();
  // FOR SHARE: a disable, rotation or edit that commits before us is seen, one that comes later waits for us.
  const text = (count: number) => `SELECT uid, serving_version FROM factory WHERE uid IN (${placeholders(count)}) AND deleted_at IS NULL ORDER BY uid FOR SHARE`;
  for (const slice of slices(uids)) {
    for (const found of yield* rows<{ uid: string; serving_version: number }>(text(slice.length), ...slice)) current.set(found.uid, found.serving_version);
  }
  return current;
}

function* lockedWindows(arrivals: readonly Arrival[]): Work<Map<string, number[]>> {
  const uids = unique(arrivals.map((arrival) => arrival.webhookUid));
  const windows = new Map<string, number[]>();
  const text = (count: number) => `SELECT webhook_uid, slots FROM rate_window WHERE webhook_uid IN (${placeholders(count)}) ORDER BY webhook_uid FOR UPDATE`;
  for (const slice of slices(uids)) {
    for (const found of yield* rows<{ webhook_uid: string; slots: Uint8Array }>(text(slice.length), ...slice)) {
      windows.set(found.webhook_uid, unpackWindow(found.slots));
    }
  }
  return windows;
}

function* knownIdentities(arrivals: readonly Arrival[]): Work<Set<string>> {
  const wanted = arrivals.flatMap(({ webhookUid, verdict }) => (verdict.kind === 'deliver' ? verdict.identities.map((hash) => [webhookUid, hash] as const) : []));
  const known = new Set<string>();
  const text = (count: number) =>
    `SELECT webhook_uid, hash FROM identity WHERE (webhook_uid, hash) IN (VALUES ${Array.from({ length: count }, () => '(?, ?)').join(', ')})`;
  for (const slice of slices(wanted)) {
    const found = yield* rows<{ webhook_uid: string; hash: Uint8Array }>(text(slice.length), ...slice.flat());
    for (const { webhook_uid: webhookUid, hash } of found) known.add(identityKey(webhookUid, hash));
  }
  return known;
}

function toDeliveryValues(
  arrival: Arrival,
  outcome: string,
  reason: string | null,
  decision: string | null,
  payload: Uint8Array | null,
  encoding: string | null,
): SqlValue[] {
  const { entryId, webhookUid, factoryUid, deliveryId, sizeBytes, sizeExact, receivedAtMs, clientAddress, revision } = arrival;
  return [entryId, webhookUid, factoryUid, deliveryId, outcome, sizeBytes, sizeExact ? 1 : 0, receivedAtMs, clientAddress, revision, 1, reason, decision, payload, encoding];
}

function identityKey(webhookUid: string, hash: Uint8Array): string {
  return `${webhookUid}/${Buffer.from(hash).toString('base64')}`;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}

/** Batches are cut to a few fixed sizes, so that the statements stay few and prepared. */
const SLICES = [64, 16, 4, 1] as const;

function* slices<T>(values: readonly T[]): Generator<T[]> {
  let start = 0;
  while (start < values.length) {
    const size = SLICES.find((candidate) => candidate <= values.length - start) ?? 1;
    yield values.slice(start, start + size);
    start += size;
  }
}
