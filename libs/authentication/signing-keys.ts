/**
 * How a secret's bytes become the key of a MAC: `whsec_` is base64 for Standard Webhooks and raw text for Stripe.
 * contract §6.
 */
import { decodeBase64 } from './encodings.ts';
import type { SignatureScheme } from './types.ts';

export const WHSEC_PREFIX = 'whsec_';
/** Standard Webhooks: a key is 24 to 64 bytes of entropy. */
const WHSEC_KEY_BYTES_MIN = 24;
const WHSEC_KEY_BYTES_MAX = 64;

export type SigningKey = { ok: true; key: Uint8Array } | { ok: false; reason: string };

/** The MAC key for a scheme from the exact stored bytes of a secret. The reason never holds any part of the value. */
export function prepareSigningKey(scheme: Pick<SignatureScheme, 'key'>, secret: Uint8Array): SigningKey {
  switch (scheme.key) {
    case 'utf8':
      return secret.length > 0 ? { ok: true, key: secret } : { ok: false, reason: 'the secret is empty' };
    case 'whsec':
      return whsecKey(secret);
  }
}

/**
 * The stored bytes of a secret from the key that was prepared of it: what follows `whsec_` is canonical, so that there
 * is one.
 */
export function secretOfKey(scheme: Pick<SignatureScheme, 'key'>, key: Uint8Array): Uint8Array {
  switch (scheme.key) {
    case 'utf8':
      return key;
    case 'whsec':
      return Buffer.from(`${WHSEC_PREFIX}${Buffer.from(key).toString('base64')}`);
  }
}

function whsecKey(secret: Uint8Array): SigningKey {
  const text = Buffer.from(secret).toString('latin1');
  if (!text.startsWith(WHSEC_PREFIX)) return { ok: false, reason: `the secret does not begin with ${WHSEC_PREFIX}` };
  const key = decodeBase64(text.slice(WHSEC_PREFIX.length));
  if (key === undefined) return { ok: false, reason: `what follows ${WHSEC_PREFIX} is not canonical base64` };
  if (key.length < WHSEC_KEY_BYTES_MIN || key.length > WHSEC_KEY_BYTES_MAX) {
    return { ok: false, reason: `the key is not ${WHSEC_KEY_BYTES_MIN} to ${WHSEC_KEY_BYTES_MAX} bytes long` };
  }
  return { ok: true, key };
}
