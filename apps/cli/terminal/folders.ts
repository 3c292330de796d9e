/** Folders that a command writes into. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it. Not by the option `recursive` of Node.js, which never ends where a file system
 * answers ENOENT in a folder that is there, as /proc does.
 */
export async function makeFolders(place: string): Promise<void> {
  if (await isFolder(place)) return;
  await makeFolders(dirname(place));
  await mkdir(place);
}

/** Rejects where something else has the name, or stands above it. */
async function isFolder(place: string): Promise<boolean> {
  try {
    if ((await stat(place)).isDirectory()) return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw cause;
  }
  throw Object.assign(new Error(`${place} is no folder`), { code: 'EEXIST' });
}
