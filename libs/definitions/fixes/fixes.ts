/** Which word puts a problem right, where there is one right answer. contract §11.4. */
import type { Problem } from '../types.ts';

/** Beside the problems, not in them: what is stored and sent of a problem does not change. */
const words = new WeakMap<Problem, string>();

/** The problem, with the word that is to stand where it points at; undefined: there is none for sure. */
export function withFix(problem: Problem, word: string | undefined): Problem {
  if (word !== undefined) words.set(problem, word);
  return problem;
}

/** The word that is to stand in place of what the problem points at. */
export function fixOf(problem: Problem): string | undefined {
  return words.get(problem);
}
