/**
 * What an editor shows of a rule, of a key, and beside a word that is being typed. contract §11.11 (Language server).
 */
import { isRuleId, ruleTextOf, ruleOf, type Completion, type KeyText, type RuleId } from '#definitions';
import { CompletionItemKind, MarkupKind, type CompletionItem, type Range } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';

/** What `millwright explain RULE` says, in Markdown. */
export function ruleMarkdown(rule: RuleId): string {
  const { severity, summary } = ruleOf(rule);
  const { why, wrong, right } = ruleTextOf(rule);
  const examples = [
    ['Instead of', wrong],
    ['write', right],
  ].flatMap(([label, text]) => (text === undefined ? [] : [`${label}:`, fenced(text)]));
  return [`**${rule}** (${severity})`, summary, why, ...examples].join('\n\n');
}

/** What is known of a key, in Markdown. */
export function keyMarkdown({ key, description, values, examples }: KeyText): string {
  return [
    `**${key}**`,
    description,
    ...(values.length === 0 ? [] : [`One of: ${values.map((value) => `\`${value}\``).join(', ')}`]),
    ...(examples.length === 0 ? [] : ['For example:', fenced(examples.map((one) => written(one)).join('\n'))]),
  ].join('\n\n');
}

/** The texts of the rules that are broken at a place, and of the key there; undefined: there is nothing to say. */
export function hoverMarkdown(rules: readonly string[], key: KeyText | undefined): string | undefined {
  const pages = [...new Set(rules)].filter(isRuleId).map(ruleMarkdown);
  const parts = [...pages, ...(key === undefined ? [] : [keyMarkdown(key)])];
  return parts.length === 0 ? undefined : parts.join('\n\n---\n\n');
}

const KINDS = {
  key: CompletionItemKind.Property,
  value: CompletionItemKind.EnumMember,
  name: CompletionItemKind.Reference,
} as const;

/** Words for an editor, in our order. */
export function completionItems(found: readonly Completion[], document: TextDocument): CompletionItem[] {
  return found.map(({ word, kind, description, text, start, end }, index) => {
    const range: Range = { start: document.positionAt(start), end: document.positionAt(end) };
    return {
      label: word,
      kind: KINDS[kind],
      sortText: String(index).padStart(4, '0'),
      filterText: word,
      textEdit: { range, newText: text },
      ...(description === undefined ? {} : { documentation: { kind: MarkupKind.PlainText, value: description } }),
    };
  });
}

/** JSON is YAML, and says the same in every version. */
function written(value: unknown): string {
  return typeof value === 'string' && /^[A-Za-z][\w/.:-]*$/.test(value) ? value : JSON.stringify(value);
}

/** Three backticks end a fence: no text of ours has them. */
function fenced(text: string): string {
  return `\`\`\`yaml\n${text}\n\`\`\``;
}
