/**
 * What a JSON Schema knows of a text, brought into the editor: completion, hover, and problems at their places. Nothing
 * is fetched.
 */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { linter, type Diagnostic } from '@codemirror/lint';
import { Facet, type EditorState, type Extension } from '@codemirror/state';
import { hoverTooltip, type Tooltip } from '@codemirror/view';
import {
  getLanguageService,
  type ASTNode,
  type CompletionItem,
  type JSONDocument,
  type JSONSchema,
  type LanguageService,
  type Range,
} from 'vscode-json-languageservice';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { GIVEN } from './external-marks.ts';
import { placeOf } from './pointer-positions.ts';

/** Something said about one place of the text, by its JSON pointer. */
export interface Mark {
  pointer: string;
  message: string;
  severity: 'error' | 'warning' | 'info';
}

interface JsonKnowledge {
  schema: JSONSchema;
  /** Whether the schema itself refuses; without it only completion and hover come from it. */
  isChecking: boolean;
  /** What else is to be said of a value; asked of texts that are JSON. */
  checks?: (value: unknown) => readonly Mark[];
}

/** What others say of the text: a server, or a test. */
export const givenMarks = Facet.define<readonly Mark[], readonly Mark[]>({ combine: (values) => values.flat() });

const ADDRESS = 'inmemory://edited.json';
const SEVERITIES: Readonly<Record<number, Diagnostic['severity']>> = { 1: 'error', 2: 'warning', 3: 'info', 4: 'hint' };

export function jsonKnowledge(knowledge: JsonKnowledge): Extension {
  const service = getLanguageService({
    clientCapabilities: {
      textDocument: {
        completion: { completionItem: { documentationFormat: ['plaintext'], commitCharactersSupport: false } },
      },
    },
  });
  service.configure({
    validate: true,
    allowComments: false,
    schemas: [{ uri: 'inmemory://schema.json', fileMatch: ['*'], schema: knowledge.schema }],
  });
  return [
    linter((view) => problemsOf(service, view.state, knowledge), {
      delay: 250,
      needsRefresh: ({ startState, state }) => startState.facet(givenMarks) !== state.facet(givenMarks),
    }),
    autocompletion({ override: [(context) => completions(service, context)], aboveCursor: false, icons: false }),
    hoverTooltip((view, at) => meaningAt(service, view.state, at)),
  ];
}

function read(service: LanguageService, state: EditorState): { document: TextDocument; tree: JSONDocument } {
  const document = TextDocument.create(ADDRESS, 'json', 1, state.doc.toString());
  return { document, tree: service.parseJSONDocument(document) };
}

async function problemsOf(
  service: LanguageService,
  state: EditorState,
  { isChecking, checks }: JsonKnowledge,
): Promise<Diagnostic[]> {
  const text = state.doc.toString();
  if (text.trim() === '') return [];
  const { document, tree } = read(service, state);
  const found = await service.doValidation(document, tree, {
    comments: 'error',
    trailingCommas: 'error',
    schemaValidation: isChecking ? 'warning' : 'ignore',
  });
  const said = found.map(({ range, message, severity = 1 }): Diagnostic => ({
    ...offsets(document, range, text.length),
    message: typeof message === 'string' ? message : message.value,
    severity: SEVERITIES[severity] ?? 'error',
  }));
  const own = checks === undefined ? [] : checksOf(text, checks);
  const placed = ({ pointer, message, severity }: Mark): Diagnostic => ({
    ...placeOf(tree.root, pointer, text.length),
    message,
    severity,
  });
  return [
    ...said,
    ...own.map((mark) => placed(mark)),
    ...withoutDuplicates(own, state.facet(givenMarks)).map((mark) => ({ ...placed(mark), markClass: GIVEN })),
  ];
}

/** What was found here already need not be said again. */
function withoutDuplicates(found: readonly Mark[], others: readonly Mark[]): Mark[] {
  return others.filter(({ pointer }) => !found.some((mark) => mark.pointer === pointer));
}

function checksOf(text: string, checks: (value: unknown) => readonly Mark[]): readonly Mark[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return []; // the language service says where it is no JSON
  }
  return checks(value);
}

function offsets(document: TextDocument, range: Range, length: number): { from: number; to: number } {
  const from = Math.min(document.offsetAt(range.start), length);
  return { from, to: Math.max(from, Math.min(document.offsetAt(range.end), length)) };
}

async function completions(service: LanguageService, context: CompletionContext): Promise<CompletionResult | null> {
  if (!context.explicit && context.matchBefore(/["\w[{:,]\s?$/) === null) return null;
  const { document, tree } = read(service, context.state);
  const list = await service.doComplete(document, document.positionAt(context.pos), tree);
  const items = list?.items.filter(({ textEdit }) => textEdit !== undefined && 'range' in textEdit) ?? [];
  if (items.length === 0) return null;
  const from = Math.min(...items.map((item) => rangeOf(item, document).from), context.pos);
  return {
    from,
    options: items.map((item) => optionOf(item, document, context.pos)),
    validFor: /^"?[^",:{}[\]\s]*"?$/,
  };
}

function rangeOf({ textEdit }: CompletionItem, document: TextDocument): { from: number; to: number } {
  if (textEdit === undefined || !('range' in textEdit)) throw new Error('a completion has no place');
  return offsets(document, textEdit.range, document.getText().length);
}

function optionOf(item: CompletionItem, document: TextDocument, askedAt: number): Completion {
  const range = rangeOf(item, document);
  const { text, cursor } = plainSnippet(item.textEdit?.newText ?? item.label);
  const { documentation = '' } = item;
  const meaning = typeof documentation === 'string' ? documentation : documentation.value;
  return {
    label: item.filterText ?? item.label,
    displayLabel: item.label,
    ...(item.detail === undefined ? {} : { detail: item.detail }),
    ...(meaning === '' ? {} : { info: meaning }),
    apply(view, _completion, _from, to) {
      // What was typed while the list was open lies before what stood behind the cursor.
      const end = Math.max(range.to + to - askedAt, to);
      view.dispatch({
        changes: { from: range.from, to: end, insert: text },
        selection: { anchor: range.from + cursor },
        userEvent: 'input.complete',
        scrollIntoView: true,
      });
    },
  };
}

/**
 * A snippet's text with the cursor at its first gap: gaps that the Tab key walks through would hold it back from
 * leaving.
 */
function plainSnippet(snippet: string): { text: string; cursor: number } {
  let cursor: number | undefined;
  let text = '';
  for (const [whole, escaped, gap, preset = ''] of snippet.matchAll(
    /\\([$}\\])|\$(?:(\d+)|\{\d+:?((?:\\.|[^}\\])*)\})|[^\\$]+|[\\$]/g,
  )) {
    if (escaped !== undefined) text += escaped;
    else if (whole.startsWith('$') && (gap !== undefined || whole.length > 1)) {
      cursor ??= text.length;
      text += preset.replaceAll(/\\([$}\\])/g, '$1');
    } else text += whole;
  }
  return { text, cursor: cursor ?? text.length };
}

async function meaningAt(service: LanguageService, state: EditorState, at: number): Promise<Tooltip | null> {
  const { document, tree } = read(service, state);
  const node = tree.getNodeFromOffset(at);
  if (node === undefined) return null;
  const described = node.parent?.type === 'property' && node.parent.keyNode === node ? node.parent.valueNode : node;
  const schemas = await service.getMatchingSchemas(document, tree);
  const meaning = schemas.find((match) => match.node === described && match.schema.description !== undefined)?.schema
    .description;
  return meaning === undefined ? null : tooltipOf(node, meaning);
}

function tooltipOf({ offset, length }: ASTNode, meaning: string): Tooltip {
  return {
    pos: offset,
    end: offset + length,
    create() {
      const dom = document.createElement('div');
      dom.className = 'cm-hover';
      dom.textContent = meaning;
      return { dom };
    },
  };
}
