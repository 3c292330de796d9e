/** Contexts, login, and the service that is found by its data folder. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../../test/support/network/ports.ts';
import { call, type Call, type CallOptions } from '../../../test/support/services/recorded-io.ts';
import { bootService, type TestService } from '../../../test/support/services/service.ts';

const OTHER_KEY = `mw_${'k'.repeat(43)}`;

let test: TestService;
let home: string;
let file: string;

beforeAll(async () => {
  test = await bootService();
  for (const slug of ['one', 'two']) await test.api('POST', '/factory', { slug, source: { kind: 'dashboard' } });
});
afterAll(() => test.stop());
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'contexts-'));
  file = join(home, '.config/millwright/config.json');
});
afterEach(() => rmSync(home, { recursive: true }));

async function millwright(argv: string[], { environment, ...options }: CallOptions = {}): Promise<Call> {
  const result = await call(argv, { environment: { HOME: home, ...environment }, cwd: home, ...options });
  expect(result.out + result.err).not.toMatch(new RegExp(`${test.adminKey}|${OTHER_KEY}`));
  return result;
}

function login(...argv: string[]): Promise<Call> {
  return millwright(['login', ...argv], { stdin: `${test.adminKey}\n` });
}

describe('millwright login', () => {
  it('tries the key, stores it for its owner only, and uses the context from then on', async () => {
    expect(await login('prod', '--server', test.url, '--factory', 'two')).toEqual({
      code: 0,
      out: `prod: ${test.url}/ as admin, admin\n`,
      err: `the key is in ${file}\n`,
    });
    expect([statSync(file).mode & 0o777, statSync(join(file, '..')).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readdirSync(join(file, '..'))).toEqual(['config.json']);
    const { code, out } = await millwright(['status', '-o', 'json']);
    expect({ code, status: JSON.parse(out) as unknown }).toMatchObject({ code: 0 });
    expect((await millwright(['status'])).out).toMatch(/^factory +two /);
    expect((await millwright(['status', 'one'])).out).toMatch(/^factory +one /);
  });

  it('is made by the name of the host, and again without an address', async () => {
    await login('--server', test.url);
    expect(await login()).toMatchObject({ code: 0, out: expect.stringMatching(/^127\.0\.0\.1: /) });
  });

  it.each<[argv: string[], stdin: string, code: number, message: string]>([
    [['--server', 'URL'], OTHER_KEY, 6, 'does not know the API key in standard input'],
    [['--server', 'URL'], 'hunter2', 6, 'standard input holds no API key'],
    [[], OTHER_KEY, 64, '--server URL is missing'],
    [['../x', '--server', 'URL'], OTHER_KEY, 64, 'the name of a context must be'],
    [['--server', 'http://mw.example.com'], OTHER_KEY, 64, 'must be https'],
    [['x', OTHER_KEY], '', 64, 'takes nothing besides [NAME]'],
    [[`--key=${OTHER_KEY}`], '', 64, 'there is no option --key'],
  ])('%j stores nothing', async (argv, stdin, code, message) => {
    const asked = argv.map((word) => (word === 'URL' ? test.url : word));
    const refused = await millwright(['login', ...asked], { stdin });
    expect(refused).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
    expect(refused.err).not.toContain('hunter2');
    expect(existsSync(file)).toBe(false);
  });

  it('hides what is typed at a terminal', async () => {
    const program = join(import.meta.dirname, '../../../test/support/processes/typed-login.py');
    const main = join(import.meta.dirname, '../../../dist/apps/cli/main.js');
    if (!existsSync(main)) return process.stderr.write('SKIPPED: dist is not built\n');
    const { stdout } = await promisify(execFile)('python3', [program, process.execPath, main, test.url], {
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        TYPED: `${test.adminKey.slice(0, -1)}x\u007f${test.adminKey.slice(-1)}`,
      },
    });
    expect(stdout).toContain('API key (not shown): ');
    expect(stdout).toMatch(/as admin, admin/);
    expect(stdout).not.toContain(test.adminKey.slice(0, 12));
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ contexts: { typed: { key: test.adminKey } } });
  });
});

describe('the key of a context', () => {
  it('goes to its server and to no other', async () => {
    await login('prod', '--server', test.url);
    const other = `http://127.0.0.1:${await freePort()}`;
    expect(await millwright(['status', 'one', '--server', other])).toMatchObject({
      code: 6,
      err: expect.stringContaining('an API key is needed'),
    });
    expect(await millwright(['status', 'one', '--server', `${test.url}/`])).toMatchObject({ code: 0 });
    expect(await millwright(['config', 'set', 'prod', '--server', other])).toMatchObject({
      code: 0,
      err: 'it has no key: millwright login prod\n',
    });
    expect(readFileSync(file, 'utf8')).not.toContain('mw_');
  });

  it('gives way to the variable and to the option', async () => {
    await login('prod', '--server', test.url);
    writeFileSync(join(home, 'key'), OTHER_KEY);
    expect(await millwright(['status', 'one'], { environment: { MILLWRIGHT_API_KEY: OTHER_KEY } })).toMatchObject({
      code: 6,
      err: expect.stringContaining('MILLWRIGHT_API_KEY'),
    });
    expect(await millwright(['status', 'one', '--key-file', 'key'])).toMatchObject({ code: 6 });
  });

  it('is refused where others may read it', async () => {
    await login('prod', '--server', test.url);
    chmodSync(file, 0o644);
    expect(await millwright(['status', 'one'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/others may read the keys in .*\n {2}run: chmod 600 /),
    });
  });
});

describe('millwright config', () => {
  it('lists, chooses and deletes contexts', async () => {
    expect(await millwright(['config'])).toMatchObject({ code: 0, out: '', err: expect.stringContaining('login') });
    await login('prod', '--server', test.url, '--factory', 'one');
    await millwright(['config', 'set', 'lab', '--server', 'https://lab.example.com/mw', '--factory', 'x']);
    expect((await millwright(['config', 'list'])).out).toMatch(
      /^ +NAME +SERVER +FACTORY +KEY\n\* +prod +\S+ +one +yes\n +lab +https:\/\/lab\.example\.com\/mw +x +no\n$/,
    );
    expect(await millwright(['config', 'use', 'lab'])).toMatchObject({ code: 0, out: 'lab is in use\n' });
    expect((await millwright(['config', 'current'])).out).toBe('lab: https://lab.example.com/mw, factory x\n');
    expect((await millwright(['status'], { environment: { MILLWRIGHT_CONTEXT: 'prod' } })).out).toMatch(
      /^factory +one /,
    );
    expect(await millwright(['config', 'delete', 'lab'])).toMatchObject({ code: 0 });
    expect(JSON.parse((await millwright(['config', 'current', '-o', 'json'])).out)).toEqual({ context: null });
    expect(await millwright(['config', 'use', 'prod'])).toMatchObject({ code: 0 });
    expect(await millwright(['config', 'use', '-'])).toMatchObject({ code: 0, out: 'no context is in use\n' });
  });

  it.each<[argv: string[], code: number, message: string]>([
    [['use', 'nope'], 5, 'there is no context nope; there are none'],
    [['use', '__proto__'], 64, 'the name of a context must be'],
    [['use', 'constructor'], 5, 'there is no context constructor'],
    [['delete', 'nope'], 5, 'there is no context nope'],
    [['set', 'x'], 64, 'say --server or --factory'],
    [['set', 'x', '--factory', 'y'], 64, '--server URL is missing'],
    [['set', 'x', '--server', 'https://user:hunter2@h'], 64, 'must hold no user'],
  ])('%j ends with %d', async (argv, code, message) => {
    const refused = await millwright(['config', ...argv]);
    expect(refused).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
    expect(refused.err).not.toContain('hunter2');
  });

  it.each([
    '',
    '[]',
    '{"contexts": []}',
    '{"contexts": {"a": {"server": 1}}}',
    '{"contexts": {"../a": {"server": ""}}}',
  ])('of a file with %j says that it holds none, and not what it holds', async (text) => {
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
    expect(await millwright(['config'])).toMatchObject({ code: 1, out: '', err: expect.stringContaining(file) });
  });

  it('stands where the variables say, and nowhere without a home', async () => {
    const set = ['config', 'set', 'x', '--server', 'https://x.example.com'];
    await millwright(set, { environment: { MILLWRIGHT_CONFIG: 'mine.json' } });
    await millwright(set, { environment: { XDG_CONFIG_HOME: join(home, 'xdg') } });
    expect([existsSync(join(home, 'mine.json')), existsSync(join(home, 'xdg/millwright/config.json'))]).toEqual([
      true,
      true,
    ]);
    expect(await millwright(set, { environment: { HOME: '' } })).toMatchObject({
      code: 64,
      err: expect.stringContaining('there is no place for contexts'),
    });
  });
});

describe('the service of a data folder', () => {
  it('is found with its port and its key, while it runs', async () => {
    const service = await bootService();
    const environment = { MILLWRIGHT_DATA_DIR: service.dataDir };
    writeFileSync(join(service.dataDir, 'admin-key'), service.adminKey, { mode: 0o600 });
    const left = join(service.dataDir, 'service.json');
    try {
      expect([JSON.parse(readFileSync(left, 'utf8')), statSync(left).mode & 0o777]).toEqual([
        { url: service.url, pid: process.pid },
        0o600,
      ]);
      expect(await millwright(['keys', 'current'], { environment })).toMatchObject({ code: 0 });
    } finally {
      await service.stop({ keepData: true });
    }
    expect(existsSync(left)).toBe(false);
    rmSync(service.dataDir, { recursive: true });
  });

  it.each<[left: object | string, why: string]>([
    [{ url: 'https://mw.example.com', pid: process.pid }, 'another machine'],
    [{ url: 'http://user@127.0.0.1:1', pid: process.pid }, 'a user'],
    [{ url: 'file:///etc/passwd', pid: process.pid }, 'no server'],
    [{ url: 'http://127.0.0.1:1', pid: 2 ** 22 + 1 }, 'a process that is gone'],
    [{ url: 'http://127.0.0.1:1', pid: -1 }, 'every process'],
    ['{', 'no JSON'],
  ])('is not what %j says (%s)', async (left) => {
    mkdirSync(join(home, '.millwright'));
    writeFileSync(join(home, '.millwright/service.json'), typeof left === 'string' ? left : JSON.stringify(left));
    const { err } = await millwright(['status'], { environment: { MILLWRIGHT_API_KEY: OTHER_KEY } });
    expect(err).toMatch(/http:\/\/127\.0\.0\.1:8080 |there is no factory|does not know the API key/);
  });
});
