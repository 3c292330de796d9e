/** Which members of a request for an API key exclude each other, and which a change cannot name. contract §2. */
import { membersOf, type ApiKeyCreate } from '#contracts';
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

/** What a key keeps for good. */
const LASTING = ['role', 'factories', 'principal', 'principal_uid'] satisfies (keyof ApiKeyCreate)[];

/** Whoever sends more than a label and an end means something that does not happen: it is said how it is done. */
export function keyChangeErrors(body: unknown): MemberError[] {
  const members = membersOf(body);
  return LASTING.filter((member) => Object.hasOwn(members, member)).map((member) => ({
    pointer: `/${member}`,
    message: 'cannot be changed: make another key, and revoke this one',
  }));
}
