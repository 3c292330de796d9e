/** Regular expressions too long for one line. */

/** What matches where all of these match, each right after the one before it. */
export const patternOf = (...parts: readonly RegExp[]): RegExp =>
  new RegExp(parts.map(({ source }) => source).join(''));
