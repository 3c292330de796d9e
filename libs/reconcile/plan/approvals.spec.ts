/** Which approvals are accepted. contract §12.7 (Approval). */
import { approvalVerdict } from './approvals.ts';
import type { PassCondition } from '../passes/factory-state.ts';

const HELD = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const conditionOf = (members: Partial<PassCondition>): PassCondition => ({
  ending: 'blocked',
  sinceMs: 1,
  checkedMs: 1,
  ...members,
});
const DELETIONS = conditionOf({ reason: 'prune-held', heldDigest: HELD });
const GROWTH = conditionOf({ reason: 'growth-held', heldDigest: HELD, heldForGrowth: true });
const UNREAD_GROWTH = conditionOf({ ending: 'failed', reason: 'unreachable', heldDigest: HELD, heldForGrowth: true });
const STORED_BEFORE = conditionOf({ reason: 'growth-held', heldDigest: HELD });

describe('an approval', () => {
  it.each([
    { of: 'deletions that are held', condition: DELETIONS, policy: {}, verdict: 'ok' },
    { of: 'deletions, where growth is an admin’s', condition: DELETIONS, policy: { growthApproval: 'admin' } },
    { of: 'growth, where a manager may', condition: GROWTH, policy: { growthApproval: 'manager' } },
    { of: 'growth, where the policy asks for it no more', condition: GROWTH, policy: {} },
    { of: 'another digest', condition: DELETIONS, digest: OTHER, verdict: 'not-held' },
    { of: 'what was applied', condition: conditionOf({ ending: 'applied' }), verdict: 'not-held' },
    { of: 'a factory without a pass', condition: conditionOf({ ending: 'none' }), verdict: 'not-held' },
    { of: 'growth by a manager', condition: GROWTH, policy: { growthApproval: 'admin' }, verdict: 'needs-admin' },
    {
      of: 'growth that is held while the repository is away',
      condition: UNREAD_GROWTH,
      policy: { growthApproval: 'admin' },
      verdict: 'needs-admin',
    },
    {
      of: 'growth as an older version stored it',
      condition: STORED_BEFORE,
      policy: { growthApproval: 'admin' },
      verdict: 'needs-admin',
    },
    {
      of: 'another digest than that of growth',
      condition: GROWTH,
      digest: OTHER,
      policy: { growthApproval: 'admin' },
      verdict: 'not-held',
    },
  ] as const)('of $of', ({ condition, ...row }) => {
    const { digest, policy, verdict } = { digest: HELD, policy: {}, verdict: 'ok', ...row };
    const found = (isAdmin: boolean) => {
      const answer = approvalVerdict({ condition, syncPolicy: policy }, digest, isAdmin);
      return answer.ok ? 'ok' : answer.reason;
    };
    expect(found(false)).toBe(verdict);
    expect(found(true)).toBe(verdict === 'needs-admin' ? 'ok' : verdict);
  });
});
