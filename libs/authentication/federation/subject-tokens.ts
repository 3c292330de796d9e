/**
 * Tokens that build servers bring: read strictly before anything is asked, verified by the keys of their issuer.
 * contract §2.4 (Exchange), RFC 7519, RFC 8725.
 */
import { createHash } from 'node:crypto';
import { createLocalJWKSet, errors, jwtVerify } from 'jose';
import { ownMember, strictJsonObject } from './json-members.ts';
import { issuerProblem, type IssuerKeys } from './issuers.ts';

/** Tokens of build servers have 1 to 3 KB. */
export const SUBJECT_TOKEN_CHARACTERS_MAX = 8_192;
/** How long after it was issued a token is exchanged at most, whatever end it names itself. */
export const TOKEN_AGE_MS_MAX = 3_600_000;
/** What clocks of issuers may differ by. */
const SKEW_SECONDS = 30;

/** Signatures by a key that only the issuer has. Never `none`, and never a secret that both sides know. */
const ALGORITHMS: readonly string[] = ['RS256', 'ES256', 'PS256', 'EdDSA'];
/** What a header of an ID token says; one that brings its own key, or asks for more, is refused. RFC 8725 §3.10. */
const HEADERS: readonly string[] = ['alg', 'kid', 'typ', 'x5t', 'x5t#S256'];
const KEY_ID_CHARACTERS_MAX = 256;
const TYPE = /^JWT$/i;
/** A subject names a key in lists, logs and terminals, so it has no character that is not seen, and no half of one. */
const UNSEEN = /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;

/** The rule that refuses a token: for the log, never for who sent it. */
export type TokenRefusal =
  | 'size'
  | 'form'
  | 'header'
  | 'algorithm'
  | 'issuer'
  | 'keys-unavailable'
  | 'key'
  | 'signature'
  | 'expired'
  | 'not-yet-valid'
  | 'age'
  | 'audience'
  | 'claims'
  | 'ambiguous'
  | 'replayed';

/** A token that has the form of one; nothing in it is proven. */
export interface SubjectToken {
  text: string;
  /** `iss`, as it is written. */
  issuer: string;
  keyId: string;
}

/** What a verified token says. */
export interface SubjectClaims {
  issuer: string;
  subject: string;
  audience: string;
  issuedAtMs: number;
  expiresAtMs: number;
  tokenId?: string;
  all: Readonly<Record<string, unknown>>;
}

type Read<T> = { ok: true; value: T } | { ok: false; reason: TokenRefusal };

/** Reads a token without believing it. */
export function readSubjectToken(text: string): Read<SubjectToken> {
  if (text.length > SUBJECT_TOKEN_CHARACTERS_MAX) return refused('size');
  const [headerText, payloadText, signature, ...more] = text.split('.').map(decoded);
  if (headerText === undefined || payloadText === undefined || !signature || more.length > 0) return refused('form');
  const [header, payload] = [strictJsonObject(headerText), strictJsonObject(payloadText)];
  if (header === undefined || payload === undefined) return refused('form');
  const [algorithm, keyId, type] = ['alg', 'kid', 'typ'].map((name) => ownMember(header, name));
  if (!ALGORITHMS.includes(algorithm as string)) return refused('algorithm');
  if (Object.keys(header).some((name) => !HEADERS.includes(name))) return refused('header');
  if (type !== undefined && !(typeof type === 'string' && TYPE.test(type))) return refused('header');
  if (typeof keyId !== 'string' || keyId === '' || keyId.length > KEY_ID_CHARACTERS_MAX) return refused('header');
  const issuer = ownMember(payload, 'iss');
  // Nobody can have named an issuer that cannot be one: not even the database is asked.
  if (typeof issuer !== 'string' || issuerProblem(issuer) !== undefined) return refused('issuer');
  return { ok: true, value: { text, issuer, keyId } };
}

/** Text of a part in base64url, of which there is one spelling; undefined for any other. */
function decoded(part: string): string | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes.toString('utf8') : undefined;
}

/** Verifies signature and times. Whom it is for, and what else it says, is compared by who knows the rules. */
export async function verifySubjectToken(
  { text, issuer }: SubjectToken,
  keys: IssuerKeys,
  nowMs: number,
): Promise<Read<SubjectClaims>> {
  try {
    const { payload } = await jwtVerify(text, createLocalJWKSet(keys), {
      algorithms: [...ALGORITHMS],
      issuer,
      clockTolerance: SKEW_SECONDS,
      maxTokenAge: TOKEN_AGE_MS_MAX / 1_000,
      requiredClaims: ['exp', 'iat', 'sub', 'aud'],
      currentDate: new Date(nowMs),
    });
    return claimsOf(issuer, payload);
  } catch (error) {
    return refused(reasonOf(error));
  }
}

function claimsOf(issuer: string, payload: Readonly<Record<string, unknown>>): Read<SubjectClaims> {
  const { sub, aud, iat, exp, jti } = payload;
  const audience = Array.isArray(aud) && aud.length === 1 ? (aud[0] as unknown) : aud;
  if (typeof audience !== 'string') return refused('audience');
  if (typeof sub !== 'string' || sub === '' || UNSEEN.test(sub)) return refused('claims');
  if (jti !== undefined && typeof jti !== 'string') return refused('claims');
  // Seconds with a fraction are seconds, too (RFC 7519 §2).
  const [issuedAtMs, expiresAtMs] = [Math.floor(Number(iat) * 1_000), Math.ceil(Number(exp) * 1_000)];
  return {
    ok: true,
    value: { issuer, subject: sub, audience, issuedAtMs, expiresAtMs, tokenId: jti, all: payload },
  };
}

/** What to know a token by while it lives: its identifier, or else what was signed. A signature can be respelled. */
export function replayDigest({ text }: SubjectToken, { issuer, tokenId }: SubjectClaims): Uint8Array {
  const name = tokenId ? `jti ${tokenId}` : `text ${text.slice(0, text.lastIndexOf('.'))}`;
  return createHash('sha256').update(`${issuer}\n${name}`).digest();
}

function reasonOf(error: unknown): TokenRefusal {
  if (error instanceof errors.JWTExpired) return error.claim === 'iat' ? 'age' : 'expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.reason === 'invalid' ? 'claims' : ruleOfClaim(error.claim);
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) return 'key';
  // Keys that cannot verify what they claim to: too short, of another curve, or damaged.
  return error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid ? 'form' : 'key';
}

function ruleOfClaim(claim: string): TokenRefusal {
  switch (claim) {
    case 'iss':
      return 'issuer';
    case 'nbf':
    case 'iat':
      return 'not-yet-valid';
    case 'aud':
      return 'audience';
    case 'exp':
      return 'expired';
    default:
      return 'claims';
  }
}

function refused(reason: TokenRefusal): { ok: false; reason: TokenRefusal } {
  return { ok: false, reason };
}
