/** What is read here with a warning is no error in an editor; what is an error stays one. contract §8.6. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { HOSTED_TREES } from '../../test/support/factories/hosted-trees.ts';
import { EDITOR_DOCUMENTS, type SchemaDocumentName } from './index.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
const checks = Object.fromEntries(
  Object.entries(EDITOR_DOCUMENTS).map(([name, schema]) => [name, ajv.compile(schema)]),
);
const errorsOf = (name: SchemaDocumentName, text: string): unknown => {
  const check = checks[name]!;
  return check(parse(text)) ? [] : check.errors;
};
const golden = (path: string): string =>
  readFileSync(new URL(`../../test/definitions/ok/hosted-format/tree/${path}`, import.meta.url), 'utf8');
const frontMatter = (text: string): string => text.split('---\n')[1] ?? '';

describe('the schemas of editors take', () => {
  const trees = Object.entries(HOSTED_TREES).flatMap(([shape, tree]) =>
    Object.entries(tree).map(([path, text]) => [`${path} of "${shape}"`, path, text] as const),
  );

  it.each(trees.filter(([, path]) => path === 'factory.yaml'))('%s', (_what, _path, text) => {
    expect(errorsOf('factory', text)).toEqual([]);
  });

  it.each(trees.filter(([, path]) => path.startsWith('automations/')))('%s', (_what, _path, text) => {
    expect(errorsOf('automation', frontMatter(text))).toEqual([]);
  });

  it('every shape of the hosted format', () => {
    expect(errorsOf('factory', golden('factory.yaml'))).toEqual([]);
    for (const path of ['automations/nightly/automation.md', 'automations/orders.md'])
      expect({ path, errors: errorsOf('automation', frontMatter(golden(path))) }).toEqual({ path, errors: [] });
    expect(errorsOf('environment', 'runner: a\nworkerHost: b\nsecrets: [LEDGER_TOKEN]\n')).toEqual([]);
    expect(errorsOf('webhook', 'secretName: a\nagent: b\n')).toEqual([]);
  });
});

describe('the schemas of editors refuse', () => {
  const trigger = (filter: string): string =>
    `triggers: [{provider: webhook, event: received, filter: {webhooks: [a], ${filter}}}]\n`;

  it.each<[SchemaDocumentName, string]>([
    ['factory', 'bogus: 1\n'],
    ['factory', 'secrets: [lower-case]\n'],
    ['factory', 'agentDefaults: {harness: {modle: x}}\n'],
    ['factory', 'agentDefaults: {harness: {auth: {source: elsewhere}}}\n'],
    ['factory', 'mcpServers: {a: {}}\n'],
    ['automation', 'triggers: [{provider: webhook, event: received, filter: {webhook_ids: {not_in: [a]}}}]\n'],
    ['automation', 'triggers: [{provider: schedule, event: cron_fired}]\n'],
    ['automation', trigger('payload: {label: {ins: [a]}, other: {exist: 1, in: [a]}}').replace('ins', 'in: 3, x')],
    ['webhook', 'secretName: a\nrunner: b\n'],
  ])('%s: %j', (name, text) => {
    expect(errorsOf(name, text)).not.toEqual([]);
  });
});
