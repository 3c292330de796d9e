/**
 * Knows which listed values were probably meant as patterns or expressions: they are compared letter by letter.
 * contract §7.4 (letter by letter).
 */

/** What in a text has a meaning in a language of patterns or expressions, with its name for people. */
const SIGNS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\$\{\{|\{\{.*\}\}|\$\{\w+\}/, 'an expression'],
  [/^(?:re|regex|regexp|glob|pattern):\S/i, 'a pattern'],
  [
    /^\^.|[\w)\]*+]\$$|^\(\?|\\[dwsbDWSB]|\.[*+](?:$|[^\w])|\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d)/,
    'a regular expression',
  ],
  [/^(?:[<>]=?\s*-?\d|(?:[!=]=|=~|!~)\s*\S)|^![A-Za-z]/, 'a comparison'],
  [/^[\w.-]+(?:\|[\w.-]+)+$|^[a-z][a-z0-9_-]*(?:, ?[a-z][a-z0-9_-]*)+$/, 'a choice of several values'],
  [/\*/, 'a glob'],
];

/** What a sender writes itself: a media type, a schedule. */
const LITERALS: readonly RegExp[] = [
  /^(?:\*|application|audio|font|image|model|multipart|text|video)\/\*$/,
  /^@[a-z]+$|^(?:[\d*/,A-Za-z-]+ ){4,5}[\d*/,A-Za-z-]+$/,
  /^\*{3,}$|^[A-Z]{1,4}\$$|^\$.*\$$|^#/,
];

/** Longer texts are prose. */
const TEXT_LENGTH_MAX = 200;

/** What a listed text looks like that it is not taken for; undefined where it says nothing but itself. */
export function patternIn(text: string): string | undefined {
  if (text.length > TEXT_LENGTH_MAX || LITERALS.some((form) => form.test(text))) return undefined;
  return SIGNS.find(([pattern]) => pattern.test(text))?.[1];
}
