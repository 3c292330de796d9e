/** What people change of a factory over the API: its label, its source, its sync policy. contract §4, §9. */
import type { FactoryDefinition } from '#definitions';
import { isManagedSource, policyProblem, type FactoryEvent, type SyncPolicy, type SourceSettings } from '#reconcile';
import { audit, type ChangedBy } from '../access/audit.ts';
import { recordRequestedEvent } from './events.ts';
import type { HasCommits } from './factory-rows.ts';
import { forgetRevisions } from './revisions.ts';
import { change, databaseNow, row, type Transaction } from '../database/transactions.ts';

/** What an edit changes; what is absent stays. */
export interface FactoryChanges {
  name?: string;
  source?: SourceSettings;
  syncPolicy?: SyncPolicy;
}

/**
 * What became of an edit. `named-by-file`: the factory's own file decides its name; `policy-needs-git`: the source has
 * no commits to ask anything of. In both cases nothing was changed.
 */
export type FactoryEdit = 'done' | 'named-by-file' | 'policy-needs-git' | 'gone';

/** Changes what is new; nothing at all where one of the changes cannot be. */
export function* editFactory(
  uid: string,
  changes: FactoryChanges,
  by: ChangedBy | undefined,
  hasCommits: HasCommits,
): Transaction<FactoryEdit> {
  const before = yield* row<FactoryBefore>(
    'SELECT name, source, sync_policy, definition FROM factory WHERE uid = ? AND deleted_at IS NULL FOR UPDATE',
    uid,
  );
  if (before === undefined) return 'gone';
  const { name, source, syncPolicy, changed } = differences(before, changes);
  const policyBefore = JSON.parse(before.sync_policy) as SyncPolicy;
  const newSource = source ?? (JSON.parse(before.source) as SourceSettings);
  if (
    name !== undefined &&
    isManagedSource(newSource) &&
    (JSON.parse(before.definition) as FactoryDefinition).name !== undefined
  )
    return 'named-by-file';
  if (
    policyProblem(syncPolicy ?? policyBefore, { kind: newSource.kind, hasCommits: hasCommits(newSource) }) !== undefined
  )
    return 'policy-needs-git';
  if (changed.length === 0) return 'done';
  const nowMs = yield* databaseNow();
  if (name !== undefined) yield* change('UPDATE factory SET name = ?, updated_at = ? WHERE uid = ?', name, nowMs, uid);
  if (source !== undefined) yield* changeSource(uid, JSON.parse(before.source) as SourceSettings, source);
  if (syncPolicy !== undefined)
    yield* change('UPDATE factory SET sync_policy = ? WHERE uid = ?', JSON.stringify(syncPolicy), uid);
  // A pass that is under way with the old source or policy writes nothing any more.
  if (source !== undefined || syncPolicy !== undefined)
    yield* change(
      'UPDATE factory SET updated_at = ?, generation_requested = generation_requested + 1, fence = fence + 1 ' +
        'WHERE uid = ?',
      nowMs,
      uid,
    );
  const details = {
    changed,
    ...(source === undefined ? {} : { source: source.kind, ...forgeDetails(before, source) }),
    ...(syncPolicy === undefined
      ? {}
      : { policy: policyMembers(syncPolicy), policy_changes: policyChanges(policyBefore, syncPolicy) }),
  };
  yield* audit(by, { action: 'factory.change', subject: uid, factoryUid: uid, details });
  if (source !== undefined || syncPolicy !== undefined)
    yield* recordRequestedEvent(by, uid, changeEvent(source, policyBefore, syncPolicy));
  return 'done';
}

interface FactoryBefore {
  name: string;
  source: string;
  sync_policy: string;
  definition: string;
}

/** What of an edit is new, and the names of these members as the API has them. */
function differences(
  before: FactoryBefore,
  { name, source, syncPolicy }: FactoryChanges,
): FactoryChanges & { changed: string[] } {
  const changes: FactoryChanges = {
    name: name === before.name ? undefined : name,
    source: source === undefined || JSON.stringify(source) === before.source ? undefined : source,
    syncPolicy: syncPolicy === undefined || JSON.stringify(syncPolicy) === before.sync_policy ? undefined : syncPolicy,
  };
  const members = { name: 'name', source: 'source', syncPolicy: 'sync_policy' } as const;
  return {
    ...changes,
    changed: Object.entries(members).flatMap(([member, wire]) =>
      changes[member as keyof FactoryChanges] === undefined ? [] : [wire],
    ),
  };
}

/** Another place has another history: nothing that was accepted before says anything of it. */
function* changeSource(uid: string, before: SourceSettings, source: SourceSettings): Transaction<void> {
  yield* change('UPDATE factory SET source = ?, revision_seen = NULL WHERE uid = ?', JSON.stringify(source), uid);
  if (placeOf(before) === placeOf(source)) return;
  yield* change('UPDATE factory SET revision_attempted = NULL, rewrite = NULL WHERE uid = ?', uid);
  yield* forgetRevisions(uid);
}

/** Members of a source that say nothing of where it is read: with what, how often, and where it is answered. */
const NO_PLACE: ReadonlySet<string> = new Set([
  'credentialSecret',
  'pushSecret',
  'interval',
  'forge',
  'forgeSecret',
  'forgeApp',
  'forgeUrl',
  'forgeRepository',
]);

/** Where a source is read, whatever with and how often. */
function placeOf(source: SourceSettings): string {
  return JSON.stringify(
    Object.entries(source)
      .filter(([member, value]) => value !== undefined && !NO_PLACE.has(member))
      .toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}

/** Where pull requests are answered from now on, if that is another forge than before. */
function forgeDetails(before: FactoryBefore, { forge }: SourceSettings): { forge?: string } {
  const { forge: former } = JSON.parse(before.source) as SourceSettings;
  return forge === former ? {} : { forge: forge ?? 'none' };
}

function changeEvent(
  source: SourceSettings | undefined,
  policyBefore: SyncPolicy,
  syncPolicy: SyncPolicy | undefined,
): FactoryEvent {
  const said = [
    ...(source === undefined ? [] : [`the source was changed (${source.kind})`]),
    ...(syncPolicy === undefined ? [] : [`the sync policy was changed: ${policyWords(policyBefore, syncPolicy)}`]),
  ];
  return {
    type: 'Normal',
    reason: source === undefined ? 'policy-changed' : 'source-changed',
    message: said.join('; '),
  };
}

function policyWords(before: SyncPolicy, after: SyncPolicy): string {
  const changes = policyChanges(before, after).join(' ') || 'it asks the same';
  return policyMembers(after).length === 0 ? `${changes}; it asks nothing now` : changes;
}

/** What a policy asks, by the names of its members as the API has them; never the values. */
export function policyMembers(policy: SyncPolicy): string[] {
  return Object.keys(askedOf(policy));
}

/** What came (`+`), went (`−`) and is another (`~`): a policy that asks less is to be seen as such. */
function policyChanges(before: SyncPolicy, after: SyncPolicy): string[] {
  const [old, now] = [askedOf(before), askedOf(after)];
  const members = Object.keys({ ...old, ...now });
  const signed = (sign: string, is: (member: string) => boolean): string[] =>
    members.filter(is).map((member) => sign + member);
  return [
    ...signed('+', (member) => !(member in old)),
    ...signed('−', (member) => !(member in now)),
    ...signed('~', (member) => member in old && member in now && old[member] !== now[member]),
  ];
}

/** Each thing that a policy asks, as a text that can be compared. */
function askedOf({ verifyCommits, fastForwardOnly, windows, growthApproval }: SyncPolicy): Record<string, string> {
  return {
    ...(verifyCommits === undefined ? {} : { verify_commits: JSON.stringify(verifyCommits) }),
    ...(fastForwardOnly === true ? { fast_forward_only: 'true' } : {}),
    ...(windows === undefined ? {} : { windows: JSON.stringify(windows) }),
    ...(growthApproval === undefined ? {} : { growth_approval: growthApproval }),
  };
}
