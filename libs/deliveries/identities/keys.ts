/**
 * Identities as keys of one length, and many of them in a row of bytes, sorted. contract §5.7 (Identity).
 */
import { hash } from 'node:crypto';

/** Of a SHA-256: among 10^12 identities two are equal with a probability of 10^-15. */
export const IDENTITY_KEY_BYTES = 16;

/** Keys that one call may sort: their positions stand in the lower bits of a number that is exact below 2^53. */
export const SORTED_KEYS_MAX = 2 ** 20;

/** Filled anew for every key: of nearly all webhooks and hashes it is as long. */
let named = Buffer.alloc(0);

/**
 * The key of one identity (its hash, of any length, a byte a character) of one webhook, as 16 characters of one byte
 * each: texts sort as their bytes do. The UID is terminated, so that no UID and hash read as another UID and hash.
 */
export function identityKey(webhookUid: string, identityHash: string): string {
  const length = Buffer.byteLength(webhookUid) + 1 + identityHash.length;
  if (named.length !== length) named = Buffer.alloc(length);
  const end = named.write(webhookUid);
  named[end] = 0;
  named.write(identityHash, end + 1, 'latin1');
  return hash('sha256', named, 'binary').slice(0, IDENTITY_KEY_BYTES);
}

/** A key as four words of 32 bits, which are random, because a key is a hash. The filter looks at three. */
export interface KeyWords {
  block: number;
  low: number;
  high: number;
  last: number;
}

/** Of a key as 16 characters of one byte each. */
export function wordsOfKey(key: string): KeyWords {
  return { block: wordOf(key, 0), low: wordOf(key, 4), high: wordOf(key, 8), last: wordOf(key, 12) };
}

function wordOf(key: string, from: number): number {
  return (
    ((key.charCodeAt(from) << 24) |
      (key.charCodeAt(from + 1) << 16) |
      (key.charCodeAt(from + 2) << 8) |
      key.charCodeAt(from + 3)) >>>
    0
  );
}

/** How many keys stand in these bytes. */
export function keyCount(keys: Uint8Array): number {
  return keys.length / IDENTITY_KEY_BYTES;
}

/** The key at a position. */
export function keyAt(keys: Buffer, position: number): string {
  return keys.toString('latin1', position * IDENTITY_KEY_BYTES, (position + 1) * IDENTITY_KEY_BYTES);
}

/** Keys in a row of bytes, in their order. */
export function packKeys(keys: readonly string[]): Buffer {
  return Buffer.from(keys.join(''), 'latin1');
}

/** The same keys, ascending; at most SORTED_KEYS_MAX of them. A million takes about a quarter of a second. */
export function sortKeys(keys: Buffer): Buffer {
  const count = keyCount(keys);
  if (count > SORTED_KEYS_MAX) throw new RangeError(`at most ${SORTED_KEYS_MAX} keys are sorted at once`);
  // By their first 32 bits with their positions behind, which the engine sorts as numbers; few keys share those.
  const order = new Float64Array(count);
  for (let position = 0; position < count; position += 1)
    order[position] = keys.readUInt32BE(position * IDENTITY_KEY_BYTES) * SORTED_KEYS_MAX + position;
  order.sort();
  const positions = Uint32Array.from(order, (value) => value % SORTED_KEYS_MAX);
  for (let at = 1; at < count; at += 1) {
    const position = positions[at] as number;
    let to = at;
    while (to > 0 && compareAt(keys, positions[to - 1] as number, keys, position) > 0) {
      positions[to] = positions[to - 1] as number;
      to -= 1;
    }
    positions[to] = position;
  }
  const sorted = Buffer.allocUnsafe(keys.length);
  positions.forEach((position, at) => copyKey(keys, position, sorted, at));
  return sorted;
}

/** Copies the key at one position of bytes to a position of others. */
export function copyKey(from: Buffer, position: number, to: Buffer, at: number): void {
  const start = position * IDENTITY_KEY_BYTES;
  const target = at * IDENTITY_KEY_BYTES;
  // Faster than a call of copy() for so few bytes.
  for (let byte = 0; byte < IDENTITY_KEY_BYTES; byte += 1) to[target + byte] = from[start + byte] as number;
}

/** Below 0 where the key at `a` of `left` stands before the one at `b` of `right`. */
export function compareAt(left: Buffer, a: number, right: Buffer, b: number): number {
  const start = a * IDENTITY_KEY_BYTES;
  const other = b * IDENTITY_KEY_BYTES;
  const difference = left.readUInt32BE(start) - right.readUInt32BE(other);
  if (difference !== 0) return difference;
  return left.compare(right, other, other + IDENTITY_KEY_BYTES, start, start + IDENTITY_KEY_BYTES);
}

/** The position of the first of these sorted keys that is not below `key`; their number where all are. */
export function lowerBound(keys: Buffer, key: string): number {
  const wanted = Buffer.from(key, 'latin1');
  let [low, high] = [0, keyCount(keys)];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareAt(keys, middle, wanted, 0) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether the key is one of these sorted ones. */
export function hasKey(keys: Buffer, key: string): boolean {
  const position = lowerBound(keys, key);
  return position < keyCount(keys) && keyAt(keys, position) === key;
}

/** The position of the first of these sorted keys above that one, or of the first (''); their number where none is. */
export function positionAbove(keys: Buffer, above: string): number {
  if (above === '') return 0;
  const position = lowerBound(keys, above);
  return position < keyCount(keys) && keyAt(keys, position) === above ? position + 1 : position;
}
