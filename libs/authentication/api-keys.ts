/** What the text of an API key looks like, and the two things of it that are ever stored. contract §1. */
import { createHash } from 'node:crypto';

/** Random bytes of a key: as hard to guess as its digest is to invert. */
export const KEY_BYTES = 32;

/** Characters behind `mw_` that people see of a key: enough to tell keys apart, 24 bits of 256. */
const HINT_LENGTH = 4;

/** A key made of these random bytes. contract §1: `mw_` and their base64url. */
export function keyFromRandom(random: Uint8Array): string {
  return `mw_${Buffer.from(random).toString('base64url')}`;
}

/** Keys are stored as this only: SHA-256. */
export function hashOfKey(key: string): Uint8Array {
  return createHash('sha256').update(key).digest();
}

/** The beginning of a key as lists show it. */
export function hintOfKey(key: string): string {
  return `${key.slice(0, 'mw_'.length + HINT_LENGTH)}…`;
}
