/**
 * What a signed-in browser holds: the cookie, the digest of it that is stored, and the token that its pages have to
 * repeat. contract §4, RFC 6265.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Random bytes of a session: as hard to guess as an API key. */
export const SESSION_BYTES = 32;

/** Base64url of so many bytes. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Says what the derived token is for, so that nothing else that is ever derived of a session is the same. */
const CSRF_LABEL = 'millwright csrf token v1';

/** The value of a cookie. */
export function tokenFromRandom(random: Uint8Array): string {
  return Buffer.from(random).toString('base64url');
}

/** Whether a cookie's value can be one of ours. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Sessions are stored as this only: SHA-256. */
export function hashOfToken(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}

/**
 * What a page of the session repeats in a header. It tells nothing of the cookie that it is derived of, which scripts
 * cannot read.
 */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update(CSRF_LABEL).digest('base64url');
}

/** Whether both texts are the same; takes as long whatever they have in common. */
export function isSameToken(expected: string, given: string): boolean {
  const [left, right] = [expected, given].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(left as Buffer, right as Buffer);
}

/**
 * Who asks over plain http gets no cookie with this prefix from a browser: it stands for Secure, for this host alone
 * and for every path.
 */
const HOST_PREFIX = '__Host-';
const NAME = 'mw_session';

export class SessionCookie {
  readonly name: string;
  private readonly isSecure: boolean;
  constructor(publicUrl: string) {
    this.isSecure = publicUrl.startsWith('https:');
    this.name = this.isSecure ? `${HOST_PREFIX}${NAME}` : NAME;
  }

  /** `Set-Cookie` that hands a browser its token for so many seconds: no script reads it, no other site sends it. */
  given(token: string, seconds: number): string {
    return `${this.name}=${token}; ${this.attributes()}; Max-Age=${seconds}`;
  }

  /** `Set-Cookie` that takes it back. */
  cleared(): string {
    return `${this.name}=; ${this.attributes()}; Max-Age=0`;
  }

  /**
   * Every value that a `Cookie` header has for it, as they were sent. More than one: somebody else has set one beside
   * ours.
   */
  valuesIn(header: string | undefined): string[] {
    if (header === undefined) return [];
    return header.split(';').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at >= 0 && withoutBlanksBefore(pair.slice(0, at)) === this.name ? [pair.slice(at + 1)] : [];
    });
  }

  private attributes(): string {
    return `Path=/; HttpOnly; SameSite=Strict${this.isSecure ? '; Secure' : ''}`;
  }
}

/**
 * Space and tab only: `trim` would take characters away that browsers allow in names, and a name that only looks like
 * ours would be ours.
 */
function withoutBlanksBefore(text: string): string {
  return text.replace(/^[ \t]+/, '');
}
