/** `millwright fmt` as people, hooks and editors use it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { call, type Call, type CallOptions } from '../../../test/support/services/recorded-io.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fmt-'));
  put('webhooks/orders.yaml', '# ours\nsecretName:   orders-hook # the name\nenabled: true');
  put('automations/a/automation.md', '---\ntriggers:\n- provider: x\n---\n\n  Go:   on.\n');
  put('skills/review/SKILL.md', '---\nname:   review\n---\nReview.\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
const textOf = (path: string): string => readFileSync(join(folder, path), 'utf8');
const fmt = (argv: string[], options: CallOptions = {}): Promise<Call> =>
  call(['fmt', ...argv], { cwd: folder, ...options });

it('writes every definition file in its layout, and nothing a second time', async () => {
  expect(await fmt([])).toEqual({
    code: 0,
    out: 'automations/a/automation.md\nwebhooks/orders.yaml\n',
    err: '2 files: 2 written, 0 left as they are\n',
  });
  expect(textOf('webhooks/orders.yaml')).toBe('# ours\nsecretName: orders-hook # the name\nenabled: true\n');
  expect(textOf('automations/a/automation.md')).toBe('---\ntriggers:\n  - provider: x\n---\n\n  Go:   on.\n');
  expect(textOf('skills/review/SKILL.md')).toContain('name:   review');
  expect(await fmt([])).toMatchObject({ code: 0, out: '' });
});

it('only looks with --check', async () => {
  const before = textOf('webhooks/orders.yaml');
  expect(await fmt(['--check', 'webhooks/orders.yaml'])).toMatchObject({ code: 1, out: 'webhooks/orders.yaml\n' });
  expect(textOf('webhooks/orders.yaml')).toBe(before);
});

it('names what it leaves as it is, and does the rest', async () => {
  put('webhooks/anchored.yaml', 'secretName:  &a x\ndescription: *a\n');
  put('webhooks/latin.yaml', '');
  writeFileSync(join(folder, 'webhooks/latin.yaml'), new Uint8Array([0x61, 0x3a, 0x20, 0xe9]));
  symlinkSync(join(folder, 'skills/review/SKILL.md'), join(folder, 'webhooks/link.yaml'));
  const { code, err } = await fmt([]);
  expect(code).toBe(1);
  expect(err).toContain('webhooks/anchored.yaml: left as it is: it has anchors');
  expect(err).toContain('webhooks/latin.yaml: left as it is: it is not UTF-8');
  expect(err).toContain('webhooks/link.yaml: left as it is: it is a link');
  expect(err).toContain('5 files: 2 written, 3 left as they are');
});

it('lays out a text on stdin for editors', async () => {
  const text = 'secretName:   x\n';
  expect(await fmt(['-', '--stdin-path', 'any/webhooks/new.yaml'], { stdin: text })).toEqual({
    code: 0,
    out: 'secretName: x\n',
    err: '',
  });
  const anchored = 'secretName:   &a x\n';
  expect(await fmt(['-', '--stdin-path', 'webhooks/new.yaml'], { stdin: anchored })).toMatchObject({
    code: 1,
    out: anchored,
  });
});

it.each([[['-']], [['--stdin-path', 'webhooks/a.yaml']], [['-', '--stdin-path', 'README.md']], [['nowhere']]])(
  '%j ends with 64',
  async (argv) => expect(await fmt(argv, { stdin: '' })).toMatchObject({ code: 64, out: '' }),
);
