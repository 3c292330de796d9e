/**
 * Refused deliveries in the log, within bounds: entries of their own first, then one that counts; of throttled ones
 * nothing but counts. contract §5.4 (Failed authentication), §5.6 (Slots).
 */
import { Injectable } from '@nestjs/common';
import { type RefusalDetails, type RefusedLogAction, RefusedLogPolicy, ThrottledLogPolicy } from '#deliveries';
import { Clock } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { DeliveryStore, type RefusedEntry } from '../store/deliveries/deliveries.ts';

/** How long a count is kept in memory only: what a process that is killed loses at most. */
const COUNTS_WRITTEN_EVERY_MS = 1_000;

/** The counted entry of one webhook that was begun last. */
interface CountedEntry {
  entryId: string;
  /** Undefined once it is stored: counting before that would count into nothing. */
  writing: Promise<void> | undefined;
}

/** Refused deliveries of one webhook, or its throttled ones. */
interface WebhookRefusals<A extends RefusedLogAction = RefusedLogAction> {
  policy: { next(nowMs: number): A; endCount(): void };
  counted: CountedEntry | undefined;
}

@Injectable()
export class RefusedLog {
  private readonly refused = new Map<string, WebhookRefusals>();
  private readonly throttled = new Map<string, WebhookRefusals<'begin-count' | 'add-to-count'>>();
  /** Counted and not yet stored, by the ID of the counted entry. */
  private counts = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly deliveries: DeliveryStore,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Logs one more. Entries, and the one that begins a count, are committed when the promise is resolved; undefined: it
   * was counted in memory, there is nothing to wait for. `entry` and `details` are asked for only where they are
   * stored: finding details out may take work, and a flood shall not cause it. What `entry` answers is completed here.
   */
  write(webhookUid: string, entry: () => RefusedEntry, details: () => RefusalDetails): Promise<void> | undefined {
    const refusals = ofWebhook(this.refused, webhookUid, () => new RefusedLogPolicy());
    switch (refusals.policy.next(this.clock.nowMs())) {
      case 'entry': {
        const logged = named(entry());
        logged.refusal = JSON.stringify(details());
        return this.deliveries.logRefused(logged);
      }
      case 'begin-count': {
        const counted = named(entry());
        counted.reason = 'counted';
        return this.beginCount(refusals, counted);
      }
      case 'add-to-count':
        return this.count(refusals);
    }
  }

  /** Counts one more that came above the rate. The same promise; `entry` is asked for once a minute at most. */
  countThrottled(webhookUid: string, entry: () => RefusedEntry): Promise<void> | undefined {
    const throttled = ofWebhook(this.throttled, webhookUid, () => new ThrottledLogPolicy());
    return throttled.policy.next(this.clock.nowMs()) === 'begin-count'
      ? this.beginCount(throttled, named(entry()))
      : this.count(throttled);
  }

  /**
   * Stores what was counted, behind the entries that are being stored. To be called when nothing is refused any more.
   */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.deliveries.refusalsLogged();
    // What waits for one of them to count into it is counted when it is stored.
    const begun = [...this.refused.values(), ...this.throttled.values()].flatMap(
      ({ counted }) => counted?.writing ?? [],
    );
    await Promise.allSettled(begun);
    await this.storeCounts();
  }

  private beginCount(refusals: WebhookRefusals, entry: RefusedEntry): Promise<void> {
    const counted: CountedEntry = { entryId: entry.entryId, writing: undefined };
    refusals.counted = counted;
    counted.writing = this.deliveries.logRefused(entry).then(
      () => void (counted.writing = undefined),
      (error: unknown) => {
        refusals.policy.endCount();
        throw error;
      },
    );
    return counted.writing;
  }

  private count({ counted }: WebhookRefusals): Promise<void> | undefined {
    if (counted === undefined) return undefined;
    // When it fails, this one fails with it: 503, not a refusal that was not counted.
    if (counted.writing !== undefined) return counted.writing.then(() => this.add(counted.entryId, 1));
    this.add(counted.entryId, 1);
    return undefined;
  }

  private add(entryId: string, count: number): void {
    this.counts.set(entryId, (this.counts.get(entryId) ?? 0) + count);
    if (!this.isStopped) this.timer ??= setTimeout(() => void this.storeCounts(), COUNTS_WRITTEN_EVERY_MS).unref();
  }

  /** What cannot be stored now is stored the next time. */
  private async storeCounts(): Promise<void> {
    this.timer = undefined;
    if (this.counts.size === 0) return;
    const counts = this.counts;
    this.counts = new Map();
    try {
      await this.deliveries.countRefused(counts);
    } catch (error) {
      this.log.fault('refusal count write failed', error);
      for (const [entryId, count] of counts) this.add(entryId, count);
    }
  }
}

function ofWebhook<A extends RefusedLogAction>(
  known: Map<string, WebhookRefusals<A>>,
  webhookUid: string,
  makePolicy: () => WebhookRefusals<A>['policy'],
): WebhookRefusals<A> {
  let refusals = known.get(webhookUid);
  if (refusals === undefined) known.set(webhookUid, (refusals = { policy: makePolicy(), counted: undefined }));
  return refusals;
}

/** The same entry; one without an identity header is called by its own ID. */
function named(entry: RefusedEntry): RefusedEntry {
  if (entry.deliveryId === '') entry.deliveryId = entry.entryId;
  return entry;
}
