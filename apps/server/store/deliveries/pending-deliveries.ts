/**
 * The one transaction behind a 202: slot, identity, log entry and runs commit together, many deliveries to a commit.
 * spec: Delivery identity; contract §5.
 */
import { identityKey, type SkippedAutomation } from '#deliveries';
import { type Admission, contestedGroups, type NewWebhookRun, type WebhookRunSnapshot } from '#runs';
import type { Acceptance } from './acceptance.ts';
import { DELIVERY, type DeliveryRow } from './delivery.entities.ts';
import { insertInto } from '../database/table.ts';
import {
  type AcceptedResend,
  type EntryWriter,
  type EntryRow,
  entryOf,
  formatDecision,
  type LoggedDecision,
  nextResends,
  noteResend,
  parseDecision,
  type ResendRequest,
  toDeliveryRow,
} from './delivery-entries.ts';
import { decideAdmission, type NewRun, storeAdmission } from '../runs/new-run.ts';
import { together, type Transaction } from '../database/transactions.ts';
import type { StoredSnapshots } from '../runs/waiting-runs.ts';

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
    /** `identities`: their hashes. */
    | ({ kind: 'deliver'; identities: readonly string[] } & StoredPayload & StartDecision)
    | ({ kind: 'resend' } & StoredPayload & ResendRequest)
    /** `refusal`: JSON of RefusalDetails. */
    | { kind: 'refuse'; outcome: 'rejectedInvalidJson' | 'rejectedTooLarge'; reason: string; refusal?: string };
}

interface StoredPayload {
  payload: Uint8Array;
  payloadEncoding: string;
}

/** What a delivery starts. `decision`: text of the log's `started` and `skipped`. */
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
  outcomes: DeliveryOutcome[];
  /** Snapshots that it has stored, once it has committed. */
  snapshots: readonly WebhookRunSnapshot[];
}

/** Settles a batch in order of arrival, as if one after the other. The log's entries are the slots. */
export function* commitDeliveries(
  arrivals: readonly PendingDelivery[],
  acceptance: Acceptance,
  stored?: StoredSnapshots,
): Transaction<CommitResult> {
  const { identities, nowMs, windows } = acceptance;
  const named = arrivals.map(identityKeysOf);
  const [, known, resends] = yield* together(
    windows.load(
      arrivals.map(({ webhookUid }) => webhookUid),
      nowMs,
    ),
    identities.known(named.flat()),
    nextResends(arrivals.flatMap(({ verdict }) => (verdict.kind === 'resend' ? [verdict.of] : []))),
  );
  const { outcomes, batch } = decideDeliveries(arrivals, named, acceptance, { known, resends });
  return { outcomes, snapshots: yield* writeBatch(batch, identities, stored) };
}

/** What a batch is decided by beside the state that it meets. `known`: grows by what it accepts. */
export interface BatchKnowledge {
  known: Set<string>;
  /** Which time comes next, of each entry whose bytes are delivered again and that is still there. */
  resends: Map<string, number>;
}

/** The decision about a batch, and what is to be written. `named`: keys of the identities of each delivery. */
export function decideDeliveries(
  arrivals: readonly PendingDelivery[],
  named: readonly (readonly string[])[],
  { nowMs, oldestEntryId, versions, windows }: Omit<Acceptance, 'identities'>,
  { known, resends }: BatchKnowledge,
): { outcomes: DeliveryOutcome[]; batch: Batch } {
  const batch: Batch = {
    windows,
    nowMs,
    known,
    resends,
    identities: [],
    deliveries: [],
    contested: [],
    resent: [],
    runs: [],
  };
  const isTimely = ({ factoryUid, servingVersion, entryId }: PendingDelivery): boolean =>
    versions.get(factoryUid) === servingVersion && entryId >= oldestEntryId;
  const outcomes = arrivals.map((arrival, at) =>
    isTimely(arrival) ? commitDelivery(arrival, named[at] ?? [], batch) : STALE,
  );
  return { outcomes, batch };
}

/** Keys of the identities by which a delivery is known. */
export function identityKeysOf({ webhookUid, verdict }: PendingDelivery): readonly string[] {
  return verdict.kind === 'deliver' ? verdict.identities.map((hash) => identityKey(webhookUid, hash)) : [];
}

const STALE: DeliveryOutcome = { kind: 'stale' };
const GONE: DeliveryOutcome = { kind: 'gone' };

export interface Batch {
  windows: Acceptance['windows'];
  nowMs: number;
  /** Keys of the identities of this batch that are accepted, by itself too. */
  known: Set<string>;
  resends: Map<string, number>;
  /** Those that it accepts. */
  identities: string[];
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
function commitDelivery(arrival: PendingDelivery, identities: readonly string[], batch: Batch): DeliveryOutcome {
  const { verdict } = arrival;
  if (verdict.kind === 'resend' && !batch.resends.has(verdict.of)) return GONE;
  const slot = batch.windows.take(arrival.webhookUid, batch.nowMs);
  if (!slot.ok) return { kind: 'throttled', waitMs: slot.waitMs, retryAfterSeconds: slot.retryAfterSeconds };
  switch (verdict.kind) {
    case 'deliver':
      return commitIdentified(identities, verdict, batch, entryOf(arrival, batch.nowMs));
    case 'resend':
      return commitResent(arrival, verdict, batch);
    case 'refuse':
      batch.deliveries.push(entryOf(arrival, batch.nowMs)(verdict.outcome, verdict));
      return { kind: 'refused' };
  }
}

function commitIdentified(
  identities: readonly string[],
  verdict: Extract<PendingDelivery['verdict'], { kind: 'deliver' }>,
  batch: Batch,
  log: EntryWriter,
): DeliveryOutcome {
  if (identities.some((key) => batch.known.has(key))) {
    batch.deliveries.push(log('duplicate', {}));
    return { kind: 'duplicate' };
  }
  addIdentities(identities, batch);
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
  const { webhookUid } = arrival;
  addIdentities([identityKey(webhookUid, identity)], batch);
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

function addIdentities(keys: readonly string[], batch: Batch): void {
  for (const key of keys) {
    batch.known.add(key);
    batch.identities.push(key);
  }
}

function startAll({ runs, decision }: StartDecision, batch: Batch, log: Contested['log']): Accepted {
  const acceptance: Accepted = { kind: 'accepted' };
  batch.runs.push(...runs);
  if (contestedGroups(runs).length === 0) batch.deliveries.push(log(decision));
  else batch.contested.push({ runs, decision, acceptance, log });
  return acceptance;
}

function* writeBatch(
  batch: Batch,
  identities: Acceptance['identities'],
  stored?: StoredSnapshots,
): Transaction<WebhookRunSnapshot[]> {
  const storeIdentities = identities.store(batch.identities, batch.nowMs);
  // Groups are locked behind the identities, which others may wait for: nobody who holds a group waits for one. Where
  // none is wanted nothing is decided between, and all is written in one go.
  const isContested = batch.contested.length > 0;
  if (isContested) yield* storeIdentities;
  const admission = yield* decideAdmission(batch.runs);
  for (const contested of batch.contested) batch.deliveries.push(entryAfter(contested, admission));
  const write = together(insertInto(DELIVERY, batch.deliveries), storeAdmission(admission, batch.nowMs, stored));
  const [, { replaced, snapshots }] = isContested ? yield* write : (yield* together(storeIdentities, write))[1];
  // Whoever answers one of the deliveries notifies the supervisors of all of these runs.
  const [first] = batch.contested;
  if (first !== undefined && replaced.length > 0) first.acceptance.replaced = replaced;
  for (const resent of batch.resent) yield* noteResend(resent);
  return snapshots;
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
  return log(formatDecision(withoutBusy(parseDecision(decision), skipped)));
}

function withoutBusy({ started, skipped }: LoggedDecision, busy: readonly (NewRun | NewWebhookRun)[]): LoggedDecision {
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
