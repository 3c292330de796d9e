/** `millwright validate` as people and build servers use it: what is printed where, and the exit code. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { printable } from '../reports/report.ts';
import { validate } from './validate.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'validate-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function put(path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const texts = { out: '', err: '' };
  const into = (key: 'out' | 'err') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        texts[key] += chunk.toString();
        done();
      },
    });
  const code = await validate(argv, { stdout: into('out'), stderr: into('err'), cwd: folder });
  return { code, ...texts };
}

describe('millwright validate', () => {
  it('says nothing on stdout and which checks it could not run, when all is well', async () => {
    put('webhooks/orders.yaml', 'secretName: orders-hook\n');
    const { code, out, err } = await run();
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain('1 file: 0 errors, 0 warnings');
    expect(err).toContain('not checked without a server: secrets, ');
  });

  it('calls nothing missing that a file without its repository refers to, and everything in a repository', async () => {
    const trigger = '{provider: webhook, event: received, filter: {webhooks: [orders]}}';
    put('automations/x/automation.md', `---\nskill: review\ntriggers: [${trigger}]\n---\nDo it.\n`);
    const alone = await run('automations/x/automation.md');
    expect({ code: alone.code, out: alone.out }).toEqual({ code: 0, out: '' });
    expect(alone.err).toContain('not checked without its repository: webhooks and skills that it refers to\n');
    const missing = ['webhook-known', 'skill-known'].map((rule) => expect.stringContaining(`[${rule}]`));
    expect((await run('.')).out.split('\n')).toEqual(expect.arrayContaining(missing));
    put('factory.yaml', 'name: Shop\n');
    expect((await run('automations/x/automation.md')).out.split('\n')).toEqual(expect.arrayContaining(missing));
    rmSync(join(folder, 'factory.yaml'));
    mkdirSync(join(folder, '.git'));
    const { code, err } = await run('automations/x/automation.md');
    expect(code).toBe(1);
    expect(err).not.toContain('without its repository');
  });

  it('prints every problem of every file and fails', async () => {
    put('webhooks/orders.yaml', 'secretname: orders-hook\n');
    put('automations/x/automation.md', 'no front matter');
    const { code, out, err } = await run('.');
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^automations\/x\/automation\.md:1:1: .* \[front-matter-missing\]$/),
      'webhooks/orders.yaml:1:1: unknown key "secretname"; did you mean "secretName"? [unknown-key]',
      'webhooks/orders.yaml:1:1: missing key "secretName"; add it [missing-key]',
      '',
    ]);
    expect(err).toContain('2 files: 3 errors, 0 warnings');
  });

  it('warnings do not fail', async () => {
    put('factory.yaml', 'alias: Till\n');
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toMatch(/^factory\.yaml:1:1: warning: alias .* \[unsupported-here\]\n$/);
  });

  it('a folder that is no factory is a problem', async () => {
    put('README.md', '# hello');
    const { code, out } = await run();
    expect(code).toBe(1);
    expect(out).toMatch(/^factory\.yaml:1:1: nothing here is a factory.*\[not-a-factory\]\n$/);
  });

  it('says when there is no repository whose commits could be compared with', async () => {
    const { code, out, err } = await run('--changed-since', 'HEAD');
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain('this folder is in no git repository');
  });

  it('checks secrets against a list of names', async () => {
    put('webhooks/orders.yaml', 'secretName: oders-hook\n');
    put('names.txt', '# secrets\norders-hook\n\nbilling\n');
    const { code, out, err } = await run('--secrets-list', 'names.txt');
    expect(code).toBe(1);
    expect(out).toBe(
      'webhooks/orders.yaml:1:13: secretName "oders-hook" is not a team secret; did you mean "orders-hook"? ' +
        'Else create it first, or grant it to this factory ' +
        '[secret-known]\n',
    );
    expect(err).toContain('values of secrets');
    expect(err).not.toContain('server: secrets');
  });

  it('prints one JSON object', async () => {
    put('webhooks/orders.yaml', 'color: red\nsecretName: x\n');
    const { code, out } = await run('--format', 'json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      valid: false,
      schema_version: 'v1',
      diagnostics: [
        expect.objectContaining({
          code: 'FF_UNKNOWN_FIELD',
          rule: 'unknown-key',
          severity: 'error',
          path: 'webhooks/orders.yaml',
          line: 1,
          column: 1,
        }),
      ],
      state_dependent_checks_not_run: ['secrets', 'secret-values', 'quota', 'uids', 'environments'],
    });
  });

  it.each<[argv: string[], why: string]>([
    [['--format', 'xml'], 'an unknown format'],
    [['--colour'], 'an unknown option'],
    [['a', 'b'], 'two folders'],
    [['not-there'], 'no such folder'],
    [['--secrets-list', 'not-there'], 'no such list'],
  ])('%j ends with 64 (%s)', async (argv) => {
    const { code, out, err } = await run(...argv);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(/^millwright validate: /);
    if (argv.includes('not-there'))
      expect(err).toMatch(/^millwright validate: the (folder|file) \S+not-there cannot be read \(ENOENT\)\n$/);
  });

  it('prints its usage when asked', async () => {
    expect(await run('--help')).toMatchObject({ code: 0, out: expect.stringContaining('usage: millwright validate') });
  });

  it('follows no links and lists nothing of .git or node_modules', async () => {
    put('factory.yaml', '{}\n');
    put('.git/webhooks/x.yaml', 'color: red\n');
    put('node_modules/webhooks/x.yaml', 'color: red\n');
    put('elsewhere.yaml', 'secretName: x\n');
    mkdirSync(join(folder, 'webhooks'));
    symlinkSync(join(folder, 'elsewhere.yaml'), join(folder, 'webhooks/orders.yaml'));
    symlinkSync(folder, join(folder, 'automations'));
    const { code, out } = await run();
    expect(code).toBe(1);
    expect(out).toBe(
      'automations:1:1: this is a symbolic link; commit the file itself [not-a-file]\n' +
        'webhooks/orders.yaml:1:1: this is a symbolic link; commit the file itself [not-a-file]\n',
    );
  });

  it('does not read a huge file', async () => {
    put('webhooks/orders.yaml', new Uint8Array(262_145));
    expect((await run()).out).toMatch(/^webhooks\/orders\.yaml:1:1: the file has 262145 bytes.*\[file-too-large\]\n$/);
  });

  it('nothing from a repository moves the cursor or commands the build server', async () => {
    put('webhooks/\u001b[2Jx\u202e.yaml', 'secretName: x\n');
    put('webhooks/a.yaml', '"::set-output\\u001b]0;x\\u0007": 1\nsecretName: x\n');
    for (const format of ['text', 'json']) {
      const { out } = await run('--format', format);
      expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
  });
});

describe('printable', () => {
  it.each([
    ['plain text', 'plain text', 'nothing to escape'],
    ['::error::x', '\\u{3a}:error::x', 'a command of GitHub'],
    ['  ::error::x', '  \\u{3a}:error::x', 'indented'],
    ['##[error]x', '\\u{23}#[error]x', 'a command of Azure'],
    ['a\nb\rc', 'a\\u{a}b\\u{d}c', 'line ends'],
    ['\u001b[31m', '\\u{1b}[31m', 'terminal sequences'],
    ['a\u202eb\u2066c\u200f', 'a\\u{202e}b\\u{2066}c\\u{200f}', 'direction marks'],
    ['\ud800', '\\u{d800}', 'half a character'],
    ['ä 😀 日本', 'ä 😀 日本', 'other scripts'],
  ])('%j is printed as %j (%s)', (text, expected) => {
    expect(printable(text)).toBe(expected);
  });
});

const built = join(root, 'dist/apps/cli/verbs/validate.js');
const isBuilt = existsSync(built);
if (!isBuilt)
  process.stderr.write('SKIPPED: dist is not built, so what validate loads is not checked; run npx tsc -p . first\n');

/**
 * Prints every module that is resolved (ESM through a hook, CommonJS from its cache) while the example is validated.
 */
const HOOK = `import { writeSync } from 'node:fs';
export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context);
  writeSync(1, resolved.url + '\\n');
  return resolved;
}`;
const EXAMPLE = join(root, 'examples/factory-repo');
const PROGRAM = `
  import { createRequire, register } from 'node:module';
  register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOK)}));
  const { validate } = await import(${JSON.stringify(built)});
  const { stderr } = process;
  await validate([${JSON.stringify(EXAMPLE)}], { stdout: stderr, stderr, cwd: '/' });
  for (const path of Object.keys(createRequire(${JSON.stringify(built)}).cache)) console.log(path);
`;

(isBuilt ? describe : describe.skip)('what validate loads', () => {
  it('neither Nest, nor TypeORM, nor a database driver', () => {
    const printed = execFileSync(process.execPath, ['--input-type=module', '--no-warnings', '--eval', PROGRAM], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const loaded = printed.split('\n');
    // Both ways of loading are seen.
    expect(loaded.some((url) => url.startsWith('file:') && url.includes('/libs/definitions/'))).toBe(true);
    expect(loaded.some((url) => url.startsWith('/') && url.includes('/node_modules/yaml/'))).toBe(true);
    expect(
      loaded.filter((url) => /node_modules\/(?:@nestjs|typeorm|better-sqlite3|pg|reflect-metadata)\//.test(url)),
    ).toEqual([]);
  });
});
