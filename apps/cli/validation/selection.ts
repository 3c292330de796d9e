/**
 * Which files are looked at: those of a folder, or some of them among the others of their repository. contract §11.3.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { classifyPath, type TreeFile } from '#definitions';
import { CommandError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { readNamedFolder } from '../repository/folder.ts';

/** A factory repository on disk, and which of its files were asked for. */
export interface Selection {
  /** The folder as it was given, or that of the files' repository. */
  folder: string;
  root: string;
  files: TreeFile[];
  /** Paths below the root; undefined: all. */
  only: ReadonlySet<string> | undefined;
  /** Files that were given and are none of a factory, as they were given. */
  leftOut: readonly string[];
}

/** What was given: a folder, or files of one repository. Throws CommandError. */
export async function selectFiles(paths: readonly string[], cwd: string): Promise<Selection> {
  const [first = '.'] = paths;
  if (paths.length < 2 && !isFile(resolve(cwd, first))) return folderOf(first, cwd);
  const given = paths.map((path) => ({ path, place: placeOf(resolve(cwd, path), cwd) }));
  const folder = paths.find((path) => !isFile(resolve(cwd, path)));
  if (folder !== undefined) throw usage(`${folder} is no file: give one DIR, or files`);
  const roots = new Set(given.flatMap(({ place }) => place?.root ?? []));
  if (roots.size > 1) throw usage(`the files belong to ${roots.size} repositories; check those of each by themselves`);
  const leftOut = given.filter(({ place }) => place === undefined).map(({ path }) => path);
  const [root] = roots;
  const only = new Set(given.flatMap(({ place }) => place?.path ?? []));
  if (root === undefined) return { folder: '.', root: cwd, files: [], only, leftOut };
  return { folder: relative(cwd, root) || '.', root, files: await readNamedFolder(root), only, leftOut };
}

/** The repository that a text belongs to, as if it stood at `path`; the text takes the place of the file there. */
export async function selectText(path: string, content: Uint8Array, cwd: string): Promise<Selection> {
  const place = placeOf(resolve(cwd, path), cwd);
  if (place === undefined)
    throw usage(`${path} is no place of a definition file (webhooks/<name>.yaml, automations/<name>/automation.md …)`);
  const others = isFolder(place.root) ? await readNamedFolder(place.root) : [];
  const files = [...others.filter((file) => file.path !== place.path), { path: place.path, content }];
  return {
    folder: relative(cwd, place.root) || '.',
    root: place.root,
    files,
    only: new Set([place.path]),
    leftOut: [],
  };
}

/** One file that was given, and no repository around it: what it refers to can be anywhere. contract §11.3. */
export function isAlone({ root, files, only }: Selection): boolean {
  const [file] = files;
  if (files.length !== 1 || file === undefined || only?.has(file.path) !== true) return false;
  for (let folder = root; !existsSync(join(folder, '.git')); folder = dirname(folder))
    if (dirname(folder) === folder) return true;
  return false;
}

async function folderOf(folder: string, cwd: string): Promise<Selection> {
  const root = resolve(cwd, folder);
  return { folder, root, files: await readNamedFolder(root), only: undefined, leftOut: [] };
}

/** Folders above a file that are tried: a file of a skill lies deeper than others. */
const LEVELS_MAX = 32;

/**
 * The repository of a file: the current folder where the file has a place below it, else the nearest above it in which
 * it has one.
 */
function placeOf(file: string, cwd: string): { root: string; path: string } | undefined {
  const above = [cwd];
  for (let folder = dirname(file); above.length <= LEVELS_MAX; folder = dirname(folder)) {
    above.push(folder);
    if (dirname(folder) === folder) break;
  }
  for (const root of above) {
    const path = relative(root, file).split(sep).join('/');
    if (!path.startsWith('../') && classifyPath(path).kind !== 'ignored') return { root, path };
  }
  return undefined;
}

function isFile(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isDirectory();
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function usage(message: string): CommandError {
  return new CommandError(message, EXIT.usage);
}
