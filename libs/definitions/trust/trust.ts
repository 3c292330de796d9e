/** The rules of trust over a tree: what automations can do, and what of that deserves a second look. contract §8.5. */
import { addProblem, TREE_PROBLEMS_MAX } from '../rules/problems.ts';
import type { Check } from '../references/check.ts';
import type { Trigger, WebhookDefinition, WrittenTrigger } from '../types.ts';
import { unaccepted } from './acceptances.ts';
import { capabilitiesOf } from './capabilities.ts';
import { checkInputs } from './input-rules.ts';
import { checkReferencesOfTrust } from './reference-rules.ts';
import type { TrustReview } from './review.ts';
import { checkSecrets } from './secret-rules.ts';
import { checkTexts } from './text-rules.ts';

/** Adds what the rules of trust find in files without errors of their own. All of them are warnings. */
export function checkTrust(check: Check): void {
  const { reading, known } = check;
  const { factory, environments, automations } = reading.definitions;
  const byId = new Map(environments.map((environment) => [environment.name, environment]));
  const webhooksOf = webhookLookup(check);
  const deps = {
    factory,
    environmentOf: (id: string) => byId.get(id),
    webhooksOf: (trigger: WrittenTrigger | Trigger) => webhooksOf(trigger as WrittenTrigger),
  };
  const review: TrustReview = {
    reading,
    automations: automations.map((automation) => ({ automation, capabilities: capabilitiesOf(automation, deps) })),
    found: new Map(),
  };
  checkInputs(review);
  checkSecrets(review);
  checkReferencesOfTrust(review);
  checkTexts(review);
  const isWhole = check.treeUids.size > 0 || automations.every(namesEveryWebhook);
  for (const problem of unaccepted(review, known.today, isWhole))
    addProblem(check.problems, problem, TREE_PROBLEMS_MAX);
}

function namesEveryWebhook({ triggers }: { triggers: readonly WrittenTrigger[] }): boolean {
  return triggers.every((trigger) => trigger.provider !== 'webhook' || trigger.webhookIds.length === 0);
}

/** Webhooks of the tree that a trigger selects; by UID as far as those can be predicted. */
function webhookLookup({ reading, treeUids }: Check): (trigger: WrittenTrigger) => WebhookDefinition[] {
  const byName = new Map(reading.definitions.webhooks.map((webhook) => [webhook.name, webhook]));
  return (trigger) => {
    if (trigger.provider !== 'webhook') return [];
    const names = [...trigger.webhookNames, ...trigger.webhookIds.flatMap((uid) => treeUids.get(uid) ?? [])];
    return [...new Set(names)].flatMap((name) => byName.get(name) ?? []);
  };
}
