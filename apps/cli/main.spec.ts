/** The command as a whole: finding verbs, help, and the installed program in a process of its own. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bootService } from '../../test/support/services/service.ts';
import { call } from '../../test/support/services/recorded-io.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Every verb with its second words. */
const WORDS = [
  ['start'],
  ['init'],
  ['validate'],
  ['plan'],
  ['factories'],
  ['factories', 'list'],
  ['factories', 'create'],
  ['factories', 'update'],
  ['factories', 'delete'],
  ['status'],
  ['events'],
  ['sync'],
  ['syncs'],
  ['wait'],
  ['approve'],
  ['explain'],
  ['secrets'],
  ['secrets', 'set'],
  ['secrets', 'list'],
  ['secrets', 'grant'],
  ['secrets', 'delete'],
  ['keys'],
  ['keys', 'create'],
  ['keys', 'list'],
  ['keys', 'revoke'],
  ['keys', 'current'],
  ['audit'],
  ['webhooks'],
  ['deliveries'],
  ['deliveries', 'resend'],
  ['deliveries', 'payload'],
  ['automations'],
  ['automations', 'list'],
  ['automations', 'get'],
  ['automations', 'enable'],
  ['automations', 'disable'],
  ['automations', 'delete'],
  ['run'],
  ['runs'],
  ['runs', 'get'],
  ['runs', 'cancel'],
  ['runs', 'followup'],
  ['runs', 'events'],
  ['runs', 'artifacts'],
  ['runs', 'permissions'],
  ['runs', 'answer'],
  ['filter'],
  ['filter', 'test'],
  ['send'],
  ['doctor'],
  ['login'],
  ['completion'],
  ['config'],
  ['config', 'list'],
  ['config', 'current'],
  ['config', 'use'],
  ['config', 'set'],
  ['config', 'delete'],
  ['schema'],
];

describe('help', () => {
  it.each(WORDS.map((words) => [words]))('of %j goes to stdout and ends with 0', async (words) => {
    const byOption = await call([...words, '--help']);
    expect(byOption).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(new RegExp(`^usage:\\s+millwright ${words.join(' ')}`)),
    });
    expect(await call(['help', ...words])).toEqual(byOption);
  });

  it('names every verb', async () => {
    const { code, out, err } = await call(['help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const [verb] of WORDS) expect(out).toMatch(new RegExp(`^  ${verb ?? ''} +\\S`, 'm'));
    expect(await call(['--help'])).toEqual({ code, out, err });
  });

  it('fits a terminal', async () => {
    for (const words of WORDS) {
      const { out } = await call([...words, '--help']);
      for (const line of out.split('\n').filter((text) => !text.includes('usage:') && !text.includes('millwright ')))
        expect(line.length).toBeLessThanOrEqual(150);
    }
  });
});

describe('a wrong call', () => {
  it.each<[argv: string[], message: string]>([
    [[], 'say what to do'],
    [['statsu'], 'there is no verb statsu; did you mean "status"?'],
    [['toString'], 'there is no such verb'],
    [['__proto__'], 'there is no such verb'],
    [['hunter2 is my password'], 'there is no such verb'],
    [['help', 'statsu'], 'there is no verb statsu'],
    [['status', '--fromat', 'json'], 'there is no option --fromat; did you mean "--format"?\nusage: millwright status'],
    [
      ['validate', '--fromat', 'json'],
      'there is no option --fromat; did you mean "--format"?\nusage: millwright validate',
    ],
    [['validate', '-', '--stdin-path'], '--stdin-path needs a value'],
    [['factories', 'creat'], 'say one of list, create, update, delete; did you mean "create"?'],
    [['status', '--colour'], 'there is no option --colour\nusage: millwright status [FACTORY]'],
    [['status', '--format'], '--format needs a value'],
    [['sync', '--no-wait=yes'], '--no-wait takes no value'],
    [['run', '--prompt', '--follow'], '--prompt needs a value'],
  ])('%j ends with 64', async (argv, message) => {
    const { code, out, err } = await call(argv);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(message);
    expect(err).not.toContain('hunter2');
  });
});

it('prints its version', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(await call(['--version'])).toEqual({ code: 0, out: `millwright ${version}\n`, err: '' });
});

const program = join(root, 'apps/cli/millwright.mjs');
const built = join(root, 'dist/apps/cli/main.js');
const isBuilt = existsSync(built) && existsSync(join(root, 'dist/apps/cli/verbs/send.js'));
if (!isBuilt)
  process.stderr.write('SKIPPED: dist is not built, so the installed command is not run; run npx tsc -p . first\n');

/** Prints every module that is resolved while the help of all verbs but `start` is printed. */
const HOOK = `import { writeSync } from 'node:fs';
export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context);
  writeSync(1, resolved.url + '\\n');
  return resolved;
}`;
const PROGRAM = `
  import { createRequire, register } from 'node:module';
  register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOK)}));
  const { main } = await import(${JSON.stringify(built)});
  const io = { stdin: process.stdin, stdout: process.stderr, stderr: process.stderr, cwd: '/', environment: {} };
  for (const words of ${JSON.stringify(WORDS.slice(1))}) await main([...words, '--help'], io);
  for (const path of Object.keys(createRequire(${JSON.stringify(built)}).cache)) console.log(path);
`;

(isBuilt ? describe : describe.skip)('the installed command', () => {
  it('sets a secret from a pipe, syncs and lists in processes of their own', async () => {
    const test = await bootService();
    const cwd = mkdtempSync(join(tmpdir(), 'main-'));
    const environment = { PATH: process.env['PATH'], MILLWRIGHT_SERVER: test.url, MILLWRIGHT_API_KEY: test.adminKey };
    try {
      expect(await piped(['secrets', 'set', 'piped'], 'hunter2-hunter2-hunter2\n', cwd, environment)).toEqual({
        code: 0,
        out: 'piped: version 1 is set; no webhook uses it yet\n',
        err: '',
      });
      const listed = await promisify(execFile)(
        process.execPath,
        ['--no-warnings', program, 'secrets', 'list', '--format', 'json'],
        { cwd, env: environment },
      );
      expect(JSON.parse(listed.stdout)).toMatchObject({ secrets: [{ name: 'piped', set: true }] });
      expect(await piped(['status', 'nope'], '', cwd, environment)).toMatchObject({ code: 5, out: '' });
    } finally {
      await test.stop();
      rmSync(cwd, { recursive: true });
    }
  });

  it('ends quietly when nobody reads on', async () => {
    const shell = `${process.execPath} --no-warnings ${program} schema | head -c 10; exit "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', shell]);
    expect({ stdout, stderr }).toEqual({ stdout: '{\n  "facto', stderr: '' });
  });

  it('loads neither Nest, nor TypeORM, nor a database driver for any verb but start', () => {
    const printed = execFileSync(process.execPath, ['--input-type=module', '--no-warnings', '--eval', PROGRAM], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const loaded = printed.split('\n');
    expect(loaded.some((url) => url.endsWith('/cli/verbs/send.js'))).toBe(true);
    expect(
      loaded.filter((url) =>
        /node_modules\/(?:@nestjs|typeorm|better-sqlite3|pg|reflect-metadata)\/|\/apps\/server\//.test(url),
      ),
    ).toEqual([]);
  });
});

function piped(
  argv: string[],
  stdin: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--no-warnings', program, ...argv], { cwd, env });
    const texts = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (texts.out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (texts.err += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...texts }));
    child.stdin.end(stdin);
  });
}
