/** How much of a tree is read, where it is looked at, and how a name that is not UTF-8 is written down. contract 8. */
import { isDefinitionPath } from '#definitions';

/** Entries of one tree: far beyond any factory, while a listing fits into memory; a monorepo names a folder. */
export const TREE_ENTRIES_MAX = 100_000;

/** Content of one tree that is held in memory, in bytes: 2,000 definition files of ordinary size are under 16 MiB. */
export const TREE_BYTES_MAX = 64 * 1024 * 1024;

/** Length of one path in bytes: PATH_MAX of the systems that repositories are written on. */
export const PATH_BYTES_MAX = 4096;

/** Whether a folder (relative to the factory's root) can hold files that take part in a snapshot. */
export function mayHoldDefinitions(folder: string): boolean {
  return isDefinitionPath(`${folder}/any`);
}

/** One for all paths: a tree has up to 100,000 (TREE_ENTRIES_MAX). */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A path as text. Bytes that are not UTF-8 are written as `\xNN`, so that two hostile names stay two names. */
export function decodePath(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    return Buffer.from(bytes)
      .toString('latin1')
      .replaceAll(/[\u0080-\u00ff]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`);
  }
}

/** Order of a snapshot's files: by UTF-16 code units, the same on every machine. */
export function byPath(left: { path: string }, right: { path: string }): number {
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}
