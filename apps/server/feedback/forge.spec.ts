/** A forge that answers badly: each answer is one named fault, and no error says what is secret. contract §9.9. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FORGE_DIALECTS, type ForgeFault } from '#reconcile';
import { startFakeForge, type FakeForge, type ForgeFaultAnswer } from '../../../test/support/forges/fake-forge.ts';
import { Forge } from './forge.ts';
import { ForgeClient, ForgeError } from './forge-client.ts';

const NEVER = new AbortController().signal;
const A = 'a'.repeat(40);
const STATUS = { commit: A, state: 'pending', description: 'd', context: 'millwright/shop' } as const;
const NOW_MS = 1_800_000_000_000;
let fake: FakeForge;

beforeEach(async () => (fake = await startFakeForge('github')));
afterEach(() => fake.close());

function forgeAt(api: string, more: { token?: string; allowLocal?: boolean } = {}): Forge {
  const { token = fake.token, allowLocal = true } = more;
  const dialect = FORGE_DIALECTS[fake.kind];
  const headers = dialect.headers(token);
  return new Forge(new ForgeClient({ api, headers, token, allowLocal, nowMs: () => NOW_MS }), dialect, 'acme/shop');
}

async function faultIn(work: Promise<unknown>): Promise<ForgeError> {
  const error = await work.then(
    () => undefined,
    (fault: unknown) => fault,
  );
  if (!(error instanceof ForgeError)) throw new Error(`no fault of a forge: ${String(error)}`);
  return error;
}

const soon = String(NOW_MS / 1_000 + 90);

it.each<[string, ForgeFaultAnswer | 'away', ForgeFault, number | undefined]>([
  ['a token that is not taken', { status: 401, body: '{"message":"Bad credentials"}' }, 'denied', undefined],
  ['a token that may not', { status: 403, body: '{"message":"Resource not accessible"}' }, 'denied', undefined],
  [
    'a used-up quota',
    { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': soon } },
    'slow-down',
    90_000,
  ],
  ['a second limit', { status: 403, headers: { 'retry-after': '60' } }, 'slow-down', 60_000],
  ['too much', { status: 429, headers: { 'retry-after': '30' } }, 'slow-down', 30_000],
  ['too much, until a day', { status: 429, headers: { 'retry-after': '86400' } }, 'slow-down', 3_600_000],
  ['nothing of that name', { status: 404, body: '{"message":"Not Found"}' }, 'missing', undefined],
  ['gone', { status: 410 }, 'missing', undefined],
  ['a conflict', { status: 409, body: '{}' }, 'refused', undefined],
  ['a refusal', { status: 422, body: '{"message":"Validation Failed"}' }, 'refused', undefined],
  ['a broken forge', { status: 500, body: '<html>' }, 'away', undefined],
  ['a forge in maintenance', { status: 503, headers: { 'retry-after': '120' } }, 'away', 120_000],
  ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/' } }, 'away', undefined],
  ['a page of HTML', { status: 200, body: '<html>Sign in</html>' }, 'away', undefined],
  ['nothing', { status: 200, body: '' }, 'away', undefined],
  ['half a page', { status: 200, body: '[{"number": 1, "title": "x', cut: true }, 'away', undefined],
  ['another thing', { status: 200, body: '{"a": 1}' }, 'away', undefined],
  ['too long a page', { status: 200, body: `["${'x'.repeat(9_000_000)}"]` }, 'away', undefined],
  ['a cut connection', 'away', 'away', undefined],
])('%s is named', async (_what, answer, fault, retryAfterMs) => {
  fake.fault = () => answer;
  const error = await faultIn(forgeAt(fake.api).openPulls('main', NEVER));
  expect({ fault: error.fault, retryAfterMs: error.retryAfterMs }).toEqual({ fault, retryAfterMs });
  expect(fake.requests).toHaveLength(1);
});

it('no error repeats the token, even where the forge does', async () => {
  fake.fault = ({ authorization }) => ({
    status: 401,
    body: JSON.stringify({ message: `no such token: ${authorization}\n\u202e${'x'.repeat(500)}` }),
  });
  const error = await faultIn(forgeAt(fake.api).setStatus(STATUS, NEVER));
  expect(error.message).toContain('no such token: Bearer •••');
  expect(error.message.length).toBeLessThan(400);
  expect(JSON.stringify({ ...error, answer: undefined }) + error.message + String(error.stack)).not.toContain(
    fake.token,
  );
});

it('a commit of a fork has its status at GitLab, which asks where it stands', async () => {
  await fake.close();
  fake = await startFakeForge('gitlab');
  const head = 'b'.repeat(40);
  fake.open({ number: 7, head, isFork: true });
  const status = { ...STATUS, commit: head, number: 7 } as const;
  await forgeAt(fake.api).setStatus(status, NEVER);
  await forgeAt(fake.api).setStatus({ ...status, state: 'success' }, NEVER);
  expect(fake.statuses.map(({ commit, state }) => [commit, state])).toEqual([
    [head, 'pending'],
    [head, 'success'],
  ]);
  expect(fake.requests).toHaveLength(3);
  const unknown = { ...STATUS, commit: head };
  fake.statuses.splice(0);
  expect(await faultIn(forgeAt(fake.api).setStatus(unknown, NEVER))).toMatchObject({ fault: 'missing' });
});

it('reads every page, and stops at the twentieth', async () => {
  for (let number = 1; number <= 120; number += 1) fake.open({ number, head: A });
  expect(await forgeAt(fake.api).openPulls('main', NEVER)).toHaveLength(120);
  expect(fake.requests).toHaveLength(3);
  const link = `<http://169.254.169.254/>; rel="next"`;
  fake.fault = () => ({ status: 200, body: '[]', headers: { link } });
  expect(await forgeAt(fake.api).openPulls('main', NEVER)).toEqual([]);
  expect(fake.requests).toHaveLength(23);
});

it('finds its comment again, makes a deleted one anew, and leaves that of others alone', async () => {
  const forge = forgeAt(fake.api);
  const mark = '<!-- millwright:factory:fac_a:proof -->';
  const say = (text: string, id?: string): Promise<string> => forge.comment(1, { body: `${mark}\n${text}`, id }, NEVER);
  fake.comments.push({ id: 1, number: 1, body: 'hello' }, { id: 2, number: 1, body: `${mark} copied` });
  fake.fault = ({ method, path }) =>
    method === 'PATCH' && path.endsWith('/2') ? { status: 403, body: '{}' } : undefined;
  const made = await say('one');
  expect(await say('two')).toBe(made);
  expect(await say('three', made)).toBe(made);
  fake.comments.pop();
  const again = await say('four', made);
  expect(again).not.toBe(made);
  expect(fake.comments.map(({ body }) => body)).toEqual(['hello', `${mark} copied`, `${mark}\nfour`]);
});

it('makes no second comment where something else than the forge says that the first one is gone', async () => {
  const forge = forgeAt(fake.api);
  const say = (text: string, id?: string): Promise<string> =>
    forge.comment(1, { body: `<!-- millwright:factory:fac_a:proof -->\n${text}`, id }, NEVER);
  const made = await say('one');
  fake.fault = ({ method }) => (method === 'PATCH' ? { status: 404, body: '404 page not found' } : undefined);
  expect(await faultIn(say('two', made))).toMatchObject({ fault: 'away' });
  fake.fault = undefined;
  expect(await say('two', made)).toBe(made);
  expect(fake.comments).toHaveLength(1);
});

describe('a forge that the service does not reach out to', () => {
  let other: Server;
  let heard = 0;
  beforeAll(async () => {
    other = createServer((_request, response) => void response.end(String((heard += 1))));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => other.close(resolve)));

  it.each(['127.0.0.1', 'localhost', '[::1]', '169.254.169.254', '[::ffff:127.0.0.1]'])('%s', async (host) => {
    const { port } = other.address() as AddressInfo;
    const forge = forgeAt(`http://${host}:${port}/api/v3`, { allowLocal: false });
    expect(['denied', 'away']).toContain((await faultIn(forge.openPulls('main', NEVER))).fault);
    expect(heard).toBe(0);
  });

  it('its metadata, even where forges of this machine are allowed', async () => {
    expect((await faultIn(forgeAt('http://169.254.169.254/api').openPulls('main', NEVER))).fault).toBe('denied');
  });
});
