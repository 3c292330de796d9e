/** How `millwright validate` speaks to a terminal, to a pipe and to editors; which files it looks at. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { call, type Call, type CallOptions } from '../../../test/support/services/recorded-io.ts';

const AUTOMATION = (filter: string): string =>
  '---\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      webhooks: [orders]\n' +
  `${filter}limits: {minutes: 10}\n---\nGo.\n`;
/** What makes it nobody else's to start. */
const OF_MEMBERS = 'author_association: [MEMBER]';
const ESC = '\u001b';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'validation-'));
  put('webhooks/orders.yaml', 'secretName: orders-hook\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const validate = (argv: string[], options: CallOptions = {}): Promise<Call> =>
  call(['validate', ...argv], { cwd: folder, ...options });

describe('on a terminal', () => {
  const shown = async (options: CallOptions = {}): Promise<string> =>
    (await validate([], { terminalColumns: 80, environment: { NO_COLOR: '1' }, ...options })).out;

  it('shows the line with a caret under the place', async () => {
    put('automations/a/automation.md', AUTOMATION(`      payload: {sender: {notIn: [dependabot]}, ${OF_MEMBERS}}\n`));
    expect((await shown({ terminalColumns: 100 })).split('\n')).toEqual([
      expect.stringMatching(/^automations\/a\/automation\.md:7:26: warning: .*did you mean not_in\?.*\]$/),
      ` 7 |       payload: {sender: {notIn: [dependabot]}, ${OF_MEMBERS}}`,
      '   |                          ^~~~~',
      '',
    ]);
  });

  it.each([
    ['tabs', 'enabled: true\ncolour:\tred\n', ' 2 | colour:    red', '   | ^~~~~~'],
    ['CRLF', 'enabled: true\r\ncolour: red\r\n', ' 2 | colour: red', '   | ^~~~~~'],
    ['wide characters', '{secretName: a, 日本: 1}\n', ' 1 | {secretName: a, 日本: 1}', '   |                 ^~~~'],
    ['what moves a cursor', '"a\\e[2J\u202eb": 1\n', ' 1 | "a\\e[2J\\u{202e}b": 1', '   | ^~~~~~~~~~~~~~~~~'],
    ['a long line', `authMode: ${'x'.repeat(300)}\n`, ` 1 | authMode: ${'x'.repeat(63)}…`, '   |           ^~~'],
  ])('keeps the place below its text: %s', async (_why, text, line, caret) => {
    put('webhooks/orders.yaml', text);
    const lines = (await shown()).split('\n');
    const marks = lines.flatMap((each, at) => (each === line ? (lines[at + 1] ?? '') : []));
    expect({ marks, isMarked: marks.some((mark) => mark.startsWith(caret)) }).toEqual({ marks, isMarked: true });
  });

  it('shows the end of a line that the place is at', async () => {
    put('automations/a/automation.md', AUTOMATION(`      payload: {${'f'.repeat(200)}: [x], a: {ins: [b]}}\n`));
    const [, line = '', caret = ''] = (await shown()).split('\n');
    expect(line.length).toBeLessThanOrEqual(80);
    expect(line.slice(caret.indexOf('^'), caret.indexOf('^') + 3)).toBe('ins');
  });

  it('shows nothing of a value that may be a secret', async () => {
    const value = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'.replace('16C7', '16C8');
    put('webhooks/orders.yaml', `secret: ${value}\n`);
    put('webhooks/other.yaml', `secretName: ${value}\n`);
    const out = await shown();
    expect(out).toContain('[secret-value]');
    expect(out).toContain(' 1 | secretName: •••');
    expect(out).not.toContain(value.slice(0, 12));
  });

  it.each<[environment: Record<string, string>, isColoured: boolean]>([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, true],
    [{ TERM: 'dumb' }, false],
    [{ FORCE_COLOR: '0' }, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ])('has colours with %j: %s', async (environment, isColoured) => {
    put('webhooks/orders.yaml', 'colour: red\n');
    expect((await shown({ environment })).includes(ESC)).toBe(isColoured);
  });
});

describe('in a pipe', () => {
  it('is one line for each problem, whatever colours are forced', async () => {
    put('webhooks/orders.yaml', 'colour: red\n');
    const { out } = await validate([], { environment: { FORCE_COLOR: '1' } });
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    expect(out).not.toContain('^');
    expect(out).toMatch(/^webhooks\/orders\.yaml:1:1: /);
  });

  it('says in one short line what a server would be needed for, and in full when asked', async () => {
    const { err } = await validate([]);
    expect(err.split('\n')[1]).toBe(
      'not checked without a server: secrets, values of secrets, quota, UIDs, environments (--verbose tells more)',
    );
    expect((await validate(['--verbose'])).err).toContain('\n  whether secrets are set and usable\n');
  });
});

describe('of some files', () => {
  beforeEach(() => {
    put('webhooks/orders.yaml', 'colour: red\n');
    put('webhooks/other.yaml', 'color: red\n');
    put('automations/a/automation.md', AUTOMATION(''));
  });

  it('tells their problems only, and knows the others', async () => {
    const { code, out, err } = await validate(['automations/a/automation.md']);
    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringMatching(/^automations\/a\/automation\.md:6:18: webhook "orders" has errors .*\n$/),
    });
    expect(err).toContain('1 file: 1 error');
  });

  it('takes several, with the paths that they were given by', async () => {
    const { out } = await validate(['f/webhooks/orders.yaml', 'f/webhooks/other.yaml'].map((path) => path.slice(2)));
    expect(out.split('\n').map((line) => line.split(':')[0])).toEqual([
      ...Array(2).fill('webhooks/orders.yaml'),
      ...Array(2).fill('webhooks/other.yaml'),
      '',
    ]);
  });

  it('finds their repository from above and from beside', async () => {
    put('repo/webhooks/a.yaml', 'secretname: a\n');
    expect((await validate(['repo/webhooks/a.yaml'])).out).toMatch(/^repo\/webhooks\/a\.yaml:1:1: /);
    expect((await validate(['../repo/webhooks/a.yaml'], { cwd: join(folder, 'webhooks') })).code).toBe(1);
  });

  it('leaves out what is no definition, and says so', async () => {
    put('README.md', '# us');
    const { code, out, err } = await validate(['README.md']);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain('README.md is no definition file, and not checked');
  });

  it.each([[['webhooks/none.yaml', 'webhooks/orders.yaml']], [['webhooks', 'webhooks/orders.yaml']], [['nothing']]])(
    '%j ends with 64',
    async (argv) => expect(await validate(argv)).toMatchObject({ code: 64, out: '' }),
  );
});

describe('of a text on stdin', () => {
  it('checks it among the files of its repository, in place of the file there', async () => {
    put('webhooks/orders.yaml', 'colour: red\n');
    const options = { stdin: 'secretName: orders-hook\n' };
    expect(await validate(['-', '--stdin-path', 'webhooks/orders.yaml'], options)).toMatchObject({ code: 0, out: '' });
    const text = AUTOMATION('').replace('orders', 'oders');
    const { code, out } = await validate(['-', '--stdin-path', 'automations/new/automation.md'], { stdin: text });
    expect(code).toBe(1);
    expect(out).toMatch(/^automations\/new\/automation\.md:6:18: webhook "oders" .*did you mean "orders"\?/);
  });

  it.each([
    [['-'], ''],
    [['--stdin-path', 'webhooks/a.yaml'], ''],
    [['-', 'a', '--stdin-path', 'webhooks/a.yaml'], ''],
    [['-', '--fix', '--stdin-path', 'webhooks/a.yaml'], ''],
    [['-', '--stdin-path', 'README.md'], 'x'],
  ])('%j ends with 64', async (argv, stdin) => {
    const { code, out, err } = await validate(argv, { stdin });
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(/^millwright validate: /);
  });
});
