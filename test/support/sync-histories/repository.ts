/** A scripted repository: its commits, its outages, and what a source that reads it answers. */
import { createHash } from 'node:crypto';
import type { TreeFile } from '#definitions';
import {
  failure,
  type History as SourceHistory,
  type KnownRevisions,
  type Snapshot,
} from '../../../apps/server/sync/sources/source.ts';
import { type Edit, SECRET_NAMES } from './steps.ts';
import {
  breakageOf,
  FACTORY_PATH,
  nameOf,
  pathOf,
  textOf,
  type FileKind,
  type HistoryFile,
  type HistoryTree,
} from './trees.ts';

export interface HistoryCommit {
  id: string;
  revision: string;
  parent?: HistoryCommit;
  tree: HistoryTree;
}

const OUTAGES = [
  'unreachable',
  'branch-missing',
  'repository-missing',
  'path-missing',
  'empty',
  'corrupt',
  'throws',
] as const;
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'orders', 'orders-2'];

export class HistoryRepository {
  readonly commits: HistoryCommit[] = [];
  tip: HistoryCommit;
  outage: (typeof OUTAGES)[number] | undefined;
  private tags = 0;

  constructor(webhooks: number, automations: number, applyMode: 'atomic' | 'perFile') {
    const tree = new Map<string, HistoryFile>();
    for (let n = 0; n < webhooks; n += 1)
      tree.set(pathOf('webhook', NAMES[n] as string), {
        kind: 'webhook',
        tag: this.nextTag(),
        secretName: 'hook',
        enabled: true,
      });
    if (webhooks > 0)
      for (let n = 0; n < automations; n += 1)
        tree.set(pathOf('automation', NAMES[n] as string), {
          kind: 'automation',
          tag: this.nextTag(),
          webhooks: [NAMES[n % webhooks] as string],
        });
    if (applyMode === 'perFile') tree.set(FACTORY_PATH, { kind: 'factory', tag: this.nextTag(), applyMode });
    this.tip = this.add(tree);
  }

  /** Commits on top of the tip, or, forced, on its parent: the tip is lost then. */
  commit(edits: readonly Edit[], forced: boolean): void {
    const tree = new Map(this.tip.tree);
    for (const edit of edits) this.edit(tree, edit);
    this.tip = this.add(tree, forced ? this.tip.parent : this.tip);
  }

  treeAt(revision: string): HistoryTree {
    const found = this.commits.find((commit) => commit.revision === revision);
    if (found === undefined) throw new Error(`no commit is ${revision}`);
    return found.tree;
  }

  begin(kind: number): void {
    this.outage = OUTAGES[kind % OUTAGES.length];
  }

  /** What a source answers now. */
  snapshot({ atHand, accepted }: KnownRevisions): Snapshot {
    if (this.outage === 'throws') throw new Error('the source broke');
    if (this.outage !== undefined) return failure(this.outage, `it is said to be ${this.outage}`);
    const { revision, tree } = this.tip;
    if (revision === atHand) return { ok: true, revision, unchanged: true };
    return { ok: true, revision, unchanged: false, files: filesOf(tree), history: this.historySince(accepted) };
  }

  /** What a source has fetched before: whatever was accepted, however the host is now. */
  cached(revision: string): Snapshot {
    return { ok: true, revision, unchanged: false, files: filesOf(this.treeAt(revision)) };
  }

  private historySince(accepted: string | undefined): SourceHistory {
    const known = this.commits.find(({ revision }) => revision === accepted);
    const [here, there] = [ancestry(this.tip), ancestry(known)];
    const lost = there.filter((commit) => !here.includes(commit));
    const fresh = here.filter((commit) => !there.includes(commit));
    return {
      commits: fresh.map(({ id }) => id),
      lost: lost.map(({ id }) => id),
      ...(lost.length > 0 && known !== undefined ? { rewrittenFrom: known.revision } : {}),
    };
  }

  private add(tree: HistoryTree, parent?: HistoryCommit): HistoryCommit {
    const id = createHash('sha1').update(String(this.commits.length)).digest('hex');
    const made = { id, revision: `main@sha1:${id}`, parent, tree };
    this.commits.push(made);
    return made;
  }

  private edit(tree: Map<string, HistoryFile>, edit: Edit): void {
    switch (edit.edit) {
      case 'webhook':
        return void tree.set(pathOf('webhook', nameAt(edit.name)), {
          kind: 'webhook',
          tag: this.nextTag(),
          secretName: SECRET_NAMES[edit.secret % SECRET_NAMES.length],
          enabled: edit.enabled,
        });
      case 'automation':
        return this.editAutomation(tree, edit);
      case 'environment':
      case 'skill':
        return void tree.set(pathOf(edit.edit, nameAt(edit.name)), { kind: edit.edit, tag: this.nextTag() });
      case 'factory':
        return void tree.set(FACTORY_PATH, { kind: 'factory', tag: this.nextTag(), applyMode: edit.applyMode });
      case 'delete':
        return remove(tree, chosen(tree, edit.at), edit.tidy);
      case 'rename':
        return rename(tree, chosen(tree, edit.at), nameAt(edit.name), edit.tidy);
      case 'wipe':
        wipe(tree, edit.what);
        if (edit.what === 'replaced') this.replace(tree);
        return;
      case 'break':
        return breakFile(tree, chosen(tree, edit.at), edit.how);
      case 'mend':
        for (const [path, file] of tree) if (file.broken !== undefined) tree.set(path, { ...file, broken: undefined });
        return dropDangling(tree);
      case 'revert':
        return replace(tree, (this.commits.at(-1 - (edit.back % this.commits.length)) as HistoryCommit).tree);
    }
  }

  private replace(tree: Map<string, HistoryFile>): void {
    const name = NAMES.length - 1;
    this.edit(tree, { edit: 'webhook', name, secret: 0, enabled: true });
    this.edit(tree, { edit: 'automation', name, webhooks: 0, environment: false });
  }

  private editAutomation(
    tree: Map<string, HistoryFile>,
    { name, webhooks, environment }: Extract<Edit, { edit: 'automation' }>,
  ): void {
    const names = namesOf(tree, 'webhook');
    if (names.length === 0) return;
    const wanted = [
      ...new Set([names[webhooks % names.length] as string, names[(webhooks * 7) % names.length] as string]),
    ].sort();
    const [first] = namesOf(tree, 'environment');
    tree.set(pathOf('automation', nameAt(name)), {
      kind: 'automation',
      tag: this.nextTag(),
      webhooks: wanted,
      environment: environment ? first : undefined,
    });
  }

  private nextTag(): number {
    this.tags += 1;
    return this.tags;
  }
}

function ancestry(commit: HistoryCommit | undefined): HistoryCommit[] {
  return commit === undefined ? [] : [commit, ...ancestry(commit.parent)];
}

function filesOf(tree: HistoryTree): TreeFile[] {
  const paths = [...tree.keys()].sort();
  return paths.map((path) => ({ path, content: Buffer.from(textOf(path, tree.get(path) as HistoryFile)) }));
}

function nameAt(n: number): string {
  return NAMES[n % NAMES.length] as string;
}

function chosen(tree: HistoryTree, at: number): string | undefined {
  const paths = [...tree.keys()].sort();
  return paths[at % paths.length];
}

function namesOf(tree: HistoryTree, kind: FileKind): string[] {
  return [...tree].flatMap(([path, file]) => (file.kind === kind ? [nameOf(path)] : [])).sort();
}

function remove(tree: Map<string, HistoryFile>, path: string | undefined, tidy: boolean): void {
  if (path === undefined) return;
  tree.delete(path);
  if (tidy) dropDangling(tree);
}

function rename(tree: Map<string, HistoryFile>, path: string | undefined, name: string, tidy: boolean): void {
  const file = path === undefined ? undefined : tree.get(path);
  if (path === undefined || file === undefined || file.kind === 'factory') return;
  tree.delete(path);
  tree.set(pathOf(file.kind, name), file);
  if (tidy) dropDangling(tree);
}

function wipe(tree: Map<string, HistoryFile>, what: Extract<Edit, { edit: 'wipe' }>['what']): void {
  for (const [n, path] of [...tree.keys()].sort().entries()) {
    const { kind } = tree.get(path) as HistoryFile;
    if (
      what === 'everything' ||
      (what === 'replaced' && kind !== 'factory') ||
      (what === 'most' && n % 4 !== 0) ||
      `${kind}s` === what
    )
      tree.delete(path);
  }
  if (what !== 'webhooks') dropDangling(tree);
}

function breakFile(
  tree: Map<string, HistoryFile>,
  path: string | undefined,
  how: Extract<Edit, { edit: 'break' }>['how'],
): void {
  const file = path === undefined ? undefined : tree.get(path);
  if (path === undefined || file === undefined) return;
  tree.set(path, { ...file, broken: breakageOf(file.kind, how) });
}

/** What refers to something that is gone goes with it. */
function dropDangling(tree: Map<string, HistoryFile>): void {
  const [webhooks, environments] = [namesOf(tree, 'webhook'), namesOf(tree, 'environment')];
  for (const [path, file] of tree) {
    if (file.kind !== 'automation') continue;
    const left = (file.webhooks ?? []).filter((name) => webhooks.includes(name));
    const environment =
      file.environment !== undefined && environments.includes(file.environment) ? file.environment : undefined;
    if (left.length === 0) tree.delete(path);
    else tree.set(path, { ...file, webhooks: left, environment });
  }
}

function replace(tree: Map<string, HistoryFile>, other: HistoryTree): void {
  tree.clear();
  for (const [path, file] of other) tree.set(path, file);
}
