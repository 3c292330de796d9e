/** How much disk a folder takes, looked at within bounds. */
import { lstat } from 'node:fs/promises';
import { entriesBelow, namesIn } from './workspaces-removal.ts';

/** Entries looked at: enough to tell a large workspace from a small one. */
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
