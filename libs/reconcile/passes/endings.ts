/** How a pass can end, and what each ending leaves behind. contract §9. */
import type { Problem } from '#definitions';
import { OUTSIDE_WINDOW } from '../revisions/revisions.ts';
import type { Change, Rebinding } from '../types.ts';
import type { PassCondition } from './factory-state.ts';
import { WINDOW_DAYS_SEARCHED, type Closure } from '../revisions/windows.ts';

/** `applied`: the tree is what serves. `blocked`: people must act. `failed`: tried again later. */
export interface PassEnding {
  kind: 'applied' | 'blocked' | 'failed';
  reason?: string;
  message?: string;
  /** Revision that was looked at; absent when none could be read. */
  revision?: string;
  problems: readonly Problem[];
  changes: readonly Change[];
  held: readonly Change[];
  /** What an approval of the held deletions, or of a held rewriting, names. */
  digest?: string;
  /** When the sync window opens that this waits for. */
  opensAtMs?: number;
  rebound: readonly Rebinding[];
}

/** Reasons for which a revision is not looked into at all. */
export const REFUSED_UNSEEN: ReadonlySet<string> = new Set(['source-unverified', 'history-rewritten']);

/** Problems kept with a pass: enough for any person, bounded for the database. */
export const PROBLEMS_RECORDED_MAX = 500;

const NOTHING = { problems: [], changes: [], held: [], rebound: [] } as const;

export function applied(
  revision: string,
  changes: readonly Change[],
  problems: readonly Problem[],
  held: readonly Change[] = [],
  digest?: string,
): PassEnding {
  return { ...NOTHING, kind: 'applied', revision, changes, problems, held, digest };
}

/** Errors in the tree: nothing of the revision applies. */
export function blockedByProblems(revision: string, problems: readonly Problem[]): PassEnding {
  const errors = errorCountOf(problems);
  const message =
    `${errors} ${errors === 1 ? 'problem' : 'problems'} in the files of ${revision}; what was applied before ` +
    'keeps serving';
  return { ...NOTHING, kind: 'blocked', reason: 'definitions-invalid', message, revision, problems };
}

/** Problems that keep their files from applying. */
export function errorCountOf(problems: readonly Problem[]): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}

/** Deletions that need an approval. */
export function blockedByGuard(
  revision: string,
  problems: readonly Problem[],
  verdict: { digest?: string; deletions: readonly Change[]; message: string },
): PassEnding {
  const { digest, deletions, message } = verdict;
  return { ...NOTHING, kind: 'blocked', reason: 'prune-held', message, revision, problems, held: deletions, digest };
}

/** Reason of a revision whose runs could do more than before, where the sync policy has that approved. */
export const GROWTH_HELD = 'growth-held';

/** Runs that could do more. */
export function blockedByGrowth(
  revision: string,
  problems: readonly Problem[],
  { message, digest, held }: { message: string; digest?: string; held: readonly Change[] },
): PassEnding {
  return { ...NOTHING, kind: 'blocked', reason: GROWTH_HELD, message, revision, problems, held, digest };
}

/** A tip that may not be used: no key of the policy signed it. */
export function unverified({ message, revision }: { message: string; revision: string }): PassEnding {
  return { ...NOTHING, kind: 'blocked', reason: 'source-unverified', message, revision };
}

/** A tip that does not descend from the one before, where the policy wants that approved. */
export function blockedByRewrite(from: string, to: string, digest: string): PassEnding {
  const message =
    `the history was rewritten: ${to} does not descend from ${from}, which keeps serving; put the branch back, ` +
    `or approve the new history: ${digest}`;
  return { ...NOTHING, kind: 'blocked', reason: 'history-rewritten', message, revision: to, digest };
}

/** Something would change, at a time when nothing may. */
export function blockedByWindow(ending: PassEnding, closure: Closure): PassEnding {
  return {
    ...ending,
    kind: 'blocked',
    reason: OUTSIDE_WINDOW,
    message: waitingWords(ending.revision, closure),
    changes: [],
    opensAtMs: closure.opensAtMs,
  };
}

/** What is said of a revision that waits for a sync window. */
export function waitingWords(revision: string | undefined, { opensAtMs }: Closure): string {
  const until =
    opensAtMs === undefined
      ? `the sync windows do not open within ${WINDOW_DAYS_SEARCHED} days; change the sync policy`
      : `it applies when the sync window opens: ${new Date(opensAtMs).toISOString()}`;
  return `${revision ?? 'the revision'} waits; ${until}`;
}

/** The tree could not be read: nothing changes. */
export function unreadable({ reason, message }: { reason: string; message: string }): PassEnding {
  return { ...NOTHING, kind: 'failed', reason, message };
}

/** A fault of ours or of the database. */
export function faulted(message: string, revision?: string): PassEnding {
  return { ...NOTHING, kind: 'failed', reason: 'internal', message, revision };
}

/** A factory whose files are not read keeps the ending that it had. */
export function unchanged({
  ending,
  reason,
  message,
}: Pick<PassCondition, 'ending' | 'reason' | 'message'>): PassEnding {
  return { ...NOTHING, kind: ending === 'none' ? 'applied' : ending, reason, message };
}

/** Equal for passes that tell people nothing new: made of what is recorded. */
export function fingerprint({ kind, reason, revision, problems, digest }: PassEnding): string {
  const positions = problems
    .slice(0, PROBLEMS_RECORDED_MAX)
    .map(({ path, line, column, rule, message }) => [path, line, column, rule, message]);
  return JSON.stringify([kind, reason ?? null, revision ?? null, positions, digest ?? null]);
}
