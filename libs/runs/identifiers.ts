/**
 * Time-ordered identifiers (UUIDv7, RFC 9562) made from a given time and given random bytes. contract §1.3.
 */
import { createHash } from 'node:crypto';

/** Random bytes one identifier takes: 12 + 62 bits, rounded up. */
export const UUID_RANDOM_BYTES = 10;

/**
 * Counter in the 12 bits behind the time; its highest bit starts clear, so at least 2,048 identifiers fit into one
 * millisecond.
 */
const COUNTER_MAX = 0xfff;
const COUNTER_SEED_MAX = 0x7ff;

/** Last time that 48 bits can name. */
const TIME_MS_MAX = 2 ** 48 - 1;
const NO_RANDOM = new Uint8Array(UUID_RANDOM_BYTES);

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A UUIDv7 of this time (milliseconds since the epoch) and these ten random bytes. contract §1. */
export function uuidv7(nowMs: number, random: Uint8Array): string {
  if (random.length < UUID_RANDOM_BYTES)
    throw new RangeError(`uuidv7 needs ${UUID_RANDOM_BYTES} random bytes, got ${random.length}`);
  return written(nowMs, wordAt(random, 0) & COUNTER_MAX, random);
}

/**
 * The first UUIDv7 of a time: what was made from then on is not before it. Times before and after all IDs become the
 * nearest one.
 */
export function firstUuidv7(ms: number): string {
  return written(Math.min(Math.max(0, Math.floor(ms)), TIME_MS_MAX), 0, NO_RANDOM);
}

/** Milliseconds since the epoch that a UUIDv7 names. */
export function uuidv7TimeMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/**
 * A source of UUIDv7s that only grow, also when the clock steps back; its time runs ahead only when a millisecond is
 * full.
 */
export function uuidv7Sequence(random: (bytes: number) => Uint8Array): (nowMs: number) => string {
  let lastMs = -1;
  let counter = 0;
  return (nowMs) => {
    const bytes = random(UUID_RANDOM_BYTES);
    const seed = wordAt(bytes, 0) & COUNTER_SEED_MAX;
    if (nowMs > lastMs) [lastMs, counter] = [nowMs, seed];
    else if (counter < COUNTER_MAX) counter += 1;
    else [lastMs, counter] = [lastMs + 1, seed];
    return written(lastMs, counter, bytes);
  };
}

/** A UUID (version 8, RFC 9562) that the same parts always give: identifies what is derived and not stored. */
export function derivedUuid(...parts: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const variant = (0x80 | (Number.parseInt(digest.slice(16, 18), 16) & 0x3f)).toString(16);
  return (
    `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(18, 20)}` +
    `-${digest.slice(20, 32)}`
  );
}

/** Whether the text is a UUID in its one canonical spelling; only such texts ever become part of a path. */
export function isUuid(text: string): boolean {
  return CANONICAL.test(text);
}

/** Where each byte of an identifier stands in its text. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const DIGITS = Buffer.from('0123456789abcdef');
/** Filled anew for every identifier, and copied out as one flat text: pieces put together would be kept with it. */
const TEXT = Buffer.alloc(36, '-');
const BYTES = new Uint8Array(16);
const TWO_BYTES = 2 ** 16;
const FOUR_BYTES = 2 ** 32;

function written(ms: number, counter: number, random: Uint8Array): string {
  const high = Math.floor(ms / FOUR_BYTES);
  const low = ms % FOUR_BYTES;
  BYTES[0] = high >>> 8;
  BYTES[1] = high;
  BYTES[2] = low / (TWO_BYTES * 256);
  BYTES[3] = low / TWO_BYTES;
  BYTES[4] = low >>> 8;
  BYTES[5] = low;
  BYTES[6] = 0x70 | (counter >>> 8);
  BYTES[7] = counter;
  BYTES[8] = 0x80 | ((random[2] ?? 0) & 0x3f);
  for (let at = 9; at < BYTES.length; at += 1) BYTES[at] = random[at - 6] ?? 0;
  for (let at = 0; at < BYTES.length; at += 1) {
    const byte = BYTES[at] as number;
    const place = PLACES[at] as number;
    TEXT[place] = DIGITS[byte >>> 4] as number;
    TEXT[place + 1] = DIGITS[byte & 0xf] as number;
  }
  return TEXT.toString('latin1');
}

function wordAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
