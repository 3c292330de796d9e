/** Where a factory stands, as the API shows it: conditions, revisions, generations, inventory. contract 4 (status). */
import type { Condition, FactoryStatus, InventoryItem } from '#contracts';
import type { Problem } from '#definitions';
import { conditionsOf, type Change, type FactoryCondition, type Standing } from '#reconcile';
import type { Factory, PassRecord } from '../store/factories.ts';
import type { InventoryEntry } from '../store/inventory.ts';
import { toTime } from '../http/times.ts';
import { isManaged } from './items.ts';
import { toSyncItem } from './sync-items.ts';

/** `last`: the pass that was recorded last. */
export function toStatusItem(factory: Factory, inventory: readonly InventoryEntry[], last: PassRecord | undefined): FactoryStatus {
  const { ending, reason, message, sinceMs, checkedMs } = factory.condition;
  const held = heldBy(factory, last);
  return {
    factory_uid: factory.uid,
    suspended: factory.suspended,
    definitions_managed: isManaged(factory),
    conditions: conditionsOf(standingOf(factory, inventory)).map(toConditionItem),
    condition: { ending, reason: reason ?? null, message: message ?? null, since: toTime(sinceMs), checked_at: toTime(checkedMs) },
    generation_requested: factory.generationRequested,
    generation_handled: factory.generationHandled,
    revision_seen: factory.revisionSeen ?? null,
    revision_attempted: factory.revisionAttempted ?? null,
    revision_applied: factory.revisionApplied ?? null,
    last_sync: last === undefined ? null : toSyncItem(last),
    inventory: inventory.map((entry) => toInventoryItem(entry, isManaged(factory), held)),
  };
}

function standingOf(factory: Factory, inventory: readonly InventoryEntry[]): Standing {
  const { condition, generationRequested, generationHandled, suspended } = factory;
  const { ending, reason, message, sinceMs, heldDigest, errorCount = 0 } = condition;
  const webhooksWithoutSecret = inventory.filter(({ enabled, hasSecret }) => enabled && !hasSecret).map(({ slug }) => slug);
  return { managed: isManaged(factory), suspended, generationRequested, generationHandled, ending, reason, message, errorCount, heldDigest, sinceMs, webhooksWithoutSecret };
}

function toConditionItem({ type, status, reason, message, sinceMs, observedGeneration }: FactoryCondition): Condition {
  return { type, status, reason, message, since: sinceMs === undefined ? null : toTime(sinceMs), observed_generation: observedGeneration };
}

type Held = (entry: InventoryEntry) => boolean;

function toInventoryItem(entry: InventoryEntry, managed: boolean, isHeld: Held): InventoryItem {
  const { kind, slug, uid, path, revision, enabled } = entry;
  return { kind, slug, uid, file: managed && path !== '' ? path : null, revision, state: isHeld(entry) ? 'held' : enabled ? 'applied' : 'disabled' };
}

/** Which objects the last pass left as they were although files say otherwise, as far as that pass is the recorded one. */
function heldBy(factory: Factory, last: PassRecord | undefined): Held {
  const isCurrent = isManaged(factory) && last !== undefined && last.ending === factory.condition.ending && last.reason === factory.condition.reason;
  if (!isCurrent) return () => false;
  const files = new Set((last.problems as Problem[]).filter(({ severity }) => severity === 'error').map(({ path }) => path));
  const deletions = new Set((last.held as Change[]).map(({ uid }) => uid));
  // A skill is a folder: an error in any of its files concerns all of it.
  const skills = new Set([...files].filter((path) => path.startsWith('skills/')).map((path) => path.split('/')[1]));
  return ({ kind, slug, uid, path }) => deletions.has(uid) || files.has(path) || (kind === 'skill' && skills.has(slug));
}
