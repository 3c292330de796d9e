/** What a plan would have started of deliveries that came before it: automations and webhooks as they are and as they would be, asked about stored payloads. contract 9 (Plan), 7. */
import type { Definitions } from '#definitions';
import { compileFilter, MATCH_EVERYTHING, UNREADABLE_FILTER, type CompiledFilter, type JsonValue } from '#filters';
import type { Actual, AppliedObject, Change, Plan } from './types.ts';

/** Deliveries that a replay looks at: as many as the log always keeps. spec: Delivery log retention. */
export const REPLAY_DELIVERIES_MAX = 50;
/** Entries that a replay names each way: enough to look at, few enough to read. */
export const REPLAY_ENTRIES_MAX = 5;

/** One webhook trigger on one side of a plan: of an enabled automation, with those of its webhooks that take deliveries. */
interface Subscription {
  webhookUids: ReadonlySet<string>;
  /** Compiled when it is first asked: of thousands most never are. */
  filter(): CompiledFilter;
}

/** What is replayed for one change: whether a delivery starts anything of it, before and after. */
export interface ReplaySubject {
  change: Change;
  webhookUids: ReadonlySet<string>;
  before: readonly Subscription[];
  after: readonly Subscription[];
}

/** A stored delivery, without its payload. */
export interface StoredDelivery {
  entryId: string;
  webhookUid: string;
}

/** What became of one delivery: undefined where its payload cannot be read. */
export interface Firing {
  entryId: string;
  fires: { before: boolean; after: boolean } | undefined;
}

/** What a replay found. Payloads and filters leave no trace in it. */
export interface Replay {
  /** Deliveries that were looked at. */
  deliveries: number;
  /** How many of them start something as it is, and as it would be. */
  before: number;
  after: number;
  /** Entries that would start something now, and that would no longer; the newest `REPLAY_ENTRIES_MAX` of each. */
  starts: string[];
  stops: string[];
  /** Deliveries whose stored payload cannot be read: they count as starting nothing. */
  unreadable: number;
  /** Filters, of both sides, that cannot be used: they match nothing. */
  filtersUnreadable: number;
}

/**
 * The changes of a plan that decide which deliveries start runs: automations that come, go, or change in `triggers` or `enabled`, and
 * webhooks that come, go, or change in `enabled`: these stand for every automation that they feed. With `heldGo` the held deletions
 * count as done: what an approval lets through. A deletion is asked about its own object alone, held or not.
 */
export function replaySubjects(planned: Plan, actual: Actual, desired: Definitions, heldGo: boolean): ReplaySubject[] {
  const before = sideOf(actual.objects);
  const after = sideOf(objectsAfter(planned, actual, desired, heldGo));
  return [...planned.changes, ...planned.heldDeletions].filter(decidesStarts).map((change) => {
    const [was, will] = [subscriptionsOf(change, before), change.action === 'delete' ? [] : subscriptionsOf(change, after)];
    return { change, before: was, after: will, webhookUids: new Set([...was, ...will].flatMap(({ webhookUids }) => [...webhookUids])) };
  });
}

/** The newest deliveries that a subject is asked about, newest first; so is `newest`, which holds enough of each webhook. */
export function replayWindow({ webhookUids }: ReplaySubject, newest: readonly StoredDelivery[]): StoredDelivery[] {
  const asked: StoredDelivery[] = [];
  for (const delivery of newest) {
    if (asked.length === REPLAY_DELIVERIES_MAX) break;
    if (webhookUids.has(delivery.webhookUid)) asked.push(delivery);
  }
  return asked;
}

/** Whether a delivery starts anything of the subject, before and after. Linear in payload and filters, total. */
export function firesFor({ before, after }: ReplaySubject, webhookUid: string, payload: JsonValue): { before: boolean; after: boolean } {
  const starts = ({ webhookUids, filter }: Subscription): boolean => webhookUids.has(webhookUid) && filter().matches(payload);
  return { before: before.some(starts), after: after.some(starts) };
}

/** What all deliveries of a subject's window say together; `firings` newest first. */
export function replayOf(subject: ReplaySubject, firings: readonly Firing[]): Replay {
  const entries = (test: (fires: { before: boolean; after: boolean }) => boolean): string[] => firings.flatMap(({ entryId, fires }) => (fires !== undefined && test(fires) ? [entryId] : []));
  // Without deliveries no filter was asked, and none is compiled for its own sake.
  const asked = firings.length === 0 ? [] : [...subject.before, ...subject.after];
  return {
    deliveries: firings.length,
    before: entries(({ before }) => before).length,
    after: entries(({ after }) => after).length,
    starts: entries(({ before, after }) => !before && after).slice(0, REPLAY_ENTRIES_MAX),
    stops: entries(({ before, after }) => before && !after).slice(0, REPLAY_ENTRIES_MAX),
    unreadable: firings.filter(({ fires }) => fires === undefined).length,
    filtersUnreadable: asked.filter(({ filter }) => filter() === UNREADABLE_FILTER).length,
  };
}

function decidesStarts({ kind, action, changes }: Change): boolean {
  if (kind === 'automation') return action !== 'update' || changes.includes('triggers') || changes.includes('enabled');
  return kind === 'webhook' && (action !== 'update' || changes.includes('enabled'));
}

/** All that is live once the plan is applied. */
function objectsAfter({ changes, heldDeletions }: Plan, { objects }: Actual, desired: Definitions, heldGo: boolean): AppliedObject[] {
  const gone = [...changes.filter(({ action }) => action === 'delete'), ...(heldGo ? heldDeletions : [])];
  const after = new Map(objects.map((object) => [object.uid, object]));
  for (const { uid } of gone) after.delete(uid);
  const webhooks = new Map(desired.webhooks.map((definition) => [definition.name, definition]));
  const automations = new Map(desired.automations.map((definition) => [definition.name, definition]));
  for (const { action, kind, uid, slug, path } of changes) {
    if (action === 'delete') continue;
    const [webhook, automation] = [webhooks.get(slug), automations.get(slug)];
    if (kind === 'webhook' && webhook !== undefined) after.set(uid, { kind, uid, slug, path, definition: webhook });
    if (kind === 'automation' && automation !== undefined) after.set(uid, { kind, uid, slug, path, definition: automation });
  }
  return [...after.values()];
}

/** Who would start what, on one side. */
interface Side {
  ofAutomation: ReadonlyMap<string, readonly Subscription[]>;
  ofWebhook: ReadonlyMap<string, readonly Subscription[]>;
}

function sideOf(objects: readonly AppliedObject[]): Side {
  const serving = new Set(objects.flatMap(({ kind, uid, definition }) => (kind === 'webhook' && definition.enabled ? [uid] : [])));
  const ofAutomation = new Map<string, Subscription[]>();
  const ofWebhook = new Map<string, Subscription[]>();
  for (const object of objects) {
    if (object.kind !== 'automation' || !object.definition.enabled) continue;
    const subscriptions = object.definition.triggers.flatMap((trigger) => {
      return trigger.provider === 'webhook' ? [{ webhookUids: new Set(trigger.webhookUids.filter((uid) => serving.has(uid))), filter: compiledOnce(trigger.payload) }] : [];
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
  if (kind === 'automation') return ofAutomation.get(uid) ?? [];
  return (ofWebhook.get(uid) ?? []).map(({ filter }) => ({ webhookUids: new Set([uid]), filter }));
}

function compiledOnce(payload: JsonValue | undefined): () => CompiledFilter {
  let compiled: CompiledFilter | undefined;
  return () => (compiled ??= payload === undefined ? MATCH_EVERYTHING : usable(payload));
}

function usable(payload: JsonValue): CompiledFilter {
  const compilation = compileFilter(payload);
  return compilation.ok ? compilation.filter : UNREADABLE_FILTER;
}
