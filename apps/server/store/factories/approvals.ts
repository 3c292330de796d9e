/** Approvals as rows: stored only of what is held while they are. contract §9.4, §12.7 (Approval). */
import { approvalVerdict, type ApprovalRefusal, type SyncPolicy } from '#reconcile';
import { audit, type ChangedBy } from '../access/audit.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, row, type Transaction } from '../database/transactions.ts';
import { recordRequestedEvent } from './events.ts';
import type { FactoryCondition } from './factory-rows.ts';
import { APPROVAL } from './factory.entities.ts';

/** An approval that somebody asks for. */
export interface NewApproval {
  /** `sha256:…` of what is held. */
  digest: string;
  principalUid: string;
  /** Whether the key has the role admin, for every factory. */
  isAdmin: boolean;
}

/** What became of an approval; nothing is stored unless it is `approved`. `gone`: so is the factory. */
export type ApprovalResult = 'approved' | 'gone' | ApprovalRefusal;

/**
 * Approves what is held under this digest and asks for a pass. The row is locked first: a pass that ends meanwhile
 * writes before this is decided, or after.
 */
export function* approveHeld(
  uid: string,
  { digest, principalUid, isAdmin }: NewApproval,
  by: ChangedBy | undefined,
): Transaction<ApprovalResult> {
  const found = yield* row<{ condition: string; sync_policy: string }>(
    'SELECT condition, sync_policy FROM factory WHERE uid = ? AND deleted_at IS NULL FOR UPDATE',
    uid,
  );
  if (found === undefined) return 'gone';
  const state = {
    condition: JSON.parse(found.condition) as FactoryCondition,
    syncPolicy: JSON.parse(found.sync_policy) as SyncPolicy,
  };
  const verdict = approvalVerdict(state, digest, isAdmin);
  if (!verdict.ok) return verdict.reason;
  yield* change('UPDATE factory SET generation_requested = generation_requested + 1 WHERE uid = ?', uid);
  const approval = { factory_uid: uid, digest, at: yield* databaseNow(), principal_uid: principalUid };
  yield* insertInto(APPROVAL, [approval], { ignoreConflicts: true });
  yield* audit(by, { action: 'factory.approve', subject: uid, factoryUid: uid, details: { plan: digest } });
  const message = `what ${digest} names was approved`;
  yield* recordRequestedEvent(by, uid, { type: 'Normal', reason: 'approved', message });
  return 'approved';
}
