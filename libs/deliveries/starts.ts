/**
 * Which automations a delivery starts, and why others do not. spec: What the service does 6, Ordering; contract §7,
 * §10.
 */
import {
  DECISION_READS_MAX,
  UNREADABLE_FILTER,
  type CompiledFilter,
  type FilterOperator,
  type FilterVerdict,
  type JsonValue,
} from '#filters';

/** One webhook trigger of an automation. An automation with several triggers is several rows of one id. */
export interface WebhookSubscription {
  id: string;
  enabled: boolean;
  /** Those that it selects; undefined: it is asked for those alone. */
  webhookUids?: readonly string[];
  /**
   * No filter is `MATCH_EVERYTHING`, never an absence; a stored filter that could not be read is `UNREADABLE_FILTER`.
   */
  filter: CompiledFilter;
}

export type SkippedAutomation =
  | { id: string; reason: 'disabled' }
  | { id: string; reason: 'filter'; failedPointer: string; operator: FilterOperator }
  | { id: string; reason: 'filter-unreadable' }
  /** The filters before its own took all the looks that there are for one delivery. */
  | { id: string; reason: 'filter-budget' }
  /** Another run of its concurrency group was open when the delivery was accepted: found only then. */
  | { id: string; reason: 'busy' };

export interface Starts {
  /** Automation ids, each once, in the order of the subscriptions. At most one run per automation and delivery. */
  starts: string[];
  /** Automations that select the webhook and start nothing, each once, with the first reason found. */
  skipped: SkippedAutomation[];
}

/** Decides on one delivery of one webhook. Automations that do not select the webhook are not mentioned. */
export function decideRuns(
  subscriptions: readonly WebhookSubscription[],
  webhookUid: string,
  payload: JsonValue,
): Starts {
  const decision = new Decision();
  for (const subscription of subscriptions) {
    if (subscription.webhookUids?.includes(webhookUid) === false) continue;
    const { filter } = subscription;
    decision.add(subscription, isAsked(subscription) ? filter.explain(payload) : undefined);
  }
  return decision.result();
}

/**
 * The same in steps of some thousand looks into the payload, whose count it yields. Once there were more than
 * `readsMax`, no further trigger is asked: what it would start is skipped as `filter-budget`.
 */
export function* decideRunsInSteps(
  subscriptions: readonly WebhookSubscription[],
  webhookUid: string,
  payload: JsonValue,
  readsMax = DECISION_READS_MAX,
): Generator<number, Starts> {
  const decision = new Decision();
  let left = readsMax;
  for (const subscription of subscriptions) {
    if (subscription.webhookUids?.includes(webhookUid) === false) continue;
    if (!isAsked(subscription)) {
      decision.add(subscription, undefined);
      continue;
    }
    const steps = subscription.filter.explainInSteps(payload);
    let step: IteratorResult<number, FilterVerdict> | undefined;
    while (left >= 0 && step?.done !== true) {
      step = steps.next();
      if (step.done === true) break;
      left -= step.value;
      yield step.value;
    }
    if (step?.done === true) decision.add(subscription, step.value);
    else decision.skip({ id: subscription.id, reason: 'filter-budget' });
  }
  return decision.result();
}

/** More looks than this no payload of so many bytes takes for all of them together. */
export function decisionReadsMax(subscriptions: readonly WebhookSubscription[], payloadBytes: number): number {
  return subscriptions.reduce((sum, { filter }) => sum + filter.readsMax(payloadBytes), 0);
}

/** Whether the filter decides. */
function isAsked({ enabled, filter }: WebhookSubscription): boolean {
  return enabled && filter !== UNREADABLE_FILTER;
}

/** What was decided so far, trigger by trigger. */
class Decision {
  private readonly starts = new Set<string>();
  /** Made with the first one: most deliveries skip nothing. */
  private skipped: Map<string, SkippedAutomation> | undefined;

  /** `verdict`: of the filter, where it was asked. */
  add({ id, enabled }: WebhookSubscription, verdict: FilterVerdict | undefined): void {
    if (verdict === undefined) return this.skip({ id, reason: enabled ? 'filter-unreadable' : 'disabled' });
    if (verdict.passed) this.starts.add(id);
    else this.skip({ id, reason: 'filter', failedPointer: verdict.failedPointer, operator: verdict.operator });
  }

  skip(skipped: SkippedAutomation): void {
    this.skipped ??= new Map();
    if (!this.skipped.has(skipped.id)) this.skipped.set(skipped.id, skipped);
  }

  result(): Starts {
    const { starts, skipped } = this;
    const left = skipped === undefined ? [] : [...skipped.values()].filter(({ id }) => !starts.has(id));
    return { starts: [...starts], skipped: left };
  }
}
