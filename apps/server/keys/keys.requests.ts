/** Which members of a request for an API key exclude each other, and which a change cannot name. contract §2. */
import { escapeSegment, membersOf, type ApiKeyPatch } from '#contracts';
import type { MemberError } from '../http/error-codes.ts';

/**
 * Everything that a schema cannot state and that needs no clock and no store, each by its pointer. The body may be
 * anything.
 */
export function keyRequestErrors(body: unknown): MemberError[] {
  const {
    role,
    factories,
    principal,
    principal_uid: uid,
    expires_at: expiresAt,
    expires_in_days: days,
  } = membersOf(body);
  return [
    ...(role === 'admin' && factories !== undefined
      ? [
          {
            pointer: '/role',
            message: 'a key that is limited to factories is manager at most: the team and its keys concern everybody',
          },
        ]
      : []),
    ...(principal !== undefined && uid !== undefined
      ? [{ pointer: '/principal_uid', message: 'cannot be given together with principal' }]
      : []),
    ...(expiresAt !== undefined && days !== undefined
      ? [{ pointer: '/expires_in_days', message: 'cannot be given together with expires_at' }]
      : []),
  ];
}

/** What a change of a key can name. */
const CHANGED: readonly string[] = ['name', 'expires_at'] satisfies (keyof ApiKeyPatch)[];

/**
 * Whoever sends more than a label and an end means something that does not happen: a key that was to lose a role would
 * keep it without a word.
 */
export function keyChangeErrors(body: unknown): MemberError[] {
  return Object.keys(membersOf(body))
    .filter((member) => !CHANGED.includes(member))
    .map((member) => ({
      pointer: `/${escapeSegment(member)}`,
      message: 'cannot be changed: make another key, and revoke this one',
    }));
}
