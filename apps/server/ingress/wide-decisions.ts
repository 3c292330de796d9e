/**
 * Deliveries whose filters may cost much: decided one at a time, in slices that take half of the time at most, so that
 * everybody else is answered in between, within a budget for each delivery and each factory. contract §7.3 (looks).
 */
import { decideRunsInSteps, DecisionBudgets, decisionReadsMax, type Starts } from '#deliveries';
import { PAYLOAD_BYTES_MAX, type JsonValue } from '#filters';
import { Injectable, Optional } from '@nestjs/common';
import { FairSemaphore } from '../filters/fair-semaphore.ts';
import { RefusalError } from '../http/error-codes.ts';
import { EventLoopYielder } from '../process/event-loop.ts';
import { Clock } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { Metrics } from '../process/metrics.ts';
import type { ServedAutomation } from '../webhooks/definition-cache.ts';
import type { ServedWebhook } from '../webhooks/served-webhooks.ts';

/** Looks that are taken at once: 3 to 5 milliseconds. A hundred triggers and 5 KB are ordinary. */
const READS_AT_ONCE_MAX = 500_000;
/** Triggers whose filters are read at once to find out what they cost. */
const TRIGGERS_AT_ONCE_MAX = 1_000;
/** Milliseconds of one slice: what a delivery that comes meanwhile waits at most. */
const SLICE_MS = 2;
/**
 * Milliseconds between two slices. A delivery needs the event loop several times, to be read, committed and answered:
 * it must not find a slice before it each time.
 */
const REST_MS = 2;
/** Deliveries that wait to be decided, of all and of one factory: some MiB each while they do. */
const WAITING_MAX = 8;
const WAITING_OF_FACTORY_MAX = 3;
const RETRY_AFTER_SECONDS = 5;

/** What the triggers of a webhook cost at most, without a payload and with the largest. */
interface Cost {
  least: number;
  most: number;
}

@Injectable()
export class WideDecisions {
  private readonly costs = new WeakMap<readonly ServedAutomation[], Cost>();
  private readonly semaphore = new FairSemaphore({
    atOnce: 1,
    waiting: WAITING_MAX,
    waitingOfKey: WAITING_OF_FACTORY_MAX,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    what: 'deliveries with many filters',
  });

  constructor(
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly metrics: Metrics,
    @Optional() private readonly budgets: DecisionBudgets = new DecisionBudgets(),
  ) {}

  /** Whether a body of so many bytes may cost a webhook's filters more than is done at once. */
  isWide({ automations }: ServedWebhook, bodyBytes: number): boolean {
    if (automations.length > TRIGGERS_AT_ONCE_MAX) return true;
    let cost = this.costs.get(automations);
    if (cost === undefined) {
      cost = { least: decisionReadsMax(automations, 0), most: decisionReadsMax(automations, PAYLOAD_BYTES_MAX) };
      this.costs.set(automations, cost);
    }
    return cost.least + (cost.most - cost.least) * (bodyBytes / PAYLOAD_BYTES_MAX) > READS_AT_ONCE_MAX;
  }

  /** Whether a delivery is refused before its body is looked at: the factory has had its share of the minute. */
  isSpent(webhook: ServedWebhook, bodyBytes: number): boolean {
    return this.budgets.isSpent(webhook.factory.uid, this.clock.nowMs()) && this.isWide(webhook, bodyBytes);
  }

  /** Decides in its turn; undefined where too many wait, or the factory has had its share of the minute. */
  async decide(webhook: ServedWebhook, payload: JsonValue): Promise<Starts | undefined> {
    if (this.budgets.isSpent(webhook.factory.uid, this.clock.nowMs())) return undefined;
    try {
      return await this.semaphore.acquire({ keyId: webhook.factory.uid }, () => this.decideInSlices(webhook, payload));
    } catch (error) {
      if (error instanceof RefusalError) return undefined;
      throw error;
    }
  }

  private async decideInSlices(webhook: ServedWebhook, payload: JsonValue): Promise<Starts> {
    const slices = new EventLoopYielder(undefined, SLICE_MS, REST_MS);
    const steps = decideRunsInSteps(webhook.automations, webhook.uid, payload);
    let reads = 0;
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        this.budgets.spend(webhook.factory.uid, reads, this.clock.nowMs());
        this.tellOf(webhook, step.value);
        return step.value;
      }
      reads += step.value;
      if (slices.isOver()) await slices.yield();
    }
  }

  private tellOf({ uid, factory }: ServedWebhook, { skipped }: Starts): void {
    const undecided = skipped.filter(({ reason }) => reason === 'filter-budget').length;
    if (undecided === 0) return;
    this.metrics.count('millwright_filter_budget_exceeded_total');
    this.log.warn('filter budget exceeded', {
      factory: factory.slug,
      webhook_uid: uid,
      automations_skipped: undecided,
    });
  }
}
