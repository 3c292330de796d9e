/**
 * Which webhook and token an ingress request target names: the raw path, split by us. spec: Ingress URL; contract §5.1.
 */
import type { AuthMode } from '#definitions';

/** contract §1. Matched literally; dot segments and doubled slashes are not resolved. */
export const INGRESS_PATH_PREFIX = '/webhooks/w/';

/**
 * Where a webhook is delivered to, below `base` (no trailing slash): `{token}` stands for the secret of a `url_token`
 * webhook. spec: Ingress URL.
 */
export function ingressUrlOf(base: string, webhookUid: string, mode: AuthMode): string {
  return `${base}${INGRESS_PATH_PREFIX}${webhookUid}${mode === 'url_token' ? '/{token}' : ''}`;
}

/** `http://host…` in front of the path: the absolute form of a request target. */
const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** `A-Z a-z 0-9 - . _ ~` behind a percent sign: characters that nobody has to encode. RFC 3986 §2.3. */
const ENCODED_UNRESERVED = /%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)/i;

/**
 * Whether the path of a request target encodes a character without need. It would name what its plain form names (RFC
 * 3986 §6.2.2.2), and pass whoever in front of us compares paths as they stand: here it names nothing.
 */
export function hasEncodedUnreserved(target: string): boolean {
  return target.includes('%') && ENCODED_UNRESERVED.test(target.split(/[?#]/, 1)[0] ?? '');
}

/** A token segment, percent-decoded once; `decoded` is absent when that is not possible. */
export interface TokenSegment {
  decoded?: string;
}

export type IngressPath =
  | { kind: 'webhook'; uid: string; token?: TokenSegment; deeper: boolean }
  | { kind: 'not-found' };

/**
 * Splits a raw request target (`request.url`). The query and one trailing slash are ignored, `%2F` makes no segment.
 * `deeper`: more segments follow the token. Not found: another path, one that encodes what needs no encoding, an empty
 * or undecodable UID.
 */
export function splitIngressPath(rawUrl: string): IngressPath {
  const path = withoutQuery(rawUrl.startsWith('/') ? rawUrl : rawUrl.replace(ABSOLUTE_FORM, ''));
  if (!path.startsWith(INGRESS_PATH_PREFIX) || hasEncodedUnreserved(path)) return NOT_FOUND;
  const slash = path.indexOf('/', INGRESS_PATH_PREFIX.length);
  const uid = decodeSegment(path.slice(INGRESS_PATH_PREFIX.length, slash < 0 ? undefined : slash));
  if (uid === undefined || uid === '') return NOT_FOUND;
  if (slash < 0 || slash === path.length - 1) return { kind: 'webhook', uid, token: undefined, deeper: false };
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  const next = path.slice(0, end).indexOf('/', slash + 1);
  const token = { decoded: decodeSegment(path.slice(slash + 1, next < 0 ? end : next)) };
  return { kind: 'webhook', uid, token, deeper: next >= 0 };
}

const NOT_FOUND: IngressPath = { kind: 'not-found' };

export type IngressRoute = { ok: true; token?: string } | { ok: false; reason: 'not-found' };

/**
 * Whether a path fits a webhook of this mode, and the token to verify. A url_token path without a token, or with one
 * that cannot be decoded, fits and has none: `verifyUrlToken` refuses it (401), like any other wrong token.
 */
export function routeFor(mode: AuthMode, path: Extract<IngressPath, { kind: 'webhook' }>): IngressRoute {
  if (path.deeper) return { ok: false, reason: 'not-found' };
  switch (mode) {
    case 'token':
    case 'signature':
      return path.token === undefined ? { ok: true } : { ok: false, reason: 'not-found' };
    case 'url_token':
      return path.token?.decoded === undefined ? { ok: true } : { ok: true, token: path.token.decoded };
  }
}

function withoutQuery(target: string): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
