/** Limits of Markdown that is rendered: some texts block any parser for minutes. */

/** Characters; parsers take longer than in proportion to them. */
const LENGTH = 50_000;
const LINES = 2_000;
/** Each is a paragraph of a list, which a parser puts together with those before. */
const ITEMS = 300;
const ITEM = /^[ \t>]*(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/gm;
/** What a parser compares each with each inside one paragraph: beginnings and ends of emphasis and links. */
const PAIRED = /[*_[\]`<~]/g;
/** Sum over the paragraphs of the squares of how many there are: about half a second at most. */
const COMPARISONS = 4_000_000;
/** Quotes in quotes, lists in lists. */
const DEEP = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])[ \t])){6}/m;

export function isWithinMarkdownLimits(text: string): boolean {
  if (text.length > LENGTH || DEEP.test(text) || countOf(text, /\n/g) > LINES || countOf(text, ITEM) > ITEMS)
    return false;
  let comparisons = 0;
  for (const paragraph of text.split(/\n[ \t]*\n/)) comparisons += countOf(paragraph, PAIRED) ** 2;
  return comparisons <= COMPARISONS;
}

function countOf(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}
