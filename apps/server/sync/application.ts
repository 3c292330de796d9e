/**
 * From a plan to what is written of a managed factory, as values; `DefinitionStore.apply` writes them in one
 * transaction. contract §9.
 */
import type { Definitions, Reading } from '#definitions';
import type { Actual, AppliedObject, Change, Plan } from '#reconcile';
import type { Application } from '../store/definitions/definitions.ts';
import type { Factory } from '../store/factories/factory-rows.ts';

/** Everything one transaction has to write so that the plan is true afterwards. */
export function toApplication(
  factory: Factory,
  fence: number,
  revision: string,
  planned: Plan,
  desired: Definitions,
  actual: Actual,
  { texts, skillFiles }: Pick<Reading, 'texts' | 'skillFiles'>,
  blobs: ReadonlyMap<string, string>,
): Application {
  const { webhooks, automations, environments, skills } = desired;
  const wantsFactory = planned.changes.some(({ kind }) => kind === 'factory');
  return {
    factoryUid: factory.uid,
    fence,
    revision,
    factory: wantsFactory || actual.factory === undefined ? desired.factory : actual.factory,
    upserts: planned.changes
      .filter(({ action, kind }) => action !== 'delete' && kind !== 'factory')
      .map((change) => toObject(change, desired)),
    deletions: planned.changes.flatMap(({ action, kind, uid }) =>
      action === 'delete' && kind !== 'factory' ? [{ kind, uid }] : [],
    ),
    texts: ofPaths(texts, [...webhooks, ...automations]),
    blobs: ofPaths(blobs, [...webhooks, ...automations, ...environments, ...skills]),
    skillFiles: new Map(skills.map(({ path }) => [path, skillFiles.get(path) ?? []])),
  };
}

/** What is known of the files of these definitions; one that is held back is none of them. */
function ofPaths(known: ReadonlyMap<string, string>, definitions: readonly { path: string }[]): Map<string, string> {
  return new Map(definitions.flatMap(({ path }) => (known.has(path) ? [[path, known.get(path) as string]] : [])));
}

function toObject(change: Change, desired: Definitions): AppliedObject {
  const { uid, slug, path } = change;
  switch (change.kind) {
    case 'webhook':
      return { kind: 'webhook', uid, slug, path, definition: named(desired.webhooks, slug) };
    case 'automation':
      return { kind: 'automation', uid, slug, path, definition: named(desired.automations, slug) };
    case 'environment':
      return { kind: 'environment', uid, slug, path, definition: named(desired.environments, slug) };
    case 'skill':
      return { kind: 'skill', uid, slug, path, definition: named(desired.skills, slug) };
    case 'factory':
      throw new Error('a factory is not an object of itself');
  }
}

function named<T extends { name: string }>(definitions: readonly T[], slug: string): T {
  const found = definitions.find(({ name }) => name === slug);
  if (found === undefined) throw new Error(`the plan names ${slug}, which the tree does not hold`);
  return found;
}
