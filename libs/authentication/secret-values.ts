/**
 * Which values may serve as which kind of credential, and what a generated one looks like. contract §2.2.
 */
import { prepareSigningKey } from './signing-keys.ts';
import { SIGNATURE_SCHEMES } from './schemes.ts';
import type { SecretUse } from './types.ts';

/** Shorter tokens can be guessed, longer ones do not fit comfortably into one header or URL. */
const TOKEN_LENGTH_MIN = 16;
const TOKEN_LENGTH_MAX = 512;
/** Providers choose their secrets; below this the MAC could be brute-forced from one captured request. */
const SIGNING_SECRET_BYTES_MIN = 8;

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const URL_SAFE = /^[A-Za-z0-9\-._~]+$/;
const ONLY_DOTS = /^\.+$/;

const REQUIREMENTS: Readonly<Record<SecretUse, string>> = {
  token: `a bearer token must be ${TOKEN_LENGTH_MIN} to ${TOKEN_LENGTH_MAX} visible ASCII characters without spaces`,
  url_token:
    `a URL token must be ${TOKEN_LENGTH_MIN} to ${TOKEN_LENGTH_MAX} URL-safe characters (A-Z a-z 0-9 - . _ ~), ` +
    'not only dots',
  signature: `a signing secret must be at least ${SIGNING_SECRET_BYTES_MIN} bytes long`,
  standard_webhooks: 'a Standard Webhooks secret must be whsec_ followed by canonical base64 of 24 to 64 bytes',
};

/** Which use a webhook makes of its secret; `scheme` is the identifier in signature mode. */
export function secretUse(mode: 'token' | 'url_token' | 'signature', scheme?: string): SecretUse {
  if (mode !== 'signature') return mode;
  return SIGNATURE_SCHEMES.get(scheme ?? '')?.key === 'whsec' ? 'standard_webhooks' : 'signature';
}

/** Whether the exact stored bytes may serve for this use. */
export function isUsable(use: SecretUse, value: Uint8Array): boolean {
  switch (use) {
    case 'token':
      return hasTokenLength(value) && VISIBLE_ASCII.test(latin1(value));
    case 'url_token':
      return hasTokenLength(value) && URL_SAFE.test(latin1(value)) && !ONLY_DOTS.test(latin1(value));
    case 'signature':
      return value.length >= SIGNING_SECRET_BYTES_MIN;
    case 'standard_webhooks':
      return prepareSigningKey({ key: 'whsec' }, value).ok;
  }
}

/**
 * For each use, whether the value may serve there: the facts that are kept beside a secret so that its value need not
 * be read again.
 */
export function secretUsability(value: Uint8Array): Record<SecretUse, boolean> {
  return {
    token: isUsable('token', value),
    url_token: isUsable('url_token', value),
    signature: isUsable('signature', value),
    standard_webhooks: isUsable('standard_webhooks', value),
  };
}

/** What is required of the value, when it does not meet it; undefined when it does. Names no part of the value. */
export function unusableReason(use: SecretUse, value: Uint8Array): string | undefined {
  return isUsable(use, value) ? undefined : REQUIREMENTS[use];
}

/** What a value for this use must look like, as one sentence without a final stop. */
export function secretRequirement(use: SecretUse): string {
  return REQUIREMENTS[use];
}

/**
 * A secret of ours made of the given random bytes (32 are meant; 24 to 64 are usable everywhere): URL-safe, or `whsec_`
 * for Standard Webhooks.
 */
export function secretFromRandom(use: SecretUse, random: Uint8Array): string {
  const bytes = Buffer.from(random);
  return use === 'standard_webhooks' ? `whsec_${bytes.toString('base64')}` : bytes.toString('base64url');
}

function hasTokenLength(value: Uint8Array): boolean {
  return value.length >= TOKEN_LENGTH_MIN && value.length <= TOKEN_LENGTH_MAX;
}

function latin1(value: Uint8Array): string {
  return Buffer.from(value).toString('latin1');
}
