/** Writes the files of a starter repository: all or none, never over existing files, never through links. */
import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolders } from '../terminal/folders.ts';
import type { StarterFile } from './starter-files.ts';

/** Why a file cannot be written. */
export interface Obstacle {
  path: string;
  /** `exists` is what overwriting would help against. */
  kind: 'exists' | 'link' | 'folder' | 'no-folder' | 'special';
}

/** Existing paths that conflict with these files below a folder that may not exist yet, in their order. */
export async function obstacles(root: string, files: readonly StarterFile[]): Promise<Obstacle[]> {
  const found = new Map<string, Obstacle>();
  for (const { path } of files) {
    const obstacle = await obstacleOf(root, path);
    if (obstacle !== undefined && !found.has(obstacle.path)) found.set(obstacle.path, obstacle);
  }
  return [...found.values()];
}

/** Looks at each folder on the way: a link there would lead the file out of the repository. */
async function obstacleOf(root: string, path: string): Promise<Obstacle | undefined> {
  const segments = path.split('/');
  for (let depth = 1; depth <= segments.length; depth += 1) {
    const place = segments.slice(0, depth).join('/');
    const isFile = depth === segments.length;
    const kind = await kindOf(join(root, place));
    if (kind === undefined) return undefined;
    if (kind === 'link') return { path: place, kind };
    if (isFile) return { path: place, kind: kind === 'file' ? 'exists' : kind };
    if (kind !== 'folder') return { path: place, kind: 'no-folder' };
  }
  return undefined;
}

/**
 * `special`: neither a file of this folder alone nor a folder: a pipe, a device, a file with a second name elsewhere.
 */
async function kindOf(place: string): Promise<'file' | 'folder' | 'link' | 'special' | undefined> {
  try {
    const entry = await lstat(place);
    if (entry.isSymbolicLink()) return 'link';
    if (entry.isDirectory()) return 'folder';
    return entry.isFile() && entry.nlink === 1 ? 'file' : 'special';
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
}

/** Writes the files; what is there is overwritten only with `over`. Rejects with the file system's error. */
export async function writeFiles(folder: string, files: readonly StarterFile[], over: boolean): Promise<void> {
  await makeFolders(folder);
  // The folder that was named may be a link itself; what lies below it may not.
  const root = await realpath(folder);
  const how =
    constants.O_WRONLY |
    constants.O_CREAT |
    constants.O_NOFOLLOW |
    constants.O_NONBLOCK |
    (over ? constants.O_TRUNC : constants.O_EXCL);
  for (const { path, text } of files) {
    await makeFolders(join(root, dirname(path)));
    const file = await open(join(root, path), how, 0o644);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
  }
}
