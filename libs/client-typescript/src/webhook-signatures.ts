/** What proves the sender of a delivery: made here, and checked as the service checks it. */
import { VISIBLE_ASCII } from './addresses.ts';
import { MillwrightError, WebhookVerificationError, type WebhookVerificationReason } from './errors.ts';
import { addHeaders, uuid, type Bytes } from './requests.ts';

/**
 * How a webhook knows its senders: a bearer token, a token at the end of its URL, or a signature by the Standard
 * Webhooks.
 */
export type WebhookAuthentication = 'token' | 'url_token' | 'standard_webhooks';

export const DELIVERY_ID_HEADER = 'X-Millwright-Delivery-Id';

const DELIVERY_ID_LENGTH_MAX = 255;
const TOLERANCE_SECONDS = 300;
/**
 * A rotation shows two signatures; more than this is an attempt to make us work. Those of other versions are passed
 * over and do not count, as in the service.
 */
const SIGNATURES_MAX = 16;
/** Seconds as 10 digits or milliseconds as 13, as the service reads them. */
const UNIX_TIME = /^\d{10}(?:\d{3})?$/;
const FAMILIES = ['webhook', 'svix'] as const;
const PREFIX = 'whsec_';
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;

export interface DeliveryToSign {
  /** Default: token. */
  authentication?: WebhookAuthentication | undefined;
  secret: string;
  /** The exact bytes that will be sent; a string is its UTF-8. */
  body: string | Uint8Array;
  /** Default: a new one. */
  deliveryId?: string | undefined;
  /** Header of the delivery's id, where it is not signed. Default: X-Millwright-Delivery-Id. */
  deliveryIdHeader?: string | undefined;
  /** When it is sent: a date, or milliseconds since 1970. Default: now. */
  now?: Date | number | undefined;
}

export interface DeliveryToVerify {
  /** Default: token. */
  authentication?: WebhookAuthentication | undefined;
  secret: string;
  /** Headers as they were received, names in any case. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The exact bytes that were received. */
  body: string | Uint8Array;
  /** The URL or path that was asked for, …/webhooks/w/wh_…/<token>; needed for `url_token`. */
  url?: string | undefined;
  /** When it was received: a date, or milliseconds since 1970. Default: now. */
  now?: Date | number | undefined;
  /** Seconds that a signed timestamp may be off, in the past or the future. Default 300. */
  toleranceSeconds?: number | undefined;
}

/**
 * The headers (lower-case) that a delivery needs to be accepted. `url_token` needs none but the delivery's id: its
 * token belongs to the URL. Throws MillwrightError for a secret, an id or a header that cannot serve.
 */
export async function signDelivery({
  authentication = 'token',
  secret,
  body,
  deliveryId = newDeliveryId(),
  deliveryIdHeader = DELIVERY_ID_HEADER,
  now = Date.now(),
}: DeliveryToSign): Promise<Record<string, string>> {
  const key = readSecret(authentication, secret);
  checkDeliveryId(deliveryId);
  const headers = addHeaders({}, { [deliveryIdHeader]: deliveryId }, 'deliveryIdHeader');
  if (authentication === 'token') return { ...headers, authorization: `Bearer ${secret}` };
  if (authentication === 'url_token') return headers;
  const timestamp = String(Math.floor(Number(now) / 1_000));
  const mac = await macOf(key, `${deliveryId}.${timestamp}.`, bytesOf(body));
  return {
    ...headers,
    'webhook-id': deliveryId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${toBase64(mac)}`,
  };
}

/**
 * Whether a delivery proves who sent it, as the service decides it; times say nothing about the secret. Throws
 * WebhookVerificationError with its reason when it does not, MillwrightError for a secret that cannot serve.
 */
export async function verifyDelivery({
  authentication = 'token',
  secret,
  headers,
  body,
  url,
  now = Date.now(),
  toleranceSeconds = TOLERANCE_SECONDS,
}: DeliveryToVerify): Promise<void> {
  const key = readSecret(authentication, secret);
  const received = valuesOf(headers);
  if (authentication === 'token') return await checkToken(bearerToken(received), secret);
  if (authentication === 'url_token') return await checkToken(tokenInUrl(url), secret);
  await checkSignature(received, key, bytesOf(body), Number(now), toleranceSeconds);
}

/** The id of a delivery that has none yet. */
export function newDeliveryId(): string {
  return `msg_${uuid()}`;
}

/** Throws MillwrightError for what the service would not take as an id. */
export function checkDeliveryId(id: string): void {
  if (VISIBLE_ASCII.test(id) && id.length <= DELIVERY_ID_LENGTH_MAX) return;
  throw new MillwrightError(`deliveryId must be 1 to ${DELIVERY_ID_LENGTH_MAX} visible ASCII characters`);
}

/**
 * The key of a secret's signatures; no bytes for the modes that do not sign. Throws MillwrightError, which holds no
 * part of the secret.
 */
export function readSecret(authentication: WebhookAuthentication, secret: string): Bytes {
  switch (authentication) {
    case 'token':
      if (hasTokenLength(secret) && VISIBLE_ASCII.test(secret)) return new Uint8Array();
      throw new MillwrightError('secret must be 16 to 512 visible ASCII characters without spaces');
    case 'url_token':
      if (hasTokenLength(secret) && /^[A-Za-z0-9\-._~]+$/.test(secret) && !/^\.+$/.test(secret))
        return new Uint8Array();
      throw new MillwrightError('secret must be 16 to 512 URL-safe characters (A-Z a-z 0-9 - . _ ~), not only dots');
    case 'standard_webhooks':
      return signingKey(secret);
    default:
      throw new MillwrightError('authentication must be one of token, url_token, standard_webhooks');
  }
}

function hasTokenLength(secret: unknown): boolean {
  return typeof secret === 'string' && secret.length >= 16 && secret.length <= 512;
}

function signingKey(secret: unknown): Bytes {
  const text = typeof secret === 'string' ? secret : '';
  const key = fromBase64(text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text);
  if (key !== undefined && key.length >= KEY_BYTES_MIN && key.length <= KEY_BYTES_MAX) return key;
  throw new MillwrightError(
    `secret must be ${PREFIX} followed by base64 of ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} bytes`,
  );
}

function bearerToken(headers: ReadonlyMap<string, readonly string[]>): string | undefined {
  const values = headers.get('authorization') ?? [];
  return values.length === 1 ? /^bearer +(.+)$/i.exec(values[0] ?? '')?.[1] : undefined;
}

/** A webhook's path, and what stands behind it. */
const INGRESS_PATH = /^(.*\/webhooks\/w\/wh_[0-9a-z]{26})(?:\/(.+?))?\/?$/s;

/**
 * The path of a webhook, whatever stands before it, with what stands behind it as it is written; undefined for any
 * other path.
 */
export function splitIngressPath(path: string): { webhook: string; rest: string | undefined } | undefined {
  const [, webhook, rest] = INGRESS_PATH.exec(path) ?? [];
  return webhook === undefined ? undefined : { webhook, rest };
}

/**
 * What stands where a url_token webhook has its token, as it was written where that cannot be decoded; undefined when
 * nothing does.
 */
function tokenInUrl(url: string | undefined): string | undefined {
  const path = (url ?? '').replace(/[?#].*$/s, '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '');
  const rest = splitIngressPath(path)?.rest;
  return rest === undefined || rest.includes('/') ? undefined : decodedSegment(rest);
}

/** A segment percent-decoded once; as it is written where that cannot be. No secret of a URL holds a percent sign. */
export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

async function checkToken(token: string | undefined, secret: string): Promise<void> {
  const isRight = await isSameText(token ?? '', secret);
  if (token === undefined) throw refusal('missing-credential', 'the delivery brings no token');
  if (!isRight) throw refusal('wrong-credential', 'the token of the delivery is not that of the webhook');
}

/** The signed headers of a delivery. */
interface Signed {
  id: string;
  timestamp: string;
  candidates: readonly Uint8Array[];
}

async function checkSignature(
  headers: ReadonlyMap<string, readonly string[]>,
  key: Bytes,
  body: Uint8Array,
  nowMs: number,
  toleranceSeconds: number,
): Promise<void> {
  const { id, timestamp, candidates } = readSigned(headers);
  const mac = await macOf(key, `${id}.${timestamp}.`, body);
  // Every candidate is compared, also behind a match.
  const matches = candidates.filter((candidate) => isSame(candidate, mac));
  if (matches.length === 0)
    throw refusal('wrong-signature', 'no signature of the delivery is that of the secret over its body');
  const skewMs = Math.abs(nowMs - Number(timestamp) * (timestamp.length === 10 ? 1_000 : 1));
  if (!(skewMs <= toleranceSeconds * 1_000))
    throw refusal('stale-timestamp', `the delivery was signed more than ${toleranceSeconds} s before or after now`);
}

function readSigned(headers: ReadonlyMap<string, readonly string[]>): Signed {
  checkRepeated(headers);
  const family = familyOf(headers);
  const [id = '', timestamp = '', signature = ''] = ['id', 'timestamp', 'signature'].map(
    (part) => headers.get(`${family}-${part}`)?.[0],
  );
  if (!VISIBLE_ASCII.test(id)) throw refusal('malformed-header', `the header ${family}-id is no id`);
  if (!UNIX_TIME.test(timestamp))
    throw refusal('malformed-header', `the header ${family}-timestamp is no number of seconds or milliseconds`);
  const candidates = candidatesOf(signature);
  if (candidates.length > SIGNATURES_MAX)
    throw refusal('malformed-header', `the header ${family}-signature holds more than ${SIGNATURES_MAX} signatures`);
  return { id, timestamp, candidates };
}

/** A repeated header of any family is refused, so that nobody can hide a second value behind the one that is read. */
function checkRepeated(headers: ReadonlyMap<string, readonly string[]>): void {
  const repeated = FAMILIES.flatMap(headerNames).find((name) => (headers.get(name) ?? []).length > 1);
  if (repeated !== undefined) throw refusal('malformed-header', `the header ${repeated} is there more than once`);
}

function headerNames(family: string): string[] {
  return [`${family}-id`, `${family}-timestamp`, `${family}-signature`];
}

/**
 * The first family all of whose headers are there. Throws what is missing of the one that the delivery comes nearest
 * to.
 */
function familyOf(headers: ReadonlyMap<string, readonly string[]>): string {
  const whole = FAMILIES.find((family) => headerNames(family).every((name) => headers.has(name)));
  if (whole !== undefined) return whole;
  const nearest = FAMILIES.find((family) => headerNames(family).some((name) => headers.has(name))) ?? FAMILIES[0];
  throw refusal(
    'missing-header',
    `the delivery has no header ${headerNames(nearest).find((name) => !headers.has(name))}`,
  );
}

/** Signatures of version 1; what cannot be one is no byte long. */
function candidatesOf(signature: string): Uint8Array[] {
  const texts = signature.split(' ').filter((text) => text.startsWith('v1,'));
  return texts.map((text) => fromBase64(text.slice('v1,'.length)) ?? new Uint8Array());
}

/** Header values by lower-case name. */
function valuesOf(headers: DeliveryToVerify['headers']): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of headers instanceof Headers ? headers.entries() : Object.entries(headers)) {
    if (value !== undefined)
      values.set(name.toLowerCase(), [...(values.get(name.toLowerCase()) ?? []), ...[value].flat()]);
  }
  return values;
}

function refusal(reason: WebhookVerificationReason, message: string): WebhookVerificationError {
  return new WebhookVerificationError(reason, message);
}

async function macOf(key: Bytes, head: string, body: Uint8Array): Promise<Uint8Array> {
  const start = new TextEncoder().encode(head);
  const message = new Uint8Array(start.length + body.length);
  message.set(start);
  message.set(body, start.length);
  const { subtle } = webCrypto();
  const imported = await subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await subtle.sign('HMAC', imported, message));
}

/** Compares digests, so that the time says nothing about the secret's length or where a text differs from it. */
async function isSameText(a: string, b: string): Promise<boolean> {
  const digestOf = async (text: string): Promise<Uint8Array> =>
    new Uint8Array(await webCrypto().subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return isSame(await digestOf(a), await digestOf(b));
}

/** In the same time whichever bytes differ. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index += 1) difference |= a[index]! ^ (b[index] ?? 0);
  return difference === 0;
}

function webCrypto(): typeof globalThis.crypto {
  // Pages that were not loaded over HTTPS have none.
  if ((globalThis as { crypto?: { subtle?: unknown } }).crypto?.subtle !== undefined) return globalThis.crypto;
  throw new MillwrightError(
    'signatures need WebCrypto, which this platform has not; pages have it only when they were loaded over HTTPS',
  );
}

export function bytesOf(body: string | Uint8Array): Bytes {
  return typeof body === 'string' ? new TextEncoder().encode(body) : Uint8Array.from(body);
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Canonical base64 only, so that every key has one text; undefined for anything else. */
function fromBase64(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return toBase64(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
