/** How a YAML text becomes a document tree, in bounded time and depth. contract §8.1 (YAML). */
import { Composer, Lexer, Parser, YAMLParseError, type CST, type Document, type Node, type ParsedNode } from 'yaml';
import { FILE_PROBLEMS_MAX } from '../rules/problems.ts';
import type { SourceText } from './source-text.ts';

/** A composed document. */
export type YamlDocument = Document.Parsed<ParsedNode, true>;
/** Any node of it, or none. */
export type AnyNode = Node | null | undefined;

/** Deepest nesting of a value: filters need 10, everything else less. Bounds recursion. */
export const NESTING_MAX = 64;

/**
 * Pieces of YAML (words, punctuation, gaps) in one file: a filter at its limits has a few thousand. Bounds the time of
 * a reading, which cannot be interrupted.
 */
export const YAML_PIECES_MAX = 50_000;

/** The part of a file that is YAML: the whole file, or the lines between the fences of front matter. */
export interface Slice {
  start: number;
  end: number;
}

/** The document of a slice; undefined where it is nested beyond the stack, else which bound it passes. */
export function parseYaml(
  source: SourceText,
  slice: Slice,
): YamlDocument | 'too-many-pieces' | TooDeepError | undefined {
  try {
    return compose(source.text.slice(slice.start, slice.end));
  } catch (cause) {
    // The parser recurses into nested values; its only own exception is the end of the stack.
    if (cause instanceof RangeError) return undefined;
    if (cause === TOO_MANY_PIECES) return 'too-many-pieces';
    if (cause instanceof TooDeepError) return cause;
    throw cause;
  }
}

/**
 * What `parseDocument` does, with a bound: an error object for every character of a hostile text takes seconds and
 * hundreds of megabytes.
 */
function compose(text: string): YamlDocument {
  // uniqueKeys costs the square of a mapping's size: duplicates are found below, at the later key.
  const composer = new Composer<ParsedNode, true>({
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
    version: '1.2',
  });
  boundFaults(composer);
  const documents: YamlDocument[] = [];
  composeTokens(text, composer, documents);
  const [first, second] = documents as [YamlDocument, YamlDocument?];
  if (second !== undefined)
    first.errors.push(new YAMLParseError(second.range.slice(0, 2) as [number, number], 'MULTIPLE_DOCS', ''));
  return first;
}

type OnFault = (source: unknown, code: unknown, message: unknown, warning?: boolean) => void;

/**
 * Lets one more through than is listed: it tells that there are more. The member is the only way by which the library
 * hands faults on.
 */
function boundFaults(composer: Composer<ParsedNode, true>): void {
  const keep = composer['onError'] as OnFault;
  let [errors, warnings] = [0, 0];
  const bounded: OnFault = (source, code, message, warning) => {
    const count = warning === true ? (warnings += 1) : (errors += 1);
    if (count <= FILE_PROBLEMS_MAX + 1) keep(source, code, message, warning);
  };
  composer['onError'] = bounded;
}

const TOO_MANY_PIECES = new Error('too many pieces');

/**
 * Open values at which a reading stops: the parser keeps them in a list, but its composer recurses, and where its stack
 * ends depends on its caller.
 */
const OPEN_VALUES_MAX = 8 * NESTING_MAX;

export class TooDeepError extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super('too deep');
    this.offset = offset;
  }
}

/** Marks that the lexer puts between pieces of the text. */
const LEXER_MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f', '\ufeff']);

/**
 * What `Parser.parse` and `Composer.compose` do, with bounds: until there are two documents, or more tokens are errors
 * than are listed. Loops in place of their chain of generators, which costs a tenth of a reading. Throws
 * TOO_MANY_PIECES or TooDeepError.
 */
function composeTokens(text: string, composer: Composer<ParsedNode, true>, documents: YamlDocument[]): void {
  const parser = new Parser();
  let [pieces, offset, errors] = [0, 0, 0];
  const isEnough = (tokens: Iterable<CST.Token>): boolean => {
    for (const token of tokens) {
      for (const document of composer.next(token)) documents.push(document);
      if (documents.length === 2 || (token.type === 'error' && (errors += 1) > FILE_PROBLEMS_MAX)) return true;
    }
    return false;
  };
  for (const piece of new Lexer().lex(text)) {
    if ((pieces += 1) > YAML_PIECES_MAX) throw TOO_MANY_PIECES;
    if (isEnough(parser.next(piece))) return finish(text, composer, documents);
    if (parser['stack'].length > OPEN_VALUES_MAX) throw new TooDeepError(offset);
    if (piece.length > 1 || !LEXER_MARKS.has(piece)) offset += piece.length;
  }
  isEnough(parser.end());
  finish(text, composer, documents);
}

function finish(text: string, composer: Composer<ParsedNode, true>, documents: YamlDocument[]): void {
  if (documents.length < 2) for (const document of composer.end(true, text.length)) documents.push(document);
}
