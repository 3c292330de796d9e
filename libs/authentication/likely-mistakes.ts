/**
 * With which common mistake a signature would have matched: a hint for whoever manages the webhook, never for the
 * sender. contract §5.5 (Credentials).
 */
import { familiesOf, SIGNATURE_SCHEMES } from './schemes.ts';
import { reprintedJson } from './reprinted-json.ts';
import {
  isSignedWith,
  readHeaders,
  requiredHeaders,
  UNSET_KEY,
  type ReadHeaders,
  type SignedRequest,
} from './signatures.ts';
import { prepareSigningKey, secretOfKey, WHSEC_PREFIX } from './signing-keys.ts';
import type { Headers, LikelyMistake, SignatureScheme } from './types.ts';

/** A larger body is not hashed a dozen times. */
const BODY_BYTES_MAX = 262_144;
/** Schemes beside its own whose headers a request may carry and have looked at; with the others at most 13 MACs. */
const OTHER_SCHEMES_MAX = 2;

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const HEX = /^(?:[0-9A-Fa-f]{2})+$/;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** A request as its sender may have signed it. `key` undefined: this secret has no such form. */
interface Attempt {
  mistake: LikelyMistake;
  scheme: SignatureScheme;
  read: ReadHeaders;
  key: Uint8Array | undefined;
  body: Uint8Array;
}

/**
 * The mistake with which a refused request would have been valid; undefined where none of those known explains it. Of
 * several that would, the first in the order of the type. `key` as for `verifySignature`. Means nothing for a request
 * whose signature is right.
 *
 * Which work is done depends on the request alone: everything is tried also after a match, a form that the secret does
 * not have is tried with a key that stands in, and a secret without a value is no exception. Else the time of the
 * answer would tell a sender that it came near.
 */
export function likelyMistake(
  scheme: SignatureScheme,
  key: Uint8Array | undefined,
  request: SignedRequest,
): LikelyMistake | undefined {
  const read = readHeaders(scheme, request.headers);
  if ('ok' in read) return isOfAnotherScheme(scheme, request.headers) ? 'other-scheme' : undefined;
  if (request.body.length > BODY_BYTES_MAX) return undefined;
  const found = attemptsOf(scheme, key ?? UNSET_KEY, read, request).filter(isMade(request));
  return key === undefined ? undefined : found[0]?.mistake;
}

function isMade(request: SignedRequest): (attempt: Attempt) => boolean {
  return ({ scheme, key, read, body }) => {
    const matches = isSignedWith(scheme, key ?? UNSET_KEY, read, { ...request, body });
    return matches && key !== undefined;
  };
}

function attemptsOf(
  scheme: SignatureScheme,
  key: Uint8Array,
  read: ReadHeaders,
  { headers, body }: SignedRequest,
): Attempt[] {
  const secret = secretOfKey(scheme, key);
  const own = { scheme, read, key, body };
  const shorter = withoutFinalNewline(body);
  return [
    ...[Buffer.concat([body, Buffer.from('\n')]), ...(shorter === undefined ? [] : [shorter])].map((other) => ({
      ...own,
      mistake: 'trailing-newline' as const,
      body: other,
    })),
    ...keysWithNewline(scheme, key).map((other) => ({ ...own, mistake: 'trailing-newline' as const, key: other })),
    ...reprintedJson(body).map((other) => ({ ...own, mistake: 're-encoded-json' as const, body: other })),
    ...keysInOtherForms(scheme, secret).map((other) => ({ ...own, mistake: 'key-encoding' as const, key: other })),
    ...otherSchemes(scheme, headers).map((other) => ({
      ...other,
      mistake: 'other-scheme' as const,
      key: keyFor(other.scheme, secret),
      body,
    })),
  ];
}

/** Of a key that is base64 there is none: decoders pass newlines over. */
function keysWithNewline({ key: form }: SignatureScheme, key: Uint8Array): (Uint8Array | undefined)[] {
  if (form === 'whsec') return [];
  return [Buffer.concat([key, Buffer.from('\n')]), Buffer.concat([key, Buffer.from('\r\n')]), withoutFinalNewline(key)];
}

/** Text taken for bytes, or bytes for text. */
function keysInOtherForms({ key: form }: SignatureScheme, secret: Uint8Array): (Uint8Array | undefined)[] {
  const text = Buffer.from(secret).toString('latin1');
  const bare = text.startsWith(WHSEC_PREFIX) ? text.slice(WHSEC_PREFIX.length) : text;
  if (form === 'whsec') return [secret, Buffer.from(bare, 'latin1')];
  return [
    BASE64.test(bare) ? Buffer.from(bare, 'base64') : undefined,
    HEX.test(bare) ? Buffer.from(bare, 'hex') : undefined,
    bare === text ? undefined : Buffer.from(bare, 'latin1'),
  ];
}

function keyFor(scheme: SignatureScheme, secret: Uint8Array): Uint8Array | undefined {
  const prepared = prepareSigningKey(scheme, secret);
  return prepared.ok ? prepared.key : undefined;
}

/** Schemes whose headers a request has, all of them and readable. */
function otherSchemes(own: SignatureScheme, headers: Headers): Pick<Attempt, 'scheme' | 'read'>[] {
  const complete = [...SIGNATURE_SCHEMES.values()].flatMap((scheme) => {
    const read = scheme.id === own.id ? undefined : readHeaders(scheme, headers);
    return read === undefined || 'ok' in read ? [] : [{ scheme, read }];
  });
  return complete.slice(0, OTHER_SCHEMES_MAX);
}

/** Seen by the headers' names: not one of its own scheme, and all of another. */
function isOfAnotherScheme(own: SignatureScheme, headers: Headers): boolean {
  const hasOwn = familiesOf(own).some((family) => requiredHeaders(own, family).some((name) => headers.has(name)));
  return !hasOwn && otherSchemes(own, headers).length > 0;
}

/** Undefined for what does not end in a newline. */
function withoutFinalNewline(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.at(-1) !== NEWLINE) return undefined;
  return bytes.subarray(0, bytes.at(-2) === CARRIAGE_RETURN ? -2 : -1);
}
