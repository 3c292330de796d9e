/** Which approvals are accepted: of what is held now, by whoever the sync policy names. contract §12.7 (Approval). */
import { GROWTH_HELD } from '../passes/endings.ts';
import type { PassCondition } from '../passes/factory-state.ts';
import type { SyncPolicy } from '../revisions/sync-policy.ts';

/**
 * Why an approval is refused. `not-held`: nothing is held under this digest; `needs-admin`: what runs could do more is
 * held under it, and the sync policy has that approved by an admin.
 */
export type ApprovalRefusal = 'not-held' | 'needs-admin';

/** Whether an approval of this digest may be stored. `isAdmin`: the key has the role admin, for every factory. */
export function approvalVerdict(
  { condition, syncPolicy }: { condition: PassCondition; syncPolicy: SyncPolicy },
  digest: string,
  isAdmin: boolean,
): { ok: true } | { ok: false; reason: ApprovalRefusal } {
  if (condition.heldDigest !== digest) return { ok: false, reason: 'not-held' };
  if (syncPolicy.growthApproval === 'admin' && isHeldForGrowth(condition) && !isAdmin)
    return { ok: false, reason: 'needs-admin' };
  return { ok: true };
}

/** What an older version stored says so by the reason of its pass alone. */
function isHeldForGrowth({ heldForGrowth, reason }: PassCondition): boolean {
  return heldForGrowth === true || reason === GROWTH_HELD;
}
