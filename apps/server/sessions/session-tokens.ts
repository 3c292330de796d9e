/** What a signed-in browser holds, and what is derived of it: the digest that is stored, and the token that its pages have to repeat. contract 4. */
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

/** What a page of the session repeats in a header. It tells nothing of the cookie that it is derived of, which scripts cannot read. */
export function csrfTokenOf(token: string): string {
  return createHmac('sha256', token).update(CSRF_LABEL).digest('base64url');
}

/** Whether both texts are the same; takes as long whatever they have in common. */
export function isSameToken(expected: string, given: string): boolean {
  const [left, right] = [expected, given].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(left as Buffer, right as Buffer);
}
