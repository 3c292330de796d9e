/**
 * What `millwright init` gives an editor, tried with the language server that editors use for YAML: mistakes are told
 * of
 * where they are, keys are offered, and keys are explained. contract §8, §11.1.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Diagnostic } from 'vscode-languageserver/node';
import { Editor } from '../../../test/support/editors/language-client.ts';
import { call } from '../../../test/support/services/recorded-io.ts';

const SERVER = join(
  dirname(createRequire(import.meta.url).resolve('yaml-language-server/package.json')),
  'bin/yaml-language-server',
);

let folder: string;
let editor: Editor;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'editor-schemas-'));
  await call(['init'], { cwd: folder });
  const settings = JSON.parse(readFileSync(join(folder, '.vscode/settings.json'), 'utf8')) as Record<string, unknown>;
  editor = await Editor.open([process.execPath, SERVER, '--stdio'], {
    folder,
    settings: {
      yaml: {
        schemas: settings['yaml.schemas'],
        validate: true,
        hover: true,
        completion: true,
        schemaStore: { enable: false },
      },
    },
  });
});
afterAll(async () => {
  await editor.close();
  rmSync(folder, { recursive: true });
});

const MODE_LINE = '# yaml-language-server: $schema=../../.schemas/automation.schema.json\n';
const trigger = (filter: string): string => `${MODE_LINE}triggers:
  - provider: webhook
    event: received
    filter:
      webhooks: [builds]
      payload:
${filter}`;
const schedule = (cron: string): string => `${MODE_LINE}triggers:
  - provider: schedule
    event: cron_fired
    schedule:
      cron: ${cron}
`;

let count = 0;
/** A text of its own for each case: the front matter as YAML, which is all that this server reads. */
async function opened(text: string, path?: string): Promise<string> {
  const file = path ?? `automations/case-${(count += 1)}/front-matter.yaml`;
  await editor.openText(file, text);
  return file;
}
const told = (found: readonly Diagnostic[]): string[] =>
  found.map(
    ({ range: { start }, message }) =>
      `${start.line + 1}:${start.character + 1} ${typeof message === 'string' ? message : message.value}`,
  );
const first = async (path: string): Promise<string> =>
  told(await editor.diagnostics(path, (found) => found.length > 0))[0] ?? '';

it('finds nothing in the files of the starter', async () => {
  for (const path of ['factory.yaml', 'webhooks/builds.yaml', 'environments/workspace.yaml']) {
    await editor.openText(path, readFileSync(join(folder, path), 'utf8'));
    expect(await editor.diagnostics(path, () => true)).toEqual([]);
  }
  const [, frontMatter = ''] = readFileSync(join(folder, 'automations/triage/automation.md'), 'utf8').split(/^---$/m);
  expect(await editor.diagnostics(await opened(frontMatter.trimStart()), () => true)).toEqual([]);
});

describe('tells where', () => {
  it('a key of a webhook is unknown, by the settings alone', async () => {
    const path = await opened('provder: github\nsecretName: builds-token\n', 'webhooks/orders.yaml');
    expect(await first(path)).toMatch(/^1:1 .*provder/);
  });

  it('a trigger has no provider, because it is misspelt', async () => {
    const path = await opened(trigger('        a: [b]\n').replace('provider', 'provder'));
    expect(await first(path)).toMatch(/^3:5 .*provider/);
  });

  it.each([
    ['nearly an operator', '        sender: {notIn: [dependabot]}\n', /^8:18 This is no operator/],
    ['nearly an operator of another language', '        sender: {$in: [a]}\n', /^8:18 This is no operator/],
    ['an operator beside a field', '        sender: {in: [a], login: [b]}\n', /^8:27 Operators .* and fields/],
    ['an operator beside one that is misspelt', '        sender: {in: [a], notin: [b]}\n', /^8:27 .*misspelt/],
    ['a value without a list', '        action: opened\n', /^8:17 .*Wrap a single value/],
    ['an operator without its list', '        action: {in: opened}\n', /^8:22 .*Wrap a single value/],
    ['a list of lists', '        action: [[opened]]\n', /^8:18 Only texts, numbers/],
    [
      'presence that is asked for by a text',
      '        action: {exists: "yes", in: [a]}\n',
      /^8:26 exists takes true or false/,
    ],
  ])('a filter has %s', async (_what, filter, expected) => {
    expect(await first(await opened(trigger(filter)))).toMatch(expected);
  });

  it.each(['"* * *"', '"0 25 * * *"', '"@often"', '"5/15 * * * *"', '"0 0 * * * *"'])(
    'a schedule is no cron expression: %s',
    async (cron) => {
      expect(await first(await opened(schedule(cron)))).toMatch(/^6:13 A schedule has five fields: minute hour/);
    },
  );
});

it.each([
  trigger('        action: [opened]\n        a: {b: {not_in: [1, true, null]}, in: {in: [x]}, notIn: {in: [y]}}\n'),
  trigger('        present: [a]\n        c: {exists: false, not_in: [z]}\n'),
  schedule('"*/15 0-6,22 1 jan-MAR mon,5"'),
  schedule('"@daily"'),
])('says nothing of what the service reads', async (text) => {
  const path = await opened(text);
  // What is wrong in the text behind it is told after everything that is told of the text before
  const marker = await opened('triggers: 1\n');
  await editor.change(marker, `${MODE_LINE}triggers: 1\n`);
  await editor.diagnostics(marker, (found) => found.length > 0);
  expect(told(await editor.diagnostics(path, () => true))).toEqual([]);
});

describe('offers', () => {
  const labels = async (text: string): Promise<string[]> => {
    const at = text.indexOf('|');
    const before = text.slice(0, at).split('\n');
    const path = await opened(text.replace('|', ''));
    return (await editor.complete(path, before.length - 1, before.at(-1)?.length ?? 0)).map(({ label }) => label);
  };

  it('keys of a trigger and its filter', async () => {
    const text = trigger('');
    expect(await labels(text.replace('      webhooks: [builds]\n      payload:\n', '      |\n'))).toEqual(
      expect.arrayContaining(['webhooks', 'payload']),
    );
  });

  it('operators below a field', async () => {
    expect(await labels(trigger('        sender:\n          |\n'))).toEqual(
      expect.arrayContaining(['in', 'not_in', 'exists']),
    );
  });
});

it.each([
  ['webhooks', /Names of webhooks of this repository/],
  ['not_in', /none of these values/],
])('explains %s', async (word, text) => {
  const whole = trigger('        sender: {not_in: [a]}\n');
  const before = whole.slice(0, whole.indexOf(word)).split('\n');
  const path = await opened(whole);
  expect(await editor.hover(path, before.length - 1, (before.at(-1)?.length ?? 0) + 1)).toMatch(text);
});
