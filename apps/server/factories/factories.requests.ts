/** Which source and sync policy of a request could be followed, before anybody tries. contract 4 (source), 9 (Git). */
import { membersOf } from '#contracts';
import type { MemberError } from '../http/error-codes.ts';
import { syncPolicyErrors } from './sync-policies.ts';
import { SOURCES } from '../sync/sources/registry.ts';

/** What no server would take of the source and the policy in the body of a create or a change, each by its pointer. The body may be anything. */
export function factoryRequestErrors(body: unknown): MemberError[] {
  const { source, sync_policy: policy } = membersOf(body);
  return [...SOURCES.requestErrors(source), ...syncPolicyErrors(policy)];
}
