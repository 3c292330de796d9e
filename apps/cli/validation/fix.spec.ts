/** `millwright validate --fix`: what has one right answer is written, and nothing else of a file changes. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { call, type Call } from '../../../test/support/services/recorded-io.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fix-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
const textOf = (path: string): string => readFileSync(join(folder, path), 'utf8');
const fix = (...paths: string[]): Promise<Call> => call(['validate', '--fix', ...paths], { cwd: folder });

/** What an automation is trusted with is nothing that is mended by itself. */
const othersThanTrust = (out: string): string[] =>
  out.split('\n').filter((line) => line !== '' && !line.includes('[trust-'));

const AUTOMATION = `---
# who starts it   (kept)
triggers:
  - provider: 'Webhook'   # quoted
    event:    received
    filter:
        webhooks: [ orders ]
        payload:
          sender: { "notIn": [dependabot] }  # bots
          draft: {exist:  false}
          label: {ins: [ready], exists: true}

ennabled: true
---
Keep {notIn: this} as it is.
`;

it('replaces words and nothing else, in any quotes and any layout', async () => {
  put('webhooks/orders.yaml', 'secretname: orders-hook\n');
  put('automations/a/automation.md', AUTOMATION);
  const { code, out, err } = await fix();
  expect({ code, out: othersThanTrust(out) }).toEqual({ code: 0, out: [] });
  expect(textOf('webhooks/orders.yaml')).toBe('secretName: orders-hook\n');
  expect(textOf('automations/a/automation.md')).toBe(
    AUTOMATION.replace("'Webhook'", "'webhook'")
      .replace('"notIn"', '"not_in"')
      .replace('exist:', 'exists:')
      .replace('{ins', '{in')
      .replace('ennabled', 'enabled'),
  );
  expect(err.split('\n')).toEqual(
    expect.arrayContaining([
      'automations/a/automation.md:13:1: ennabled → enabled',
      'webhooks/orders.yaml:1:1: secretname → secretName',
      expect.stringMatching(/^2 files: 0 errors, /),
    ]),
  );
  expect((await fix()).err).not.toContain('→');
});

it('keeps line ends of another system, and the mode of a file', async () => {
  put('webhooks/orders.yaml', '# a\r\nsecretname: x\r\n\r\n');
  const { mode } = statSync(join(folder, 'webhooks/orders.yaml'));
  await fix();
  expect(textOf('webhooks/orders.yaml')).toBe('# a\r\nsecretName: x\r\n\r\n');
  expect(statSync(join(folder, 'webhooks/orders.yaml')).mode).toBe(mode);
});

it('moves files and skills to where they are read from', async () => {
  put('webhook/orders.yaml', 'secretname: orders-hook\n');
  put('environments/base.yml', 'dockerImage: python:3\n');
  put('skill/review/SKILL.md', 'Review.\n');
  put('skill/review/check.py', 'print()\n');
  put('automations/a/Automation.md', AUTOMATION);
  const { code, out, err } = await fix();
  expect({ code, out: othersThanTrust(out) }).toEqual({ code: 0, out: [] });
  expect(err).toContain('webhook/orders.yaml → webhooks/orders.yaml\n');
  expect(textOf('webhooks/orders.yaml')).toBe('secretName: orders-hook\n');
  expect(
    ['environments/base.yaml', 'skills/review/check.py', 'automations/a/automation.md'].map((path) =>
      existsSync(join(folder, path)),
    ),
  ).toEqual([true, true, true]);
  expect(existsSync(join(folder, 'skill/review'))).toBe(false);
});

describe('leaves as it is, and says why:', () => {
  it.each([
    ['an anchor', 'secretname: &a x\ndescription: *a\n', 'anchors, aliases or tags'],
    ['an anchor at the key', '&k secretname: x\n', 'anchors, aliases or tags'],
    ['a tag', '!!str secretname: x\n', 'anchors, aliases or tags'],
  ])('%s', async (_why, text, reason) => {
    put('webhooks/orders.yaml', text);
    const { code, err } = await fix();
    expect({ code, text: textOf('webhooks/orders.yaml') }).toEqual({ code: 1, text });
    expect(err).toContain(`webhooks/orders.yaml: not mended: it has ${reason}`);
    expect(err.match(/not mended/g)).toHaveLength(1);
  });

  it.each([
    ['a key beside the one that was meant', 'secretName: a\nsecretname: b\n'],
    ['two keys that were meant to be one', 'secretname: a\nsecret_name: b\n'],
    ['a key that is near to nothing', 'colour: red\nsecretName: a\n'],
    ['what is no YAML', 'secretname: [a\n'],
    ['the value of a secret', 'secret: abc\n'],
  ])('%s', async (_why, text) => {
    put('webhooks/orders.yaml', text);
    const { code } = await fix();
    expect({ code, text: textOf('webhooks/orders.yaml') }).toEqual({ code: 1, text });
  });

  it('an operator beside the one that was meant', async () => {
    put('webhooks/orders.yaml', 'secretName: a\n');
    const text = AUTOMATION.replace('exists: true', 'in: [x]').replace('ennabled', 'enabled');
    put('automations/a/automation.md', text);
    await fix();
    expect(textOf('automations/a/automation.md')).toContain('{ins: [ready], in: [x]}');
  });

  it('a file whose right place is taken', async () => {
    put('webhooks/orders.yaml', 'secretName: a\n');
    put('webhooks/orders.yml', 'secretName: b\n');
    const { err } = await fix();
    expect(err).toContain('webhooks/orders.yml: not mended: there is webhooks/orders.yaml already');
    expect(textOf('webhooks/orders.yaml')).toBe('secretName: a\n');
  });

  it('what a link leads to', async () => {
    put('elsewhere.yaml', 'secretname: a\n');
    put('factory.yaml', '{}\n');
    mkdirSync(join(folder, 'webhooks'));
    symlinkSync(join(folder, 'elsewhere.yaml'), join(folder, 'webhooks/orders.yaml'));
    await fix();
    expect(textOf('elsewhere.yaml')).toBe('secretname: a\n');
  });

  it('files that were not asked for', async () => {
    put('webhooks/orders.yaml', 'secretname: a\n');
    put('webhooks/other.yaml', 'secretname: a\n');
    await fix('webhooks/orders.yaml');
    expect([textOf('webhooks/orders.yaml'), textOf('webhooks/other.yaml')]).toEqual([
      'secretName: a\n',
      'secretname: a\n',
    ]);
  });
});
