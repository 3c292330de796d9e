/**
 * Refused deliveries in the log, within bounds: entries of their own first, then one that counts; of throttled ones
 * nothing but counts. contract §5.4 (Failed authentication), §5.6 (Slots).
 */
import { Injectable } from '@nestjs/common';
import { type RefusalDetails, type RefusedLogAction, RefusedLogPolicy, ThrottledLogPolicy } from '#deliveries';
import { Clock } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import type { CommitWaiter } from '../store/database/group-commit.ts';
import { DeliveryStore, type RefusedEntry } from '../store/deliveries/deliveries.ts';

/** How long a count is kept in memory only: what a process that is killed loses at most. */
const COUNTS_WRITTEN_EVERY_MS = 1_000;

/** One more to log, which hears when it is, unless nothing has to be waited for. Throws nothing. */
export interface LoggedRefusal extends CommitWaiter<void> {
  /** Asked for only where it is stored, and completed here. */
  entry(): RefusedEntry;
}

/** The counted entry of one webhook that was begun last. */
interface CountedEntry {
  entryId: string;
  /** Who counts into it when it is stored: before that it would be into nothing. Undefined once it is. */
  waiting: CommitWaiter<void>[] | undefined;
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
  /** Counts that are being stored. */
  private storing: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly deliveries: DeliveryStore,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Logs one more. Answers whether it was counted in memory, and nothing has to be waited for: else it hears when its
   * entry, or the one that counts it, is committed, or that it is not. `details` are asked for only where they are
   * stored: finding them out may take work, and a flood shall not cause it.
   */
  write(webhookUid: string, refusal: LoggedRefusal, details: () => RefusalDetails): boolean {
    const refusals = ofWebhook(this.refused, webhookUid, () => new RefusedLogPolicy());
    switch (refusals.policy.next(this.clock.nowMs())) {
      case 'entry': {
        const logged = named(refusal.entry());
        logged.refusal = JSON.stringify(details());
        this.deliveries.logRefused(logged, refusal);
        return false;
      }
      case 'begin-count':
        return this.beginCount(refusals, refusal, 'counted');
      case 'add-to-count':
        return this.count(refusals, refusal);
    }
  }

  /** Counts one more that came above the rate. The same answer; its entry is asked for once a minute at most. */
  countThrottled(webhookUid: string, refusal: LoggedRefusal): boolean {
    const throttled = ofWebhook(this.throttled, webhookUid, () => new ThrottledLogPolicy());
    return throttled.policy.next(this.clock.nowMs()) === 'begin-count'
      ? this.beginCount(throttled, refusal)
      : this.count(throttled, refusal);
  }

  /**
   * Stores what was counted, behind the entries that are being stored. To be called when nothing is refused any more.
   */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.deliveries.refusalsLogged(); // what waits for one of them to count into it is counted by then
    await this.storing; // what could not be stored is counted again
    await this.storeCounts();
  }

  /** `reason`: instead of the refusal's own. */
  private beginCount(refusals: WebhookRefusals, refusal: LoggedRefusal, reason?: string): false {
    const entry = countedEntry(refusals, refusal);
    entry.reason = reason ?? entry.reason;
    const { entryId } = entry;
    const waiting: CommitWaiter<void>[] = [];
    const counted: CountedEntry = { entryId, waiting };
    refusals.counted = counted;
    this.deliveries.logRefused(entry, {
      committed: () => {
        counted.waiting = undefined;
        if (waiting.length > 0) this.add(entryId, waiting.length);
        for (const one of [refusal, ...waiting]) one.committed();
      },
      failed: (error) => {
        counted.waiting = undefined;
        if (refusals.counted === counted) endCount(refusals); // not one that was begun behind it
        // Who counts into it fails with it: 503, not a refusal that was not counted.
        for (const one of [refusal, ...waiting]) one.failed(error);
      },
    });
    return false;
  }

  private count({ counted }: WebhookRefusals, waiter: CommitWaiter<void>): boolean {
    if (counted?.waiting !== undefined) {
      counted.waiting.push(waiter);
      return false;
    }
    if (counted !== undefined) this.add(counted.entryId, 1);
    return true;
  }

  private add(entryId: string, count: number): void {
    this.counts.set(entryId, (this.counts.get(entryId) ?? 0) + count);
    if (!this.isStopped)
      this.timer ??= setTimeout(() => void (this.storing = this.storeCounts()), COUNTS_WRITTEN_EVERY_MS).unref();
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

/** The entry that begins a count; where it cannot be made, the next one begins another. */
function countedEntry(refusals: WebhookRefusals, refusal: LoggedRefusal): RefusedEntry {
  try {
    return named(refusal.entry());
  } catch (error) {
    endCount(refusals);
    throw error;
  }
}

function endCount(refusals: WebhookRefusals): void {
  refusals.counted = undefined;
  refusals.policy.endCount();
}

/** The same entry; one without an identity header is called by its own ID. */
function named(entry: RefusedEntry): RefusedEntry {
  if (entry.deliveryId === '') entry.deliveryId = entry.entryId;
  return entry;
}
