/** Knows the revision of a directory source: a name for exactly these files. contract §9.6 (Revision). */
import { createHash } from 'node:crypto';
import type { TreeFile } from '#definitions';
import { compareTexts } from '../canonical.ts';
import { updateFramed } from '../framing.ts';

/**
 * `sha256:` and the hex digest of the sorted, length-prefixed (path, content) list. The order of listing does not
 * matter.
 * Entries whose content was not read (links, submodules, files over the limit) count with what is known of them
 * instead.
 */
export function directoryRevision(files: readonly TreeFile[]): string {
  const entries = files.map((file): [string, Uint8Array] => [labelOf(file), file.content]);
  entries.sort(([a], [b]) => compareTexts(a, b));
  return `sha256:${updateFramed(createHash('sha256'), entries.flat()).digest('hex')}`;
}

/** The path; NUL, which no path holds, sets off what else is known. */
function labelOf({ path, kind, sizeBytes }: TreeFile): string {
  const label = kind === undefined || kind === 'file' ? path : `${path}\0${kind}`;
  return sizeBytes === undefined ? label : `${label}\0${sizeBytes}`;
}
