/**
 * The status of a commit at its forge: which states there are, and which may follow on which, so that every commit ends
 * in one that does not wait. contract §9.9 (Feedback in pull requests).
 */

/**
 * `pending`: it is being judged. `success`, `failure`: its plan was made, and it applies or does not. `error`: it could
 * not be judged. `superseded`: a newer commit came, or its pull request ended, before it was judged.
 */
export type StatusState = 'pending' | 'success' | 'failure' | 'error' | 'superseded';

/** What is to be said of one commit. */
export interface CommitStatus {
  commit: string;
  state: StatusState;
  /** One sentence, at most STATUS_CHARACTERS_MAX. */
  description: string;
  /** The pull request that it is said for; undefined: it is of the branch that is followed. */
  number?: number;
}

/** GitHub takes no longer description. */
export const STATUS_CHARACTERS_MAX = 140;

/** Name of a factory's statuses: several factories of one repository have one each. */
export function statusContext(factorySlug: string): string {
  return `millwright/${factorySlug}`;
}

/** Whether nothing more has to come. */
export function isTerminal(state: StatusState): boolean {
  return state !== 'pending';
}

/**
 * Whether a commit's status becomes `next`. A verdict stays a verdict when its pull request moves on, and nobody is
 * told
 * to wait again for a commit that has one; a commit that is the head once more after it was superseded is judged anew.
 */
export function follows(before: StatusState | undefined, next: StatusState): boolean {
  if (before === undefined) return true;
  if (next === 'superseded') return before === 'pending';
  if (next === 'pending') return before === 'superseded';
  return true;
}

/** A sentence as forges take it: one line, without control characters, cut at STATUS_CHARACTERS_MAX. */
export function statusDescription(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const characters = [...line];
  if (line.length <= STATUS_CHARACTERS_MAX) return line;
  let cut = '';
  for (const character of characters) {
    if (cut.length + character.length > STATUS_CHARACTERS_MAX - 1) break;
    cut += character;
  }
  return `${cut}…`;
}
