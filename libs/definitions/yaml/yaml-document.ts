/** What a YAML text says as plain JSON values, and which of YAML's features definition files do not use. contract 8 (YAML). */
import {
  Composer,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  Parser,
  YAMLParseError,
  type CST,
  type Document,
  type Node,
  type Pair,
  type ParsedNode,
  type Scalar,
  type YAMLError,
} from 'yaml';
import { unescapeSegment } from '#contracts';
import type { JsonValue } from '#filters';
import { FILE_PROBLEMS_MAX, furtherProblems, problemAt } from '../rules/problems.ts';
import { FILE_START, type SourceText } from './source-text.ts';
import type { FilePositions, Problem, Range } from '../types.ts';

export interface YamlReading {
  /** The root mapping, or undefined when the text cannot be read at all. */
  value: { [key: string]: JsonValue } | undefined;
  problems: Problem[];
  positions: FilePositions;
}

/** Deepest nesting of a value: filters need 10, everything else less. Bounds recursion. */
export const NESTING_MAX = 64;

/** Pieces of YAML (words, punctuation, gaps) in one file: a filter at its limits has a few thousand. Bounds the time of a reading, which cannot be interrupted. */
export const YAML_PIECES_MAX = 50_000;

/** The part of a file that is YAML: the whole file, or the lines between the fences of front matter. */
export interface Slice {
  start: number;
  end: number;
}

/**
 * Reads one YAML document. Every refusal of contract 8 is a problem with a position in the whole file; a value is returned
 * beside problems where one can be made, so that the rest of the file is checked too. Never throws.
 */
export function readYaml(source: SourceText, slice: Slice): YamlReading {
  const document = parse(source, slice);
  if (document instanceof TooDeepError) {
    const at = slice.start + document.offset;
    return unreadable(
      problemAt(
        source.path,
        source.range(at, at + 1),
        'yaml-nesting',
        `values are nested more than ${NESTING_MAX} deep`,
      ),
    );
  }
  if (document === 'too-many-pieces')
    return unreadable(
      problemAt(
        source.path,
        FILE_START,
        'file-too-large',
        `the YAML has more than ${YAML_PIECES_MAX} words and marks; split the file or remove what it does not need`,
      ),
    );
  if (document === undefined)
    return unreadable(
      problemAt(source.path, FILE_START, 'yaml-nesting', `values are nested more than ${NESTING_MAX} deep`),
    );
  const reader = { source, offset: slice.start, problems: syntaxProblems(source, slice, document) };
  if (document.errors.length > 0) return { ...unreadable(), problems: reader.problems };
  const value = readRoot(document.contents, reader);
  return { value, problems: reader.problems, positions: positionsOf(source, slice, document) };
}

interface Reader {
  source: SourceText;
  offset: number;
  problems: Problem[];
}

type YamlDocument = Document.Parsed<ParsedNode, true>;
type AnyNode = Node | null | undefined;

function parse(source: SourceText, slice: Slice): YamlDocument | 'too-many-pieces' | TooDeepError | undefined {
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

/** What `parseDocument` does, with a bound: an error object for every character of a hostile text takes seconds and hundreds of megabytes. */
function compose(text: string): YamlDocument {
  // uniqueKeys costs the square of a mapping's size: duplicates are found below, at the later key.
  const composer = new Composer<ParsedNode, true>({
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
    version: '1.2',
  });
  boundFaults(composer);
  const documents = [];
  for (const document of composer.compose(boundErrorTokens(tokensOf(text)), true, text.length)) {
    documents.push(document);
    if (documents.length === 2) break;
  }
  const [first, second] = documents as [YamlDocument, YamlDocument?];
  if (second !== undefined)
    first.errors.push(new YAMLParseError(second.range.slice(0, 2) as [number, number], 'MULTIPLE_DOCS', ''));
  return first;
}

type OnFault = (source: unknown, code: unknown, message: unknown, warning?: boolean) => void;

/** Lets one more through than is listed: it tells that there are more. The member is the only way by which the library hands faults on. */
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

/** Open values at which a reading stops: the parser keeps them in a list, but its composer recurses, and where its stack ends depends on its caller. */
const OPEN_VALUES_MAX = 8 * NESTING_MAX;

class TooDeepError extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super('too deep');
    this.offset = offset;
  }
}

/** Marks that the lexer puts between pieces of the text. */
const LEXER_MARK = /^[\u0002\u0018\u001f\ufeff]$/;

/** What `Parser.parse` does, with bounds. Throws TOO_MANY_PIECES or TooDeepError. */
function* tokensOf(text: string): Generator<CST.Token> {
  const parser = new Parser();
  let [pieces, offset] = [0, 0];
  for (const piece of new Lexer().lex(text)) {
    if ((pieces += 1) > YAML_PIECES_MAX) throw TOO_MANY_PIECES;
    yield* parser.next(piece);
    if (parser['stack'].length > OPEN_VALUES_MAX) throw new TooDeepError(offset);
    if (piece.length > 1 || !LEXER_MARK.test(piece)) offset += piece.length;
  }
  yield* parser.end();
}

/** The text's tokens until more of them are errors than are listed. */
function* boundErrorTokens(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  let errors = 0;
  for (const token of tokens) {
    yield token;
    if (token.type === 'error' && (errors += 1) > FILE_PROBLEMS_MAX) return;
  }
}

function syntaxProblems(source: SourceText, slice: Slice, document: YamlDocument): Problem[] {
  const found = document.errors.slice(0, FILE_PROBLEMS_MAX).map((error) => problemOf(source, slice, error));
  const more = document.errors[FILE_PROBLEMS_MAX];
  if (more !== undefined) found.push(furtherProblems(problemOf(source, slice, more)));
  const { yaml, tags } = document.directives;
  const hasDirective =
    yaml.explicit === true ||
    Object.keys(tags).length > 1 ||
    document.warnings.some((warning) => warning.code === 'BAD_DIRECTIVE');
  if (hasDirective)
    found.push(
      problemAt(
        source.path,
        source.range(slice.start, slice.start),
        'yaml-directive',
        'YAML directives (%…) are not allowed here; remove the line',
      ),
    );
  return found;
}

function problemOf(source: SourceText, slice: Slice, error: YAMLError): Problem {
  const [start, end] = error.pos;
  const range = source.range(slice.start + start, Math.min(slice.start + end, slice.end));
  if (error.code === 'MULTIPLE_DOCS')
    return problemAt(
      source.path,
      range,
      'yaml-documents',
      'a second YAML document starts here; a definition file holds one',
    );
  return problemAt(source.path, range, 'yaml-syntax', `not well-formed YAML: ${error.message}`);
}

function unreadable(...problems: Problem[]): YamlReading {
  return {
    value: undefined,
    problems,
    positions: { value: () => FILE_START, key: () => FILE_START, plainText: () => undefined },
  };
}

function readRoot(root: AnyNode, reader: Reader): { [key: string]: JsonValue } | undefined {
  if (isMap(root)) return readMap(root.items, root, reader, 1);
  const found = isSeq(root)
    ? 'a list'
    : root === null || (isScalar(root) && root.value === null)
      ? 'nothing'
      : 'a single value';
  report(reader, root, 'yaml-root', `expected a mapping of keys to values, found ${found}`);
  return undefined;
}

function readNode(node: AnyNode, reader: Reader, depth: number): JsonValue {
  if (node === null || node === undefined) return null;
  if (isAlias(node)) return refuse(reader, node, 'yaml-anchor', 'aliases (*name) are not allowed; write the value out');
  refuseProperties(node, reader);
  if (isScalar(node)) return readScalar(node, reader);
  if (depth >= NESTING_MAX)
    return refuse(reader, node, 'yaml-nesting', `values are nested more than ${NESTING_MAX} deep`);
  if (isMap(node)) return readMap(node.items, node, reader, depth + 1);
  return isSeq(node) ? node.items.map((item) => readNode(item as AnyNode, reader, depth + 1)) : null;
}

function readMap(pairs: readonly Pair[], map: Node, reader: Reader, depth: number): { [key: string]: JsonValue } {
  if (depth === 1) refuseProperties(map, reader);
  const value: { [key: string]: JsonValue } = {};
  for (const pair of pairs) {
    const key = keyOf(pair.key as AnyNode, value, reader);
    const item = readNode(pair.value as AnyNode, reader, depth);
    if (key === undefined) continue;
    // A plain assignment to __proto__ would set the prototype.
    Object.defineProperty(value, key, { value: item, enumerable: true, writable: true, configurable: true });
  }
  return value;
}

/** The key as text; undefined when it cannot be one. */
function keyOf(node: AnyNode, before: object, reader: Reader): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'string') {
    report(reader, node, 'yaml-key-type', 'keys must be strings; quote the key');
    return undefined;
  }
  refuseProperties(node, reader);
  const key = node.value;
  if (key === '<<' && node.type === 'PLAIN')
    report(reader, node, 'yaml-merge-key', 'merge keys (<<) are not allowed; write the keys out');
  else if (Object.hasOwn(before, key))
    report(
      reader,
      node,
      'yaml-duplicate-key',
      `key ${JSON.stringify(key)} stands in this mapping already; remove one of the two`,
    );
  else return key;
  return undefined;
}

function refuseProperties(node: Node, reader: Reader): void {
  const { anchor, tag } = node as { anchor?: string; tag?: string };
  if (anchor !== undefined)
    report(reader, node, 'yaml-anchor', `anchors (&${anchor}) are not allowed; write the value out where it is needed`);
  if (tag !== undefined)
    report(
      reader,
      node,
      'yaml-tag',
      `tags (${tag.replace('tag:yaml.org,2002:', '!!')}) are not allowed; quote the value if it is text`,
    );
}

function readScalar(node: Scalar, reader: Reader): JsonValue {
  const { value } = node;
  if (typeof value === 'number') return readNumber(value, node, reader);
  if (typeof value === 'string' && value.includes('\0'))
    return refuse(reader, node, 'nul-character', 'NUL characters are not allowed');
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

function readNumber(value: number, node: Scalar, reader: Reader): number {
  if (isExact(value, node.source ?? String(value))) return value;
  const way = Number.isFinite(value)
    ? 'it is read as another number; quote it if it is an identifier'
    : 'numbers must be finite';
  report(reader, node, 'yaml-number', `${node.source ?? 'this'} is not a number that can be kept exactly: ${way}`);
  return 0;
}

/** Whether a number written so is kept without loss: integers digit for digit, fractions to the nearest double. */
function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  const digits = /^([-+]?)(0x[0-9a-fA-F]+|0o[0-7]+|[0-9]+)(?:\.0*)?$/.exec(source);
  if (digits === null) return value !== 0 || !/[1-9]/.test(source.replace(/e.*$/i, ''));
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER || BigInt(digits[2] ?? 0) === BigInt(Math.abs(value));
}

function refuse(reader: Reader, node: AnyNode, rule: string, message: string): null {
  report(reader, node, rule, message);
  return null;
}

function report(reader: Reader, node: AnyNode, rule: string, message: string): void {
  if (reader.problems.length > FILE_PROBLEMS_MAX) return;
  const problem = problemAt(reader.source.path, rangeOf(node, reader.source, reader.offset), rule, message);
  reader.problems.push(reader.problems.length < FILE_PROBLEMS_MAX ? problem : furtherProblems(problem));
}

function rangeOf(node: AnyNode, source: SourceText, offset: number): Range {
  const [start, end] = node?.range ?? [0, 0];
  return source.range(offset + start, offset + end);
}

/** Looks positions up when they are asked for: most files have no problem, and their positions are never needed. */
function positionsOf(source: SourceText, slice: Slice, document: YamlDocument): FilePositions {
  const found = new Map<string, Member>([['', { key: undefined, node: document.contents, children: undefined }]]);
  const memberAt = (pointer: string): Member | undefined => {
    const known = found.get(pointer);
    if (known !== undefined || pointer === '') return known;
    const cut = pointer.lastIndexOf('/');
    const parent = memberAt(pointer.slice(0, cut));
    if (parent === undefined) return undefined;
    const member = childrenOf(parent).get(unescapeSegment(pointer.slice(cut + 1)));
    if (member !== undefined) found.set(pointer, member);
    return member;
  };
  const range = (node: AnyNode) => rangeOf(node, source, slice.start);
  const nearestAt = (pointer: string): Range => {
    const member = memberAt(pointer);
    // A missing member stands at its parent's key, at the root on the first character of the file.
    if (member === undefined) return pointer === '' ? FILE_START : keyAt(pointer.slice(0, pointer.lastIndexOf('/')));
    return member.key === undefined && pointer === '' ? FILE_START : range(member.node ?? member.key);
  };
  const keyAt = (pointer: string): Range => {
    const member = memberAt(pointer);
    return member?.key === undefined || member.key === null ? nearestAt(pointer) : range(member.key);
  };
  return { value: nearestAt, key: keyAt, plainText: (pointer) => plainTextOf(memberAt(pointer)?.node) };
}

function plainTextOf(node: AnyNode): string | undefined {
  return isScalar(node) && node.type === 'PLAIN' ? node.source : undefined;
}

interface Member {
  key: AnyNode;
  node: AnyNode;
  children: Map<string, Member> | undefined;
}

function childrenOf(member: Member): Map<string, Member> {
  if (member.children !== undefined) return member.children;
  const children = new Map<string, Member>();
  const { node } = member;
  if (isMap(node)) for (const pair of node.items) addChild(children, pair);
  if (isSeq(node))
    for (const [index, item] of node.items.entries())
      children.set(String(index), { key: undefined, node: item as AnyNode, children: undefined });
  member.children = children;
  return children;
}

function addChild(children: Map<string, Member>, pair: Pair): void {
  const key = pair.key as AnyNode;
  if (!isScalar(key) || typeof key.value !== 'string' || children.has(key.value)) return;
  children.set(key.value, { key, node: pair.value as AnyNode, children: undefined });
}
