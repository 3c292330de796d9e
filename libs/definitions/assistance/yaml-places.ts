/** What stands at an offset of a definition file: the way of keys to it, also in a text that somebody is typing. */
import { isMap, isScalar, isSeq, type Pair } from 'yaml';
import { splitFrontMatter } from '../yaml/front-matter.ts';
import { sourceText } from '../yaml/source-text.ts';
import { parseYaml, type AnyNode, type Slice } from '../yaml/yaml-composer.ts';

/** Keys of mappings and indices of lists, from the root. */
export type Way = readonly (string | number)[];

export interface YamlPlace {
  /** The way to the key, or to the value. */
  way: Way;
  /** Whether the word is a key of a mapping; else it is a value, or an item of a list. */
  isKey: boolean;
  /** Offsets of the word in the file. */
  start: number;
  end: number;
  /** The document that it stands in. */
  root: AnyNode;
}

/**
 * The YAML of a definition file: the whole of it, or its front matter; undefined for prose, and where it cannot be
 * told.
 */
export function yamlSliceOf(path: string, text: string): Slice | undefined {
  if (!path.endsWith('.md')) return { start: 0, end: text.length };
  if (!path.startsWith('automations/')) return undefined;
  const split = splitFrontMatter(sourceText(path, text));
  return split.ok ? split.yaml : undefined;
}

/** The key or value at an offset; undefined between words, in comments, and in what is no YAML. Never throws. */
export function placeAt(path: string, text: string, offset: number): YamlPlace | undefined {
  const slice = yamlSliceOf(path, text);
  if (slice === undefined || offset < slice.start || offset > slice.end) return undefined;
  const document = parseYaml(sourceText(path, text), slice);
  if (document === undefined || document === 'too-many-pieces' || document instanceof Error) return undefined;
  const found = findIn(document.contents, offset - slice.start, []);
  return found && { ...found, start: found.start + slice.start, end: found.end + slice.start, root: document.contents };
}

/** A text without a word at the cursor has none to find: one is put there. */
const STAND_IN = 'x';
/** What a word of ours is made of. */
const WORD_BEFORE = /[\w$@./:*-]*$/;
const WORD_AFTER = /^[\w$@./*-]*/;

export interface TypedPlace extends YamlPlace {
  /** Whether nothing else stands on the line, so that a key can begin here, and a list go on. */
  isOwnLine: boolean;
}

/** What is being typed at an offset: the place of the word that stands there, or that could. Never throws. */
export function typedPlaceAt(path: string, text: string, offset: number): TypedPlace | undefined {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const lineEnd = text.indexOf('\n', offset) === -1 ? text.length : text.indexOf('\n', offset);
  const before = text.slice(lineStart, offset);
  if (/(?:^|\s)#/.test(before)) return undefined;
  const typed = WORD_BEFORE.exec(before)?.[0] ?? '';
  const rest = WORD_AFTER.exec(text.slice(offset, lineEnd))?.[0] ?? '';
  const [start, end] = [offset - typed.length, offset + rest.length];
  const isOwnLine = /^\s*(?:-\s+)*$/.test(text.slice(lineStart, start)) && text.slice(end, lineEnd).trim() === '';
  // A key of its own line would be taken for the beginning of a longer word without its colon
  const standIn = `${STAND_IN}${isOwnLine ? ':' : ''}`;
  const whole = `${text.slice(0, start)}${standIn}${text.slice(end)}`;
  const place = placeAt(path, whole, start + 1);
  return place && { ...place, start, end, isOwnLine };
}

type Found = Omit<YamlPlace, 'root'>;

function findIn(node: AnyNode, offset: number, way: Way): Found | undefined {
  if (isMap(node)) return findInMapping(node.items, offset, way);
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      const found = findIn(item as AnyNode, offset, [...way, index]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return holds(node, offset) ? { way, isKey: false, ...rangeOf(node) } : undefined;
}

function findInMapping(pairs: readonly Pair[], offset: number, way: Way): Found | undefined {
  for (const { key, value } of pairs) {
    if (!isScalar(key)) continue;
    const below = [...way, String(key.value)];
    if (holds(key, offset)) return { way: below, isKey: true, ...rangeOf(key) };
    const found = findIn(value as AnyNode, offset, below);
    if (found !== undefined) return found;
  }
  return undefined;
}

function holds(node: AnyNode, offset: number): boolean {
  const { start, end } = rangeOf(node);
  return isScalar(node) && start < end && start <= offset && offset <= end;
}

function rangeOf(node: AnyNode): { start: number; end: number } {
  const [start, end] = node?.range ?? [0, 0];
  return { start, end };
}
