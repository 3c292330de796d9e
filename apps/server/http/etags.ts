/** Answers that a client may keep: their tag, and whether the client has them already (RFC 9110). */
import { createHash } from 'node:crypto';

/** Strong entity tag of a text. */
export function entityTagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}

/** Whether an If-None-Match header names the tag; compared weakly, as it is for reading. */
export function isKnownToClient(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch
    .split(',')
    .map((candidate) => candidate.trim().replace(/^W\//, ''))
    .some((candidate) => candidate === '*' || candidate === tag);
}
