/**
 * The sender's side: the headers a provider would put on a request, for the command line's `send` and for tests.
 * contract §6, §11.
 */
import { createHmac } from 'node:crypto';
import { familiesOf, inFamily, timestampHeader } from './schemes.ts';
import { headersInTemplate, signedMessage } from './signed-messages.ts';
import type { SignatureScheme } from './types.ts';

export interface MessageToSign {
  body: Uint8Array;
  /** Wall clock, milliseconds. */
  nowMs: number;
  /**
   * The provider's delivery id. Needed where it is signed (standard_webhooks); left out of schemes that have no such
   * header.
   */
  deliveryId?: string;
  /** Header family, for schemes that have several; the first when absent. */
  family?: string;
}

/**
 * Headers (lower-case) that sign the body under the scheme with a key from `prepareSigningKey`.
 * Throws a TypeError when the scheme signs a delivery id and none is given.
 */
export function sign(scheme: SignatureScheme, key: Uint8Array, message: MessageToSign): Record<string, string> {
  const family = message.family ?? familiesOf(scheme)[0] ?? '';
  const timestamp = scheme.timestamp === undefined ? undefined : timestampText(scheme.timestamp.format, message.nowMs);
  const headers = deliveryHeaders(scheme, family, message.deliveryId);
  const template = inFamily(scheme.signed, family);
  const missing = headersInTemplate(template).find((name) => headers[name] === undefined);
  if (missing !== undefined) throw new TypeError(`${scheme.id} signs the header ${missing}: a delivery id is needed`);
  const hmac = createHmac(scheme.algorithm, key);
  for (const part of signedMessage(template, message.body, timestamp, (name) => headers[name] ?? '')) hmac.update(part);
  const carrier = timestampHeader(scheme, family);
  return {
    ...headers,
    ...(carrier === undefined || timestamp === undefined ? {} : { [carrier]: timestamp }),
    [inFamily(scheme.signature.header, family)]: signatureText(scheme, hmac.digest(scheme.encoding), timestamp),
  };
}

function deliveryHeaders(
  scheme: SignatureScheme,
  family: string,
  deliveryId: string | undefined,
): Record<string, string> {
  if (scheme.deliveryHeader === undefined || deliveryId === undefined) return {};
  return { [inFamily(scheme.deliveryHeader, family)]: deliveryId };
}

function timestampText(format: 'unix' | 'rfc3339', nowMs: number): string {
  return format === 'unix' ? String(Math.floor(nowMs / 1000)) : new Date(nowMs).toISOString();
}

function signatureText(scheme: SignatureScheme, mac: string, timestamp: string | undefined): string {
  const { prefix = '', itemSeparator = '', pairSeparator, keys = [] } = scheme.signature;
  if (pairSeparator === undefined) return prefix + mac;
  const from = scheme.timestamp?.from ?? '';
  const time = from.startsWith('pair:') ? [`${from.slice('pair:'.length)}${pairSeparator}${timestamp ?? ''}`] : [];
  return prefix + [...time, `${keys[0] ?? ''}${pairSeparator}${mac}`].join(itemSeparator);
}
