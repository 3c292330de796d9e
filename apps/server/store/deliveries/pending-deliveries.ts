/**
 * The one transaction behind a 202: slot, identity, log entry and runs commit together, many deliveries to a commit.
 * spec: Delivery identity; contract §5.
 */
import { type SkippedAutomation, takeSlot } from '#deliveries';
import { type Admission, contestedGroups, firstUuidv7, type NewWebhookRun, type WebhookRunSnapshot } from '#runs';
import { DELIVERY, type DeliveryRow, ENTRY_TIME_SLACK_MS, IDENTITY } from './delivery.entities.ts';
import { insertInto } from '../database/table.ts';
import { LostRaceError } from '../database/store-errors.ts';
import {
  type AcceptedResend,
  type EntryWriter,
  type EntryRow,
  entryOf,
  nextResends,
  noteResend,
  type ResendRequest,
  toDeliveryRow,
} from './delivery-entries.ts';
import { decideAdmission, type NewRun, storeAdmission } from '../runs/new-run.ts';
import { databaseNow, matching, together, type Transaction } from '../database/transactions.ts';
import type { StoredSnapshots } from '../runs/waiting-runs.ts';
import { lockWebhooks, type RateWindows, slotWindows, unique } from './rate-windows.ts';

/** A delivery that passed authentication, decided against one version of the serving state. */
export interface PendingDelivery {
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
  /** Its name in the log; stored bytes that are delivered again are named when they are accepted. */
  deliveryId: string;
  verdict:
    | ({ kind: 'deliver'; identities: readonly Uint8Array[] } & StoredPayload & StartDecision)
    | ({ kind: 'resend' } & StoredPayload & ResendRequest)
    /** `refusal`: JSON of RefusalDetails. */
    | { kind: 'refuse'; outcome: 'rejectedInvalidJson' | 'rejectedTooLarge'; reason: string; refusal?: string };
}

interface StoredPayload {
  payload: Uint8Array;
  payloadEncoding: string;
}

/** What a delivery starts. `decision`: JSON of the log's `started` and `skipped`. */
export interface StartDecision {
  runs: readonly (NewRun | NewWebhookRun)[];
  decision: string;
}

/**
 * What became of a delivery. `busy`: IDs of runs that did not start, because another run of their concurrency group was
 * open. `replaced`: IDs of open runs that made place for its own. `entry`: of stored bytes that were delivered again,
 * the new entry. `stale`: the serving state has moved, or the entry was named minutes ago; decide again. `throttled`:
 * no slot was free and nothing was stored. `gone`: the entry whose bytes were to be delivered again was removed.
 */
export type DeliveryOutcome =
  | Accepted
  | { kind: 'duplicate' }
  | { kind: 'refused' }
  | { kind: 'throttled'; waitMs: number; retryAfterSeconds: number }
  | { kind: 'stale' }
  | { kind: 'gone' };

export interface Accepted {
  kind: 'accepted';
  busy?: readonly string[];
  replaced?: readonly string[];
  entry?: DeliveryRow;
}

export interface CommitResult {
  /** One for each arrival, in order. */
  acceptances: DeliveryOutcome[];
  /** Windows after this batch, of the webhooks in it: true once it has committed. */
  windows: RateWindows;
  /** Snapshots that it has stored, once it has committed. */
  snapshots: readonly WebhookRunSnapshot[];
}

/**
 * Settles a batch in order of arrival, as if one after the other. The log's entries are the slots; `remembered` spares
 * looking them up where this process is the only writer.
 */
export function* commitDeliveries(
  arrivals: readonly PendingDelivery[],
  remembered?: RateWindows,
  stored?: StoredSnapshots,
): Transaction<CommitResult> {
  const [current, , nowMs] = yield* together(
    currentVersions(arrivals),
    lockWebhooks(remembered === undefined ? arrivals : []),
    databaseNow(),
  );
  const [windows, known, resends] = yield* together(
    slotWindows(arrivals, remembered ?? new Map(), nowMs),
    knownIdentities(arrivals),
    nextResends(arrivals.flatMap(({ verdict }) => (verdict.kind === 'resend' ? [verdict.of] : []))),
  );
  const batch: Batch = {
    windows,
    known,
    resends,
    nowMs,
    identities: [],
    deliveries: [],
    contested: [],
    resent: [],
    runs: [],
  };
  // A process may have stood still for minutes: where others count slots, one of so old a name would be found by none
  // of them.
  const oldestId = remembered === undefined ? firstUuidv7(nowMs - ENTRY_TIME_SLACK_MS) : '';
  const isTimely = ({ factoryUid, servingVersion, entryId }: PendingDelivery): boolean =>
    current.get(factoryUid) === servingVersion && entryId >= oldestId;
  const acceptances = arrivals.map((arrival) => (isTimely(arrival) ? commitDelivery(arrival, batch) : STALE));
  const snapshots = yield* writeBatch(batch, stored);
  return { acceptances, windows, snapshots };
}

const STALE: DeliveryOutcome = { kind: 'stale' };
const GONE: DeliveryOutcome = { kind: 'gone' };

interface Batch {
  windows: Map<string, readonly number[]>;
  nowMs: number;
  /** `webhook/hash` of every identity already accepted, this batch's included. */
  known: Set<string>;
  /** Which time comes next, of each entry whose bytes are delivered again and that is still there. */
  resends: Map<string, number>;
  identities: { key: string; webhookUid: string; hash: Uint8Array }[];
  deliveries: EntryRow[];
  /** Entries whose runs may find their group busy, and what is answered for them: written when that is known. */
  contested: Contested[];
  resent: AcceptedResend[];
  runs: (NewRun | NewWebhookRun)[];
}

interface Contested extends StartDecision {
  acceptance: Accepted;
  log(decision: string): EntryRow;
}

/** Steps 4 to 6 of the ingress for one delivery: slot, refusal of the body, identity. */
function commitDelivery(arrival: PendingDelivery, batch: Batch): DeliveryOutcome {
  const { verdict } = arrival;
  if (verdict.kind === 'resend' && !batch.resends.has(verdict.of)) return GONE;
  const slot = takeSlot(batch.windows.get(arrival.webhookUid) ?? [], batch.nowMs);
  if (!slot.ok) return { kind: 'throttled', waitMs: slot.waitMs, retryAfterSeconds: slot.retryAfterSeconds };
  batch.windows.set(arrival.webhookUid, slot.window);
  switch (verdict.kind) {
    case 'deliver':
      return commitIdentified(arrival, verdict, batch, entryOf(arrival, batch.nowMs));
    case 'resend':
      return commitResent(arrival, verdict, batch);
    case 'refuse':
      batch.deliveries.push(entryOf(arrival, batch.nowMs)(verdict.outcome, verdict));
      return { kind: 'refused' };
  }
}

function commitIdentified(
  arrival: PendingDelivery,
  verdict: Extract<PendingDelivery['verdict'], { kind: 'deliver' }>,
  batch: Batch,
  log: EntryWriter,
): DeliveryOutcome {
  const keys = verdict.identities.map((hash) => identityKey(arrival.webhookUid, hash));
  if (keys.some((key) => batch.known.has(key))) {
    batch.deliveries.push(log('duplicate', {}));
    return { kind: 'duplicate' };
  }
  addIdentities(arrival.webhookUid, verdict.identities, batch);
  return startAll(verdict, batch, (decision) => log('accepted', { ...verdict, decision }));
}

/** Named by how often its bytes were delivered again: its identity is new, and nobody else's. */
function commitResent(
  arrival: PendingDelivery,
  verdict: Extract<PendingDelivery['verdict'], { kind: 'resend' }>,
  batch: Batch,
): DeliveryOutcome {
  const { of } = verdict;
  const n = batch.resends.get(of) as number;
  batch.resends.set(of, n + 1);
  const { deliveryId, identity, ...starting } = verdict.as(n);
  addIdentities(arrival.webhookUid, [identity], batch);
  const log = entryOf({ ...arrival, deliveryId }, batch.nowMs);
  let written: EntryRow | undefined;
  const acceptance = startAll(
    starting,
    batch,
    (decision) => (written = log('accepted', { ...verdict, decision, resentFrom: of })),
  );
  batch.resent.push({
    verdict,
    n,
    factoryUid: arrival.factoryUid,
    entry: () => (acceptance.entry = toDeliveryRow(written as EntryRow)),
  });
  return acceptance;
}

function addIdentities(webhookUid: string, identities: readonly Uint8Array[], batch: Batch): void {
  for (const hash of identities) {
    const key = identityKey(webhookUid, hash);
    batch.known.add(key);
    batch.identities.push({ key, webhookUid, hash });
  }
}

function startAll({ runs, decision }: StartDecision, batch: Batch, log: Contested['log']): Accepted {
  const acceptance: Accepted = { kind: 'accepted' };
  batch.runs.push(...runs);
  if (contestedGroups(runs).length === 0) batch.deliveries.push(log(decision));
  else batch.contested.push({ runs, decision, acceptance, log });
  return acceptance;
}

function* writeBatch(batch: Batch, stored?: StoredSnapshots): Transaction<WebhookRunSnapshot[]> {
  // Groups are locked behind the identities, which others may wait for: nobody who holds a group waits for one. Where
  // no group is wanted nothing is decided between, and all is written in one go.
  const isContested = batch.contested.length > 0;
  if (isContested) yield* storeIdentities(batch);
  const admission = yield* decideAdmission(batch.runs);
  for (const contested of batch.contested) batch.deliveries.push(entryAfter(contested, admission));
  const write = together(insertInto(DELIVERY, batch.deliveries), storeAdmission(admission, batch.nowMs, stored));
  const [, { replaced, snapshots }] = isContested ? yield* write : (yield* together(storeIdentities(batch), write))[1];
  // Whoever answers one of the deliveries notifies the supervisors of all of these runs.
  const [first] = batch.contested;
  if (first !== undefined && replaced.length > 0) first.acceptance.replaced = replaced;
  for (const resent of batch.resent) yield* noteResend(resent);
  return snapshots;
}

function* storeIdentities(batch: Batch): Transaction<void> {
  // Sorted, so that two replicas lock in the same order.
  const identities = batch.identities
    .sort((a, b) => compare(a.key, b.key))
    .map(({ webhookUid, hash }) => ({ webhook_uid: webhookUid, hash, accepted_at: batch.nowMs }));
  const won = yield* insertInto(IDENTITY, identities, { ignoreConflicts: true });
  // Another replica committed one of them since we looked: look again.
  if (won !== identities.length) throw new LostRaceError('an identity was accepted elsewhere');
}

/** The log entry of a delivery whose runs wanted a group for themselves: what found it busy is a skipped automation. */
function entryAfter(
  { runs, decision, acceptance, log }: Contested,
  { busy }: Admission<NewRun | NewWebhookRun>,
): EntryRow {
  const busyRuns = new Set<NewRun | NewWebhookRun>(busy);
  const skipped = runs.filter((run) => busyRuns.has(run));
  if (skipped.length === 0) return log(decision);
  acceptance.busy = skipped.map(({ runId }) => runId);
  return log(JSON.stringify(withoutBusy(JSON.parse(decision) as Decision, skipped)));
}

/** Which runs a delivery started and which automations it did not, in the wire's spelling. */
interface Decision {
  started: { automation_id: string; run_id: string }[];
  skipped: { automation_id: string; reason: string }[];
}

function withoutBusy({ started, skipped }: Decision, busy: readonly (NewRun | NewWebhookRun)[]): Decision {
  const runIds = new Set(busy.map(({ runId }) => runId));
  return {
    started: started.filter(({ run_id: runId }) => !runIds.has(runId)),
    skipped: [
      ...skipped,
      ...busy.map(({ automationUid }) => ({
        automation_id: automationUid ?? '',
        reason: 'busy' satisfies SkippedAutomation['reason'],
      })),
    ],
  };
}

function* currentVersions(arrivals: readonly PendingDelivery[]): Transaction<Map<string, number>> {
  // FOR SHARE: a disable, rotation or edit that commits before us is seen, one that comes later waits for us.
  const versions = {
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

function* knownIdentities(arrivals: readonly PendingDelivery[]): Transaction<Set<string>> {
  const wanted = arrivals.flatMap(({ webhookUid, verdict }) =>
    verdict.kind === 'deliver' ? verdict.identities.map((hash) => [webhookUid, hash]) : [],
  );
  const found = yield* matching<{ webhook_uid: string; hash: Uint8Array }>(
    { columns: 'webhook_uid, hash', table: 'identity', keys: ['webhook_uid', 'hash'] },
    wanted,
  );
  return new Set(found.map(({ webhook_uid: webhookUid, hash }) => identityKey(webhookUid, hash)));
}

/** Texts that sort as the rows of the table do: neighbours are written together. */
function identityKey(webhookUid: string, hash: Uint8Array): string {
  return `${webhookUid}/${Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')}`;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
