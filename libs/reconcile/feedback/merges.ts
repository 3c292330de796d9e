/**
 * The files that a merge would leave, told from the names of three trees: no content is read. contract §9.9 (Feedback
 * in pull requests).
 */
import { createHash } from 'node:crypto';
import type { TreeFile } from '#definitions';

/** A file of a tree: its content by name, and whether it may be executed. */
export interface MergeEntry {
  path: string;
  object: string;
}

export interface MergedEntries<Entry extends MergeEntry> {
  entries: Entry[];
  /** Paths that both sides changed, each in another way: as the pull request has them. */
  contested: string[];
}

/**
 * What is left of the branch with the changes of the pull request since both were the same. Sorted as `theirs`. Pure.
 */
export function mergedEntries<Entry extends MergeEntry>(
  base: readonly Entry[],
  branch: readonly Entry[],
  pull: readonly Entry[],
): MergedEntries<Entry> {
  const [before, ours, theirs] = [base, branch, pull].map(byPath) as [Index<Entry>, Index<Entry>, Index<Entry>];
  const paths = [...new Set([...ours.keys(), ...theirs.keys()])].sort();
  const contested: string[] = [];
  const entries = paths.flatMap((path) => {
    const [was, our, their] = [before.get(path), ours.get(path), theirs.get(path)];
    if (isSame(our, their) || isSame(was, our)) return their ?? [];
    if (isSame(was, their)) return our ?? [];
    contested.push(path);
    return their ?? [];
  });
  return { entries, contested };
}

type Index<Entry> = ReadonlyMap<string, Entry>;

function byPath<Entry extends MergeEntry>(entries: readonly Entry[]): Index<Entry> {
  return new Map(entries.map((entry) => [entry.path, entry]));
}

function isSame(left: MergeEntry | undefined, right: MergeEntry | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  const { path: _left, ...leftRest } = left;
  const { path: _right, ...rightRest } = right;
  return JSON.stringify(leftRest) === JSON.stringify(rightRest);
}

/** Files as a merge would leave them. */
export interface MergedFiles {
  files: TreeFile[];
  contested: string[];
}

/** The same of whole trees. Pure. */
export function mergedFiles(
  base: readonly TreeFile[],
  branch: readonly TreeFile[],
  pull: readonly TreeFile[],
): MergedFiles {
  const ours = new Map([...branch, ...pull].map((file) => [keyOf(entryOf(file)), file]));
  const { entries, contested } = mergedEntries(base.map(entryOf), branch.map(entryOf), pull.map(entryOf));
  return { files: entries.flatMap((entry) => ours.get(keyOf(entry)) ?? []), contested };
}

function entryOf({ path, content, kind, sizeBytes, executable }: TreeFile): MergeEntry {
  const object = createHash('sha256').update(content).digest('hex');
  return { path, object: JSON.stringify([object, kind, sizeBytes, executable]) };
}

function keyOf({ path, object }: MergeEntry): string {
  return JSON.stringify([path, object]);
}
