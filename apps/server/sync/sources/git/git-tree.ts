/**
 * Turns one fetched commit into a factory's files: names from the tree, contents from the cache, missing files fetched
 * in one go.
 */
import { FILE_BYTES_MAX, TREE_BYTES_MAX, type TreeFile } from '#definitions';
import { parseContents, readListing, readSizes, type TreeEntry } from './git-objects.ts';
import type { GitSession } from './git-session.ts';
import { SourceUnavailableError, byPath } from '../source.ts';

/** Output of a listing, in bytes: 100,000 entries (`TREE_ENTRIES_MAX`) with paths of 600 bytes. */
const LISTING_BYTES_MAX = 64 * 1024 * 1024;

/** What `cat-file` writes around one object, in bytes: name, type, size, two line ends. */
const OBJECT_FRAME_BYTES = 100;

/** A server did not send the files it was asked for, one by one. */
export class FilesWithheldError extends SourceUnavailableError {
  constructor() {
    super('corrupt', 'the repository lacks files that its tree names');
  }
}

/** Where trees are read. */
export interface TreeLocation {
  gitDir: string;
  /** Folder of the repository that is the factory's root; '' = the top. */
  subfolder: string;
}

export interface CommitLocation extends TreeLocation {
  commit: string;
}

/** Fetches objects by name into the cache; absent when the network must not be used. */
export type FetchObjects = (objects: readonly string[]) => Promise<void>;

/** The factory's files at one commit, sorted by path; complete, or a failure is thrown. */
export async function readTree(
  session: GitSession,
  location: CommitLocation,
  fetchObjects?: FetchObjects,
): Promise<TreeFile[]> {
  const trees = await readTrees(session, location, [location.commit], fetchObjects);
  return trees.get(location.commit) ?? [];
}

/**
 * The same of several commits, by their IDs. What they have in common is fetched and held once: together they may have
 * as many bytes as one.
 */
export async function readTrees(
  session: GitSession,
  location: TreeLocation,
  commits: readonly string[],
  fetchObjects?: FetchObjects,
): Promise<Map<string, TreeFile[]>> {
  const list = async (commit: string): Promise<[string, TreeEntry[]]> => [
    commit,
    await listEntries(session, { ...location, commit }),
  ];
  const listings = new Map(await Promise.all([...new Set(commits)].map(list)));
  const entries = [...listings.values()].flat();
  const objects = [...new Set(entries.filter(({ kind }) => kind === 'file').map(({ object }) => object))];
  const sizes = await sizesOf(session, location.gitDir, objects, fetchObjects);
  const contents = await contentsOf(session, location.gitDir, readableOf(sizes));
  const filesOf = (listed: readonly TreeEntry[]): TreeFile[] =>
    listed.map((entry) => toTreeFile(entry, sizes, contents)).sort(byPath);
  return new Map([...listings].map(([commit, listed]) => [commit, filesOf(listed)]));
}

async function listEntries(session: GitSession, { gitDir, commit, subfolder }: CommitLocation): Promise<TreeEntry[]> {
  const within = subfolder === '' ? [] : ['--', `${subfolder}/`];
  const bytes = await session.read(
    gitDir,
    ['ls-tree', '-z', '-r', '--full-tree', commit, ...within],
    LISTING_BYTES_MAX,
  );
  const { rootFound, entries } = readListing(bytes, subfolder);
  if (!rootFound)
    throw new SourceUnavailableError('path-missing', `the repository has no folder "${subfolder}" at ${commit}`);
  return entries;
}

async function sizesOf(
  session: GitSession,
  gitDir: string,
  objects: readonly string[],
  fetchObjects: FetchObjects | undefined,
): Promise<Map<string, number>> {
  const sizes = await readObjectSizes(session, gitDir, objects);
  const missing = objects.filter((object) => !sizes.has(object));
  if (missing.length === 0) return sizes;
  if (fetchObjects === undefined) throw new FilesWithheldError();
  await fetchObjects(missing);
  const fetched = await readObjectSizes(session, gitDir, missing);
  if (fetched.size < missing.length) throw new FilesWithheldError();
  return new Map([...sizes, ...fetched]);
}

/** Sizes in bytes of the files that are there. */
export async function readObjectSizes(
  session: GitSession,
  gitDir: string,
  objects: readonly string[],
): Promise<Map<string, number>> {
  if (objects.length === 0) return new Map();
  const bytesMax = objects.length * OBJECT_FRAME_BYTES;
  return readSizes(await session.read(gitDir, ['cat-file', '--batch-check'], bytesMax, toLines(objects)));
}

/** The objects that are small enough to be read, checked to fit into memory together. */
function readableOf(sizes: ReadonlyMap<string, number>): Map<string, number> {
  const readable = new Map([...sizes].filter(([, size]) => size <= FILE_BYTES_MAX));
  if (totalOf(readable) > TREE_BYTES_MAX) {
    throw new SourceUnavailableError(
      'refused',
      `the definition files of the repository hold more than ${TREE_BYTES_MAX} bytes together`,
    );
  }
  return readable;
}

/** Contents of files by their object names; `readable` has their sizes. */
export async function contentsOf(
  session: GitSession,
  gitDir: string,
  readable: ReadonlyMap<string, number>,
): Promise<Map<string, Uint8Array>> {
  if (readable.size === 0) return new Map();
  const bytesMax = totalOf(readable) + readable.size * OBJECT_FRAME_BYTES;
  return parseContents(await session.read(gitDir, ['cat-file', '--batch'], bytesMax, toLines([...readable.keys()])));
}

function toTreeFile(
  entry: TreeEntry,
  sizes: ReadonlyMap<string, number>,
  contents: ReadonlyMap<string, Uint8Array>,
): TreeFile {
  if (entry.kind !== 'file') return { path: entry.path, content: new Uint8Array(), kind: entry.kind };
  const content = contents.get(entry.object);
  if (content !== undefined) return { path: entry.path, content, ...(entry.executable ? { executable: true } : {}) };
  return { path: entry.path, content: new Uint8Array(), sizeBytes: sizes.get(entry.object) ?? 0 };
}

function totalOf(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

function toLines(words: readonly string[]): string {
  return words.map((word) => `${word}\n`).join('');
}
