/**
 * `millwright lsp` with a real client library, as a child on pipes: what is typed, mended, laid out, offered,
 * explained;
 * clients that send nonsense, much, or die. contract §11.11 (Language server).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { Diagnostic, TextDocumentEdit } from 'vscode-languageserver/node';
import { Editor } from '../../../test/support/editors/language-client.ts';
import { call } from '../../../test/support/services/recorded-io.ts';

const SOURCE = fileURLToPath(new URL('../millwright.mjs', import.meta.url));
const COMMAND: [string, ...string[]] = [process.execPath, '--disable-warning=ExperimentalWarning', SOURCE, 'lsp'];

let folder: string;
let editor: Editor | undefined;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'language-server-')));
});
afterEach(async () => {
  if (editor?.server.exitCode === null) await editor.close();
  editor = undefined;
  rmSync(folder, { recursive: true });
});

function put(path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
async function open(environment: Record<string, string> = {}): Promise<Editor> {
  editor = await Editor.open(COMMAND, { folder, environment });
  return editor;
}
const lineOf = ({ range: { start }, message, code }: Diagnostic): string => {
  const text = typeof message === 'string' ? message : message.value;
  return `${start.line + 1}:${start.character + 1}: ${text} [${String(code)}]`;
};
const isAny = (found: readonly Diagnostic[]): boolean => found.length > 0;
const has = (rule: string) => (found: readonly Diagnostic[]) => found.some(({ code }) => code === rule);

const AUTOMATION = `---
triggers:
  - provider: webhook
    event: received
    filter:
      webhooks: [orders]
      payload:
        sender: {notIn: [dependabot]}
limits: {cost: 1}
---
Look into it.
`;
const PATH = 'automations/a/automation.md';
const WEBHOOK = 'webhooks/orders.yaml';

it('says what validate says, of what is typed in place of what is saved', async () => {
  put(WEBHOOK, 'secretName: orders-hook\n');
  put(PATH, AUTOMATION);
  put('environments/base.yaml', 'dockerimage: python:3\n');
  const client = await open();
  for (const path of [PATH, 'environments/base.yaml']) {
    const { out } = await call(['validate', path], { cwd: folder });
    const expected = out
      .trim()
      .split('\n')
      .map((line) => line.slice(path.length + 1).replace('warning: ', ''));
    expect((await client.diagnostics(path, isAny)).map(lineOf)).toEqual(expected);
  }
  await client.openText(WEBHOOK, 'secretName: orders-hook\n');
  await client.change(WEBHOOK, 'N', { start: { line: 0, character: 6 }, end: { line: 0, character: 7 } });
  expect(await client.diagnostics(WEBHOOK, (found) => found.length === 0)).toEqual([]);
  await client.change(WEBHOOK, 'n', { start: { line: 0, character: 6 }, end: { line: 0, character: 7 } });
  expect((await client.diagnostics(WEBHOOK, isAny)).map(lineOf)[0]).toBe(
    '1:1: unknown key "secretname"; did you mean "secretName"? [unknown-key]',
  );
  await client.diagnostics(PATH, has('held-reference'));
  await client.closeText(WEBHOOK);
  expect(await client.diagnostics(WEBHOOK, (found) => found.length === 0)).toEqual([]);
  expect(await client.close()).toBe(0);
});

it('counts as editors do: emoji, CRLF, a carriage return alone, a byte order mark that is not shown', async () => {
  put(WEBHOOK, '\uFEFFsecretName: a\n');
  const client = await open();
  await client.openText('webhooks/emoji.yaml', 'secretName: a\r\ndescription: "😀😀"\r\n"colour": "😀"\r\n');
  const [found] = await client.diagnostics('webhooks/emoji.yaml', isAny);
  expect(found?.range).toEqual({ start: { line: 2, character: 0 }, end: { line: 2, character: 8 } });
  await client.openText('webhooks/return.yaml', 'secretName: "a\rb"\ncolour: red\n');
  const told = await client.diagnostics('webhooks/return.yaml', has('unknown-key'));
  expect(told.find(({ code }) => code === 'unknown-key')?.range.start).toEqual({ line: 2, character: 0 });
  await client.openText(WEBHOOK, 'secretName: a\n');
  expect(await client.diagnostics(WEBHOOK, isAny)).toMatchObject([
    { code: 'byte-order-mark', range: { start: { line: 0, character: 0 } } },
  ]);
});

it('mends what --fix would, one by one or all of a file, and lays out', async () => {
  put(WEBHOOK, 'secretName: orders-hook\n');
  const client = await open();
  const text = AUTOMATION.replace('limits: {cost: 1}', 'limits:   {cost: 1}\nennabled: true');
  await client.openText(PATH, text, 'markdown');
  const found = await client.diagnostics(PATH, has('filter-near-operator'));
  const near = found.find(({ code }) => code === 'filter-near-operator') as Diagnostic;
  const [fix, ...others] = (await client.actions(PATH, near.range, ['quickfix'])) ?? [];
  expect({ title: fix?.title, others }).toEqual({ title: 'Write not_in in place of notIn', others: [] });
  const apply = (before: string, edit: TextDocumentEdit): string =>
    TextDocument.applyEdits(TextDocument.create('', '', 0, before), edit.edits as never);
  expect(apply(text, fix?.edit?.documentChanges?.[0] as TextDocumentEdit)).toBe(text.replace('notIn', 'not_in'));
  const whole = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
  const [all] = (await client.actions(PATH, whole, ['source.fixAll'])) ?? [];
  const mended = apply(text, all?.edit?.documentChanges?.[0] as TextDocumentEdit);
  expect(mended).toBe(text.replace('notIn', 'not_in').replace('ennabled', 'enabled'));
  await client.change(PATH, mended);
  const edits = (await client.format(PATH)) ?? [];
  const laidOut = TextDocument.applyEdits(TextDocument.create('', '', 0, mended), edits);
  put('formatted/automations/a/automation.md', mended);
  await call(['fmt', 'formatted'], { cwd: folder });
  expect(laidOut).toBe(mended.replace('limits:   {', 'limits: {'));
  await client.change(PATH, laidOut);
  expect(await client.format(PATH)).toEqual([]);
  await client.change(PATH, '---\na: [\n---\nx\n');
  expect(await client.format(PATH)).toEqual([]);
});

it('mends all of a file in one action, also what comes to light by it', async () => {
  put(WEBHOOK, 'secretName: orders-hook\n');
  const client = await open();
  const text = AUTOMATION.replace('limits: {cost: 1}', 'limit: {costs: 1}');
  await client.openText(PATH, text, 'markdown');
  await client.diagnostics(PATH, has('unknown-key'));
  const whole = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
  const [all, ...others] = (await client.actions(PATH, whole, ['source.fixAll'])) ?? [];
  const edit = all?.edit?.documentChanges?.[0] as TextDocumentEdit | undefined;
  const mended = TextDocument.applyEdits(TextDocument.create('', '', 0, text), (edit?.edits ?? []) as never);
  expect([mended, others]).toEqual([AUTOMATION.replace('notIn', 'not_in'), []]);
  await client.change(PATH, mended);
  expect(await client.actions(PATH, whole, ['source.fixAll'])).toEqual([]);
});

it('offers to move what stands where nothing is read', async () => {
  put('environments/base.yml', 'dockerImage: python:3\n');
  const client = await open();
  await client.openText('environments/base.yml', 'dockerImage: python:3\n');
  await client.diagnostics('environments/base.yml', has('wrong-place'));
  const [move] =
    (await client.actions('environments/base.yml', {
      start: { line: 0, character: 0 },
      end: { line: 0, character: 0 },
    })) ?? [];
  expect(move).toMatchObject({
    title: 'Move to environments/base.yaml',
    edit: { documentChanges: [{ kind: 'rename', newUri: client.uri('environments/base.yaml') }] },
  });
});

it('explains rules and keys, and links to the guide of the service that is named', async () => {
  put(WEBHOOK, 'secretName: orders-hook\n');
  const client = await open({ MILLWRIGHT_SERVER: 'https://millwright.example/base/' });
  await client.openText(PATH, AUTOMATION, 'markdown');
  const [first] = await client.diagnostics(PATH, has('filter-near-operator'));
  expect(first?.codeDescription?.href).toMatch(/^https:\/\/millwright\.example\/base\/docs\/guide\/.*rules#/);
  expect(await client.hover(PATH, 7, 18)).toContain('**filter-near-operator** (warning)');
  expect(await client.hover(PATH, 5, 8)).toContain('Names of webhooks of this repository');
  expect(await client.hover(PATH, 10, 2)).toBeUndefined();
  expect((await client.links(PATH))?.map(({ target }) => target)).toContain(
    'https://millwright.example/base/docs/guide/reference/generated/rules#filter-near-operator',
  );
});

it.each([
  ['keys', 'limits: {cost: 1}', '|', ['concurrency', 'model', 'harness']],
  ['what is missing of a filter', '      webhooks: [orders]\n', '      |\n', ['webhook_ids', 'webhooks']],
  ['operators', '        sender: {notIn: [dependabot]}', '        sender:\n          |', ['in', 'not_in', 'exists']],
  ['operators between braces', '{notIn: [dependabot]}', '{|}', ['in', 'not_in', 'exists']],
  ['values', 'event: received', 'event: |', ['received']],
  ['webhooks of other files', 'webhooks: [orders]', 'webhooks: [|]', ['orders']],
  ['environments of other files', 'limits: {cost: 1}', 'environmentId: |', ['base']],
  ['secrets that files name', 'limits: {cost: 1}', 'secrets:\n  - name: |', ['NPM_TOKEN']],
])('offers %s', async (_what, before, typed, words) => {
  put(WEBHOOK, 'secretName: orders-hook\n');
  put('environments/base.yaml', 'secrets: [{name: NPM_TOKEN, host: registry.example.com}]\n');
  const client = await open();
  const text = AUTOMATION.replace(before, typed);
  const lines = text.slice(0, text.indexOf('|')).split('\n');
  await client.openText(PATH, text.replace('|', ''), 'markdown');
  await client.diagnostics(PATH, () => true);
  const found = await client.complete(PATH, lines.length - 1, lines.at(-1)?.length ?? 0);
  expect(found.map(({ label }) => label)).toEqual(expect.arrayContaining(words));
});

it('reads nothing outside of the workspace, also through a link', async () => {
  put('outside/webhooks/x.yaml', 'colour: red\n');
  mkdirSync(join(folder, 'inside'));
  symlinkSync(join(folder, 'outside'), join(folder, 'inside/linked'));
  editor = await Editor.open(COMMAND, { folder: join(folder, 'inside') });
  await editor.openText('linked/webhooks/y.yaml', 'colour: red\n');
  await editor.openText('../outside/webhooks/x.yaml', 'colour: red\n');
  await editor.openText('webhooks/z.yaml', 'colour: red\n');
  await editor.diagnostics('webhooks/z.yaml', isAny);
  expect(editor.told).toEqual([editor.uri('webhooks/z.yaml')]);
});

it('answers beside 2,000 files and a text of 256 KiB', async () => {
  put('factory.yaml', '{}\n');
  for (let at = 0; at < 1_990; at += 1) put(`webhooks/w${at}.yaml`, `secretName: s${at}\n`);
  const client = await open();
  const large = `secretName: a\n${'# 😀 comment\n'.repeat(17_000)}colour: red\n`;
  expect(Buffer.byteLength(large)).toBeLessThanOrEqual(262_144);
  await client.openText('webhooks/large.yaml', large);
  expect((await client.diagnostics('webhooks/large.yaml', isAny)).map(lineOf)[0]).toMatch(/^17002:1: unknown key/);
  await client.change('webhooks/large.yaml', `${large}${'#'.repeat(100_000)}`);
  await client.diagnostics('webhooks/large.yaml', has('file-too-large'));
  expect(await client.format('webhooks/large.yaml')).toEqual([]);
  await client.change('webhooks/large.yaml', 'secretName: a\n');
  await client.diagnostics('webhooks/large.yaml', (found) => found.length === 0);
});

describe('a client that', () => {
  const start = () => spawn(COMMAND[0], COMMAND.slice(1), { cwd: folder, env: { PATH: process.env['PATH'] } });
  const message = (text: string): string => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  const HELLO = message(
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}',
  );

  it('dies takes the server with it', async () => {
    const server = start();
    server.stdin.write(HELLO);
    await once(server.stdout, 'data');
    server.stdin.destroy();
    expect(await once(server, 'exit')).toEqual([1, null]);
  });

  it('sends what is no message, then one, is answered', async () => {
    const server = start();
    for (const text of ['{"jsonrpc":', 'null', '[]', '{"jsonrpc":"2.0","id":7,"method":"textDocument/hover"}'])
      server.stdin.write(message(text));
    server.stdin.write(HELLO);
    let answered = '';
    while (!answered.includes('hoverProvider')) answered += String((await once(server.stdout, 'data'))[0]);
    server.stdin.end();
    await once(server, 'exit');
  });
});
