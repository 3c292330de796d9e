/**
 * The invariants of reconciliation, each a comparison of what a pass found with what it left. explanation: Invariants
 * (I1 to I10).
 */
import { planDigest, type Change } from '#reconcile';
import type { ServingFactory } from '../../../apps/server/store/serving/serving.ts';
import type { LiveObject, DatabaseSnapshot } from './database-snapshot.ts';
import { FACTORY_PATH, isUnread, nameOf, textOf, type HistoryFile, type HistoryTree } from './trees.ts';
import { FACTORY_SLUG } from './world.ts';

/** What one pass found and left. */
export interface Passed {
  before: DatabaseSnapshot;
  after: DatabaseSnapshot;
  treeAt(revision: string): HistoryTree;
  /** Digests that somebody approved. */
  approved: ReadonlySet<string>;
  /**
   * Revisions that needed an approval when they were first looked at: what was created of them since makes no deletion
   * smaller.
   */
  guarded: ReadonlySet<string>;
  /** Names of the secrets that can be used now, each with its version. */
  usable: ReadonlyMap<string, number>;
}

/** Throws with the invariant's name and both values. */
export function same(invariant: string, actual: unknown, expected: unknown): void {
  const [is, ought] = [JSON.stringify(actual, undefined, 1), JSON.stringify(expected, undefined, 1)];
  if (is !== ought) throw new Error(`${invariant}\n--- is\n${is}\n--- ought to be\n${ought}`);
}

export function holds(invariant: string, condition: boolean, ...about: unknown[]): void {
  if (!condition) throw new Error([invariant, ...about.map((one) => JSON.stringify(one))].join('\n'));
}

/**
 * I1: deleted only where the path is absent from a complete, clean tree at the applied revision; many only by approval.
 */
export function checkDeletions({ before, after, treeAt, approved, guarded }: Passed): void {
  const gone = [...before.live].filter(([key]) => !after.live.has(key)).map(([, object]) => object);
  if (gone.length === 0) return;
  const revision = appliedOf(after) ?? '';
  const tree = treeAt(revision);
  for (const { path } of gone)
    holds('I1: an object was deleted although its file is there', !tree.has(path), path, revision);
  holds(
    'I1: something was deleted on the word of a tree that could not be read whole',
    ![...tree.values()].some(isUnread),
    revision,
  );
  if (!guarded.has(revision) && !needsApproval(before, tree)) return;
  const digest = planDigest(gone as unknown as Change[], { factorySlug: FACTORY_SLUG, revision });
  holds(
    'I1: so much was deleted without an approval',
    approved.has(digest),
    gone.map(({ path }) => path),
    revision,
    digest,
  );
}

/**
 * Whether making this tree of what is live would delete what people must approve, where of its files only `left` can be
 * applied. contract §9.4 (Guard).
 */
export function needsApproval({ live }: DatabaseSnapshot, tree: HistoryTree, left = [...tree.values()]): boolean {
  const objects = [...live.values()];
  const gone = objects.filter(({ path }) => !tree.has(path));
  const serving = objects.filter(({ kind }) => kind === 'webhook' || kind === 'automation');
  const precious = serving.length > 0 ? serving : objects;
  if (precious.length > 0 && precious.every((object) => gone.includes(object))) return true;
  const lostOfAll = serving.filter((object) => gone.includes(object)).length;
  if (lostOfAll > Math.max(3, Math.floor(serving.length / 2))) return true;
  return ['webhook', 'automation'].some((kind) => {
    const [had, lost] = [objects, gone].map((list) => list.filter((object) => object.kind === kind).length) as [
      number,
      number,
    ];
    const kept = left.filter((file) => file.kind === kind).length;
    return lost > 0 && (lost > Math.max(3, Math.floor(had * 0.3)) || kept === 0);
  });
}

/** I2: whatever happens, a name has one UID, and a UID one name. */
export function checkUids(known: Map<string, string>, { uids }: DatabaseSnapshot): void {
  for (const [key, uid] of uids) {
    same(`I2: the UID of ${key}`, uid, known.get(key) ?? uid);
    known.set(key, uid);
  }
  holds('I2: two objects share a UID', new Set(known.values()).size === known.size, [...known]);
}

/**
 * I5: what changed is what was committed at the applied revision: all of it (`atomic`), or file by file (`perFile`).
 */
export function checkCommitted(passed: Passed): void {
  const { before, after, treeAt } = passed;
  const revision = appliedOf(after);
  if (revision === undefined) return same('I5: nothing is applied', [...after.live.keys()], []);
  if (revision === appliedOf(before) && definitionsOf(before) === definitionsOf(after)) return;
  const tree = treeAt(revision);
  // A revision that is applied already goes on as it was begun, even where it took the factory's own file away.
  const begun =
    revision === appliedOf(before)
      ? (
          JSON.parse((before.factory['how_applied'] as string | null | undefined) ?? 'null') as {
            applyMode?: string;
          } | null
        )?.applyMode
      : undefined;
  if ((begun ?? modeOf(before)) === 'atomic') return checkExactly(after, tree);
  for (const key of keysOf(before, after, tree)) checkFile(key, passed, tree);
}

/** I6: what is applied moves to the tip, or to what was looked at last and had to wait; never back to anything else. */
export function checkMoves({ before, after }: Passed, tip: string | undefined): void {
  const [from, to] = [appliedOf(before), appliedOf(after)];
  if (from !== to)
    holds(
      'I6: the applied revision moved to one that is neither the tip nor waits',
      to === tip || to === before.factory['revision_seen'],
      from,
      to,
      tip,
    );
}

/** Everything that is live is what this tree says, and nothing else is. */
export function checkExactly(after: DatabaseSnapshot, tree: HistoryTree): void {
  const wanted = [...tree].filter(([path]) => path !== FACTORY_PATH);
  same(
    'I5: what is live',
    [...after.live.values()].map(({ path }) => path).sort(),
    wanted.map(([path]) => path).sort(),
  );
  for (const [path, file] of wanted)
    same(
      `I5: what is live of ${path}`,
      saidBy([...after.live.values()].find((object) => object.path === path)),
      wantedBy(path, file, after),
    );
}

function checkFile(key: string, passed: Passed, tree: HistoryTree): void {
  const [kind, slug] = key.split('/') as [string, string];
  const entry = [...tree].find(([path, file]) => file.kind === kind && nameOf(path) === slug);
  const [was, is] = [passed.before.live.get(key), passed.after.live.get(key)];
  const stayed = JSON.stringify(saidBy(was)) === JSON.stringify(saidBy(is));
  if (entry === undefined) return holds('I5: what the tree does not have changed', is === undefined || stayed, key);
  const [path, file] = entry;
  if (isUnread(file)) return holds('I5: what cannot be read changed', stayed, key, saidBy(was), saidBy(is));
  const followed = JSON.stringify(saidBy(is)) === JSON.stringify(wantedBy(path, file, passed.after));
  if (isSound(file, tree, passed.usable))
    return holds('I5: a sound file was not applied', followed, key, saidBy(is), wantedBy(path, file, passed.after));
  holds(
    'I5: what is held is neither what it was nor what it will be',
    followed || stayed,
    key,
    saidBy(was),
    saidBy(is),
  );
}

/** Whether a file says nothing wrong, and nothing that it refers to does. */
export function isSound(file: HistoryFile, tree: HistoryTree, usable: ReadonlyMap<string, number>): boolean {
  if (file.broken !== undefined) return false;
  if (file.kind === 'webhook') return usable.has(file.secretName ?? '');
  if (file.kind !== 'automation') return true;
  const paths = [
    ...(file.webhooks ?? []).map((name) => `webhooks/${name}.yaml`),
    ...(file.environment === undefined ? [] : [`environments/${file.environment}.yaml`]),
  ];
  return paths.every((path) => {
    const other = tree.get(path);
    return other !== undefined && isSound(other, tree, usable);
  });
}

/** How files are applied: what the factory's own file said when it was applied last; the first time, whole. */
export function modeOf({ factory }: DatabaseSnapshot): string {
  if (factory['revision_applied'] === null) return 'atomic';
  return (JSON.parse(String(factory['definition'])) as { applyMode: string }).applyMode;
}

function appliedOf({ factory }: DatabaseSnapshot): string | undefined {
  return (factory['revision_applied'] as string | null) ?? undefined;
}

function definitionsOf({ live, factory }: DatabaseSnapshot): string {
  return JSON.stringify([
    factory['definition'],
    [...live].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, object]) => [key, saidBy(object), object.revision]),
  ]);
}

function keysOf(before: DatabaseSnapshot, after: DatabaseSnapshot, tree: HistoryTree): Set<string> {
  const inTree = [...tree].flatMap(([path, file]) => (file.kind === 'factory' ? [] : [`${file.kind}/${nameOf(path)}`]));
  return new Set([...before.live.keys(), ...after.live.keys(), ...inTree]);
}

/** All that is live of one file. */
function saidBy(object: LiveObject | undefined): unknown {
  if (object === undefined) return null;
  const { definition, text } = object;
  const triggers = (definition['triggers'] as { webhookUids: string[] }[] | undefined)
    ?.flatMap(({ webhookUids }) => webhookUids)
    .sort();
  const tag = /tag (\d+)/.exec(JSON.stringify([definition['description'], definition['text']]))?.[1];
  return {
    path: object.path,
    tag: Number(tag),
    text: text ?? null,
    secretName: definition['secretName'] ?? null,
    enabled: object.kind === 'webhook' ? definition['enabled'] : null,
    triggers: triggers ?? null,
    prompt: definition['prompt'] ?? null,
  };
}

/** What ought to be live of it. */
function wantedBy(path: string, file: HistoryFile, { uids }: DatabaseSnapshot): unknown {
  const { kind, tag, secretName, enabled, webhooks } = file;
  const keepsText = kind === 'webhook' || kind === 'automation';
  const triggers =
    kind === 'automation'
      ? (webhooks ?? []).map((name) => uids.get(`webhook/${name}`) ?? `no webhook ${name}`).sort()
      : null;
  return {
    path,
    tag,
    text: keepsText ? textOf(path, file) : null,
    secretName: kind === 'webhook' ? secretName : null,
    enabled: kind === 'webhook' ? enabled !== false : null,
    triggers,
    prompt: kind === 'automation' ? `Do tag ${tag}.` : null,
  };
}

/** Step 0: every webhook has the newest version of its secret, or none that it may use. */
export function checkBindings({ after, usable }: Passed): void {
  for (const { slug, definition, secretVersion } of [...after.live.values()].filter(({ kind }) => kind === 'webhook')) {
    same(`the secret of ${slug}`, secretVersion ?? null, usable.get(String(definition['secretName'])) ?? null);
  }
}

/**
 * I5, I6: a process serves exactly what is committed. `revision_applied` is committed in the transaction of what it
 * applies, before this process publishes that: for so long it names what is not served yet. That is safe, because
 * nothing is decided by what a process holds: whoever accepts a delivery compares the serving version that it holds
 * with the stored one in its own transaction, and loads anew where they differ; and a revision is told as `serving`
 * only when every live replica has loaded that version. Looked at after a pass, when all of it has been published.
 */
export function checkServed(served: ServingFactory | undefined, { live, factory }: DatabaseSnapshot): void {
  const objects = [...live.values()].sort((a, b) => (a.uid < b.uid ? -1 : 1));
  const revision = factory['revision_applied'] ?? '';
  const webhooks = objects
    .filter(({ kind }) => kind === 'webhook')
    .map(({ uid, definition, secretVersion }) => [uid, definition['enabled'], secretVersion ?? null]);
  const automations = objects
    .filter(({ kind }) => kind === 'automation')
    .map(({ uid, definition }) => [uid, definition]);
  same(
    'I6: what is served',
    {
      revision: served?.revision,
      webhooks: served?.webhooks.map(({ uid, enabled, secret }) => [uid, enabled, secret?.version ?? null]),
      automations: served?.automations.map(({ uid, definition }) => [uid, definition]),
    },
    { revision, webhooks, automations },
  );
}
