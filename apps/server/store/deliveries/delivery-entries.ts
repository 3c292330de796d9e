/**
 * Entries of the delivery log as they are written, their payloads compressed where that is worth its time; and stored
 * bytes that are delivered again. contract §5.9 (Log).
 */
import { resendIdentity, type OutcomeKind, type SkippedAutomation } from '#deliveries';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { audit } from '../access/audit.ts';
import { change, placeholders, rows, type Transaction } from '../database/transactions.ts';
import type { TransactionHook } from '../runs/run-commands.ts';
import type { DeliveryRow, StoredDeliveryRow } from './delivery.entities.ts';
import type { PendingDelivery, StartDecision } from './pending-deliveries.ts';
import { fullRevision, fullUuid, shortRevision, shortUuid } from './short-forms.ts';

/** A request to deliver the bytes of an accepted entry again. */
export interface ResendRequest extends TransactionHook<DeliveryRow> {
  /** The entry. */
  of: string;
  /**
   * The delivery as it is the `n`-th time, from 1: only its transaction knows which time it is. Asked once more where
   * that starts over.
   */
  as(n: number): StartDecision & { deliveryId: string; identity: string };
}

/** The same, before it is known how it is named. */
export type ResentDelivery = Omit<ResendRequest, 'as'>;

/** Stored bytes as they are accepted once more: which time it is, only their transaction knows. */
export function toResentEntry(
  { of, by, also }: ResentDelivery,
  payload: ReturnType<typeof encodePayload>,
  startingAs: (deliveryId: string) => StartDecision,
): Pick<PendingDelivery, 'deliveryId' | 'verdict'> {
  const as: ResendRequest['as'] = (n) => {
    const { value: deliveryId, hash: identity } = resendIdentity(of, n);
    return { deliveryId, identity, ...startingAs(deliveryId) };
  };
  return { deliveryId: '', verdict: { kind: 'resend', of, as, by, also, ...payload } };
}

/** One that was accepted. */
export interface AcceptedResend {
  verdict: Pick<ResendRequest, 'of' | 'by' | 'also'>;
  n: number;
  factoryUid: string;
  /** The new entry, once it is written. */
  entry(): DeliveryRow;
}

/**
 * Which time comes next for each of these entries; those that are gone are absent. Their webhook is locked, so that
 * nobody else counts meanwhile.
 */
export function* nextResends(entryIds: readonly string[]): Transaction<Map<string, number>> {
  const wanted = [...new Set(entryIds)];
  if (wanted.length === 0) return new Map();
  const found = yield* rows<{ entry_id: string; resends: number }>(
    `SELECT entry_id, COALESCE(resends, 0) AS resends FROM delivery WHERE entry_id IN (${placeholders(wanted.length)})`,
    ...wanted,
  );
  return new Map(found.map(({ entry_id: entryId, resends }) => [entryId, resends + 1]));
}

/** Counts it, and writes down who asked. */
export function* noteResend({ verdict: { of, by, also }, n, factoryUid, entry }: AcceptedResend): Transaction<void> {
  yield* change('UPDATE delivery SET resends = ? WHERE entry_id = ?', n, of);
  const written = entry();
  yield* audit(by, {
    action: 'delivery.resend',
    subject: of,
    factoryUid,
    details: { webhook: written.webhook_uid, entry: written.entry_id },
  });
  if (also !== undefined) yield* also(written);
}

/** Which runs a delivery started and which automations it did not, in the wire's spelling. */
export interface LoggedDecision {
  started: readonly { automation_id: string; run_id: string }[];
  skipped: readonly Readonly<Record<string, string>>[];
}

/** A decision as the log shows it: never a value of the payload. */
export function toLoggedDecision(
  runs: readonly { automationUid: string; runId: string }[],
  skipped: readonly SkippedAutomation[],
): LoggedDecision {
  return {
    started: runs.map(({ automationUid, runId }) => ({ automation_id: automationUid, run_id: runId })),
    skipped: skipped.map(toLoggedSkip),
  };
}

function toLoggedSkip(skipped: SkippedAutomation): Record<string, string> {
  const { id, reason } = skipped;
  if (skipped.reason !== 'filter') return { automation_id: id, reason };
  return { automation_id: id, reason, failed_pointer: skipped.failedPointer, operator: skipped.operator };
}

/**
 * A decision as text: JSON, or of one that skipped nothing, which is most of them, only the IDs that it started. With
 * those names written out, an entry of 1 KiB takes half a page of SQLite instead of a third.
 */
export function formatDecision({ started, skipped }: LoggedDecision): string {
  return skipped.length === 0 ? started.map(formatStarted).join(' ') : JSON.stringify({ started, skipped });
}

/** The decision of either text. */
export function parseDecision(text: string): LoggedDecision {
  if (text.startsWith('{')) return JSON.parse(text) as LoggedDecision;
  return { started: text === '' ? [] : text.split(' ').map(parseStarted), skipped: [] };
}

type Started = LoggedDecision['started'][number];

function formatStarted({ automation_id: automationId, run_id: runId }: Started): string {
  const short = shortUuid(runId);
  return short === undefined ? `${automationId}=${runId}` : `${automationId}~${short}`;
}

/** `=`: as versions of before have written it. */
function parseStarted(pair: string): Started {
  const [automationId = '', short] = pair.split('~');
  if (short !== undefined) return { automation_id: automationId, run_id: fullUuid(short) };
  const [automation_id = '', run_id = ''] = pair.split('=');
  return { automation_id, run_id };
}

interface EntryDetails {
  reason?: string;
  decision?: string;
  payload?: Uint8Array;
  payloadEncoding?: string;
  refusal?: string;
  resentFrom?: string;
}

/** A log entry as this transaction writes it. */
export type EntryRow = Omit<StoredDeliveryRow, 'resends'>;
export type EntryWriter = (outcome: OutcomeKind, details: EntryDetails) => EntryRow;

/** Rows of the log; all of them are made here, so that many go into one statement. */
export function entryOf(arrival: PendingDelivery, slotAt: number): EntryWriter {
  return (outcome, { reason, decision, payload, payloadEncoding, refusal, resentFrom }) => ({
    entry_id: arrival.entryId,
    webhook_uid: arrival.webhookUid,
    factory_uid: arrival.factoryUid,
    delivery_id: arrival.deliveryId,
    outcome,
    size: arrival.sizeBytes,
    size_exact: arrival.sizeExact ? 1 : 0,
    received_at: arrival.receivedAtMs,
    client_address: arrival.clientAddress,
    revision: shortRevision(arrival.revision),
    entries: 1,
    slot_at: slotAt,
    reason: reason ?? null,
    decision: decision ?? null,
    payload: payload ?? null,
    payload_encoding: payloadEncoding === AS_IT_CAME ? null : (payloadEncoding ?? null),
    refusal: refusal ?? null,
    resent_from: resentFrom ?? null,
  });
}

/** What was written, as it will be read. */
export function toDeliveryRow({ payload: _payload, slot_at: _slot, ...entry }: EntryRow): DeliveryRow {
  return readEntry(entry);
}

/** An entry as it is stored, some of it short, as it is read. */
export function readEntry(stored: UnreadEntry): DeliveryRow {
  return {
    ...stored,
    revision: fullRevision(stored.revision),
    entries: stored.entries ?? 1,
    size_exact: stored.size_exact ?? 1,
  };
}

/** On PostgreSQL NULL stands for what most entries have: one entry, of a size that is exact. */
export type UnreadEntry = Omit<DeliveryRow, 'entries' | 'size_exact'> & Record<'entries' | 'size_exact', number | null>;

/**
 * Below this, compressing costs more time at receipt than the disk it saves: one database page holds the row either
 * way.
 */
const COMPRESSED_FROM_BYTES = 2_048;
const FASTEST = 1;
/** Stored as null: it is what most payloads have, and what one without a name has. */
const AS_IT_CAME = 'identity';

/** Bytes to store and the name of their encoding. */
export function encodePayload(body: Uint8Array): { payload: Uint8Array; payloadEncoding: string } {
  if (body.length < COMPRESSED_FROM_BYTES) return { payload: body, payloadEncoding: AS_IT_CAME };
  const deflated = deflateRawSync(body, { level: FASTEST });
  return deflated.length < body.length
    ? { payload: deflated, payloadEncoding: 'deflate-raw' }
    : { payload: body, payloadEncoding: AS_IT_CAME };
}

/** The name of the encoding of a stored payload. */
export function encodingOf({ payload_encoding: encoding }: Pick<DeliveryRow, 'payload_encoding'>): string {
  return encoding ?? AS_IT_CAME;
}

/** The exact bytes that were received. */
export function decodePayload(stored: { bytes: Uint8Array; encoding: string }): Uint8Array {
  return stored.encoding === 'deflate-raw' ? inflateRawSync(stored.bytes) : stored.bytes;
}
