/**
 * The text of definition files: written anew, or edited so that what is not changed stays as people wrote it. contract
 * §4.5 (managed definitions), §8.
 */
import { Document, isMap, isPair, isScalar, parseDocument, Scalar, stringify, visit, type ParsedNode } from 'yaml';
import type { JsonValue } from '#filters';
import type { FileKeys } from './definition-values.ts';
import { splitFrontMatter, withoutBlankEnds } from './yaml/front-matter.ts';
import { sourceText } from './yaml/source-text.ts';
import type { AgentDefaults, AutomationDefinition, Trigger, WebhookDefinition } from './types.ts';
import { readYaml } from './yaml/yaml-document.ts';

const FENCE = '---\n';
/** A value that stands in two places is written out twice: files have no aliases. */
const ONCE = { aliasDuplicateObjects: false } as const;
/** Long lines stay long: folding one would change lines that nobody edited. */
const WRITING = { lineWidth: 0, version: '1.2' } as const;

/** Keys of webhooks/<name>.yaml that say what the definition does; what is so anyway is left out. */
export function webhookKeys({
  authMode,
  signatureScheme,
  secretName,
  deliveryIdHeader,
  replayProtection,
  secretOverlapMinutes,
  enabled,
  description,
}: WebhookDefinition): FileKeys {
  return {
    description,
    enabled: enabled ? undefined : false,
    authMode: authMode === 'token' ? undefined : authMode,
    signatureScheme,
    secretName,
    deliveryIdHeader,
    replayProtection,
    secretOverlapMinutes,
  };
}

/** Keys of an automation's front matter that say what the definition does; webhooks stand there by their UIDs. */
export function automationKeys({
  description,
  enabled,
  triggers,
  agent,
  concurrency,
  limits,
  network,
}: AutomationDefinition): FileKeys {
  return {
    description,
    enabled: enabled ? undefined : false,
    triggers: triggers.map(triggerKeys),
    ...agentKeys(agent),
    concurrency: present(concurrency),
    limits: present(limits),
    network,
  };
}

/** webhooks/<name>.yaml with these keys. */
export function webhookFileText(keys: FileKeys): string {
  return yamlText(keys);
}

/** automations/<name>/automation.md with these keys and this prompt. */
export function automationFileText(keys: FileKeys, prompt: string): string {
  return `${FENCE}${yamlText(keys)}${FENCE}\n${withoutBlankEnds(prompt)}\n`;
}

/**
 * The file with some keys set, or removed where they are undefined. Other lines stay as they are wherever that is
 * possible, comments always. `text` is a file that reads without errors.
 */
export function editedWebhookFile(text: string, changes: FileKeys): string {
  return edited(text, changes);
}

/** The same for an automation, whose prompt is replaced when one is given. */
export function editedAutomationFile(text: string, changes: FileKeys, prompt?: string): string {
  const split = splitFrontMatter(sourceText('', text));
  if (!split.ok) throw new Error('only files that can be read are edited');
  const {
    yaml: { start, end },
    promptStart,
  } = split;
  const body = prompt === undefined ? text.slice(promptStart) : `\n${withoutBlankEnds(prompt)}\n`;
  return `${text.slice(0, start)}${edited(text.slice(start, end), changes)}${text.slice(end, promptStart)}${body}`;
}

function triggerKeys(trigger: Trigger): JsonValue {
  switch (trigger.provider) {
    case 'webhook': {
      const { webhookUids, payload } = trigger;
      return {
        provider: 'webhook',
        event: 'received',
        filter: { webhook_ids: webhookUids, ...(payload === undefined ? {} : { payload }) },
      };
    }
    case 'schedule': {
      const { name, cron } = trigger;
      return { provider: 'schedule', event: 'cron_fired', schedule: { ...(name === undefined ? {} : { name }), cron } };
    }
    case 'inactive':
      return { provider: trigger.declaredProvider };
  }
}

function agentKeys(agent: AgentDefaults): FileKeys {
  return Object.fromEntries(Object.entries(agent).map(([key, value]) => [key, present(value)]));
}

/** A value of a definition as plain JSON: members that are undefined are absent. */
function present(value: unknown): JsonValue | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as JsonValue);
}

function edited(yaml: string, changes: FileKeys): string {
  return Object.entries(changes).reduce((text, [key, value]) => withKey(text, key, value), yaml);
}

/**
 * The first of three ways whose result says exactly what is wanted: one line changed, the document written again, the
 * keys written anew.
 */
function withKey(yaml: string, key: string, value: JsonValue | undefined): string {
  const wanted = { ...said(yaml), [key]: value };
  const isWanted = (text: string | undefined): text is string => text !== undefined && sameKeys(said(text), wanted);
  return [oneLineChanged, rewritten].map((way) => way(yaml, key, value)).find(isWanted) ?? yamlText(wanted);
}

function said(yaml: string): FileKeys {
  const { value, problems } = readYaml(sourceText('', yaml), { start: 0, end: yaml.length });
  return problems.length === 0 && value !== undefined ? value : {};
}

function sameKeys(left: FileKeys, right: FileKeys): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Replaces a single value in its place, or adds a line at the end. */
function oneLineChanged(yaml: string, key: string, value: JsonValue | undefined): string | undefined {
  const root: ParsedNode | null = parseDocument(yaml, { uniqueKeys: false }).contents;
  if (!isMap(root) || root.flow === true || value === undefined || (typeof value === 'object' && value !== null))
    return undefined;
  const text = stringify(value, { ...WRITING, blockQuote: false }).trimEnd();
  const pair = root.items.find((item) => isScalar(item.key) && item.key.value === key);
  if (pair === undefined) return `${yaml}${yaml.endsWith('\n') ? '' : '\n'}${key}: ${text}\n`;
  const { value: before } = pair;
  if (!isScalar(before) || before.type === 'BLOCK_FOLDED' || before.type === 'BLOCK_LITERAL') return undefined;
  return `${yaml.slice(0, before.range[0])}${text}${yaml.slice(before.range[1])}`;
}

/** Through the document's nodes: comments and blank lines stay, the spacing of other values may change. */
function rewritten(yaml: string, key: string, value: JsonValue | undefined): string {
  const document = parseDocument(yaml, { uniqueKeys: false });
  if (value === undefined) document.delete(key);
  else document.set(key, unambiguous(new Document(value, ONCE)).contents);
  return document.toString(WRITING);
}

function yamlText(keys: FileKeys): string {
  const present = Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
  return unambiguous(new Document(present, ONCE)).toString(WRITING);
}

/** Quotes the texts of payload filters: `no` and `2020-01-01` read the same in every YAML then. */
function unambiguous(document: Document): Document {
  visit(document, {
    Scalar: (key, node, path) => {
      const isOfFilter = path.some((step) => isPair(step) && isScalar(step.key) && step.key.value === 'payload');
      if (isOfFilter && key !== 'key' && typeof node.value === 'string') node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document;
}
