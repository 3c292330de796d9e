/**
 * A GitHub App as the identity at a forge that verifies what it is shown: tokens of an hour, renewed before they end,
 * and what is said of an installation that is gone. contract §9.9.
 */
import { generateKeyPairSync } from 'node:crypto';
import type { ForgePlace } from '#reconcile';
import { fakeApp, type FakeApp } from '../../../test/support/forges/fake-app.ts';
import { startFakeForge, type FakeForge } from '../../../test/support/forges/fake-forge.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../process/injection-tokens.ts';
import type { SecretReader } from '../secrets/secret-reader.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { ForgeConnections } from './forge-connections.ts';
import { ForgeError } from './forge-client.ts';

const NEVER = new AbortController().signal;
const STATUS = {
  commit: 'a'.repeat(40),
  state: 'pending',
  description: 'd',
  context: 'millwright/shop',
} as const;
const MINUTE_MS = 60_000;
let fake: FakeForge;
let app: FakeApp;
let nowMs: number;
let secret: string;
let connections: ForgeConnections;
let place: ForgePlace;

beforeEach(async () => {
  fake = await startFakeForge('github');
  app = fake.app = fakeApp();
  nowMs = 1_800_000_000_000;
  fake.nowMs = () => nowMs;
  secret = app.privateKey;
  place = { forge: 'github', api: fake.api, repository: 'acme/shop' };
  connections = new ForgeConnections(
    { valueFor: async () => ({ ok: true, value: Buffer.from(`${secret}\n`) }) } as unknown as SecretReader,
    { allowLocalSources: true } as Config,
    { nowMs: () => nowMs } as Clock,
  );
});
afterEach(() => fake.close());

const factory = (forgeApp = app.id): Factory =>
  ({ uid: 'fac_1', source: { kind: 'git', forge: 'github', forgeSecret: 'key', forgeApp } }) as unknown as Factory;

async function post(of = factory()): Promise<void> {
  const forge = await connections.open(of, place, NEVER);
  await forge.setStatus(STATUS, NEVER);
}

async function refusal(of = factory()): Promise<ForgeError> {
  const error: unknown = await post(of).catch((fault: unknown) => fault);
  if (!(error instanceof ForgeError)) throw new Error(`no refusal: ${String(error)}`);
  expect(error.message + JSON.stringify(error)).not.toMatch(/PRIVATE KEY|eyJ|ghs_/);
  return error;
}

it('proves itself with its key, and asks for what statuses and comments of one repository need', async () => {
  await post();
  expect(app.refused).toEqual([]);
  expect(app.issued.map(({ wanted }) => wanted)).toEqual([
    { repositories: ['shop'], permissions: { contents: 'read', pull_requests: 'write', statuses: 'write' } },
  ]);
  expect(fake.statuses).toHaveLength(1);
});

it.each([-55_000, 55_000])('proves itself to a clock that is %d ms away', async (offsetMs) => {
  fake.nowMs = () => nowMs + offsetMs;
  await post();
  expect(app.refused).toEqual([]);
});

it('uses a token as long as it is good, and asks for the next before it ends', async () => {
  await post();
  nowMs += 49 * MINUTE_MS;
  await post();
  expect(app.issued).toHaveLength(1);
  nowMs += 2 * MINUTE_MS;
  await post();
  expect(app.issued).toHaveLength(2);
  expect(fake.statuses).toHaveLength(3);
});

it('asks for another token with another key, another app, and after one that was refused', async () => {
  await post();
  const other = fakeApp('Iv1.abc');
  [app.publicKey, app.id, secret] = [other.publicKey, other.id, other.privateKey];
  await post(factory(other.id));
  expect(app.issued).toHaveLength(2);
  app.issued.splice(0); // taken back in the middle
  expect(await refusal(factory(other.id))).toMatchObject({ fault: 'denied' });
  connections.forget('fac_1');
  await post(factory(other.id));
  expect(app.issued).toHaveLength(1);
});

it.each([
  ['removed', 'the app 123456 is not installed for acme/shop, or no longer'],
  ['suspended', 'the installation of the app 123456 for acme/shop is suspended'],
] as const)('says that an installation is %s', async (state, words) => {
  app.installation.state = state;
  expect(await refusal()).toMatchObject({ fault: 'denied', message: words });
  app.installation.state = 'active';
  await post();
});

it.each<[string, () => string]>([
  ['a token', () => 'ghp_0123456789'],
  ['a public key', () => app.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  ['another kind of key', () => pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)],
  ['a short key', () => pem(generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey)],
])('takes %s for no key of an app', async (_what, value) => {
  secret = value();
  expect(await refusal()).toMatchObject({
    fault: 'denied',
    message: 'the secret key is no private key of an app: PEM, RSA, 2048 bits',
  });
  expect(fake.requests).toEqual([]);
});

it('says that the forge does not know the key', async () => {
  secret = fakeApp().privateKey;
  const { fault, message } = await refusal();
  expect(fault).toBe('denied');
  expect(message).toContain('A JSON web token could not be decoded');
});

it.each([{ token: 'x y', expires_at: '2030-01-01T00:00:00Z' }, { token: 'ghs_1' }, [], 'x'])(
  'takes %j for no token',
  async (body) => {
    fake.fault = ({ path }) =>
      path.endsWith('/access_tokens') ? { status: 201, body: JSON.stringify(body) } : undefined;
    expect(await refusal()).toMatchObject({ fault: 'away' });
  },
);

it('goes on with a key in PKCS#8, and with a token where no app is named', async () => {
  const other = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  [app.publicKey, secret] = [other.publicKey, pem(other.privateKey)];
  await post();
  [fake.app, secret] = [undefined, fake.token];
  await post({ ...factory(), source: { kind: 'git', forge: 'github', forgeSecret: 'key' } } as unknown as Factory);
  expect(fake.statuses).toHaveLength(2);
});

function pem(key: { export(options: { type: 'pkcs8'; format: 'pem' }): string | Buffer }): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
