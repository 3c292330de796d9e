/** What makes two deliveries of one webhook the same. spec: Delivery identity; contract §5.7 (Identity). */
import { hash } from 'node:crypto';
import type { Headers } from '#authentication';
import { IDENTITY_LENGTH_MAX } from '../limits.ts';
import type { Identity, IdentityKind } from '../types.ts';

/** contract §1: the header any sender may set. */
export const SERVICE_DELIVERY_HEADER = 'x-millwright-delivery-id';

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** The part of a webhook that says how its deliveries are named. */
export interface IdentifiedWebhook {
  /** Lower-case. */
  deliveryIdHeader?: string;
}

/**
 * The identity of a delivery: configured header → the scheme's delivery header (as the signature verdict named it) →
 * `X-Millwright-Delivery-Id` → `sha256:` and the hex digest of the body. A header that does not count is passed over.
 */
export function identify(
  request: { headers: Headers; body: Uint8Array },
  webhook: IdentifiedWebhook,
  schemeDeliveryHeader?: string,
): Identity {
  const named = namedBy(request.headers, webhook, schemeDeliveryHeader === undefined ? [] : [schemeDeliveryHeader]);
  if (named !== undefined) return identity(named.kind, named.value);
  return identity('body_hash', `sha256:${hash('sha256', request.body, 'hex')}`);
}

/**
 * The identity of stored bytes that are delivered again, the `n`-th time (from 1) that this entry's are. Of a kind of
 * its own: a sender that calls its delivery so neither repeats one nor takes the place of one.
 */
export function resendIdentity(entryId: string, n: number): Identity {
  return identity('resend', `resend:${entryId}:${n}`);
}

/**
 * The second identity of a delivery whose scheme signs a timestamp, from the verdict's `signedMessageDigest`: a
 * captured request replayed under another unsigned id is the same delivery. 32 bytes, never equal to a hash of another
 * kind.
 */
export function signedMessageIdentity(digest: string): string {
  return hashOf('signed_message', digest);
}

/**
 * The second identity of a delivery whose webhook protects against replays by its body: the bytes that the scheme has
 * signed, whatever the request calls itself. 32 bytes, never equal to a hash of another kind.
 */
export function signedBodyIdentity(body: Uint8Array): string {
  return hashOf('signed_body', hash('sha256', body, 'binary'));
}

/**
 * How a refused delivery is named in the log: its first valid identity header; undefined: by its entry's own id.
 * `schemeDeliveryHeaders`: `deliveryHeadersOf(scheme)` in signature mode, since no verdict chose the family.
 */
export function refusedDeliveryId(
  headers: Headers,
  webhook: IdentifiedWebhook,
  schemeDeliveryHeaders: readonly string[] = [],
): string | undefined {
  return namedBy(headers, webhook, schemeDeliveryHeaders)?.value;
}

function namedBy(
  headers: Headers,
  webhook: IdentifiedWebhook,
  schemeHeaders: readonly string[],
): { kind: IdentityKind; value: string } | undefined {
  const { deliveryIdHeader } = webhook;
  const configured = deliveryIdHeader === undefined ? undefined : countedValue(headers, deliveryIdHeader.toLowerCase());
  if (configured !== undefined) return { kind: 'configured_header', value: configured };
  for (const header of schemeHeaders) {
    const value = countedValue(headers, header.toLowerCase());
    if (value !== undefined) return { kind: 'scheme_header', value };
  }
  const named = countedValue(headers, SERVICE_DELIVERY_HEADER);
  return named === undefined ? undefined : { kind: 'service_header', value: named };
}

/** A header counts if it was sent once and is 1 to 255 visible ASCII characters. */
function countedValue(headers: Headers, name: string): string | undefined {
  const values = headers.get(name);
  const value = values?.[0];
  if (value === undefined || values?.length !== 1) return undefined;
  return value.length <= IDENTITY_LENGTH_MAX && VISIBLE_ASCII.test(value) ? value : undefined;
}

function identity(kind: IdentityKind, value: string): Identity {
  // Visible ASCII: one byte for each character, so that no bytes have to be put together first.
  return { kind, value, hash: hash('sha256', `${kind}\0${value}`, 'binary') };
}

/**
 * Kinds are separate namespaces: a header value that looks like another delivery's body hash does not take its place.
 * The kind is terminated, so that no kind and value read as another kind and value. `digest`: one character for each of
 * its 32 bytes.
 */
function hashOf(kind: SignedKind, digest: string): string {
  const bytes = PREFIXED[kind];
  bytes.write(digest, bytes.length - DIGEST_BYTES, 'latin1');
  return hash('sha256', bytes, 'binary');
}

/** What is only known of a delivery, beside the kinds that name one. */
type SignedKind = 'signed_message' | 'signed_body';

const DIGEST_BYTES = 32;

/** The kind, and room for a digest, which is filled anew every time. */
const PREFIXED: Readonly<Record<SignedKind, Buffer>> = {
  signed_message: prefixed('signed_message'),
  signed_body: prefixed('signed_body'),
};

function prefixed(kind: SignedKind): Buffer {
  return Buffer.concat([Buffer.from(`${kind}\0`), Buffer.alloc(DIGEST_BYTES)]);
}
