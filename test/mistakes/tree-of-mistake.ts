/** One mistake of an author, laid over a tree in which nothing is wrong. */
import type { RuleId, TreeFile } from '#definitions';

/** A mistake: the file that it is made in, by one of several short forms. */
export interface Mistake {
  /** What the author did. */
  mistake: string;
  /** A whole file; an automation where no path is given. */
  path?: string;
  text?: string;
  webhook?: string;
  environment?: string;
  factory?: string;
  /** One trigger of an automation. */
  trigger?: string;
  /** The payload filter of its trigger. */
  filter?: string;
  /** Further keys of its front matter. */
  keys?: string;
  /** What is told of it first. */
  rule: RuleId;
  /** line:column. */
  at: string;
  message: string;
}

const AUTOMATION = 'automations/triage/automation.md';
const TRIGGER = '{provider: webhook, event: received, filter: {webhooks: [ci], payload: {status: [failed]}}}';

const BASE: Readonly<Record<string, string>> = {
  'factory.yaml': 'name: Shop\n',
  'webhooks/ci.yaml': 'secretName: ci-hook\n',
  'environments/build.yaml': 'setupCommands: [npm ci]\n',
  'skills/review/SKILL.md': '# Review\n\nRead the change.\n',
};

/** The file of a mistake. */
export function fileOf(mistake: Mistake): { path: string; text: string } {
  const { path, text, webhook, environment, factory, trigger, filter, keys } = mistake;
  if (webhook !== undefined) return { path: 'webhooks/orders.yaml', text: webhook };
  if (environment !== undefined) return { path: 'environments/tests.yaml', text: environment };
  if (factory !== undefined) return { path: 'factory.yaml', text: factory };
  if (text !== undefined) return { path: path ?? AUTOMATION, text };
  const started = 'provider: webhook, event: received';
  const made = filter === undefined ? trigger : `{${started}, filter: {webhooks: [ci], payload: ${filter}}}`;
  const front = [keys ?? 'limits: {tokens: 1000}', 'triggers:', `  - ${made ?? TRIGGER}`];
  return { path: path ?? AUTOMATION, text: ['---', ...front, '---', 'Look.', ''].join('\n') };
}

/** The tree that it is made in. */
export function treeOf(mistake: Mistake): TreeFile[] {
  const { path, text } = fileOf(mistake);
  return Object.entries({ ...BASE, [path]: text }).map(([at, content]) => ({
    path: at,
    content: Buffer.from(content),
  }));
}
