/**
 * Where a factory stands: what its last pass left behind, what was asked for since, and how the next pass changes that.
 * contract §4.1 (status), §9.
 */
import { isManagedSource } from '../sources.ts';
import { createHash } from 'node:crypto';
import { canonicalText } from '../canonical.ts';
import type { StoredConditions } from './conditions.ts';
import { errorCountOf, fingerprint, GROWTH_HELD, type PassEnding } from './endings.ts';
import type { HistoryDelta } from '../revisions/rewrites.ts';
import type { Rewrite, SyncPolicy } from '../revisions/sync-policy.ts';

/** Why a source could not be read. */
export interface Unread {
  reason: string;
  message: string;
}

/** How the last pass ended, as it is kept. */
export interface PassCondition {
  ending: 'applied' | 'blocked' | 'failed' | 'none';
  reason?: string;
  message?: string;
  /** Problems of severity error in the files that were looked at. */
  errorCount?: number;
  /**
   * Digest of what waits for an approval: deletions, a rewritten history, or growth. Of the last tree that was judged:
   * that one could not be read since ends nothing.
   */
  heldDigest?: string;
  /** What waits is what runs could do more. */
  heldForGrowth?: true;
  /** Set where something that waited was judged although the source could not be read: why it could not. */
  unread?: Unread;
  /**
   * Fingerprint of the keys the head commit was verified with, whatever came of that; absent if it was not, or was not
   * fetched.
   */
  verifiedUnder?: string;
  /** Since when secrets cannot be looked after; absent while they can. */
  secretsAwaySinceMs?: number;
  /** When the condition became what it is. */
  sinceMs: number;
  /** When it was last confirmed. */
  checkedMs: number;
  /** What makes two endings the same: a pass is recorded when this changes. */
  fingerprint?: string;
}

/** What conditions follow from. */
export interface FactoryState extends Pick<
  PassCondition,
  'ending' | 'reason' | 'message' | 'heldDigest' | 'unread' | 'secretsAwaySinceMs'
> {
  /** Whether a repository or folder decides its definitions; else people do, on the dashboard. */
  managed: boolean;
  suspended: boolean;
  generationRequested: number;
  generationHandled: number;
  /** Problems of severity error in the files that were looked at. */
  errorCount: number;
  /** Whether commits have to be signed. */
  verifies: boolean;
  /** Whether the last pass asked of the tip what the policy asks now. */
  verifiedNow: boolean;
  /** The rewriting that was accepted last, while no tip has descended from it. */
  rewrite?: Rewrite;
  /** Slugs of enabled webhooks that have no secret to authenticate anybody with. */
  webhooksWithoutSecret: readonly string[];
  /** No process reconciles any factory: nobody makes passes. Absent where this is not asked. */
  unattended?: boolean;
  /** What is kept of the conditions since the last pass. */
  stored: StoredConditions;
}

/** What is stored of a factory, as far as it decides where it stands. */
export interface FactoryStateFacts {
  source: { kind: string };
  suspended: boolean;
  syncPolicy: SyncPolicy;
  generationRequested: number;
  generationHandled: number;
  condition: PassCondition;
  conditions: StoredConditions;
  failures: number;
  rewrite?: Rewrite;
}

/** A pass that is over, as far as it decides where the factory stands. */
export interface PassEnd {
  ending: PassEnding;
  /** What it brought, where it was not accepted before. */
  delta?: HistoryDelta;
  /** Nobody looked at the files: the factory is suspended, or has none. */
  filesLeftAlone: boolean;
  /** Why the source could not be read, where a tree that waited was judged all the same. */
  unread?: Unread;
  /** The tip was seen, and verified as the policy asks; or refused for that. */
  tipSeen: boolean;
  /** Secrets could not be looked after: the webhooks keep what they have. */
  secretsAway: boolean;
  startedAtMs: number;
  finishedAtMs: number;
}

/** Where a factory stands. `webhooksWithoutSecret`: slugs of the enabled ones. */
export function factoryStateOf(
  {
    source,
    suspended,
    generationRequested,
    generationHandled,
    conditions,
    rewrite,
    syncPolicy,
    condition,
  }: FactoryStateFacts,
  webhooksWithoutSecret: readonly string[],
): FactoryState {
  const { ending, reason, message, heldDigest, errorCount = 0, unread, secretsAwaySinceMs, verifiedUnder } = condition;
  return {
    managed: isManagedSource(source),
    suspended,
    generationRequested,
    generationHandled,
    ending,
    reason,
    message,
    errorCount,
    heldDigest,
    unread,
    secretsAwaySinceMs,
    verifies: syncPolicy.verifyCommits !== undefined,
    verifiedNow: verifiedUnder === keysFingerprint(syncPolicy),
    rewrite,
    webhooksWithoutSecret,
    stored: conditions,
  };
}

/** The condition that a pass leaves behind. */
export function conditionAfter(
  { condition, syncPolicy }: Pick<FactoryStateFacts, 'condition' | 'syncPolicy'>,
  pass: PassEnd,
): PassCondition {
  const { ending, filesLeftAlone, finishedAtMs, startedAtMs, unread, tipSeen, secretsAway } = pass;
  const secretsAwaySinceMs = secretsAway ? (condition.secretsAwaySinceMs ?? startedAtMs) : undefined;
  if (filesLeftAlone) return { ...condition, secretsAwaySinceMs, checkedMs: finishedAtMs };
  const print = createHash('sha256').update(fingerprint(ending)).digest('base64url');
  return {
    ending: ending.kind,
    reason: ending.reason,
    message: ending.message,
    errorCount: errorCountOf(ending.problems),
    ...heldAfter(condition, ending),
    unread,
    verifiedUnder: tipSeen ? keysFingerprint(syncPolicy) : undefined,
    secretsAwaySinceMs,
    checkedMs: finishedAtMs,
    fingerprint: print,
    sinceMs: print === condition.fingerprint ? condition.sinceMs : finishedAtMs,
  };
}

/** What waits for an approval after a pass. One that judged no tree leaves that as it was. */
function heldAfter(
  { heldDigest, heldForGrowth, reason }: PassCondition,
  ending: PassEnding,
): Pick<PassCondition, 'heldDigest' | 'heldForGrowth'> {
  const held =
    ending.kind === 'failed'
      ? { heldDigest, isGrowth: heldForGrowth === true || reason === GROWTH_HELD }
      : { heldDigest: ending.digest, isGrowth: ending.reason === GROWTH_HELD };
  return { heldDigest: held.heldDigest, ...(held.isGrowth ? { heldForGrowth: true } : {}) };
}

/**
 * What was known of conditions before a pass. One that was asked for was under way until now: that it is over is new,
 * whatever it found.
 */
export function previousConditions({
  conditions,
  generationRequested,
  generationHandled,
}: Pick<FactoryStateFacts, 'conditions' | 'generationRequested' | 'generationHandled'>): StoredConditions {
  return generationRequested > generationHandled ? { ...conditions, Reconciling: undefined } : conditions;
}

/** A tip that descends from a rewritten one ends the rewriting (null). Undefined: it is as it was. */
export function rewriteAfter(
  { rewrite }: Pick<FactoryStateFacts, 'rewrite'>,
  delta: HistoryDelta | undefined,
): Rewrite | null | undefined {
  if (delta?.rewrite !== undefined) return delta.rewrite;
  return delta === undefined || rewrite === undefined ? undefined : null;
}

/** Passes in a row in which something could not be done that is tried again by itself. */
export function failuresAfter(
  { failures, condition }: Pick<FactoryStateFacts, 'failures' | 'condition'>,
  pass: Pick<PassEnd, 'ending' | 'filesLeftAlone' | 'unread' | 'secretsAway'>,
): number {
  if (isToBeRetried(pass)) return failures + 1;
  return pass.filesLeftAlone && condition.ending === 'failed' ? failures : 0;
}

/** Whether a pass is to be tried again before the interval is over. */
export function isToBeRetried({
  ending,
  filesLeftAlone,
  unread,
  secretsAway,
}: Pick<PassEnd, 'ending' | 'filesLeftAlone' | 'unread' | 'secretsAway'>): boolean {
  return secretsAway || unread !== undefined || (ending.kind === 'failed' && !filesLeftAlone);
}

/** Equal for policies that ask the same of a commit; undefined where they ask nothing. */
function keysFingerprint({ verifyCommits }: SyncPolicy): string | undefined {
  return verifyCommits && createHash('sha256').update(canonicalText(verifyCommits.keys.toSorted())).digest('base64url');
}
