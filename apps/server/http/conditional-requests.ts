/** Versions on the wire: entity tags of answers, and If-Match and If-None-Match of requests. RFC 9110. */
import { createHash } from 'node:crypto';
import { lastingConflict, RefusalError } from './error-codes.ts';

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

/** Answers whether a version is one that the request is about. */
export type WantedVersion = (version: number) => boolean;

/** The `ETag` of a version. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/**
 * Reads If-Match: `*`, or tags separated by commas, weakened ones too, as proxies that compress make them. Without the
 * header every version is meant, unless it is `required`: then 400.
 */
export function wantedVersion(header: string | undefined, required = false): WantedVersion {
  if (header === undefined && !required) return () => true;
  const tags = header?.split(',').map((tag) => tag.trim()) ?? [];
  if (tags.length === 0 || !tags.every((tag) => /^(?:\*|(?:W\/)?"[\x21\x23-\x7e]*")$/.test(tag)))
    throw malformed(header === undefined ? 'is required' : 'must hold entity tags in quotation marks');
  const wanted = new Set(tags.map((tag) => tag.replace(/^W\//, '')));
  return (version) => wanted.has('*') || wanted.has(versionTag(version));
}

/** What was to be changed has changed meanwhile. */
export function staleVersion(what: string, version: number): RefusalError {
  return lastingConflict(
    `${what} has changed: its version is ${version} now; look at it again and send If-Match with its ETag`,
    { version },
  );
}

function malformed(rule: string): RefusalError {
  const message = `${rule}: the ETag of the state that is to be changed, or *`;
  return new RefusalError('invalid_request', `the header If-Match ${message}`, {
    errors: [{ pointer: 'If-Match', message }],
  });
}
