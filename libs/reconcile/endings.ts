/** How a pass can end, and what each ending leaves behind. contract 9. */
import type { Problem } from '#definitions';
import type { Change, Rebinding } from './types.ts';

/** `applied`: the tree is what serves. `blocked`: people must act. `failed`: tried again later. */
export interface Ending {
  kind: 'applied' | 'blocked' | 'failed';
  reason?: string;
  message?: string;
  /** Revision that was looked at; absent when none could be read. */
  revision?: string;
  problems: readonly Problem[];
  changes: readonly Change[];
  held: readonly Change[];
  digest?: string;
  rebound: readonly Rebinding[];
}

/** Problems kept with a pass: enough for any person, bounded for the database. */
export const PROBLEMS_RECORDED_MAX = 500;

const NOTHING = { problems: [], changes: [], held: [], rebound: [] } as const;

export function applied(revision: string, changes: readonly Change[], problems: readonly Problem[], held: readonly Change[] = [], digest?: string): Ending {
  return { ...NOTHING, kind: 'applied', revision, changes, problems, held, digest };
}

/** Errors in the tree: nothing of the revision applies. */
export function blockedByProblems(revision: string, problems: readonly Problem[]): Ending {
  const errors = errorCountOf(problems);
  const message = `${errors} ${errors === 1 ? 'problem' : 'problems'} in the files of ${revision}; what was applied before keeps serving`;
  return { ...NOTHING, kind: 'blocked', reason: 'definitions-invalid', message, revision, problems };
}

/** Problems that keep their files from applying. */
export function errorCountOf(problems: readonly Problem[]): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}

/** Deletions that need an approval. */
export function blockedByGuard(revision: string, problems: readonly Problem[], verdict: { digest: string; deletions: readonly Change[]; message: string }): Ending {
  const { digest, deletions, message } = verdict;
  return { ...NOTHING, kind: 'blocked', reason: 'prune-held', message, revision, problems, held: deletions, digest };
}

/** The tree could not be read: nothing changes. */
export function unreadable({ reason, message }: { reason: string; message: string }): Ending {
  return { ...NOTHING, kind: 'failed', reason, message };
}

/** A fault of ours or of the database. */
export function faulted(message: string): Ending {
  return { ...NOTHING, kind: 'failed', reason: 'internal', message };
}

/** Equal for passes that tell people nothing new: made of what is recorded. */
export function fingerprint({ kind, reason, revision, problems, digest }: Ending): string {
  const positions = problems.slice(0, PROBLEMS_RECORDED_MAX).map(({ path, line, column, rule, message }) => [path, line, column, rule, message]);
  return JSON.stringify([kind, reason ?? null, revision ?? null, positions, digest ?? null]);
}
