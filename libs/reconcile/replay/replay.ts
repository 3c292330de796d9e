/**
 * What a plan would have started of deliveries that came before it: its subjects asked about stored payloads, a step at
 * a time. contract §12.1 (Plan), §7.
 */
import { UNREADABLE_FILTER } from '#filters';
import { replayAnswerOf, compiledFilter, STEP_WORK, type FilterShelf, type SamplePayload } from './replay-filters.ts';
import type { ReplaySubject, Subscription } from './replay-subjects.ts';

/** Deliveries that a replay looks at: as many as the log always keeps. spec: Limits (Delivery log retention). */
export const REPLAY_DELIVERIES_MAX = 50;
/** Entries that a replay names each way: enough to look at, few enough to read. */
export const REPLAY_ENTRIES_MAX = 5;
/**
 * Webhooks whose deliveries are put in order for a subject; of one that selects more, the newest stand near the start
 * of the whole log.
 */
const WEBHOOKS_FEW = 20;

/** A stored delivery, without its payload. */
export interface StoredDelivery {
  entryId: string;
  webhookUid: string;
}

/** Stored deliveries, newest first, of which there are enough of each webhook. */
export interface ReplayLog {
  newest: readonly StoredDelivery[];
  ofWebhook: ReadonlyMap<string, readonly StoredDelivery[]>;
}

/** Whether a delivery starts anything of a subject, as it is and as it would be. */
export interface Fires {
  before: boolean;
  after: boolean;
}

/** What became of one delivery: undefined where its payload cannot be read. */
export interface Firing {
  entryId: string;
  fires: Fires | undefined;
}

/** What was found out about a subject. */
export interface ReplayFindings {
  /** Newest first. */
  firings: readonly Firing[];
  filtersUnreadable: number;
  /** There was more to ask. */
  cut: boolean;
}

/** What a replay found. Payloads and filters leave no trace in it. */
export interface Replay {
  /** Deliveries that were looked at. */
  deliveries: number;
  /** How many of them start something as it is, and as it would be. */
  before: number;
  after: number;
  /** Entries that would start something now, and that would no longer; the newest `REPLAY_ENTRIES_MAX` of each. */
  starts: string[];
  stops: string[];
  /** Deliveries whose stored payload cannot be read: they count as starting nothing. */
  unreadable: number;
  /** Filters, of both sides, that cannot be used: they match nothing. */
  filtersUnreadable: number;
  /**
   * Asking the older of its deliveries too would be more work than a plan may take: `deliveries` says how many were
   * looked at.
   */
  cut: boolean;
}

/** Deliveries by the time at which they came, which their IDs tell. */
export function replayLog(stored: readonly StoredDelivery[]): ReplayLog {
  const newest = [...stored].sort((a, b) => (a.entryId < b.entryId ? 1 : -1));
  const ofWebhook = new Map<string, StoredDelivery[]>();
  for (const delivery of newest) {
    const others = ofWebhook.get(delivery.webhookUid);
    if (others === undefined) ofWebhook.set(delivery.webhookUid, [delivery]);
    else others.push(delivery);
  }
  return { newest, ofWebhook };
}

/** The newest deliveries that a subject is asked about, newest first. Yields the work before it does it. */
export function* replayWindow(
  { webhookUids }: ReplaySubject,
  { newest, ofWebhook }: ReplayLog,
): Generator<number, StoredDelivery[]> {
  if (webhookUids.size > WEBHOOKS_FEW) {
    yield newest.length;
    return firstOf(newest, webhookUids);
  }
  const own = [...webhookUids].flatMap((uid) => (ofWebhook.get(uid) ?? []).slice(0, REPLAY_DELIVERIES_MAX));
  yield STEP_WORK * (1 + own.length);
  return replayLog(own).newest.slice(0, REPLAY_DELIVERIES_MAX);
}

/** How many filters of a subject cannot be used. Yields the work before it does it. */
export function* unreadableFilters({ before, after, shelf }: ReplaySubject): Generator<number, number> {
  let unreadable = 0;
  for (const { payload } of [...before, ...after]) {
    yield STEP_WORK;
    if ((yield* compiledFilter(shelf(payload))) === UNREADABLE_FILTER) unreadable += 1;
  }
  return unreadable;
}

/**
 * Whether a delivery starts anything of the subject, before and after. Total; yields the work of each step, of which
 * all are short.
 */
export function* firesFor(
  { before, after, shelf }: ReplaySubject,
  webhookUid: string,
  sample: SamplePayload,
): Generator<number, Fires> {
  return {
    before: yield* startsOne(before, webhookUid, shelf, sample),
    after: yield* startsOne(after, webhookUid, shelf, sample),
  };
}

/** What all deliveries of a subject's window say together. */
export function replayOf({ firings, filtersUnreadable, cut }: ReplayFindings): Replay {
  const entries = (test: (fires: Fires) => boolean): string[] =>
    firings.flatMap(({ entryId, fires }) => (fires !== undefined && test(fires) ? [entryId] : []));
  return {
    deliveries: firings.length,
    before: entries(({ before }) => before).length,
    after: entries(({ after }) => after).length,
    starts: entries(({ before, after }) => !before && after).slice(0, REPLAY_ENTRIES_MAX),
    stops: entries(({ before, after }) => before && !after).slice(0, REPLAY_ENTRIES_MAX),
    unreadable: firings.filter(({ fires }) => fires === undefined).length,
    filtersUnreadable,
    cut,
  };
}

function firstOf(newest: readonly StoredDelivery[], webhookUids: ReadonlySet<string>): StoredDelivery[] {
  const asked: StoredDelivery[] = [];
  for (const delivery of newest) {
    if (asked.length === REPLAY_DELIVERIES_MAX) break;
    if (webhookUids.has(delivery.webhookUid)) asked.push(delivery);
  }
  return asked;
}

function* startsOne(
  subscriptions: readonly Subscription[],
  webhookUid: string,
  shelf: FilterShelf,
  sample: SamplePayload,
): Generator<number, boolean> {
  for (const { webhookUids, payload } of subscriptions) {
    yield STEP_WORK;
    if (webhookUids.has(webhookUid) && (yield* replayAnswerOf(shelf(payload), sample))) return true;
  }
  return false;
}
