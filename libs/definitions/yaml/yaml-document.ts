/**
 * What a YAML text says as plain JSON values, and which of YAML's features definition files do not use. contract §8.1.
 */
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLError } from 'yaml';
import type { JsonValue } from '#filters';
import { FILE_PROBLEMS_MAX, furtherProblems, problemAt } from '../rules/problems.ts';
import { FILE_START, type SourceText } from './source-text.ts';
import {
  NESTING_MAX,
  parseYaml,
  TooDeepError,
  YAML_PIECES_MAX,
  type AnyNode,
  type Slice,
  type YamlDocument,
} from './yaml-composer.ts';
import { yamlPositionsOf, yamlRangeOf } from './yaml-positions.ts';
import { CONFLICT_WORDS, deceptiveCharacter, isConflictLine, syntaxWords } from './syntax-words.ts';
import type { FilePositions, Problem } from '../types.ts';
import type { RuleId } from '../rules/rules.ts';

export interface YamlReading {
  /** The root mapping, or undefined when the text cannot be read at all. */
  value: { [key: string]: JsonValue } | undefined;
  problems: Problem[];
  positions: FilePositions;
}

/**
 * Reads one YAML document. Every refusal of contract §8 is a problem with a position in the whole file; a value is
 * returned beside problems where one can be made, so that the rest of the file is checked too. Never throws.
 */
export function readYaml(source: SourceText, slice: Slice): YamlReading {
  const document = parseYaml(source, slice);
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
  const isRoot = document.errors.length === 0 && isMap(document.contents);
  const cause = isRoot ? undefined : (conflictOf(source, slice) ?? lookAlikeOf(source, slice));
  if (cause !== undefined) return unreadable(cause);
  if (document.errors.length > 0) return unreadable(...reader.problems);
  const value = readRoot(document.contents, reader);
  return { value, problems: reader.problems, positions: yamlPositionsOf(source, slice, document) };
}

/** Of a file in which a merge has left marks, these are all that is worth saying. */
function conflictOf(source: SourceText, slice: Slice): Problem | undefined {
  const lines = source.text.slice(slice.start, slice.end).split('\n');
  const at = lines.findIndex(isConflictLine);
  if (at < 0) return undefined;
  const start = slice.start + lines.slice(0, at).join('\n').length + (at === 0 ? 0 : 1);
  return problemAt(source.path, source.range(start, start + 7), 'yaml-syntax', CONFLICT_WORDS);
}

/** Of a text that is no mapping because of a character that nobody can tell from the right one. */
function lookAlikeOf(source: SourceText, slice: Slice): Problem | undefined {
  const found = deceptiveCharacter(source.text.slice(slice.start, slice.end));
  if (found === undefined) return undefined;
  const start = slice.start + found.at;
  return problemAt(source.path, source.range(start, start + 1), 'yaml-syntax', `not well-formed YAML: ${found.words}`);
}

interface Reader {
  source: SourceText;
  offset: number;
  problems: Problem[];
}

function syntaxProblems(source: SourceText, slice: Slice, document: YamlDocument): Problem[] {
  const errors = causesOf(source, slice, document.errors);
  const found = errors.slice(0, FILE_PROBLEMS_MAX).map((error) => problemOf(source, slice, error));
  const more = errors[FILE_PROBLEMS_MAX];
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

/** Errors without those that follow, in the same line, from a value or a line below that cannot be read. */
function causesOf({ text }: SourceText, { start }: Slice, errors: readonly YAMLError[]): readonly YAMLError[] {
  const lineOf = ({ pos: [at] }: YAMLError): number => text.lastIndexOf('\n', start + at - 1);
  const caused = new Set(errors.filter(({ code }) => CAUSES.has(code)).map(lineOf));
  return caused.size === 0 ? errors : errors.filter((error) => !EFFECTS.has(error.code) || !caused.has(lineOf(error)));
}

const CAUSES: ReadonlySet<string> = new Set(['BAD_ALIAS', 'MULTILINE_IMPLICIT_KEY']);
const EFFECTS: ReadonlySet<string> = new Set(['UNEXPECTED_TOKEN', 'BLOCK_AS_IMPLICIT_KEY']);

function problemOf(source: SourceText, slice: Slice, error: YAMLError): Problem {
  const [start, end] = error.pos;
  const range = source.range(slice.start + start, Math.min(slice.start + end, slice.end));
  if (error.code === 'MULTIPLE_DOCS')
    return problemAt(
      source.path,
      range,
      'yaml-documents',
      'a second YAML document starts here; a definition file holds one: move it to a file of its own',
    );
  return problemAt(source.path, range, 'yaml-syntax', syntaxWords(error, source.text, slice.start + start));
}

function unreadable(...problems: Problem[]): YamlReading {
  return {
    value: undefined,
    problems,
    positions: {
      value: () => FILE_START,
      key: () => FILE_START,
      plainText: () => undefined,
      written: (pointer) => pointer,
    },
  };
}

function readRoot(root: AnyNode, reader: Reader): { [key: string]: JsonValue } | undefined {
  if (isMap(root)) return readMap(root.items, root, reader, 1);
  const found = isSeq(root)
    ? 'a list'
    : root === null || (isScalar(root) && root.value === null)
      ? 'nothing'
      : 'a single value';
  const wayOut = 'write keys, each with a colon, a blank and its value';
  report(reader, root, 'yaml-root', `expected a mapping of keys to values, found ${found}; ${wayOut}`);
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

function refuse(reader: Reader, node: AnyNode, rule: RuleId, message: string): null {
  report(reader, node, rule, message);
  return null;
}

function report(reader: Reader, node: AnyNode, rule: RuleId, message: string): void {
  if (reader.problems.length > FILE_PROBLEMS_MAX) return;
  const problem = problemAt(reader.source.path, yamlRangeOf(node, reader.source, reader.offset), rule, message);
  reader.problems.push(reader.problems.length < FILE_PROBLEMS_MAX ? problem : furtherProblems(problem));
}
