/** Which files the file tools may touch: those of the working folder and the temporary folder, wherever links lead. */
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** A path that a tool must not use, in words for the model. */
export class OutsideWorkspaceError extends Error {}

export interface AllowedPaths {
  /** Absolute path of the working folder, links resolved. */
  readonly cwd: string;
  /** Absolute form of a path that the model named; says nothing about whether it may be used. */
  absolute(path: string): string;
  /** Relative to the working folder where it lies inside: how people read it. */
  shown(path: string): string;
  /** Real path of something that exists and may be read. Throws OutsideWorkspaceError, or the file system's error. */
  readable(path: string): Promise<string>;
  /**
   * Real path of a file that may be written, existing or not. Throws OutsideWorkspaceError, or the file system's error.
   */
  writable(path: string): Promise<string>;
}

/** `readOnly`: folders that may be read beside the two; those that do not exist are left out. */
export async function allowedPathsOf(folders: {
  cwd: string;
  tmp: string;
  readOnly?: readonly string[];
}): Promise<AllowedPaths> {
  const cwd = await realpath(folders.cwd);
  const roots = [cwd, ...(await existing([folders.tmp]))];
  const readable = [...roots, ...(await existing(folders.readOnly ?? []))];
  const absolute = (path: string): string => resolve(cwd, path);
  return {
    cwd,
    absolute,
    shown: (path) => (isInside(absolute(path), cwd) ? relative(cwd, absolute(path)) || '.' : absolute(path)),
    readable: async (path) => within(await realpath(absolute(path)), path, readable),
    writable: async (path) => within(await futureRealPath(absolute(path)), path, roots),
  };
}

async function existing(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  return found.filter((folder) => folder !== undefined);
}

function within(real: string, named: string, roots: readonly string[]): string {
  if (roots.some((root) => isInside(real, root))) return real;
  throw new OutsideWorkspaceError(`${JSON.stringify(named)} is outside the working folder and the temporary folder`);
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/**
 * The real path that a file would have: links are resolved as far as the path exists. A link to nowhere is refused by
 * the file system's own error.
 */
async function futureRealPath(path: string): Promise<string> {
  if (await exists(path)) return realpath(path);
  const parent = dirname(path);
  return parent === path ? path : join(await futureRealPath(parent), basename(path));
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
