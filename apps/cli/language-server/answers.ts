/** What an editor asks of a text, and what it is answered. contract §11.11 (Language server). */
import {
  completionsAt,
  FILE_BYTES_MAX,
  formatDefinition,
  hasLayout,
  isRuleId,
  keyTextAt,
  type DeclaredNames,
} from '#definitions';
import type {
  CodeAction,
  CodeActionParams,
  CompletionItem,
  Connection,
  DocumentLink,
  Hover,
  TextDocumentPositionParams,
  TextEdit,
} from 'vscode-languageserver/node';
import { CodeActionKind, MarkupKind } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { ruleAddressOf } from '../reports/rule-page.ts';
import { FIX_ALL, fixAll, isAsked, quickFixes } from './actions.ts';
import { documentOf, editsBetween, rangeOf, touches } from './ranges.ts';
import type { Place } from './repositories.ts';
import { completionItems, hoverMarkdown } from './texts.ts';
import type { Workspace } from './workspace.ts';

const NO_NAMES: DeclaredNames = {
  webhooks: [],
  environments: [],
  skills: [],
  secrets: [],
  models: [],
  harnesses: [],
  trustRules: [],
};

/** Answers every kind of request that the server says it answers. */
export function answerRequests(connection: Connection, workspace: Workspace): void {
  connection.onHover((params) => hover(params, workspace));
  connection.onCompletion((params) => complete(params, workspace));
  connection.onDocumentFormatting(({ textDocument: { uri } }) => format(uri, connection, workspace));
  connection.onCodeAction((params) => actions(params, workspace));
  connection.onDocumentLinks(({ textDocument: { uri } }) => links(uri, workspace));
}

interface Asked {
  document: TextDocument;
  place: Place;
}

/** A text that is open, belongs to a factory, and is not larger than files may be. */
function asked(uri: string, workspace: Workspace): Asked | undefined {
  const document = workspace.documents.get(uri);
  const place = document === undefined ? undefined : workspace.placeOf(uri);
  const isSmall = document !== undefined && document.getText().length <= FILE_BYTES_MAX;
  return document === undefined || place === undefined || !isSmall ? undefined : { document, place };
}

function hover({ textDocument: { uri }, position }: TextDocumentPositionParams, workspace: Workspace): Hover | null {
  const found = asked(uri, workspace);
  if (found === undefined) return null;
  const { document, place } = found;
  const checked = workspace.checks.latest(place.root);
  const range = { start: position, end: position };
  const text = checked === undefined ? undefined : documentOf(checked.textOf(place.path));
  const here = (checked?.problems ?? []).filter(
    (problem) => text !== undefined && problem.path === place.path && touches(rangeOf(problem, text), range),
  );
  const key = keyTextAt(place.path, document.getText(), document.offsetAt(position));
  const value = hoverMarkdown(
    here.map(({ rule }) => rule),
    key,
  );
  return value === undefined ? null : { contents: { kind: MarkupKind.Markdown, value } };
}

function complete(
  { textDocument: { uri }, position }: TextDocumentPositionParams,
  workspace: Workspace,
): CompletionItem[] {
  const found = asked(uri, workspace);
  if (found === undefined) return [];
  const { document, place } = found;
  const names = workspace.namesIn(place.root) ?? NO_NAMES;
  const words = completionsAt(place.path, document.getText(), document.offsetAt(position), names);
  return completionItems(words, document);
}

/** A text that has no other layout, or none at all, stays; why, stands in the editor's log. */
function format(uri: string, connection: Connection, workspace: Workspace): TextEdit[] {
  const found = asked(uri, workspace);
  if (found === undefined || !hasLayout(found.place.path)) return [];
  const text = found.document.getText();
  const formatting = formatDefinition(found.place.path, text);
  if (formatting.ok) return editsBetween(text, formatting.text);
  connection.console.info(`${found.place.path}: left as it is: ${formatting.reason}`);
  return [];
}

async function actions(
  { textDocument: { uri }, range, context: { only } }: CodeActionParams,
  workspace: Workspace,
): Promise<CodeAction[]> {
  const found = asked(uri, workspace);
  const checked = found && (await workspace.checks.fresh(found.place.root));
  if (found === undefined || checked === undefined) return [];
  const deps = workspace.actionsDeps(found.place, checked);
  return [
    ...(isAsked(CodeActionKind.QuickFix, only) ? quickFixes(range, deps) : []),
    ...(isAsked(FIX_ALL, only) ? fixAll(deps) : []),
  ];
}

/** Where a service is named, whose guide has a page of the rule. */
async function links(uri: string, workspace: Workspace): Promise<DocumentLink[]> {
  const { guide } = workspace;
  const found = guide === undefined ? undefined : asked(uri, workspace);
  const checked = found && (await workspace.checks.fresh(found.place.root));
  if (guide === undefined || found === undefined || checked === undefined) return [];
  const text = documentOf(checked.textOf(found.place.path));
  return checked.problems.flatMap((problem): DocumentLink[] => {
    const { path, rule } = problem;
    if (path !== found.place.path || !isRuleId(rule)) return [];
    return [{ range: rangeOf(problem, text), target: ruleAddressOf(guide, rule), tooltip: rule }];
  });
}
