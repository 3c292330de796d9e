/** Which entries of a tree are read, how much of them, and how a name that is not UTF-8 is written down. contract 8. */

/** Content of one file that is read, in bytes: a definition file over 256 KiB is an error in itself (contract 8), so its content is of no use. */
export const FILE_BYTES_MAX = 256 * 1024;

/** Entries of one tree: far beyond any factory, and a listing still fits into memory; a monorepo names its factory by path. */
export const TREE_ENTRIES_MAX = 100_000;

/** Content of one tree that is held in memory, in bytes: 2,000 definition files of ordinary size are under 16 MiB. */
export const TREE_BYTES_MAX = 64 * 1024 * 1024;

/** Length of one path in bytes: PATH_MAX of the systems that repositories are written on. */
export const PATH_BYTES_MAX = 4096;

/** Folders that hold definitions, and folders of the hosted service that are warned about. */
const DEFINITION_FOLDERS: ReadonlySet<string> = new Set([
  'webhooks',
  'automations',
  'environments',
  'skills',
  'agents',
  'runners',
  'scorers',
]);

/** Whether a path (relative to the factory's root) takes part in a snapshot: `factory.yaml`, or anything below a definition folder. */
export function takesPart(path: string): boolean {
  const slash = path.indexOf('/');
  return slash < 0 ? path === 'factory.yaml' || DEFINITION_FOLDERS.has(path) : DEFINITION_FOLDERS.has(path.slice(0, slash));
}

/** A path as text. Bytes that are not UTF-8 are written as `\xNN`, so that two hostile names stay two names. */
export function decodePath(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
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
