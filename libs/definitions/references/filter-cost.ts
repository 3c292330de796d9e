/**
 * Whether the triggers of a webhook can be decided in bounded time, whatever a delivery holds. contract §7.3 (looks).
 */
import { DECISION_READS_MAX } from '#filters';
import { byCodeUnits } from '../rules/problems.ts';
import type { WrittenAutomation, WrittenWebhookTrigger } from '../types.ts';
import { report, type Check } from './check.ts';
import { readsOf } from './filter-reads.ts';

/** Triggers of enabled automations beyond what one webhook may cost, in path order, are refused. */
export function checkFilterCost(check: Check, automations: readonly WrittenAutomation[]): void {
  const readsByWebhook = new Map<string, number>();
  const inOrder = [...automations].sort((left, right) => byCodeUnits(left.path, right.path));
  for (const { path, enabled, triggers } of inOrder) {
    if (!enabled) continue;
    for (const [index, trigger] of triggers.entries()) {
      if (trigger.provider !== 'webhook') continue;
      const over = addTrigger(check, readsByWebhook, trigger);
      if (over === undefined) continue;
      report(check, path, `/triggers/${index}/filter`, 'filter-cost', messageOf(over));
      break; // the file is held as a whole
    }
  }
}

/** Adds what a trigger costs to each of its webhooks; answers one that has no room for it. */
function addTrigger(
  check: Check,
  readsByWebhook: Map<string, number>,
  trigger: WrittenWebhookTrigger,
): string | undefined {
  const reads = readsOf(trigger.payload);
  const webhooks = webhooksOf(check, trigger);
  const over = [...webhooks].find((webhook) => (readsByWebhook.get(webhook) ?? 0) + reads > DECISION_READS_MAX);
  if (over === undefined)
    for (const webhook of webhooks) readsByWebhook.set(webhook, (readsByWebhook.get(webhook) ?? 0) + reads);
  return over;
}

/** By slug, where it is known. */
function webhooksOf({ treeUids, known: { liveWebhooks } }: Check, trigger: WrittenWebhookTrigger): Set<string> {
  const named = trigger.webhookIds.map((uid) => treeUids.get(uid) ?? liveWebhooks?.get(uid) ?? uid);
  return new Set([...trigger.webhookNames, ...named]);
}

function messageOf(webhook: string): string {
  return (
    `with this trigger the filters of webhook ${JSON.stringify(webhook)} could look more than ${DECISION_READS_MAX} ` +
    'times into one delivery; let the sender use several webhooks, ask for fewer automations, or put fields that ' +
    'have to be there (in, exists: true) before those that may be missing (not_in, exists: false)'
  );
}
