/**
 * HMAC (RFC 2104) and digest of a message, as text. Of a small one without an object for either: what a digest in one
 * call takes is a quarter of what the objects of node:crypto do. contract §5.5 (Credentials).
 */
import { createHash, createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { SignatureScheme } from './types.ts';

type Algorithm = SignatureScheme['algorithm'];
type Encoding = SignatureScheme['encoding'];

const MAC_BYTES: Readonly<Record<Algorithm, number>> = { sha1: 20, sha256: 32, sha512: 64 };
/** What the algorithm digests at a time, which is what a key is filled up to. RFC 2104, section 2 (B). */
const BLOCK_BYTES: Readonly<Record<Algorithm, number>> = { sha1: 64, sha256: 64, sha512: 128 };
/** RFC 2104, section 2 (ipad, opad). */
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/** Up to so many bytes a message is copied behind its key, which takes less time than to digest parts. */
export const COPIED_BYTES_MAX = 8_192 + 1_024;

/** Filled anew by every MAC, which nothing comes between. */
const INNER = Buffer.alloc(BLOCK_BYTES.sha512 + COPIED_BYTES_MAX);
const OUTER = Buffer.alloc(BLOCK_BYTES.sha512 + MAC_BYTES.sha512);

/** The MAC of a message in consecutive parts. */
export function macText(
  algorithm: Algorithm,
  encoding: Encoding,
  key: Uint8Array,
  message: readonly Uint8Array[],
): string {
  const [first, ...others] = message;
  const isSmall = first !== undefined && others.length === 0 && first.length <= COPIED_BYTES_MAX;
  if (isSmall && key.length <= BLOCK_BYTES[algorithm]) return oneShotMac(algorithm, encoding, key, first);
  const hmac = createHmac(algorithm, key);
  for (const part of message) hmac.update(part);
  return hmac.digest(encoding);
}

/** H(key ⊕ opad, H(key ⊕ ipad, message)). RFC 2104, section 2. */
function oneShotMac(algorithm: Algorithm, encoding: Encoding, key: Uint8Array, message: Uint8Array): string {
  const block = BLOCK_BYTES[algorithm];
  for (let at = 0; at < block; at += 1) {
    const byte = at < key.length ? (key[at] as number) : 0;
    INNER[at] = byte ^ INNER_PAD;
    OUTER[at] = byte ^ OUTER_PAD;
  }
  INNER.set(message, block);
  OUTER.write(hash(algorithm, INNER.subarray(0, block + message.length), 'binary'), block, 'latin1');
  return hash(algorithm, OUTER.subarray(0, block + MAC_BYTES[algorithm]), encoding);
}

/** SHA-256 of a message in consecutive parts: one character for each byte. */
export function digestText(message: readonly Uint8Array[]): string {
  const [first, ...others] = message;
  if (first !== undefined && others.length === 0) return hash('sha256', first, 'binary');
  const digest = createHash('sha256');
  for (const part of message) digest.update(part);
  return digest.digest('binary');
}

/** Whether a text is the one that some MAC has: lower-case hexadecimal, or padded base64 in its canonical form. */
export function isMacText(algorithm: Algorithm, encoding: Encoding, text: string): boolean {
  return FORMS[encoding][algorithm].test(text);
}

const ALGORITHMS = ['sha1', 'sha256', 'sha512'] as const;

const FORMS: Readonly<Record<Encoding, Readonly<Record<Algorithm, RegExp>>>> = {
  hex: formsBy((bytes) => new RegExp(`^[0-9a-f]{${2 * bytes}}$`)),
  base64: formsBy(canonicalBase64),
};

function formsBy(formOf: (bytes: number) => RegExp): Readonly<Record<Algorithm, RegExp>> {
  const forms = ALGORITHMS.map((algorithm) => [algorithm, formOf(MAC_BYTES[algorithm])] as const);
  return Object.fromEntries(forms) as Record<Algorithm, RegExp>;
}

/** The bits of the last character that stand for no byte are zero. RFC 4648, section 3.5. */
function canonicalBase64(bytes: number): RegExp {
  const whole = 4 * Math.floor(bytes / 3);
  const rest = { 0: '', 1: '[A-Za-z0-9+/][AQgw]==', 2: '[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=' }[bytes % 3] ?? '';
  return new RegExp(`^[A-Za-z0-9+/]{${whole}}${rest}$`);
}

/**
 * Whether one of the texts is the expected one. Every one as long as it is compared, also after a match: the time says
 * nothing about which one it was, nor where another differs.
 */
export function anyMatches(texts: readonly string[], expected: string): boolean {
  const compared = comparedOf(expected.length);
  compared.expected.write(expected, 'latin1');
  let matched = false;
  for (const text of texts) {
    if (text.length !== expected.length) continue;
    compared.given.write(text, 'latin1');
    // Characters beyond a byte are cut by what is compared.
    matched = (timingSafeEqual(compared.given, compared.expected) && text === expected) || matched;
  }
  return matched;
}

/** Filled anew by every comparison, which nothing comes between: a pair for each length that a MAC's text has. */
const COMPARED = new Map<number, { given: Buffer; expected: Buffer }>();

function comparedOf(length: number): { given: Buffer; expected: Buffer } {
  let compared = COMPARED.get(length);
  if (compared === undefined)
    COMPARED.set(length, (compared = { given: Buffer.alloc(length), expected: Buffer.alloc(length) }));
  return compared;
}
