/**
 * The factory repositories of a workspace: which one a file belongs to, and what `validate` says of it with the texts
 * of
 * open editors laid over its files. Nothing outside of the workspace is read. contract §11.11 (Language server).
 */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { checkReferences, classifyPath, readingSteps, type Problem, type Reading, type TreeFile } from '#definitions';
import { readNamedFolder } from '../repository/folder.ts';

/** Where a file is: the folder of its repository, and its path below that. */
export interface Place {
  root: string;
  path: string;
}

/** What `validate` says of a repository, and the texts that it was said of. */
export interface Checked {
  problems: readonly Problem[];
  reading: Reading;
  /** Text of a file as it was checked; the editor's where it is open. */
  textOf(path: string): string;
  /** Whether there is a file of this path. */
  has(path: string): boolean;
}

/** How long a check keeps other requests waiting at a stretch. */
const SLICE_MS = 15;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * The repository of a file: the workspace's folder where the file has a place below it, else the nearest above the file
 * in which it has one. Undefined for other files, those outside of the workspace, and behind links that lead out of it.
 */
export function placeOf(file: string, folders: readonly string[]): Place | undefined {
  for (const folder of folders) {
    if (!isBelow(file, folder)) continue;
    const roots = [folder];
    for (let above = dirname(file); above !== folder && isBelow(above, folder); above = dirname(above))
      roots.push(above);
    for (const root of roots) {
      const path = relative(root, file).split(sep).join('/');
      if (classifyPath(path).kind !== 'ignored' && staysInside(root, folder)) return { root, path };
    }
  }
  return undefined;
}

/**
 * Whether a folder of the workspace is a factory by its own files, so that it is checked before any of them is opened.
 */
export function isFactory(folder: string): boolean {
  return existsSync(join(folder, 'factory.yaml')) || existsSync(join(folder, 'automations'));
}

/**
 * Checks a repository with these texts in place of its files; `earlier` spares the reading of what has not changed.
 * Undefined as soon as it is known that nobody waits for it any more. Rejects where the folder cannot be read.
 */
export async function checkRepository(
  root: string,
  open: ReadonlyMap<string, string>,
  earlier: Reading | undefined,
  isStale: () => boolean,
): Promise<Checked | undefined> {
  const files = laidOver(await readNamedFolder(root), open);
  const steps = readingSteps(files, undefined, earlier);
  for (let sliceEnd = performance.now() + SLICE_MS; ;) {
    const step = steps.next();
    if (step.done === true) return checkedOf(files, open, step.value);
    if (performance.now() < sliceEnd) continue;
    await new Promise((resume) => setImmediate(resume));
    if (isStale()) return undefined;
    sliceEnd = performance.now() + SLICE_MS;
  }
}

function checkedOf(files: readonly TreeFile[], open: ReadonlyMap<string, string>, reading: Reading): Checked {
  const { problems } = checkReferences(reading, { today: new Date().toISOString().slice(0, 10) });
  const byPath = new Map(files.map((file) => [file.path, file]));
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return {
    problems,
    reading,
    textOf: (path) => open.get(path) ?? decoder.decode(byPath.get(path)?.content),
    has: (path) => byPath.has(path),
  };
}

/** A link stays one: its text is not what would be committed. */
function laidOver(files: readonly TreeFile[], open: ReadonlyMap<string, string>): TreeFile[] {
  const before = new Map(files.map((file) => [file.path, file]));
  const texts = [...open].filter(([path]) => (before.get(path)?.kind ?? 'file') === 'file');
  const over = new Map(
    texts.map(([path, text]): [string, TreeFile] => [path, laidOverFile(path, text, before.get(path))]),
  );
  return [...files.filter(({ path }) => !over.has(path)), ...over.values()];
}

/** Editors do not show the byte order mark of a file, and write it again. */
function laidOverFile(path: string, text: string, before: TreeFile | undefined): TreeFile {
  const hadMark =
    before !== undefined && Buffer.from(before.content.subarray(0, 3)).toString('utf8') === BYTE_ORDER_MARK;
  const isHidden = hadMark && !text.startsWith(BYTE_ORDER_MARK);
  return { path, content: Buffer.from(isHidden ? `${BYTE_ORDER_MARK}${text}` : text, 'utf8') };
}

function isBelow(path: string, folder: string): boolean {
  const below = relative(folder, path);
  return below !== '' && below !== '..' && !below.startsWith(`..${sep}`);
}

function staysInside(root: string, folder: string): boolean {
  try {
    const [inner, outer] = [realpathSync(root), realpathSync(folder)];
    return inner === outer || isBelow(inner, outer);
  } catch {
    return false;
  }
}
