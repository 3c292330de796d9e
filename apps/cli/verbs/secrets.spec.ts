/** `millwright secrets` against a real service: values arrive exactly and appear nowhere. */
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readKeyFile } from '../../server/process/key-files.ts';
import { SecretReader } from '../../server/secrets/secret-reader.ts';
import { Vault } from '../../server/secrets/vault.ts';
import { SecretStore } from '../../server/store/secrets/secrets.ts';
import { bootService, type TestService } from '../../../test/support/services/service.ts';
import { call, type Call, type CallOptions } from '../../../test/support/services/recorded-io.ts';

/** Long enough for any webhook, and findable in any output. */
const VALUE = 'hunter2-hunter2-hunter2-hunter2';

let test: TestService;
let folder: string;
let factoryUid: string;
const printed: string[] = [];

beforeAll(async () => {
  test = await bootService();
  folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  mkdirSync(join(folder, 'repo/webhooks'), { recursive: true });
  writeFileSync(join(folder, 'repo/webhooks/orders.yaml'), 'secretName: orders-hook\n');
  await test.secret('orders-hook', VALUE);
  factoryUid = await test.factory('shop', { kind: 'directory', path: join(folder, 'repo') });
});
afterAll(async () => {
  await test.stop();
  rmSync(folder, { recursive: true });
});

async function secrets(argv: string[], options: CallOptions = {}): Promise<Call> {
  const environment = { MILLWRIGHT_SERVER: test.url, MILLWRIGHT_API_KEY: test.adminKey };
  const result = await call(['secrets', ...argv], { environment, cwd: folder, ...options });
  printed.push(result.out, result.err);
  return result;
}

/** The text that the service holds. */
async function stored(name: string): Promise<string> {
  const masterKey = readKeyFile(join(test.dataDir, 'master-key'), { create: false, variable: 'none' });
  const value = await new SecretReader(new SecretStore(test.service.database), new Vault(masterKey), {
    newId: () => 'unused',
  }).value(factoryUid, name, 'webhook');
  return Buffer.from(value ?? []).toString('utf8');
}

describe('millwright secrets set', () => {
  it.each([
    ['sh0rt-1', 'no webhook can use this value: a signing secret must be at least 8 bytes long'],
    ['with blanks in it all over', 'only authMode: signature can use this value: a bearer token must be 16'],
  ])('says at once what %j is not good for', async (value, expected) => {
    const { code, err } = await secrets(['set', 'for-later'], { stdin: value });
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining(expected) });
    expect(err).not.toContain(value);
  });

  it('says nothing of a value that any webhook can use', async () => {
    expect(await secrets(['set', 'for-later'], { stdin: VALUE })).toMatchObject({ code: 0, err: '' });
  });

  it.each<[stdin: string, argv: string[], expected: string, why: string]>([
    [VALUE, [], VALUE, 'no line end'],
    [`${VALUE}\n`, [], VALUE, 'echo'],
    [`${VALUE}\r\n`, [], VALUE, 'an editor on Windows'],
    [`${VALUE}\n\n`, [], `${VALUE}\n`, 'exactly one line end'],
    [`${VALUE}\r`, [], `${VALUE}\r`, 'a carriage return alone is no line end'],
    [`${VALUE}\n`, ['--raw'], `${VALUE}\n`, 'every byte counts'],
    [`${VALUE}\r\n`, ['--raw'], `${VALUE}\r\n`, 'every byte counts'],
    [`ä😀${VALUE}`, [], `ä😀${VALUE}`, 'UTF-8'],
    [`\ufeff${VALUE}`, [], `\ufeff${VALUE}`, 'a byte order mark is part of the value'],
  ])('stores %j given %j as %j (%s)', async (stdin, argv, expected) => {
    const result = await secrets(['set', 'exact', ...argv], { stdin });
    expect(result).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^exact: version \d+ is set; no webhook uses it yet\n$/),
    });
    expect(await stored('exact')).toBe(expected);
  });

  it('reads a file', async () => {
    writeFileSync(join(folder, 'value'), `${VALUE}-file\n`);
    expect(await secrets(['set', 'from-file', '--file', 'value'])).toMatchObject({ code: 0 });
    expect(await stored('from-file')).toBe(`${VALUE}-file`);
  });

  it('says when white space is part of the value', async () => {
    expect((await secrets(['set', 'spaced'], { stdin: `${VALUE}\n\n` })).err).toContain('white space');
    expect((await secrets(['set', 'spaced'], { stdin: `${VALUE}\n` })).err).toBe('');
  });

  it('names the webhooks that use it, and prints the JSON of the API', async () => {
    const text = await secrets(['set', 'orders-hook'], { stdin: VALUE });
    expect(text).toMatchObject({ code: 0, out: 'orders-hook: version 2 is set; used by 1 webhook: orders\n' });
    const json = await secrets(['set', 'orders-hook', '--format', 'json'], { stdin: VALUE });
    expect(JSON.parse(json.out)).toMatchObject({
      name: 'orders-hook',
      version: 3,
      set: true,
      used_by: [{ slug: 'orders' }],
    });
  });

  it('passes on what the service says of a value that a webhook cannot use', async () => {
    const { code, out, err } = await secrets(['set', 'orders-hook'], { stdin: 'hunter2' });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(
      'a webhook that uses this secret could not authenticate with the value\n  /value: webhook orders cannot use it',
    );
  });

  it('sets a secret of one factory, by slug or UID', async () => {
    expect(await secrets(['set', 'own', '--factory', 'shop'], { stdin: VALUE })).toMatchObject({ code: 0 });
    expect(await secrets(['set', 'own', '--factory', factoryUid], { stdin: VALUE })).toMatchObject({
      code: 0,
      out: expect.stringContaining('version 2'),
    });
    expect((await test.api('GET', '/secrets/own')).status).toBe(404);
    expect((await test.api('GET', `/factory/${factoryUid}/secrets/own`)).body['version']).toBe(2);
  });

  it.each<[argv: string[], options: CallOptions, code: number, message: string, why: string]>([
    [['set', 'never', VALUE], {}, 64, 'never from the command line', 'a value in the arguments'],
    [
      ['set', 'never', `--value=${VALUE}`],
      {},
      64,
      'there is no option --value',
      'a value in an option that does not exist',
    ],
    [['set', 'never', `--${VALUE}`], {}, 64, 'an option cannot be read', 'a value that looks like an option'],
    [['set', 'never', `-${VALUE}`], {}, 64, 'there is no option -', 'a value that looks like short options'],
    [['set', `${VALUE}!`], { stdin: 'x' }, 64, 'NAME must begin with a letter', 'a value where the name belongs'],
    [['set'], { stdin: 'x' }, 64, 'NAME is missing', 'no name'],
    [['set', '../x'], { stdin: 'x' }, 64, 'NAME must begin', 'a path'],
    [
      ['set', 'never'],
      { terminalColumns: 80 },
      64,
      'stdin is a terminal; redirect a file or a pipe',
      'typed at a terminal',
    ],
    [['set', 'never'], { stdin: '' }, 1, 'the value is empty', 'empty'],
    [['set', 'never'], { stdin: '\n' }, 1, 'the value is empty', 'a line end alone'],
    [['set', 'never'], { stdin: Buffer.from([0x61, 0xff, 0x62]) }, 1, 'not UTF-8 text', 'bytes'],
    [['set', 'never'], { stdin: 'x'.repeat(65_537) }, 1, 'more than 65536 characters', 'too long'],
    [['set', 'never', '--file', 'not-there'], {}, 64, 'cannot be read (ENOENT)', 'no such file'],
    [['set', 'never', '--file', '.'], {}, 64, 'cannot be read (EISDIR)', 'a folder'],
    [['set', 'never', '--factory', 'nope'], { stdin: 'x' }, 5, 'there is no factory nope', 'no such factory'],
    [['set', 'never', '--factory', '../shop'], { stdin: 'x' }, 64, 'FACTORY must be the slug', 'a path'],
  ])('%j is refused', async (argv, options, code, message) => {
    const result = await secrets(argv, options);
    expect(result).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
    expect((await test.api('GET', '/secrets/never')).status).toBe(404);
  });
});

describe('millwright secrets grant', () => {
  it('changes what is named and leaves the rest', async () => {
    await secrets(['set', 'granted'], { stdin: VALUE });
    expect(await secrets(['grant', 'granted', '--uses', 'webhook,run'])).toMatchObject({
      code: 0,
      out: 'granted: for webhook, run in all factories\n',
    });
    expect(await secrets(['grant', 'granted', '--factories', `shop,${factoryUid}`])).toMatchObject({
      code: 0,
      out: `granted: for webhook, run in ${factoryUid}\n`,
    });
    expect(await secrets(['grant', 'granted', '--factories', '*'])).toMatchObject({
      code: 0,
      out: 'granted: for webhook, run in all factories\n',
    });
    expect(await secrets(['grant', 'granted', '--runs', 'automation/triage,environment/build'])).toMatchObject({
      code: 0,
      out: 'granted: for webhook, run (automation/triage environment/build) in all factories\n',
    });
    expect((await test.api('GET', '/secrets/granted')).body).toMatchObject({
      version: 1,
      grants: { factories: '*', uses: ['webhook', 'run'], runs: ['automation/triage', 'environment/build'] },
    });
    expect((await secrets(['grant', 'granted', '--uses', 'none'])).out).toBe('granted: for nothing in all factories\n');
    await secrets(['grant', 'granted', '--uses', 'webhook,run']);
    expect((await secrets(['grant', 'granted', '--runs', '*'])).out).toContain('run (requests too)');
    expect((await secrets(['grant', 'granted', '--hosts', 'git.example,*.example:8443'])).out).toContain(
      ', to git.example, *.example:8443\n',
    );
    expect((await secrets(['grant', 'granted', '--hosts', '*'])).out).toContain(', to any host');
    expect((await secrets(['grant', 'granted', '--hosts', 'first'])).out).not.toContain(', to');
    expect((await secrets(['grant', 'granted', '--runs', 'files'])).out).toContain('for webhook, run in');
  });

  it.each<[argv: string[], code: number, message: string]>([
    [['grant', 'granted'], 64, 'say --uses, --factories, --runs or --hosts'],
    [['grant', 'granted', '--uses', 'webhook,everything'], 64, '--uses takes webhook, run, git, forge'],
    [['grant', 'granted', '--runs', 'triage'], 64, '--runs takes files, * or automation/NAME'],
    [['grant', 'granted', '--factories', 'nope'], 5, 'there is no factory nope'],
    [['grant', 'granted', '--factories', '*', '--factory', 'shop'], 64, 'cannot be given with --factory'],
    [['grant', 'mistyped', '--uses', 'run'], 5, 'the secret was not found'],
  ])('%j is refused', async (argv, code, message) => {
    const result = await secrets(argv);
    expect(result).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
    expect((await test.api('GET', '/secrets/mistyped')).status).toBe(404);
  });
});

describe('millwright secrets list and delete', () => {
  it('lists names and users', async () => {
    const { code, out } = await secrets(['list']);
    expect(code).toBe(0);
    expect(out).toMatch(/^NAME +VERSION +USES +FACTORIES +URL-SAFE +CHANGED +USED BY\n/);
    expect(out).toMatch(/\norders-hook +\d+ +webhook +\* +yes +\S+Z +orders\n/);
    expect(JSON.parse((await secrets(['list', '--factory', 'shop', '--format', 'json'])).out)).toMatchObject({
      secrets: [{ name: 'own' }],
    });
  });

  it('deletes one that nothing uses, and one in use only with --force', async () => {
    await secrets(['set', 'unused'], { stdin: VALUE });
    expect(await secrets(['delete', 'unused'])).toMatchObject({ code: 0, out: 'unused: deleted\n' });
    expect(await secrets(['delete', 'unused'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('was not found'),
    });
    expect(await secrets(['delete', 'orders-hook'])).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'used by 1 webhook: orders\n  what uses it would fail, and webhooks would refuse every delivery; --force',
      ),
    });
    expect(await secrets(['delete', 'orders-hook', '--force'])).toMatchObject({ code: 0 });
    expect((await test.api('GET', '/secrets/orders-hook')).status).toBe(404);
  });

  it('lets one that was deleted come back only with a value that its webhooks can use', async () => {
    expect(await secrets(['set', 'orders-hook'], { stdin: 'hunter2' })).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('/value: webhook orders cannot use it'),
    });
    expect(await secrets(['set', 'orders-hook'], { stdin: VALUE })).toMatchObject({
      code: 0,
      out: 'orders-hook: version 1 is set; used by 1 webhook: orders\n',
    });
    await secrets(['grant', 'orders-hook', '--uses', 'none']);
    await secrets(['set', 'orders-hook'], { stdin: 'hunter2' });
    expect(await secrets(['grant', 'orders-hook', '--uses', 'webhook'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('/grants/uses: webhook orders cannot use it'),
    });
  });

  it('says what there is when the second word is missing', async () => {
    expect(await secrets([])).toMatchObject({
      code: 64,
      out: '',
      err: expect.stringContaining('say one of set, list, grant, delete'),
    });
    expect(await secrets(['--help'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('millwright secrets grant NAME'),
    });
  });
});

it('no value and no key has been printed or logged', () => {
  for (const text of [...printed, ...test.logged]) {
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain(test.adminKey);
  }
});
