/** Issuers of tokens: how they are named, and what they say of their keys. contract §2.4 (Issuers), OIDC Discovery. */
import type { JSONWebKeySet } from 'jose';
import { ownMember, strictJsonObject } from './json-members.ts';

/** Public keys of an issuer. */
export type IssuerKeys = JSONWebKeySet;

/** Bytes of each document of an issuer; the largest in use have some ten. */
export const ISSUER_DOCUMENT_BYTES_MAX = 65_536;
const KEYS_MAX = 50;

const DISCOVERY = '/.well-known/openid-configuration';

/** Hosts of this machine, where an issuer may speak plain http. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Why an issuer cannot be one; undefined: it can. Its name is compared byte for byte, so there is one spelling. */
export function issuerProblem(issuer: string): string | undefined {
  if (!isPlain(issuer)) return 'must be a URL that starts with https://, without user, query or fragment';
  const { href, pathname } = new URL(issuer);
  return href === issuer || (pathname === '/' && href === `${issuer}/`)
    ? undefined
    : 'must be written as the issuer itself writes it: the host in lower case, no port 443, no relative path';
}

/** Why a document must not be asked for at this address; undefined: it may. */
export function documentUrlProblem(url: string): string | undefined {
  return isPlain(url) ? undefined : 'not an https URL';
}

function isPlain(text: string): boolean {
  if (!URL.canParse(text) || /[\s?#]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  return isSafe && username === '' && password === '';
}

/** Where an issuer describes itself. OIDC Discovery §4. */
export function discoveryUrlOf(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}${DISCOVERY}`;
}

/** Where the keys are, out of what an issuer says of itself; undefined where that is of another one, or nothing. */
export function keysUrlOf(document: string, issuer: string): string | undefined {
  const read = strictJsonObject(document);
  if (read === undefined || ownMember(read, 'issuer') !== issuer) return undefined;
  const url = ownMember(read, 'jwks_uri');
  return typeof url === 'string' && documentUrlProblem(url) === undefined ? url : undefined;
}

/** The public keys of a JWK set; secrets that somebody put there verify nothing. Undefined: it is none. */
export function readIssuerKeys(document: string): IssuerKeys | undefined {
  const keys = ownMember(strictJsonObject(document) ?? {}, 'keys');
  if (!Array.isArray(keys) || keys.length > KEYS_MAX) return undefined;
  const isPublic = (key: unknown): boolean =>
    typeof key === 'object' && key !== null && ownMember(key as Record<string, unknown>, 'kty') !== 'oct';
  return { keys: keys.filter(isPublic) as IssuerKeys['keys'] };
}
