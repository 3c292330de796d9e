/** Digests that wait for an approval, and approvals of them. */
import type { PassCondition } from '#reconcile';
import type { ChangedBy } from '../../apps/server/store/access/audit.ts';
import type { FactoryStore } from '../../apps/server/store/factories/factories.ts';
import type { Stores } from './backends.ts';

/** As if the last pass had left this digest to people. */
export async function hold(
  { factories }: Stores,
  { uid, fence }: { uid: string; fence: number },
  heldDigest: string,
  more: Partial<PassCondition> = {},
): Promise<void> {
  const condition = { ending: 'blocked' as const, reason: 'prune-held', heldDigest, sinceMs: 1, checkedMs: 2, ...more };
  await factories.recordPass(uid, fence, { generationHandled: 0, condition, failures: 0 });
}

/** Approves with a key that may approve anything. */
export function approve(
  { factories }: Stores,
  uid: string,
  digest: string,
  by?: ChangedBy,
): ReturnType<FactoryStore['approve']> {
  return factories.approve(uid, { digest, principalUid: 'user_admin', isAdmin: true }, by);
}
