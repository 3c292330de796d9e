/**
 * The bare repository in which a git source keeps what it has fetched. It is a cache: whatever is wrong with it, it may
 * be thrown away.
 */
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { existsSync, readdirSync, rmSync, type Dirent } from 'node:fs';

/** Packs after which a cache is packed into one; every new commit adds two, and each costs every look-up a little. */
export const PACKS_MAX = 200;

/** Marks a cache that holds everything because its server cannot send files one by one. */
const WHOLE_MARK = 'millwright-whole';

export interface GitCache {
  folder: string;
  /** Where a replacement is built, so that the old one serves until the new one is complete. */
  spareFolder: string;
}

export function gitCache(folder: string): GitCache {
  return { folder, spareFolder: `${folder}.spare` };
}

/** Where another ref of the cache's repository is read, for as long as that takes. */
export function refCacheFolder(folder: string): string {
  return `${folder}.ref`;
}

/** Removes what a killed process left of readings of other refs, below the folder of all caches. */
export function discardRefCaches(parent: string): void {
  const names = existsSync(parent) ? readdirSync(parent) : [];
  for (const name of names.filter((each) => /\.ref(?:\.key)?$/.test(each)))
    rmSync(join(parent, name), { recursive: true, force: true });
}

/** Makes the folder above the cache, private to the service. */
export async function prepareParent(cache: GitCache): Promise<string> {
  const parent = dirname(cache.folder);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  return parent;
}

/** The hash the cache was made for, or undefined when there is no usable cache. */
export async function cacheFormat(folder: string): Promise<'sha1' | 'sha256' | undefined> {
  try {
    await readFile(join(folder, 'HEAD'));
    const config = await readFile(join(folder, 'config'), 'utf8');
    return /objectformat\s*=\s*sha256/i.test(config) ? 'sha256' : 'sha1';
  } catch {
    return undefined;
  }
}

export async function discard(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** Puts the spare in the cache's place. */
export async function replaceWithSpare(cache: GitCache): Promise<void> {
  await discard(cache.folder);
  await rename(cache.spareFolder, cache.folder);
}

export async function markWhole(folder: string): Promise<void> {
  await writeFile(join(folder, WHOLE_MARK), '');
}

export async function isWhole(folder: string): Promise<boolean> {
  return (await readdir(folder).catch((): string[] => [])).includes(WHOLE_MARK);
}

/**
 * Removes what a killed git process left behind: lock files, half-written packs and objects. Only called while no git
 * process of ours works on the cache, so every lock is a dead one.
 */
export async function sweep(folder: string): Promise<void> {
  for (const entry of await entriesBelow(folder)) {
    if (entry.isFile() && isLeftOver(entry.name)) await rm(join(entry.parentPath, entry.name), { force: true });
  }
}

export async function packCount(folder: string): Promise<number> {
  const names = await readdir(join(folder, 'objects', 'pack')).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.pack')).length;
}

function isLeftOver(name: string): boolean {
  return name.endsWith('.lock') || name.startsWith('tmp_');
}

async function entriesBelow(folder: string): Promise<Dirent[]> {
  return readdir(folder, { recursive: true, withFileTypes: true }).catch((): Dirent[] => []);
}
