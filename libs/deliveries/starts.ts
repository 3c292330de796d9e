/**
 * Which automations a delivery starts, and why others do not. spec: What the service does 6, Ordering; contract §7,
 * §10.
 */
import { UNREADABLE_FILTER, type CompiledFilter, type FilterOperator, type JsonValue } from '#filters';

/** One webhook trigger of an automation. An automation with several triggers is several rows of one id. */
export interface WebhookSubscription {
  id: string;
  enabled: boolean;
  webhookUids: readonly string[];
  /**
   * No filter is `MATCH_EVERYTHING`, never an absence; a stored filter that could not be read is `UNREADABLE_FILTER`.
   */
  filter: CompiledFilter;
}

export type SkippedAutomation =
  | { id: string; reason: 'disabled' }
  | { id: string; reason: 'filter'; failedPointer: string; operator: FilterOperator }
  | { id: string; reason: 'filter-unreadable' }
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
  const starts = new Set<string>();
  const skipped = new Map<string, SkippedAutomation>();
  for (const subscription of subscriptions) {
    if (!subscription.webhookUids.includes(webhookUid)) continue;
    const skip = reasonToSkip(subscription, payload);
    if (skip === undefined) starts.add(subscription.id);
    else if (!skipped.has(skip.id)) skipped.set(skip.id, skip);
  }
  return { starts: [...starts], skipped: [...skipped.values()].filter(({ id }) => !starts.has(id)) };
}

function reasonToSkip({ id, enabled, filter }: WebhookSubscription, payload: JsonValue): SkippedAutomation | undefined {
  if (!enabled) return { id, reason: 'disabled' };
  if (filter === UNREADABLE_FILTER) return { id, reason: 'filter-unreadable' };
  if (filter.matches(payload)) return undefined;
  const verdict = filter.explain(payload);
  if (verdict.passed) throw new Error('a filter does not match what it explains as passed');
  return { id, reason: 'filter', failedPointer: verdict.failedPointer, operator: verdict.operator };
}
