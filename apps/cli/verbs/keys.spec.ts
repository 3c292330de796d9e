/**
 * `millwright keys` and `audit` against a real service: a key is printed alone and once, works at once and ends at
 * once.
 */
import { bootService, type TestService } from '../../../test/support/services/service.ts';
import { call, type Call } from '../../../test/support/services/recorded-io.ts';

let test: TestService;
let factoryUid: string;
/** Everything that was printed but by `create`, which has to print a key. */
const printed: string[] = [];
const made: string[] = [];

beforeAll(async () => {
  test = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  factoryUid = await test.factory('shop', { kind: 'directory', path: '/nowhere' });
});
afterAll(() => test.stop());

async function millwright(argv: string[], key = test.adminKey): Promise<Call> {
  const result = await call(argv, { environment: { MILLWRIGHT_SERVER: test.url, MILLWRIGHT_API_KEY: key } });
  if (argv[1] === 'create') made.push(...(result.out.match(/mw_[\w-]{43}/g) ?? []));
  else printed.push(result.out);
  printed.push(result.err);
  return result;
}

/** Makes a key; answers its text and its ID. */
async function create(...argv: string[]): Promise<{ key: string; id: string; err: string }> {
  const { code, out, err } = await millwright(['keys', 'create', ...argv]);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^mw_[\w-]{43}\n$/) });
  return { key: out.trim(), id: /^key (\S+) /.exec(err)?.[1] ?? '', err };
}

describe('millwright keys create', () => {
  it('prints the key alone on stdout and what it is on stderr', async () => {
    const { key, id, err } = await create(
      '--name',
      'for CI',
      '--role',
      'operator',
      '--service-account',
      'CI',
      '--expires-in-days',
      '30',
    );
    expect(err).toMatch(
      new RegExp(
        String.raw`^key [0-9a-f-]{36} \(for CI\): operator of all factories, for CI, until \S+Z\n` +
          String.raw`it is not shown again; store it now\n$`,
      ),
    );
    const { body } = await test.api('GET', '/api-keys/current', undefined, key);
    expect(body).toMatchObject({
      id,
      name: 'for CI',
      role: 'operator',
      factories: null,
      principal: { type: 'service_account', display_name: 'CI' },
    });
    expect(Date.parse(String(body['expires_at'])) - Date.parse(String(body['created_at']))).toBeGreaterThan(
      29 * 86_400_000,
    );
  });

  it('limits it to factories, by slug or UID', async () => {
    const { key, err } = await create('--name', 'limited', '--role', 'manager', '--factory', `shop,${factoryUid}`);
    expect(err).toContain(`manager of ${factoryUid}, for admin, without an end`);
    expect((await test.api('GET', '/api-keys/current', undefined, key)).body['factories']).toEqual([factoryUid]);
  });

  it('prints the JSON of the API', async () => {
    const { code, out } = await millwright([
      'keys',
      'create',
      '--name',
      'json',
      '--role',
      'viewer',
      '--format',
      'json',
    ]);
    expect({ code, answer: JSON.parse(out) as unknown }).toEqual({
      code: 0,
      answer: expect.objectContaining({ name: 'json', key: expect.stringMatching(/^mw_/), hint: expect.any(String) }),
    });
  });

  it.each<[argv: string[], code: number, message: string, why: string]>([
    [['--role', 'viewer'], 64, '--name NAME is missing', 'a key without a name tells nobody what it is for'],
    [['--name', 'x'], 64, '--role viewer|operator|manager|admin is missing', 'no role is the default'],
    [['--name', 'x', '--role', 'root'], 64, '--role must be one of viewer, operator', 'no such role'],
    [
      ['--name', 'x', '--role', 'viewer', '--expires-in-days', '0'],
      64,
      '--expires-in-days must be',
      'it would have ended',
    ],
    [
      ['--name', 'x', '--role', 'viewer', '--expires-in-days', '1e2'],
      64,
      '--expires-in-days must be',
      'no whole number',
    ],
    [['--name', 'x', '--role', 'viewer', '--factory', 'nope'], 5, 'there is no factory nope', 'no such factory'],
    [
      ['--name', 'x', '--role', 'admin', '--factory', 'shop'],
      1,
      'a key that is limited to factories is manager at most',
      'the service refuses it',
    ],
    [
      ['--name', 'x'.repeat(201), '--role', 'viewer'],
      1,
      'name must have at most 200 characters',
      'the service refuses it',
    ],
  ])('%j is refused', async (argv, code, message) => {
    expect(await millwright(['keys', 'create', ...argv])).toMatchObject({
      code,
      out: '',
      err: expect.stringContaining(message),
    });
  });
});

describe('millwright keys list, current and revoke', () => {
  it('shows whose key is used', async () => {
    const { code, out } = await millwright(['keys', 'current']);
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(
        String.raw`^key +mw_\S{4}… \(first admin key\)\nid +\S+\nbelongs to +admin \(user_admin\)\n` +
          String.raw`role +admin of all factories\nends +without an end\n$`,
      ),
    );
  });

  it('ends a key at once, for good, and lists it on request only', async () => {
    const { key, id } = await create('--name', 'short-lived', '--role', 'viewer');
    expect((await millwright(['keys', 'list'])).out).toMatch(
      new RegExp(
        `^ID +KEY +NAME +ROLE +FACTORIES +BELONGS TO +LAST USED +ENDS\n${id} +mw_\\S{4}… +short-lived +viewer ` +
          `+\\* +admin +- +-\n`,
      ),
    );
    expect(await millwright(['keys', 'current'], key)).toMatchObject({ code: 0 });
    expect(await millwright(['keys', 'revoke', id])).toEqual({ code: 0, out: `${id}: revoked\n`, err: '' });
    expect(await millwright(['keys', 'current'], key)).toMatchObject({
      code: 6,
      err: expect.stringContaining('does not know the API key'),
    });
    expect((await millwright(['keys', 'list'])).out).not.toContain(id);
    expect((await millwright(['keys', 'list', '--all'])).out).toMatch(new RegExp(`\n${id} +.* revoked \\S+Z\n`));
    expect(JSON.parse((await millwright(['keys', 'list', '--all', '--format', 'json'])).out)).toMatchObject({
      api_keys: expect.arrayContaining([expect.objectContaining({ id })]),
    });
  });

  it.each<[argv: string[], code: number, message: string]>([
    [[], 64, 'ID is missing'],
    [['../audit'], 64, 'ID must be the ID of a key'],
    [[`mw_${'k'.repeat(43)}`], 64, 'not the key itself'],
    [['00000000-0000-7000-8000-000000000000'], 5, 'the API key was not found'],
  ])('revoke %j is refused', async (argv, code, message) => {
    const result = await millwright(['keys', 'revoke', ...argv]);
    expect(result).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
    expect(result.err).not.toContain('kkkk');
  });

  it('rotates a key by its name: the new one is printed alone, and both let in', async () => {
    const { key, id } = await create('--name', 'turning', '--role', 'viewer');
    const turned = await millwright(['keys', 'rotate', 'turning', '--overlap', '1h']);
    printed.splice(printed.indexOf(turned.out), 1);
    expect(turned).toMatchObject({ code: 0, out: expect.stringMatching(/^mw_[\w-]{43}\n$/) });
    expect(turned.err).toMatch(new RegExp(`^key \\S+ \\(turning\\) takes the place of ${id}, without an end\n`));
    made.push(turned.out.trim());
    for (const text of [key, turned.out.trim()])
      expect(await millwright(['keys', 'current'], text)).toMatchObject({ code: 0 });
    const ambiguous = await millwright(['keys', 'rotate', 'turning']);
    expect(ambiguous).toMatchObject({ code: 64, err: expect.stringContaining('several keys are called that') });
    const last = await millwright(['keys', 'rotate', id, '--overlap', '0']);
    printed.splice(printed.indexOf(last.out), 1);
    made.push(last.out.trim());
    expect(await millwright(['keys', 'current'], key)).toMatchObject({ code: 6 });
  });

  it.each<[argv: string[], message: string]>([
    [['nobody-has-this'], 'there is no key of that name or ID'],
    [['x', '--overlap', '8d'], '--overlap must be a time of at most 7d'],
    [['x', '--overlap', 'soon'], '--overlap must be a time of at most 7d'],
    [[`mw_${'k'.repeat(43)}`], 'the key itself does not belong here'],
  ])('rotate %j is refused', async (argv, message) => {
    const result = await millwright(['keys', 'rotate', ...argv]);
    expect(result).toMatchObject({ code: 64, out: '', err: expect.stringContaining(message) });
    expect(result.err).not.toContain('kkkk');
  });

  it('the last admin key stays, and the answer says the way out', async () => {
    const { id } = (await test.api('GET', '/api-keys/current')).body;
    expect(await millwright(['keys', 'revoke', String(id)])).toMatchObject({
      code: 1,
      err: expect.stringContaining('the last key that lets an admin in: make another one'),
    });
  });
});

describe('millwright audit', () => {
  it('shows the trail, newest first, and filters it', async () => {
    const { id } = await create('--name', 'audited', '--role', 'viewer');
    const all = await millwright(['audit', '--limit', '1']);
    expect(all.out).toMatch(
      new RegExp(
        `^AT +WHO +ACTION +SUBJECT +FACTORY +FROM +DETAILS\n\\S+Z +admin +api_key.create +${id} +- +127.0.0.1 ` +
          `+name=audited role=viewer principal=user_admin\n$`,
      ),
    );
    expect(all.err).toMatch(/^there are more: --cursor \S+\n$/);
    const next = await millwright(['audit', '--limit', '1', '--cursor', /--cursor (\S+)/.exec(all.err)?.[1] ?? '']);
    expect(next).toMatchObject({ code: 0, out: expect.not.stringContaining(id) });
    expect(
      (await millwright(['audit', '--subject', id, '--action', 'api_key.create', '--format', 'json'])).out,
    ).toContain(id);
    expect(await millwright(['audit', '--factory', 'shop'])).toEqual({
      code: 0,
      out: '',
      err: 'there are no such changes\n',
    });
    expect(await millwright(['audit', '--since', 'yesterday'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('since'),
    });
  });
});

it('no key has been printed but by its making, and none was logged', () => {
  expect(made.length).toBeGreaterThan(3);
  for (const text of [...printed, ...test.logged])
    for (const key of [test.adminKey, ...made]) expect(text).not.toContain(key);
});
