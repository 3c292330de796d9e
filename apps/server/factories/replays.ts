/** Asks stored deliveries again what they would start: a bounded amount of work, without keeping the event loop from new deliveries. contract 9 (Plan). */
import {
  firesFor, payloadWork, REPLAY_DELIVERIES_MAX, replayLog, replayOf, replayWindow, specimenOf, unreadableFilters,
  type Change, type Firing, type Replay, type ReplayLog, type ReplaySubject, type StoredDelivery,
} from '#reconcile';
import { payloadOf } from '../deliveries/payloads.ts';
import { Slices } from '../slices.ts';
import type { DeliveryStore } from '../store/deliveries.ts';

/** All that one plan may ask, in units of work: one to two seconds of a slow core. Counted, so that the same plan says the same everywhere. */
const WORK_MAX = 50_000_000;
/** Of fetching a payload from the database, however small it is. */
const READ_WORK = 20_000;

export interface ReplayBounds {
  nowMs: () => number;
  workMax: number;
}

/** One subject while it is asked about. */
interface Inquiry {
  subject: ReplaySubject;
  window: readonly StoredDelivery[];
  firings: Firing[];
  filtersUnreadable: number;
  cut: boolean;
}

/** One delivery and all that it is asked for: its payload is read, parsed and forgotten once. */
interface Question {
  delivery: StoredDelivery;
  inquiries: Inquiry[];
}

/** The replays of one process, one at a time: however many plans are asked for, deliveries share the core with one. */
export class Replays {
  private readonly deliveries: DeliveryStore;
  private readonly bounds: ReplayBounds;
  private last: Promise<unknown> = Promise.resolve();

  constructor(deliveries: DeliveryStore, bounds: Partial<ReplayBounds> = {}) {
    this.deliveries = deliveries;
    this.bounds = { nowMs: () => performance.now(), workMax: WORK_MAX, ...bounds };
  }

  /** What the newest stored deliveries say of each change. Throws the reason of the signal soon after that is aborted. */
  async of(subjects: readonly ReplaySubject[], signal: AbortSignal): Promise<Map<Change, Replay>> {
    if (subjects.length === 0) return new Map();
    const turn = this.last.then(() => replayed(subjects, this.deliveries, new Work(this.bounds, signal)));
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

/** Newest delivery first, so that all subjects hear of the newest before the work is spent. Holds one payload at a time. */
async function replayed(subjects: readonly ReplaySubject[], deliveries: DeliveryStore, work: Work): Promise<Map<Change, Replay>> {
  await work.breathe();
  const webhookUids = [...new Set(subjects.flatMap((subject) => [...subject.webhookUids]))].sort();
  const log = replayLog(webhookUids.length === 0 ? [] : await deliveries.newestAccepted(webhookUids, REPLAY_DELIVERIES_MAX));
  const inquiries = await inquiriesOf(subjects, log, work);
  for (const { delivery, inquiries: asked } of await questions(inquiries, log, work)) {
    if (!work.spend(READ_WORK)) break;
    const payload = await payloadOf(delivery.entryId, deliveries);
    await work.breathe();
    const specimen = typeof payload === 'string' ? undefined : specimenOf(payload.value);
    if (specimen !== undefined && !work.spend(payloadWork(specimen.payload))) break;
    for (const { subject, firings } of asked) {
      const fires = specimen && (await work.does(firesFor(subject, delivery.webhookUid, specimen)));
      if (work.isSpent) break;
      firings.push({ entryId: delivery.entryId, fires });
    }
  }
  return new Map(inquiries.map((inquiry) => [inquiry.subject.change, replayOf({ ...inquiry, cut: inquiry.cut || inquiry.firings.length < inquiry.window.length })]));
}

async function inquiriesOf(subjects: readonly ReplaySubject[], log: ReplayLog, work: Work): Promise<Inquiry[]> {
  const inquiries: Inquiry[] = [];
  for (const subject of subjects) {
    const window = await work.does(replayWindow(subject, log));
    // Without deliveries no filter is asked, and none is compiled for its own sake.
    const filtersUnreadable = window?.length === 0 ? 0 : await work.does(unreadableFilters(subject));
    inquiries.push({ subject, window: window ?? [], firings: [], filtersUnreadable: filtersUnreadable ?? 0, cut: work.isSpent });
  }
  return inquiries;
}

/** Newest first, so that every subject hears of its deliveries in that order; those of no subject are left out. */
async function questions(inquiries: readonly Inquiry[], { newest }: ReplayLog, work: Work): Promise<Question[]> {
  const asked = new Map<string, Question>(newest.map((delivery) => [delivery.entryId, { delivery, inquiries: [] }]));
  for (const inquiry of inquiries) {
    for (const { entryId } of inquiry.window) asked.get(entryId)?.inquiries.push(inquiry);
    await work.breathe();
  }
  return [...asked.values()].filter((question) => question.inquiries.length > 0);
}

/** The work of one replay: in slices, up to its bound, while somebody waits for it. */
class Work {
  private readonly slices: Slices;
  private readonly signal: AbortSignal;
  private left: number;

  constructor({ nowMs, workMax }: ReplayBounds, signal: AbortSignal) {
    [this.slices, this.signal, this.left] = [new Slices(nowMs), signal, workMax];
  }

  /** More was asked for than is left; then nothing more is done. */
  get isSpent(): boolean {
    return this.left < 0;
  }

  spend(units: number): boolean {
    if (!this.isSpent) this.left -= units;
    return !this.isSpent;
  }

  /** Takes the steps, each of which says its work before; undefined when that is more than is left. */
  async does<Result>(steps: Generator<number, Result>): Promise<Result | undefined> {
    for (;;) {
      if (this.isSpent) return undefined;
      const step = steps.next();
      if (step.done === true) return step.value;
      if (!this.spend(step.value)) return undefined;
      if (this.slices.isOver()) await this.breathe();
    }
  }

  /** Lets other work in once a slice is over. */
  async breathe(): Promise<void> {
    this.signal.throwIfAborted();
    if (!this.slices.isOver()) return;
    await this.slices.next();
    this.signal.throwIfAborted();
  }
}
