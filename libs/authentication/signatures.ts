/**
 * Whether a request is signed with the webhook's key: the one engine that interprets scheme data. spec: Request rules
 * (Signature mode); contract §5, §6.
 */
import { isRepeated, onlyValue } from './headers.ts';
import { anyMatches, digestText, isMacText, macText } from './macs.ts';
import { familiesOf, inFamily, timestampHeader } from './schemes.ts';
import { headersInTemplate, signedMessage } from './signed-messages.ts';
import { readSignatureHeader, type SignatureHeader, pairValues } from './signature-headers.ts';
import { parseTimestamp, timeliness } from './timestamps.ts';
import type { Headers, SignatureScheme, AuthenticationResult } from './types.ts';

/** A rotation shows two signatures; more than this is an attempt to make us work. contract §5.5 (≤ 16). */
export const SIGNATURE_CANDIDATES_MAX = 16;

/** Stands in for the key of a secret that has no value, so that its webhook answers in the same time as any other. */
export const UNSET_KEY = new Uint8Array(32);
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

export interface SignedRequest {
  headers: Headers;
  /** The body's exact bytes, never a parsed and printed form of it. */
  body: Uint8Array;
  /** Wall clock, milliseconds. */
  nowMs: number;
}

type Refusal = Extract<AuthenticationResult, { ok: false }>;

/** The scheme's headers of one family, as this request has them. */
export interface ReadHeaders {
  family: SchemeFamily;
  /** Texts of signatures, of whatever form. */
  candidates: readonly string[];
  timestamp: string | undefined;
  timestampMs: number | undefined;
}

/**
 * Verifies the raw bytes of a request. `key` (from `prepareSigningKey`) undefined: the secret has no value, nothing
 * authenticates. Algorithm and encoding come from the scheme, never from the request. Never throws on any request.
 * A stale or future timestamp is reported as such only under a valid signature.
 */
export function verifySignature(
  scheme: SignatureScheme,
  key: Uint8Array | undefined,
  request: SignedRequest,
): AuthenticationResult {
  const verdict = verifyWithKey(scheme, key ?? UNSET_KEY, request);
  return key === undefined ? { ok: false, reason: 'secret-unset' } : verdict;
}

function verifyWithKey(scheme: SignatureScheme, key: Uint8Array, request: SignedRequest): AuthenticationResult {
  const read = readUnchecked(scheme, request.headers);
  if ('ok' in read) return read;
  const message = messageOf(read, request);
  const skew =
    read.timestampMs === undefined ? {} : { skewSeconds: Math.round((request.nowMs - read.timestampMs) / 1000) };
  if (!anyMatches(read.candidates, macOf(scheme, key, message)))
    return unlikeMacs(scheme, read.family, read.candidates) ?? { ok: false, reason: 'mismatch', ...skew };
  const timely = timelinessOf(scheme, read, request.nowMs);
  if (timely !== 'timely') return { ok: false, reason: `timestamp-${timely}`, ...skew };
  return {
    ok: true,
    ...(scheme.timestamp === undefined ? {} : { signedMessageDigest: digestText(message) }),
    ...(read.family.delivery === undefined ? {} : { deliveryHeader: read.family.delivery }),
  };
}

/**
 * Whether one of the signatures that were read is this key's over the request's body. Takes the same time whichever it
 * is.
 */
export function isSignedWith(
  scheme: SignatureScheme,
  key: Uint8Array,
  read: ReadHeaders,
  request: SignedRequest,
): boolean {
  return anyMatches(read.candidates, macOf(scheme, key, messageOf(read, request)));
}

/** Everything that the scheme reads of a request's head, or why it cannot be read. */
export function readHeaders(scheme: SignatureScheme, headers: Headers): ReadHeaders | Refusal {
  const read = readUnchecked(scheme, headers);
  return 'ok' in read ? read : (unlikeMacs(scheme, read.family, read.candidates) ?? read);
}

/** The same where the form of the signatures is not looked at: one that fits has the right one. */
function readUnchecked(scheme: SignatureScheme, headers: Headers): ReadHeaders | Refusal {
  const unfit = unfitHeader(scheme, headers);
  if (unfit !== undefined) return unfit;
  const family = completeFamily(scheme, headers);
  if ('ok' in family) return family;
  const { signature: header } = family;
  const signature = readSignatureHeader(scheme.signature, onlyValue(headers, header) ?? '');
  if (signature === undefined) return { ok: false, reason: 'header-malformed', header };
  const { candidates } = signature;
  if (candidates.length > SIGNATURE_CANDIDATES_MAX) return { ok: false, reason: 'too-many-candidates', header };
  const timestamp = timestampText(scheme, family, signature, headers);
  const timestampMs =
    scheme.timestamp && timestamp !== undefined ? parseTimestamp(timestamp, scheme.timestamp.format) : undefined;
  if (scheme.timestamp !== undefined && timestampMs === undefined) {
    const malformed = { ok: false, reason: 'timestamp-malformed', header: family.timestamp ?? header } as const;
    return unlikeMacs(scheme, family, candidates) ?? malformed;
  }
  return { family, candidates, timestamp, timestampMs };
}

/** The refusal of signatures none of which has the form of one. */
function unlikeMacs(
  { algorithm, encoding }: SignatureScheme,
  { signature: header }: SchemeFamily,
  candidates: readonly string[],
): Refusal | undefined {
  return candidates.some((text) => isMacText(algorithm, encoding, text))
    ? undefined
    : { ok: false, reason: 'header-malformed', header };
}

/**
 * A repeated header of any family is refused, so that nobody can hide a second value behind the family that is read.
 */
function unfitHeader(scheme: SignatureScheme, headers: Headers): Refusal | undefined {
  for (const { required } of schemeFamilies(scheme))
    for (const header of required)
      if (isRepeated(headers, header)) return { ok: false, reason: 'header-repeated', header };
  return undefined;
}

/**
 * The first family all of whose headers are there; else what is missing in the family that the request comes nearest
 * to.
 */
function completeFamily(scheme: SignatureScheme, headers: Headers): SchemeFamily | Refusal {
  const families = schemeFamilies(scheme);
  const isThere = (name: string): boolean => onlyValue(headers, name) !== undefined;
  const found = families.find(({ required }) => required.every(isThere));
  if (found === undefined) {
    const nearest = families.find(({ required }) => required.some(isThere)) ?? families[0];
    return { ok: false, reason: 'header-missing', header: nearest?.required.find((name) => !isThere(name)) };
  }
  const odd = found.signed.find((name) => !VISIBLE_ASCII.test(onlyValue(headers, name) ?? ''));
  return odd === undefined ? found : { ok: false, reason: 'header-malformed', header: odd };
}

/** A scheme within one family, its headers by their names. */
interface SchemeFamily {
  /** Headers that a request has to have. */
  required: readonly string[];
  /** Those of them that are themselves signed. */
  signed: readonly string[];
  signature: string;
  /** Undefined where the time is elsewhere, or nowhere. */
  timestamp: string | undefined;
  delivery: string | undefined;
  /** What is signed, as `signedMessage` takes it. */
  template: string;
}

/** Made once a scheme: names are not put together again for every request. */
const FAMILIES = new WeakMap<SignatureScheme, readonly SchemeFamily[]>();

function schemeFamilies(scheme: SignatureScheme): readonly SchemeFamily[] {
  let families = FAMILIES.get(scheme);
  if (families === undefined)
    FAMILIES.set(scheme, (families = familiesOf(scheme).map((name) => familyOf(scheme, name))));
  return families;
}

function familyOf(scheme: SignatureScheme, family: string): SchemeFamily {
  const template = inFamily(scheme.signed, family);
  return {
    required: requiredHeaders(scheme, family),
    signed: headersInTemplate(template),
    signature: inFamily(scheme.signature.header, family),
    timestamp: timestampHeader(scheme, family),
    delivery: scheme.deliveryHeader === undefined ? undefined : inFamily(scheme.deliveryHeader, family),
    template,
  };
}

/**
 * Signature header, timestamp header, and every header that is itself signed: a missing one is a refusal, never an
 * empty text.
 */
export function requiredHeaders(scheme: SignatureScheme, family: string): string[] {
  const timestamp = timestampHeader(scheme, family);
  const signed = headersInTemplate(inFamily(scheme.signed, family));
  return [inFamily(scheme.signature.header, family), ...(timestamp === undefined ? [] : [timestamp]), ...signed];
}

function timestampText(
  scheme: SignatureScheme,
  { timestamp }: SchemeFamily,
  signature: SignatureHeader,
  headers: Headers,
): string | undefined {
  if (timestamp !== undefined) return onlyValue(headers, timestamp);
  const values = pairValues(signature.pairs, scheme.timestamp?.from.slice('pair:'.length) ?? '');
  return values.length === 1 ? values[0] : undefined;
}

function timelinessOf(scheme: SignatureScheme, read: ReadHeaders, nowMs: number): 'timely' | 'stale' | 'future' {
  if (scheme.timestamp === undefined || read.timestampMs === undefined) return 'timely';
  return timeliness(read.timestampMs, nowMs, scheme.timestamp.toleranceSeconds);
}

function messageOf({ family, timestamp }: ReadHeaders, { body, headers }: SignedRequest): Uint8Array[] {
  return signedMessage(family.template, body, timestamp, (name) => onlyValue(headers, name) ?? '');
}

function macOf({ algorithm, encoding }: SignatureScheme, key: Uint8Array, message: readonly Uint8Array[]): string {
  return macText(algorithm, encoding, key, message);
}
