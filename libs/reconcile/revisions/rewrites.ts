/**
 * Whether a tip may be used after the one that was accepted before, and what it brings. contract §9; explanation: Force
 * push.
 */
import { blockedByRewrite, type PassEnding } from '../passes/endings.ts';
import { rewriteDigest } from '../plan/guard.ts';
import type { Rewrite, SyncPolicy } from './sync-policy.ts';

/** A tip as its source tells it. */
export interface Tip {
  revision: string;
  /** How it follows on the accepted one; absent where nothing is known of that. */
  history?: { commits: readonly string[]; lost: readonly string[]; lostPartly?: boolean; rewrittenFrom?: string };
}

export interface AcceptanceFacts {
  factorySlug: string;
  /** Revision that was accepted last. */
  accepted?: string;
  policy: SyncPolicy;
  approvedDigests: ReadonlySet<string>;
  nowMs: number;
}

/** What an accepted tip brings. */
export interface HistoryDelta {
  commits: readonly string[];
  lost: readonly string[];
  /** Nothing that came before is held unless it is named in `commits`. */
  isReset: boolean;
  /** More may be lost than is named: what neither `commits` nor `lost` names is known no longer. */
  forgetsOthers: boolean;
  /** Digest of the approval that this tip needed: it counts once. */
  spent?: string;
  /** Commits that came between and never applied by themselves. */
  superseded: number;
  /** Set where the history was rewritten. */
  rewrite?: Rewrite;
}

/** How an accepted tip follows on the one before. */
export type DeltaCommits = Pick<HistoryDelta, 'commits' | 'lost' | 'isReset'> &
  Partial<Pick<HistoryDelta, 'forgetsOthers' | 'spent'>>;

/** `brought` is absent when the tip was accepted before. */
export type RevisionAcceptance = { ok: true; delta?: HistoryDelta } | { ok: false; from: string; ending: PassEnding };

/** Decides on a tip by its history alone. What is not known to descend does not, where the policy asks. Pure. */
export function acceptanceOf(
  { revision, history }: Tip,
  { factorySlug, accepted, policy, approvedDigests, nowMs }: AcceptanceFacts,
): RevisionAcceptance {
  if (revision === accepted) return { ok: true };
  const isSameBranch = accepted !== undefined && branchOf(accepted) === branchOf(revision);
  const from =
    history?.rewrittenFrom ??
    (policy.fastForwardOnly === true && (history === undefined || !isSameBranch) ? accepted : undefined);
  const needed =
    from !== undefined && policy.fastForwardOnly === true
      ? rewriteDigest({ factorySlug, from, to: revision })
      : undefined;
  if (from !== undefined && needed !== undefined && !approvedDigests.has(needed))
    return { ok: false, from, ending: blockedByRewrite(from, revision, needed) };
  const { commits = [], lost = [] } = history ?? {};
  const delta: HistoryDelta = {
    commits,
    lost,
    isReset: history === undefined || !isSameBranch,
    forgetsOthers: history?.lostPartly === true,
    superseded: isSameBranch && history?.lostPartly !== true ? Math.max(0, commits.length - 1) : 0,
    ...(needed === undefined ? {} : { spent: needed }),
    ...(from === undefined ? {} : { rewrite: { from, to: revision, atMs: nowMs } }),
  };
  return { ok: true, delta: delta };
}

/** Branch of `branch@sha1:…`; of a directory, which has none, the empty text. */
export function branchOf(revision: string): string {
  const at = revision.lastIndexOf('@');
  return at < 0 ? '' : revision.slice(0, at);
}
