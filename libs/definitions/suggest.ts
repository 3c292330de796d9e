/** Which known word somebody meant: "did you mean". */
import { foldLookAlikes, lookAlikeWords } from '#filters';

/** Longest word that is compared: nobody mistypes more than that. */
export const WORD_CHARACTERS_MAX = 128;

/**
 * The nearest candidate within a third of the word's length (at most 3 edits), or undefined; ties go to the first in
 * order.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.max(1, Math.floor(word.length / 3))) + 1;
  if (word.length > WORD_CHARACTERS_MAX) return undefined;
  const folded = foldLookAlikes(word);
  for (const candidate of candidates) {
    if (candidate === word || candidate.length > WORD_CHARACTERS_MAX) continue;
    if (Math.abs(candidate.length - folded.length) >= bestDistance) continue;
    const distance = editDistance(folded, candidate.toLowerCase());
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** `; did you mean "x"?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const meant = nearest(word, candidates);
  return meant === undefined ? '' : `${lookAlikeWords(word)}; did you mean ${JSON.stringify(meant)}?`;
}

/** The suggestion and the way out, of what may be right as it is and only not there: `; did you mean "x"? Else …`. */
export function didYouMeanOr(word: string, candidates: Iterable<string>, wayOut: string): string {
  const suggestion = didYouMean(word, candidates);
  return suggestion === '' ? `; ${wayOut}` : `${suggestion} Else ${wayOut}`;
}

/**
 * Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions, swaps of neighbours.
 */
export function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const best = Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, substitution);
      const isSwap =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current.push(isSwap ? Math.min(best, (beforePrevious[column - 2] ?? 0) + 1) : best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}
