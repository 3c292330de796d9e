/** What makes two deliveries of one webhook the same. spec: Delivery identity; contract 5 (Identity). */
import { createHash } from 'node:crypto';
import type { Headers } from '#authentication';
import { IDENTITY_LENGTH_MAX } from './limits.ts';
import type { Identity, IdentityKind } from './types.ts';

/** contract 1: the header any sender may set. */
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
  return identity('body_hash', `sha256:${createHash('sha256').update(request.body).digest('hex')}`);
}

/**
 * The identity of stored bytes that are delivered again, the `n`-th time (from 1) that this entry's are. Of a kind of its own: a sender that
 * calls its delivery so neither repeats one nor takes the place of one.
 */
export function resendIdentity(entryId: string, n: number): Identity {
  return identity('resend', `resend:${entryId}:${n}`);
}

/**
 * The second identity of a delivery whose scheme signs a timestamp, from the verdict's `signedMessageDigest`: a captured
 * request replayed under another unsigned id is the same delivery. 32 bytes, never equal to a hash of another kind.
 */
export function signedMessageIdentity(digest: Uint8Array): Uint8Array {
  return hashOf('signed_message', digest);
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
  const sources: { kind: IdentityKind; header: string | undefined }[] = [
    { kind: 'configured_header', header: webhook.deliveryIdHeader },
    ...schemeHeaders.map((header) => ({ kind: 'scheme_header' as const, header })),
    { kind: 'service_header', header: SERVICE_DELIVERY_HEADER },
  ];
  for (const { kind, header } of sources) {
    const value = header === undefined ? undefined : countedValue(headers, header);
    if (value !== undefined) return { kind, value };
  }
  return undefined;
}

/** A header counts if it was sent once and is 1 to 255 visible ASCII characters. */
function countedValue(headers: Headers, name: string): string | undefined {
  const [value, ...more] = headers.get(name.toLowerCase()) ?? [];
  if (value === undefined || more.length > 0) return undefined;
  return value.length <= IDENTITY_LENGTH_MAX && VISIBLE_ASCII.test(value) ? value : undefined;
}

function identity(kind: IdentityKind, value: string): Identity {
  return { kind, value, hash: hashOf(kind, Buffer.from(value, 'latin1')) };
}

/**
 * Kinds are separate namespaces: a header value that looks like another delivery's body hash does not take its place.
 * The kind is terminated, so that no kind and value read as another kind and value.
 */
function hashOf(kind: IdentityKind | 'signed_message', value: Uint8Array): Uint8Array {
  return createHash('sha256').update(`${kind}\0`).update(value).digest();
}
