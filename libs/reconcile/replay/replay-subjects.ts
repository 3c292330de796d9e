/**
 * Which changes of a plan decide what deliveries start, and by which triggers, on either side of it. contract §12.1,
 * §7.
 */
import type { Definitions } from '#definitions';
import type { JsonValue } from '#filters';
import { filterShelf, type FilterShelf } from './replay-filters.ts';
import type { Actual, AppliedObject, Change, Plan } from '../types.ts';

/**
 * One webhook trigger on one side of a plan: of an enabled automation, with those of its webhooks that take deliveries.
 */
export interface Subscription {
  webhookUids: ReadonlySet<string>;
  payload: JsonValue | undefined;
}

/** What is replayed for one change: whether a delivery starts anything of it, before and after. */
export interface ReplaySubject {
  change: Change;
  webhookUids: ReadonlySet<string>;
  before: readonly Subscription[];
  after: readonly Subscription[];
  /** One for all subjects of a plan. */
  shelf: FilterShelf;
}

/**
 * The changes of a plan that decide which deliveries start runs: automations that come, go, or change in `triggers` or
 * `enabled`, and webhooks that come, go, or change in `enabled`: these stand for every automation that they feed. With
 * `heldGo` the held deletions count as done: what an approval lets through. A deletion is asked about its own object
 * alone, held or not.
 */
export function replaySubjects(planned: Plan, actual: Actual, desired: Definitions, heldGo: boolean): ReplaySubject[] {
  const before = sideOf(actual.objects);
  const after = sideOf(objectsAfter(planned, actual, desired, heldGo));
  const shelf = filterShelf();
  return [...planned.changes, ...planned.heldDeletions].filter(decidesStarts).map((change) => {
    const [was, will] = [
      subscriptionsOf(change, before),
      change.action === 'delete' ? [] : subscriptionsOf(change, after),
    ];
    return { change, before: was, after: will, webhookUids: webhooksOf(change, [...was, ...will]), shelf };
  });
}

function decidesStarts({ kind, action, changes }: Change): boolean {
  if (kind === 'automation') return action !== 'update' || changes.includes('triggers') || changes.includes('enabled');
  return kind === 'webhook' && (action !== 'update' || changes.includes('enabled'));
}

/** All that is live once the plan is applied. */
function objectsAfter(
  { changes, heldDeletions }: Plan,
  { objects }: Actual,
  desired: Definitions,
  heldGo: boolean,
): AppliedObject[] {
  const gone = [...changes.filter(({ action }) => action === 'delete'), ...(heldGo ? heldDeletions : [])];
  const after = new Map(objects.map((object) => [object.uid, object]));
  for (const { uid } of gone) after.delete(uid);
  const webhooks = new Map(desired.webhooks.map((definition) => [definition.name, definition]));
  const automations = new Map(desired.automations.map((definition) => [definition.name, definition]));
  for (const { action, kind, uid, slug, path } of changes) {
    if (action === 'delete') continue;
    const [webhook, automation] = [webhooks.get(slug), automations.get(slug)];
    if (kind === 'webhook' && webhook !== undefined) after.set(uid, { kind, uid, slug, path, definition: webhook });
    if (kind === 'automation' && automation !== undefined)
      after.set(uid, { kind, uid, slug, path, definition: automation });
  }
  return [...after.values()];
}

/** Who would start what, on one side. */
interface Side {
  ofAutomation: ReadonlyMap<string, readonly Subscription[]>;
  ofWebhook: ReadonlyMap<string, readonly Subscription[]>;
}

function sideOf(objects: readonly AppliedObject[]): Side {
  const serving = new Set(
    objects.flatMap(({ kind, uid, definition }) => (kind === 'webhook' && definition.enabled ? [uid] : [])),
  );
  const ofAutomation = new Map<string, Subscription[]>();
  const ofWebhook = new Map<string, Subscription[]>();
  for (const object of objects) {
    if (object.kind !== 'automation' || !object.definition.enabled) continue;
    const subscriptions = object.definition.triggers.flatMap((trigger) => {
      return trigger.provider === 'webhook'
        ? [{ webhookUids: new Set(trigger.webhookUids.filter((uid) => serving.has(uid))), payload: trigger.payload }]
        : [];
    });
    ofAutomation.set(object.uid, subscriptions);
    for (const subscription of subscriptions) {
      for (const uid of subscription.webhookUids) {
        const others = ofWebhook.get(uid);
        if (others === undefined) ofWebhook.set(uid, [subscription]);
        else others.push(subscription);
      }
    }
  }
  return { ofAutomation, ofWebhook };
}

/** Of a webhook: what its own deliveries start, whoever starts it. */
function subscriptionsOf({ kind, uid }: Change, { ofAutomation, ofWebhook }: Side): readonly Subscription[] {
  return (kind === 'automation' ? ofAutomation : ofWebhook).get(uid) ?? [];
}

/** Whose deliveries are asked: none where they would start nothing on either side. */
function webhooksOf({ kind, uid }: Change, subscriptions: readonly Subscription[]): ReadonlySet<string> {
  if (kind === 'webhook') return new Set(subscriptions.length === 0 ? [] : [uid]);
  return new Set(subscriptions.flatMap(({ webhookUids }) => [...webhookUids]));
}
