/** Asks stored deliveries again what they would start, without keeping the event loop from new ones. contract 9 (Plan). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseJsonBody } from '#deliveries';
import type { JsonValue } from '#filters';
import { firesFor, REPLAY_DELIVERIES_MAX, replayOf, replayWindow, type Change, type Firing, type Replay, type ReplaySubject, type StoredDelivery } from '#reconcile';
import type { DeliveryStore } from '../store/deliveries.ts';
import { decodePayload } from '../store/payload-bytes.ts';

/** Longest work at a stretch, in milliseconds, but for one payload and one filter: deliveries wait no longer for a plan. */
const SLICE_MS = 15;

/** One delivery and all that it is asked for: its payload is read, parsed and forgotten once. */
interface Question {
  delivery: StoredDelivery;
  subjects: ReplaySubject[];
}

/** What the newest stored deliveries say of each change. Holds one payload at a time. */
export async function replayed(subjects: readonly ReplaySubject[], deliveries: DeliveryStore, nowMs: () => number = () => performance.now()): Promise<Map<Change, Replay>> {
  const breathe = slices(nowMs);
  const webhookUids = [...new Set(subjects.flatMap((subject) => [...subject.webhookUids]))].sort();
  const newest = webhookUids.length === 0 ? [] : newestFirst(await deliveries.newestAccepted(webhookUids, REPLAY_DELIVERIES_MAX));
  const firings = new Map<ReplaySubject, Firing[]>(subjects.map((subject) => [subject, []]));
  for (const { delivery, subjects: asked } of await questions(subjects, newest, breathe)) {
    const payload = await payloadOf(delivery.entryId, deliveries);
    await breathe();
    for (const subject of asked) {
      firings.get(subject)?.push({ entryId: delivery.entryId, fires: payload && firesFor(subject, delivery.webhookUid, payload.value) });
      await breathe();
    }
  }
  const found = new Map<Change, Replay>();
  for (const [subject, all] of firings) {
    found.set(subject.change, replayOf(subject, all));
    await breathe();
  }
  return found;
}

/** IDs grow with time. */
function newestFirst(stored: readonly StoredDelivery[]): StoredDelivery[] {
  return [...stored].sort((a, b) => (a.entryId < b.entryId ? 1 : -1));
}

/** Newest first, so that every subject hears of its deliveries in that order; those of no subject are left out. */
async function questions(subjects: readonly ReplaySubject[], newest: readonly StoredDelivery[], breathe: () => Promise<void>): Promise<Question[]> {
  const asked = new Map<string, Question>(newest.map((delivery) => [delivery.entryId, { delivery, subjects: [] }]));
  for (const subject of subjects) {
    for (const { entryId } of replayWindow(subject, newest)) asked.get(entryId)?.subjects.push(subject);
    await breathe();
  }
  return [...asked.values()].filter((question) => question.subjects.length > 0);
}

/** Undefined for what is no JSON any more, or was removed meanwhile: a plan tells that, and does not fail for it. */
async function payloadOf(entryId: string, deliveries: DeliveryStore): Promise<{ value: JsonValue } | undefined> {
  const stored = await deliveries.payload(entryId);
  if (stored === undefined) return undefined;
  try {
    const parsed = parseJsonBody(decodePayload(stored));
    return parsed.ok ? parsed : undefined;
  } catch {
    return undefined; // damaged at rest
  }
}

/** Lets other work in once a slice is over. */
function slices(nowMs: () => number): () => Promise<void> {
  let beganMs = nowMs();
  return async () => {
    if (nowMs() - beganMs < SLICE_MS) return;
    await nextTurn();
    beganMs = nowMs();
  };
}
