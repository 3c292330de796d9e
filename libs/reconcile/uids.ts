/**
 * Knows how an object's UID follows from its kind and names, so that a plan can print it before the merge. contract §1.
 */
import { createHmac } from 'node:crypto';
import { updateFramed } from './framing.ts';
import type { ObjectKind } from './types.ts';

const PREFIXES: Record<ObjectKind, string> = {
  factory: 'fac_',
  webhook: 'wh_',
  automation: 'auto_',
  environment: 'env_',
  skill: 'skill_',
};

/** Crockford's base32 in lower case: no i, l, o, u, so that a UID survives being read aloud. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const BITS_PER_CHARACTER = 5;
/** 26 × 5 = 130 bits of the HMAC: beyond guessing and beyond chance collisions. */
const CHARACTERS = 26;
/** A shorter key could be searched, and every webhook's URL with it. Bytes. */
export const UID_KEY_BYTES_MIN = 16;

/**
 * The UID of a factory, or of an object of it: prefix and 26 characters of lower-case Crockford base32, the first 130
 * bits of HMAC-SHA-256 under the installation's UID key over the length-prefixed (kind, factory slug[, slug]).
 * contract §1.3 (Identifiers).
 *
 * Depends on nothing else: an object that is deleted and added again gets the same UID. Throws, as a fault of the
 * caller, on a key under 16 bytes, on a missing or empty name, and on an object slug for the factory itself (an empty
 * one counts as none).
 */
export function deriveUid(uidKey: Uint8Array, kind: ObjectKind, factorySlug: string, slug?: string): string {
  if (uidKey.length < UID_KEY_BYTES_MIN)
    throw new RangeError(`the UID key must have at least ${UID_KEY_BYTES_MIN} bytes`);
  if (factorySlug === '') throw new RangeError('a UID needs a factory slug');
  const names = slug === undefined || slug === '' ? [factorySlug] : [factorySlug, slug];
  if (names.length !== (kind === 'factory' ? 1 : 2))
    throw new RangeError(`a UID of kind ${kind} got the wrong number of names`);
  const parts = [kind, ...names];
  return PREFIXES[kind] + base32(updateFramed(createHmac('sha256', uidKey), parts).digest());
}

/** The first 130 bits, most significant first. */
function base32(digest: Uint8Array): string {
  let bits =
    BigInt(`0x${Buffer.from(digest).toString('hex')}`) >> BigInt(digest.length * 8 - CHARACTERS * BITS_PER_CHARACTER);
  let text = '';
  for (let i = 0; i < CHARACTERS; i += 1) {
    text = ALPHABET.charAt(Number(bits & 31n)) + text;
    bits >>= BigInt(BITS_PER_CHARACTER);
  }
  return text;
}
