/**
 * What an admin asks of commits before they may apply, and when they may. Never said by the repository itself: who may
 * commit may not decide it. contract §9; explanation: Commit signatures, Force push.
 */

/** One recurring span of time, in UTC. */
export interface SyncWindow {
  /**
   * `allow`: nothing applies outside of all allowed windows. `deny`: nothing applies inside of it, whatever else
   * allows.
   */
  kind: 'allow' | 'deny';
  /** Five cron fields: when the window opens. */
  schedule: string;
  /** How long it stays open, 1 minute to 7 days. */
  durationMinutes: number;
}

/** An empty policy asks nothing. */
export interface SyncPolicy {
  /** Only commits that one of these keys signed may apply. */
  verifyCommits?: {
    /** OpenSSH public key lines (`ssh-ed25519 AAAA… comment`) and armoured OpenPGP public key blocks. */
    keys: readonly string[];
  };
  /** A tip that does not descend from the one before is not applied until somebody approves it. */
  fastForwardOnly?: boolean;
  windows?: readonly SyncWindow[];
  /** What runs could do more is not applied until somebody with this role approves it. */
  growthApproval?: 'manager' | 'admin';
}

/** A branch whose history was rewritten: its new tip does not descend from the old one. */
export interface Rewrite {
  from: string;
  to: string;
  atMs: number;
}

/** Why a policy cannot be asked of a kind of source: only commits can be signed and descend; undefined when it can. */
export function policyProblem(
  { verifyCommits, fastForwardOnly }: SyncPolicy,
  { kind, hasCommits }: { kind: string; hasCommits: boolean },
): string | undefined {
  if (hasCommits) return undefined;
  const asked = [
    ...(verifyCommits === undefined ? [] : ['verify_commits']),
    ...(fastForwardOnly === true ? ['fast_forward_only'] : []),
  ];
  return asked.length === 0
    ? undefined
    : `${asked.join(' and ')} ${asked.length === 1 ? 'needs' : 'need'} a git source, and this is a ${kind} source`;
}
