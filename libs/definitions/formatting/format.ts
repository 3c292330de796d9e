/**
 * One layout of definition files: two spaces, lists below their key indented, comments and order as they are. What a
 * file says never changes: it is compared, and a file is refused otherwise. contract §11.5.
 */
import { isAlias, Lexer, Parser, parseDocument, visit, type CST, type Document, type ToStringOptions } from 'yaml';
import { classifyPath } from '../definition-paths.ts';
import { splitFrontMatter } from '../yaml/front-matter.ts';
import { sourceText } from '../yaml/source-text.ts';
import { parseYaml, type Slice } from '../yaml/yaml-composer.ts';

/** The file in its one layout, or why it is left as it is. */
export type Formatting = { ok: true; text: string } | { ok: false; reason: string };

/** Columns at which prose is folded, as in the sources here; texts in quotes stay on one line. */
const COLUMNS = 120;
const LAYOUT: ToStringOptions = {
  indent: 2,
  indentSeq: true,
  lineWidth: COLUMNS,
  doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  flowCollectionPadding: false,
};

const KINDS: ReadonlySet<string> = new Set(['factory', 'webhook', 'automation', 'environment']);

/** Whether a path is that of a file that has a layout: skills are prose. */
export function hasLayout(path: string): boolean {
  return KINDS.has(classifyPath(path).kind);
}

/**
 * Lays out the YAML of a definition file; the prompt of an automation stays byte for byte, and line ends stay what the
 * first one is. Formatting twice changes nothing more. Never throws.
 */
export function formatDefinition(path: string, text: string): Formatting {
  const slice = sliceOf(path, text);
  if (slice === undefined) return { ok: false, reason: 'its front matter cannot be told from its prompt' };
  const refusal = unreadable(path, text, slice);
  if (refusal !== undefined) return { ok: false, reason: refusal };
  const yaml = text.slice(slice.start, slice.end);
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n';
  const laidOut = layOut(yaml);
  if (laidOut === undefined) return { ok: false, reason: 'what it says or its comments would change' };
  return { ok: true, text: text.slice(0, slice.start) + withLineEnds(laidOut, lineEnd) + text.slice(slice.end) };
}

function sliceOf(path: string, text: string): Slice | undefined {
  if (!path.endsWith('.md')) return { start: 0, end: text.length };
  const split = splitFrontMatter(sourceText(path, text));
  return split.ok ? split.yaml : undefined;
}

/** Why the YAML cannot be laid out: bounds of size first, as everywhere. */
function unreadable(path: string, text: string, slice: Slice): string | undefined {
  if (text.startsWith('\uFEFF')) return 'it begins with a byte order mark';
  const read = parseYaml(sourceText(path, text), slice);
  if (read === undefined || read === 'too-many-pieces' || read instanceof Error)
    return 'it is too large, or nested too deep';
  if (read.errors.length > 0) return 'it is not well-formed YAML';
  let reason: string | undefined;
  visit(read, {
    Node(_key, node) {
      const { anchor, tag } = node as { anchor?: string; tag?: string };
      const isPlain = !isAlias(node) && anchor === undefined && tag === undefined;
      if (!isPlain) reason = 'it has anchors, aliases or tags, which definition files do not have';
      return isPlain ? undefined : visit.BREAK;
    },
  });
  if (read.warnings.length > 0) reason ??= 'it has YAML that readers understand differently';
  const { yaml, tags } = read.directives;
  return reason ?? (yaml.explicit === true || Object.keys(tags).length > 1 ? 'it has directives' : undefined);
}

/** Undefined where the result would not say the same, hold the same comments and stay as it is from then on. */
function layOut(yaml: string): string | undefined {
  const before = parse(yaml);
  if (before.contents === null) return yaml; // comments, or nothing at all
  const once = printed(yaml);
  const twice = once === undefined ? undefined : printed(once);
  if (once === undefined || once !== twice) return undefined;
  const isSame = meaningOf(before) === meaningOf(parse(once)) && commentsOf(yaml) === commentsOf(once);
  // What was written as an escape may not be seen when it is written out
  return isSame && escapesIn(yaml) === escapesIn(once) ? once : undefined;
}

function printed(yaml: string): string | undefined {
  const document = parse(yaml);
  if (document.errors.length > 0) return undefined;
  return document.toString(LAYOUT);
}

/** Line ends are LF here: those of a text in quotes or a block are the same to YAML. */
function parse(yaml: string): Document.Parsed {
  const lines = yaml.replace(/\r\n/g, '\n');
  return parseDocument(lines, { version: '1.2', keepSourceTokens: false, uniqueKeys: false, logLevel: 'error' });
}

/** Values and keys in their order, told apart by type. */
function meaningOf(document: Document.Parsed): string {
  const scalars: string[] = [];
  visit(document, {
    Scalar(_key, { value }) {
      scalars.push(`${typeof value} ${Object.is(value, -0) ? '-0' : String(value)}`);
    },
  });
  return JSON.stringify([document.toJS({ maxAliasCount: 0 }), scalars]);
}

function escapesIn(yaml: string): number {
  return yaml.match(/\\(?:u|x|U|[LPN_ 0abev])/g)?.length ?? 0;
}

/** Comments in their order, the blanks around them aside. */
function commentsOf(yaml: string): string {
  const comments: string[] = [];
  const collect = (token: unknown): void => {
    if (typeof token !== 'object' || token === null) return;
    if ((token as CST.Token).type === 'comment') comments.push((token as CST.SourceToken).source.trim());
    for (const member of Object.values(token)) if (typeof member === 'object') collect(member);
  };
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(yaml)) for (const token of parser.next(lexeme)) collect(token);
  for (const token of parser.end()) collect(token);
  return JSON.stringify(comments);
}

function withLineEnds(text: string, lineEnd: string): string {
  return lineEnd === '\n' ? text : text.replaceAll('\n', lineEnd);
}
