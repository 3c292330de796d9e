/**
 * Knows the ordered changes that turn what is applied into what a tree says. contract §9; spec: Webhook definition
 * file.
 */
import type { Definitions } from '#definitions';
import { canonicalText, compareTexts, differingMembers } from '../canonical.ts';
import type { Actual, AppliedObject, Change, Plan, PlanOptions } from '../types.ts';

const FACTORY_PATH = 'factory.yaml';

/** What is referred to comes before what refers to it; deletions go the other way round. */
const APPLY_ORDER = [
  'environment',
  'skill',
  'webhook',
  'automation',
] as const satisfies readonly AppliedObject['kind'][];

/** One object of a tree: an applied object that has no UID yet. */
interface DesiredObject {
  kind: AppliedObject['kind'];
  slug: string;
  path: string;
  definition: AppliedObject['definition'];
}

/** The three answers that held and broken files give. */
interface Holds {
  any: boolean;
  covers(object: { kind: AppliedObject['kind']; slug: string; path: string }): boolean;
  factory: boolean;
}

/**
 * Plans the changes from `actual` to `desired`. contract §9.
 *
 * Order: factory; creates and updates of environments, skills, webhooks, automations; deletions of automations,
 * webhooks, skills, environments; by slug within a kind. Definitions are compared by what they say, not by the order
 * of their keys. Live objects keep their UID, new ones get `options.uidOf`. A rename is a delete and a create, and the
 * create says where it came from when the definition is otherwise exactly the same.
 *
 * With held or broken files: `perFile` leaves their objects as they are and moves all deletions to `heldDeletions`;
 * `atomic` plans no change at all, since nothing of such a revision applies (deletions are listed as held).
 */
export function plan(desired: Definitions, actual: Actual, options: PlanOptions): Plan {
  const holds = holdsOf(options);
  const objects = desiredObjects(desired).filter((object) => !holds.covers(object));
  const applied = new Map(actual.objects.map((object) => [keyOf(object), object]));
  const deletions = deletionsOf(actual, new Set(objects.map(keyOf)), holds);
  if (holds.any && options.applyMode === 'atomic') return { changes: [], heldDeletions: deletions.map(toDeletion) };
  const renames = renamesOf(
    objects.filter((object) => !applied.has(keyOf(object))),
    deletions,
  );
  const changes = [
    ...factoryChanges(desired, actual, holds, options),
    ...objects.flatMap((object) => changesOf(object, applied.get(keyOf(object)), renames, options)),
  ];
  if (holds.any) return { changes, heldDeletions: deletions.map(toDeletion) };
  return { changes: [...changes, ...deletions.map(toDeletion)], heldDeletions: [] };
}

/** Whether applying the plan would change nothing. Held deletions do not count: they are not applied. */
export function isEmpty(plan: Plan): boolean {
  return plan.changes.length === 0;
}

/**
 * The plan without its deletions, which become held ones: what `perFile` applies when the guard refuses. contract §9.
 */
export function withoutDeletions(plan: Plan): Plan {
  return {
    changes: plan.changes.filter((change) => change.action !== 'delete'),
    heldDeletions: [...plan.heldDeletions, ...plan.changes.filter((change) => change.action === 'delete')],
  };
}

function holdsOf({ heldPaths, brokenPaths }: PlanOptions): Holds {
  const paths = new Set([...heldPaths, ...brokenPaths]);
  // A skill is a folder: a defect in any of its files concerns all of it.
  const skills = new Set([...paths].filter((path) => path.startsWith('skills/')).map((path) => path.split('/')[1]));
  return {
    any: paths.size > 0,
    covers: ({ kind, slug, path }) => paths.has(path) || (kind === 'skill' && skills.has(slug)),
    factory: paths.has(FACTORY_PATH),
  };
}

/** Every object of the tree in the order of applying. */
function desiredObjects(desired: Definitions): DesiredObject[] {
  const byKind: Record<AppliedObject['kind'], readonly AppliedObject['definition'][]> = {
    environment: desired.environments,
    skill: desired.skills,
    webhook: desired.webhooks,
    automation: desired.automations,
  };
  return APPLY_ORDER.flatMap((kind) => {
    const objects = byKind[kind].map((definition) => ({
      kind,
      slug: definition.name,
      path: definition.path,
      definition,
    }));
    return objects.sort((a, b) => compareTexts(a.slug, b.slug));
  });
}

function factoryChanges(desired: Definitions, actual: Actual, holds: Holds, options: PlanOptions): Change[] {
  if (holds.factory) return [];
  const change = { kind: 'factory', slug: '', uid: options.uidOf('factory', ''), path: FACTORY_PATH } as const;
  if (actual.factory === undefined) return [{ action: 'create', ...change, changes: [] }];
  const changes = differingMembers(actual.factory, desired.factory);
  return changes.length === 0 ? [] : [{ action: 'update', ...change, changes }];
}

function changesOf(
  object: DesiredObject,
  applied: AppliedObject | undefined,
  renames: ReadonlyMap<string, string>,
  options: PlanOptions,
): Change[] {
  const { kind, slug, path, definition } = object;
  if (applied === undefined) {
    const renamedFrom = renames.get(keyOf(object));
    const created: Change = { action: 'create', kind, slug, uid: options.uidOf(kind, slug), path, changes: [] };
    return [renamedFrom === undefined ? created : { ...created, renamedFrom }];
  }
  const changes = differingMembers(applied.definition, definition);
  return changes.length === 0 ? [] : [{ action: 'update', kind, slug, uid: applied.uid, path, changes }];
}

/**
 * Applied objects that the tree no longer has, in the order of deleting. A held or broken file still stands for its
 * object.
 */
function deletionsOf(actual: Actual, desiredKeys: ReadonlySet<string>, holds: Holds): AppliedObject[] {
  const gone = actual.objects.filter((object) => !desiredKeys.has(keyOf(object)) && !holds.covers(object));
  const rank = (object: AppliedObject): number => -APPLY_ORDER.indexOf(object.kind);
  return gone.sort((a, b) => rank(a) - rank(b) || compareTexts(a.slug, b.slug));
}

/**
 * Key of a created object → path of the deleted one that said exactly the same; each deletion explains one create at
 * most.
 */
function renamesOf(created: readonly DesiredObject[], deletions: readonly AppliedObject[]): Map<string, string> {
  const sources = new Map<string, AppliedObject[]>();
  for (const object of deletions)
    sources.set(substanceOf(object), [...(sources.get(substanceOf(object)) ?? []), object]);
  const renames = new Map<string, string>();
  for (const object of created) {
    const source = sources.get(substanceOf(object))?.shift();
    if (source !== undefined) renames.set(keyOf(object), source.path);
  }
  return renames;
}

/** All that an object says apart from where it stands. */
function substanceOf({ kind, slug, definition }: DesiredObject): string {
  const folder = `skills/${slug}/`;
  const withoutFolder = (file: string): string => (file.startsWith(folder) ? file.slice(folder.length) : file);
  const files = 'files' in definition ? definition.files.map(withoutFolder) : undefined;
  return canonicalText([kind, { ...definition, files, name: undefined, path: undefined }]);
}

function toDeletion({ kind, slug, uid, path }: AppliedObject): Change {
  return { action: 'delete', kind, slug, uid, path, changes: [] };
}

function keyOf({ kind, slug }: { kind: string; slug: string }): string {
  return `${kind}/${slug}`;
}
