/**
 * What a judgement says of a commit, in one word and one sentence: of a pull request before its merge, and of the
 * followed branch afterwards. contract §9.9 (Feedback in pull requests).
 */
import type { Problem } from '#definitions';
import { errorCountOf, type PassEnding } from '../passes/endings.ts';
import { OUTSIDE_WINDOW } from '../revisions/revisions.ts';
import { summaryOf, type PrintedPlan } from '../plan/print.ts';
import { statusDescription, type CommitStatus, type StatusState } from './statuses.ts';

export interface Verdict {
  state: Exclude<StatusState, 'pending' | 'superseded'>;
  /** At most STATUS_CHARACTERS_MAX. */
  description: string;
}

/** What of a judgement decides. */
export interface JudgedPullRequest {
  ending: Pick<PassEnding, 'kind' | 'reason'>;
  problems: readonly Problem[];
  printed: PrintedPlan;
}

/**
 * What waits only for an approval or a sync window after the merge is a success that says so: the approval covers the
 * merged commit, which there is none of yet.
 */
export function verdictOf({ ending, problems, printed }: JudgedPullRequest): Verdict {
  const errors = errorCountOf(problems);
  const first = problems.find(({ severity }) => severity === 'error');
  if (errors > 0 && first !== undefined) {
    const more = errors === 1 ? '' : ` (and ${errors - 1} more)`;
    return {
      state: 'failure',
      description: statusDescription(`${first.path}:${first.line}:${first.column}: ${first.message}${more}`),
    };
  }
  const waits = ending.kind === 'blocked' ? WAITS[ending.reason ?? ''] : undefined;
  const summary = summaryOf(printed).replace(/\.$/, '');
  if (ending.kind !== 'applied' && waits === undefined)
    return { state: 'failure', description: statusDescription(`it would not apply: ${ending.reason ?? ending.kind}`) };
  return { state: 'success', description: statusDescription(waits === undefined ? summary : `${summary}; ${waits}`) };
}

/** Reasons that people or time end after the merge. */
const WAITS: Readonly<Record<string, string>> = {
  'prune-held': 'its deletions will wait for an approval',
  'growth-held': 'what grows will wait for an approval',
  [OUTSIDE_WINDOW]: 'it will wait for a sync window',
};

/** How the branch stands. Revisions as passes name them. */
export interface BranchState {
  seen?: string;
  applied?: string;
  ending: PassEnding['kind'] | 'none';
  reason?: string;
  message?: string;
}

/** What is to be said of the commit that the branch stood at last; undefined: nothing is known of it yet. */
export function branchStatus(state: BranchState): CommitStatus | undefined {
  const { seen, applied, ending, reason, message } = state;
  const commit = seen === undefined ? undefined : commitNamedBy(seen);
  if (commit === undefined) return undefined;
  if (seen === applied)
    return ending === 'blocked'
      ? { commit, state: 'success', description: statusDescription(`serves; ${message ?? reason ?? ''}`) }
      : { commit, state: 'success', description: 'applied: it serves' };
  if (ending === 'blocked' && reason !== undefined && !(reason in WAITS) && reason !== 'history-rewritten')
    return { commit, state: 'failure', description: statusDescription(message ?? reason) };
  if (ending === 'blocked')
    return { commit, state: 'pending', description: statusDescription(WAITING[reason ?? ''] ?? message ?? 'it waits') };
  if (ending === 'failed' && reason === 'internal')
    return { commit, state: 'error', description: 'the service failed on it and tries again' };
  return undefined;
}

const WAITING: Readonly<Record<string, string>> = {
  'prune-held': 'its deletions wait for an approval',
  'growth-held': 'what grows waits for an approval',
  'history-rewritten': 'the rewritten history waits for an approval',
  [OUTSIDE_WINDOW]: 'it waits for a sync window',
};

/** The commit ID of `branch@sha1:…`; undefined for a revision without one. */
export function commitNamedBy(revision: string): string | undefined {
  return /@sha(?:1:([0-9a-f]{40})|256:([0-9a-f]{64}))$/
    .exec(revision)
    ?.slice(1)
    .find((id) => id !== undefined);
}
