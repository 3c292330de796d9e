/**
 * Whether a request carries the webhook's token, in a header or its path. spec: Authentication of deliveries (Bearer
 * token), Authentication of deliveries (URL token); contract §5.5 (Credentials).
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Headers, AuthenticationResult } from './types.ts';

const DIGEST_BYTES = 32;

/**
 * Stands in for the digest of a secret that has no value, so that its webhook answers in the same time as any other.
 */
const UNSET_DIGEST = new Uint8Array(DIGEST_BYTES);
const BEARER = 'bearer';

/** SHA-256 of a token: what is kept in memory and compared. Tokens are long random text, so no salt is needed. */
export function digestSecret(secret: Uint8Array): Uint8Array {
  return hash('sha256', secret, 'buffer');
}

/**
 * Bearer token mode: `Authorization: Bearer <token>`, scheme in any case, one space or more, the rest exact.
 * `secretDigest` undefined: the secret has no value, nothing authenticates. contract §5.
 */
export function verifyBearer(headers: Headers, secretDigest: Uint8Array | undefined): AuthenticationResult {
  const values = headers.get('authorization') ?? [];
  const token = values.length === 1 ? bearerToken(values[0] ?? '') : undefined;
  const matched = digestMatches(bytesOfHeader(token ?? ''), secretDigest);
  if (secretDigest === undefined) return { ok: false, reason: 'secret-unset' };
  if (values.length === 0) return { ok: false, reason: 'header-missing', header: 'authorization' };
  if (values.length > 1) return { ok: false, reason: 'header-repeated', header: 'authorization' };
  if (token === undefined) return { ok: false, reason: 'header-malformed', header: 'authorization' };
  if (token === '') return { ok: false, reason: 'token-missing', header: 'authorization' };
  return matched ? { ok: true } : { ok: false, reason: 'mismatch' };
}

/**
 * URL token mode: the decoded path segment; undefined when it is missing or cannot be decoded. spec: Request rules (URL
 * token mode).
 */
export function verifyUrlToken(token: string | undefined, secretDigest: Uint8Array | undefined): AuthenticationResult {
  const matched = digestMatches(token ?? '', secretDigest);
  if (secretDigest === undefined) return { ok: false, reason: 'secret-unset' };
  if (token === undefined || token === '') return { ok: false, reason: 'token-missing' };
  return matched ? { ok: true } : { ok: false, reason: 'mismatch' };
}

/** The text after `Bearer` and its spaces; empty when nothing follows; undefined when it is another scheme. */
function bearerToken(value: string): string | undefined {
  if (value.slice(0, BEARER.length).toLowerCase() !== BEARER) return undefined;
  let start = BEARER.length;
  while (value[start] === ' ') start += 1;
  if (start === value.length) return '';
  return start === BEARER.length ? undefined : value.slice(start);
}

/** Of a character a byte each. Nearly always the same bytes in UTF-8, for which no buffer has to be made. */
function bytesOfHeader(value: string): string | Uint8Array {
  return BEYOND_ASCII.test(value) ? Buffer.from(value, 'latin1') : value;
}

const BEYOND_ASCII = /[^\0-\x7f]/;

/** Filled anew by every comparison, which nothing comes between: a buffer of its own costs more than the digest. */
const CANDIDATE = Buffer.alloc(DIGEST_BYTES);

/**
 * Digests are always 32 bytes, so the comparison depends neither on the token's length nor on where it differs.
 * `candidate`: bytes, or text whose UTF-8 they are.
 */
function digestMatches(candidate: string | Uint8Array, secretDigest: Uint8Array | undefined): boolean {
  CANDIDATE.write(hash('sha256', candidate, 'binary'), 'latin1');
  return timingSafeEqual(CANDIDATE, secretDigest ?? UNSET_DIGEST);
}
