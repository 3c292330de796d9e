/**
 * Asks stored deliveries again what they would start: a bounded amount of work, without keeping the event loop from new
 * deliveries. contract §12.1 (Plan).
 */
import { Injectable, Optional } from '@nestjs/common';
import {
  firesFor,
  REPLAY_DELIVERIES_MAX,
  replayLog,
  replayOf,
  replayWindow,
  samplePayloadOf,
  unreadableFilters,
  type Change,
  type Firing,
  type Replay,
  type ReplayLog,
  type ReplaySubject,
  type StoredDelivery,
} from '#reconcile';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { type Acquirer, FairSemaphore } from '../filters/fair-semaphore.ts';
import { payloadWithin, BoundedWork, type WorkBounds } from '../filters/bounded-work.ts';

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

/** The replays of one process. */
@Injectable()
export class Replays {
  constructor(
    private readonly deliveries: DeliveryStore,
    private readonly semaphore: FairSemaphore,
    @Optional() private readonly bounds: Partial<WorkBounds> = {},
  ) {}

  /**
   * What the newest stored deliveries say of each change. Throws 429 or 503 where too many ask, and the reason of the
   * signal soon after that is aborted.
   */
  async of(subjects: readonly ReplaySubject[], asker: Required<Acquirer>): Promise<Map<Change, Replay>> {
    if (subjects.length === 0) return new Map();
    return this.semaphore.acquire(asker, () =>
      replayed(subjects, this.deliveries, new BoundedWork(asker.signal, this.bounds)),
    );
  }
}

/**
 * Newest delivery first, so that all subjects hear of the newest before the work is spent. Holds one payload at a time.
 */
async function replayed(
  subjects: readonly ReplaySubject[],
  deliveries: DeliveryStore,
  work: BoundedWork,
): Promise<Map<Change, Replay>> {
  await work.breathe();
  const webhookUids = [...new Set(subjects.flatMap((subject) => [...subject.webhookUids]))].sort();
  const log = replayLog(
    webhookUids.length === 0 ? [] : await deliveries.newestAccepted(webhookUids, REPLAY_DELIVERIES_MAX),
  );
  const inquiries = await inquiriesOf(subjects, log, work);
  for (const { delivery, inquiries: asked } of await questions(inquiries, log, work)) {
    const payload = await payloadWithin(work, delivery.entryId, deliveries);
    if (payload === 'spent') break;
    const specimen = typeof payload === 'string' ? undefined : samplePayloadOf(payload.value);
    for (const { subject, firings } of asked) {
      const fires = specimen && (await work.run(firesFor(subject, delivery.webhookUid, specimen)));
      if (work.isSpent) break;
      firings.push({ entryId: delivery.entryId, fires });
    }
  }
  return new Map(
    inquiries.map((inquiry) => [
      inquiry.subject.change,
      replayOf({ ...inquiry, cut: inquiry.cut || inquiry.firings.length < inquiry.window.length }),
    ]),
  );
}

async function inquiriesOf(subjects: readonly ReplaySubject[], log: ReplayLog, work: BoundedWork): Promise<Inquiry[]> {
  const inquiries: Inquiry[] = [];
  for (const subject of subjects) {
    const window = await work.run(replayWindow(subject, log));
    // Without deliveries no filter is asked, and none is compiled for its own sake.
    const filtersUnreadable = window?.length === 0 ? 0 : await work.run(unreadableFilters(subject));
    inquiries.push({
      subject,
      window: window ?? [],
      firings: [],
      filtersUnreadable: filtersUnreadable ?? 0,
      cut: work.isSpent,
    });
  }
  return inquiries;
}

/** Newest first, so that every subject hears of its deliveries in that order; those of no subject are left out. */
async function questions(inquiries: readonly Inquiry[], { newest }: ReplayLog, work: BoundedWork): Promise<Question[]> {
  const asked = new Map<string, Question>(newest.map((delivery) => [delivery.entryId, { delivery, inquiries: [] }]));
  for (const inquiry of inquiries) {
    for (const { entryId } of inquiry.window) asked.get(entryId)?.inquiries.push(inquiry);
    await work.breathe();
  }
  return [...asked.values()].filter((question) => question.inquiries.length > 0);
}
