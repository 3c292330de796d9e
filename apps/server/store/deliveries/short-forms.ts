/**
 * Identifiers that every entry of the log has, in fewer characters: 64 digits of a digest as 43, 36 of a UUID as 22.
 * What has another form stays as it is. An entry of 1 KiB takes a sixth of a page of PostgreSQL by that, and not a
 * fifth. contract §5.9 (Log).
 */
import { isUuid } from '#runs';
import { LRUCache } from 'lru-cache';

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const SHORT_DIGEST = /^sha256~[\w-]{43}$/;

/** Short forms of the revisions that deliveries came in by lately: a factory's have the same until it moves on. */
const SHORT_REVISIONS = new LRUCache<string, string>({ max: 1_000 });

/** A revision as it is stored. */
export function shortRevision(revision: string): string {
  const known = SHORT_REVISIONS.get(revision);
  if (known !== undefined) return known;
  const short = shortened(revision);
  SHORT_REVISIONS.set(revision, short);
  return short;
}

function shortened(revision: string): string {
  if (!DIGEST.test(revision)) return revision;
  return `sha256~${Buffer.from(revision.slice('sha256:'.length), 'hex').toString('base64url')}`;
}

/** The revision that was stored, in either form. */
export function fullRevision(stored: string): string {
  if (!SHORT_DIGEST.test(stored)) return stored;
  return `sha256:${Buffer.from(stored.slice('sha256~'.length), 'base64url').toString('hex')}`;
}

/** A UUID in 22 characters; undefined where it is none in lower case. */
export function shortUuid(uuid: string): string | undefined {
  return isUuid(uuid) ? Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url') : undefined;
}

/** The UUID of 22 characters. */
export function fullUuid(short: string): string {
  const digits = Buffer.from(short, 'base64url').toString('hex');
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  );
}
