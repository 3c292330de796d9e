/** Patterns for file names: `*`, `**`, `?`, `[…]`, `{a,b}`. */

/** Characters of a pattern: longer ones are no pattern, and matching costs more with each star. */
export const PATTERN_LENGTH_MAX = 200;

/** Wildcards of a pattern: matching time grows with each one, and real patterns have fewer. */
const STARS_MAX = 8;

/**
 * A test for relative paths with `/`. A pattern without `/` is about names at any depth. Undefined: the pattern is not
 * well formed, or too much of it.
 */
export function pathTest(pattern: string): ((path: string) => boolean) | undefined {
  if (pattern.length > PATTERN_LENGTH_MAX || pattern.split(/\*+/).length > STARS_MAX + 1) return undefined;
  const anchored = pattern.includes('/') ? pattern.replace(/^\.?\//, '') : `**/${pattern}`;
  const source = sourceOf(anchored);
  if (source === undefined) return undefined;
  const expression = new RegExp(`^${source}$`, 'su');
  return (path) => expression.test(path);
}

/** The pattern as a regular expression; undefined when a bracket or brace does not close. */
function sourceOf(pattern: string): string | undefined {
  let source = '';
  let depth = 0;
  for (let at = 0; at < pattern.length;) {
    const token = tokenAt(pattern, at, depth);
    if (token === undefined) return undefined;
    source += token.source;
    depth += token.depth ?? 0;
    at += token.length;
  }
  return depth === 0 ? source : undefined;
}

interface Token {
  source: string;
  length: number;
  depth?: number;
}

function tokenAt(pattern: string, at: number, depth: number): Token | undefined {
  const rest = pattern.slice(at);
  const double = /^(?:\*\*+\/)+|^\*\*+/.exec(rest);
  if (double !== null) return { source: double[0].endsWith('/') ? '(?:[^/]+/)*' : '.*', length: double[0].length };
  const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
  switch (character) {
    case '*':
      return { source: '[^/]*', length: 1 };
    case '?':
      return { source: '[^/]', length: 1 };
    case '[':
      return classAt(rest);
    case '{':
      return { source: '(?:', length: 1, depth: 1 };
    case '}':
      return depth > 0 ? { source: ')', length: 1, depth: -1 } : { source: '\\}', length: 1 };
    case ',':
      return { source: depth > 0 ? '|' : ',', length: 1 };
    default:
      return { source: escaped(character), length: character.length };
  }
}

function classAt(rest: string): Token | undefined {
  const found = /^\[([!^]?)([^\]/]+)\]/.exec(rest);
  if (found === null) return undefined;
  const [whole, not = '', members = ''] = found;
  return { source: `[${not === '' ? '' : '^/'}${members.replace(/[\\[^&|~]/g, '\\$&')}]`, length: whole.length };
}

function escaped(character: string): string {
  return character.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
