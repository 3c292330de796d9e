/**
 * `millwright webhooks create|enable|disable|rotate|delete` against a real service. spec: Webhook management; contract
 * §4, §11.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootService, type TestService } from '../../../test/support/services/service.ts';
import { call, type Call, type CallOptions } from '../../../test/support/services/recorded-io.ts';

let test: TestService;
let folder: string;

beforeAll(async () => {
  test = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600' } });
  folder = mkdtempSync(join(tmpdir(), 'webhook-changes-'));
  await test.api('POST', '/factory', { slug: 'shop', source: { kind: 'dashboard' } });
});
afterAll(async () => {
  await test.stop();
  rmSync(folder, { recursive: true });
});

const millwright = (argv: string[], options: CallOptions = {}): Promise<Call> =>
  call(argv, {
    environment: { MILLWRIGHT_SERVER: test.url, MILLWRIGHT_API_KEY: test.adminKey },
    cwd: folder,
    ...options,
  });

let unique = 0;
async function send(url: string, secret?: string): Promise<number> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
    body: `{"n": ${(unique += 1)}}`,
  });
  return answer.status;
}

it('makes one, prints URL and secret on stdout, and takes both through its life', async () => {
  const made = await millwright([
    'webhooks',
    'create',
    'shop',
    '--name',
    'Orders',
    '--delivery-id-header',
    'X-Id',
    '--description',
    'of the shop',
  ]);
  expect(made).toMatchObject({
    code: 0,
    err: 'webhook orders of factory shop: enabled\nthe secret is not shown again; store it now\n',
  });
  const [url = '', secret = '', ...more] = made.out.split('\n');
  expect([url, more]).toEqual([test.ingressUrl('shop', 'orders'), ['']]);
  expect(await send(url, secret)).toBe(202);
  expect(await millwright(['webhooks', 'disable', 'shop', 'orders'])).toEqual({
    code: 0,
    out: 'orders: disabled\n',
    err: '',
  });
  expect(await send(url, secret)).toBe(404);
  expect(await millwright(['webhooks', 'enable', 'orders'])).toEqual({ code: 0, out: 'orders: enabled\n', err: '' });
  const rotated = await millwright(['webhooks', 'rotate', 'orders']);
  expect(rotated).toMatchObject({
    code: 0,
    err: 'the new secret is in use by orders\nthe secret is not shown again; store it now\n',
  });
  expect([await send(url, secret), await send(url, rotated.out.split('\n')[1])]).toEqual([401, 202]);
  expect(await millwright(['webhooks', 'shop'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/\norders +yes +token +orders-webhook /),
  });
  expect(await millwright(['webhooks', 'delete', 'orders'])).toEqual({ code: 0, out: 'orders: deleted\n', err: '' });
  expect(await send(url, secret)).toBe(404);
});

it('prints the full URL of a webhook whose URL is its secret, and nothing besides', async () => {
  const made = await millwright(['webhooks', 'create', '--name', 'linked', '--auth-mode', 'url_token']);
  expect(made.out).toMatch(/^http:\S+\/webhooks\/w\/wh_\w{26}\/[\w-]{43}\n$/);
  expect(await send(made.out.trim())).toBe(202);
  const json = JSON.parse((await millwright(['webhooks', 'rotate', 'linked', '--format', 'json'])).out) as {
    url: string;
    rotated: unknown[];
  };
  expect([await send(made.out.trim()), await send(json.url), json.rotated.length]).toEqual([401, 202, 1]);
});

it('finishes a provider’s webhook when its secret is known, from a file or a pipe', async () => {
  const made = await millwright([
    'webhooks',
    'create',
    '--name',
    'hub',
    '--auth-mode',
    'signature',
    '--signature-scheme',
    'github',
  ]);
  expect(made).toMatchObject({
    code: 0,
    out: `${test.ingressUrl('shop', 'hub')}\n`,
    err: expect.stringContaining('disabled until its secret is known'),
  });
  expect(await millwright(['webhooks', 'enable', 'hub'])).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('no value yet'),
  });
  expect(await millwright(['webhooks', 'rotate', 'hub'])).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('secret is required'),
  });
  writeFileSync(join(folder, 'hub'), 'Marker-4711\n');
  const rotated = await millwright(['webhooks', 'rotate', 'hub', '--secret-file', 'hub']);
  expect([rotated.code, rotated.out.includes('Marker')]).toEqual([0, false]);
  expect(await millwright(['webhooks', 'enable', 'hub'])).toMatchObject({ code: 0 });
  const sent = await millwright(
    ['send', test.ingressUrl('shop', 'hub'), '--scheme', 'github', '--secret-file', 'hub', '--data', '-'],
    { stdin: '{}' },
  );
  expect(sent.code).toBe(0);
  expect(await millwright(['webhooks', 'rotate', 'hub', '--secret-file', '-'], { stdin: 'Marker-4712' })).toMatchObject(
    { code: 0 },
  );
});

it('shows the edit of a file where files decide', async () => {
  mkdirSync(join(folder, 'repo/webhooks'), { recursive: true });
  await test.secret('hook', 'a-token-of-some-length');
  writeFileSync(join(folder, 'repo/webhooks/orders.yaml'), 'secretName: hook # ours\n');
  await test.factory('managed', { kind: 'directory', path: join(folder, 'repo') });
  const refused = await millwright(['webhooks', 'disable', 'managed', 'orders']);
  expect(refused).toEqual({
    code: 1,
    out: '',
    err:
      'millwright webhooks disable: the definitions of this factory are managed in its files: edit enabled in ' +
      'webhooks/orders.yaml\n  webhooks/orders.yaml:\n  | secretName: hook # ours\n  | enabled: false\n',
  });
});

it.each<[argv: string[], message: string, exit?: number]>([
  [['webhooks', 'create', 'shop'], '--name NAME is missing'],
  [['webhooks', 'delete'], '[FACTORY] WEBHOOK is missing'],
  [['webhooks', 'rotate', 'shop', 'nope'], 'has no webhook nope', 5],
  [['webhooks', 'rotate', 'shop', 'hub', '--secret', 'Marker-4711'], 'there is no option --secret'],
  [['webhooks', 'rotate', 'shop', 'hub', '--secret-file', 'not-there'], 'cannot be read (ENOENT)'],
])('%j is refused', async (argv, message, exit = 64) => {
  const refused = await millwright(argv);
  expect(refused).toMatchObject({ code: exit, out: '', err: expect.stringContaining(message) });
  expect(refused.err).not.toContain('Marker');
});
