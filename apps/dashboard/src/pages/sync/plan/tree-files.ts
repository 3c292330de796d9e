/**
 * The definition files of a local folder as the browser offers them, within the limits of a plan. contract §4.1 (plan),
 * §8.
 */
import type { Api } from '../../../api/client.ts';
import { isDefinitionPath } from '#definitions/names';

export type TreeFile = Api<'TreeFile'>;

/** Files of one plan. */
export const FILES_MAX = 2_000;
/** Bytes of its request. */
export const BODY_BYTES_MAX = 1_048_576;

/** A file and where it stands in what was chosen: without the name of the chosen folder itself. */
export interface Found {
  path: string;
  file: File;
}

export interface Picked {
  files: TreeFile[];
  /** Definition files that are no text in UTF-8, and cannot be sent. */
  unreadable: string[];
  /** Files that no factory reads. */
  ignored: number;
  /** Folder of what was chosen that is the factory's root; empty: all of it. */
  root: string;
}

/**
 * Reads what is a definition, and nothing else. `root`: folder of the repository that the factory is, where that is
 * one. Throws when it is more than a plan may be.
 */
export async function readFound(found: readonly Found[], root = ''): Promise<Picked> {
  const inside = root === '' ? [] : found.filter(({ path }) => path.startsWith(`${root}/`));
  const from = inside.length > 0 ? root : '';
  const there = (inside.length > 0 ? inside : found).map(({ path, file }) => ({
    path: from === '' ? path : path.slice(from.length + 1),
    file,
  }));
  const wanted = there.filter(({ path }) => isDefinitionPath(path)).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  if (wanted.length > FILES_MAX)
    throw new RangeError(
      `These are ${wanted.length.toLocaleString()} definition files; a plan takes ${FILES_MAX.toLocaleString()}.`,
    );
  const bytes = wanted.reduce((sum, { file }) => sum + file.size, 0);
  if (bytes > BODY_BYTES_MAX)
    throw new RangeError(
      `These files have ${bytes.toLocaleString()} bytes; a plan takes ${BODY_BYTES_MAX.toLocaleString()}.`,
    );
  const read = await Promise.all(
    wanted.map(async ({ path, file }) => ({ path, content: textOf(await file.arrayBuffer()) })),
  );
  return {
    files: read.flatMap(({ path, content }) => (content === undefined ? [] : [{ path, content }])),
    unreadable: read.flatMap(({ path, content }) => (content === undefined ? [path] : [])),
    ignored: found.length - wanted.length,
    root: from,
  };
}

function textOf(bytes: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Files of a folder that was chosen: the browser puts the folder's own name first. */
export function chosenFiles(list: Iterable<File>): Found[] {
  return [...list].map((file) => ({ path: file.webkitRelativePath.split('/').slice(1).join('/') || file.name, file }));
}

/** More is no folder of definitions. */
const DROPPED_MAX = 50_000;
const SKIPPED_FOLDERS = new Set(['.git', 'node_modules']);

/** Files of what was dropped: of one folder its contents, else what was dropped itself. */
export async function droppedFiles(items: DataTransferItemList): Promise<Found[]> {
  // All at once: the list is empty after the first wait.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const [only] = entries;
  const found: Found[] = [];
  const top =
    entries.length === 1 && only?.isDirectory === true ? await childrenOf(only as FileSystemDirectoryEntry) : entries;
  for (const entry of top) await collectFiles(entry, '', found);
  return found;
}

async function collectFiles(entry: FileSystemEntry, folder: string, found: Found[]): Promise<void> {
  if (found.length >= DROPPED_MAX)
    throw new RangeError(
      `There are more than ${DROPPED_MAX.toLocaleString()} files in there: drop the folder of the factory alone.`,
    );
  const path = folder + entry.name;
  if (entry.isFile)
    found.push({
      path,
      file: await new Promise((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)),
    });
  else if (!SKIPPED_FOLDERS.has(entry.name))
    for (const child of await childrenOf(entry as FileSystemDirectoryEntry))
      await collectFiles(child, `${path}/`, found);
}

/** A reader gives a hundred at a time. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}
