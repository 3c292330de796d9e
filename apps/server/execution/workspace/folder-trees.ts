/**
 * Removes and measures folder trees made by somebody who may want to mislead: links are never followed, depth is no
 * obstacle. contract §10.
 */
import { chmod, lstat, mkdtemp, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes whatever is at the path, if anything. Nothing may be writing below it meanwhile. May be repeated after a
 * crash.
 */
export async function removeEntry(path: string): Promise<void> {
  const found = await lstat(path).catch(missing);
  if (found === undefined) return;
  if (!found.isDirectory()) return unlink(path);
  await emptyFolder(path);
  await rmdir(path);
}

/** Removes everything inside a folder and keeps the folder. */
export async function emptyFolder(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  // A tree deeper than the longest path cannot be entered by name: inner folders are moved up side by side and emptied
  // there.
  const pile = await mkdtemp(join(folder, '.removing-'));
  const waiting: string[] = [];
  const moveOut = async (inside: string): Promise<void> => {
    for (const name of await namesIn(inside)) {
      const path = entriesBelow(inside, name);
      if (path.equals(Buffer.from(pile))) continue;
      if ((await lstat(path)).isDirectory()) waiting.push(await moved(path, join(pile, String(waiting.length))));
      else await unlink(path);
    }
  };
  await moveOut(folder);
  for (let next = 0; next < waiting.length; next += 1) {
    const path = join(pile, String(next));
    await moveOut(path);
    await rmdir(path);
  }
  await rmdir(pile);
}

async function moved(path: Buffer, place: string): Promise<string> {
  // Moving a folder rewrites its `..` and emptying it its list: both need its own permission.
  await chmod(path, 0o700);
  await rename(path, place);
  return place;
}

/** Names as bytes: a file name need not be text. */
export function namesIn(folder: string | Buffer): Promise<Buffer[]> {
  return readdir(folder, { encoding: 'buffer' });
}

/** The path of an entry whose name need not be text. */
export function entriesBelow(folder: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from('/'), name]);
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}

/** Entries counted: enough to tell a large workspace from a small one. */
const ENTRIES_MAX = 20_000;
const BLOCK_BYTES = 512;

/** Bytes on disk below a folder; what vanishes meanwhile counts nothing, links are not followed. */
export async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  let left = ENTRIES_MAX;
  for (const waiting: (string | Buffer)[] = [folder]; waiting.length > 0 && left > 0;) {
    const current = waiting.pop() as string | Buffer;
    for (const name of await namesIn(current).catch(() => [])) {
      if ((left -= 1) < 0) break;
      const path = entriesBelow(current, name);
      const found = await lstat(path).catch(() => undefined);
      if (found?.isDirectory()) waiting.push(path);
      else bytes += (found?.blocks ?? 0) * BLOCK_BYTES;
    }
  }
  return bytes;
}
