/** Tokens that must not become keys, each refused by the rule that is meant, over HTTP. contract §2.4 (Exchange). */
import { createHmac, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { IssuerKeyCache } from '../../apps/server/federation/issuer-keys.ts';
import { issuerDocumentReader } from '../../apps/server/federation/issuer-documents.ts';
import { TokenExchangeService } from '../../apps/server/federation/token-exchange.service.ts';
import type { Clock } from '../../apps/server/process/injection-tokens.ts';
import { Log } from '../../apps/server/process/log.ts';
import { FederatedCredentialStore, IdSource } from '../support/services/built-service.ts';
import { readHostPattern } from '#isolation';
import { bootService, type TestService } from '../support/services/service.ts';
import {
  issuingKey,
  sendJson,
  startTokenIssuer,
  type IssuingKey,
  type TokenIssuer,
} from '../support/services/token-issuer.ts';

const AUDIENCE = 'https://millwright.example';
const SUBJECT = 'repo:acme/factory:ref:refs/heads/main';
const HOUR_SECONDS = 3_600;
const EXCHANGE = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
} as const;

/** Issuers that answer badly, each with a federated credential of its own. */
const BAD_ISSUERS = [
  'rotating',
  'subjects',
  'away',
  'gone',
  'large',
  'redirecting',
  'inward',
  'other',
  'rotated',
  'short',
] as const;
let service: TestService;
let issuer: TokenIssuer;
let elliptic: IssuingKey;
let attacker: IssuingKey;
const bad = new Map<string, TokenIssuer>();
/** Stands for what is in the private network: nothing ever asks it. */
let inside: TokenIssuer;
const short = generateKeyPairSync('rsa', { modulusLength: 1_024 });

const badIssuer = (name: (typeof BAD_ISSUERS)[number]): TokenIssuer => bad.get(name)!;

beforeAll(async () => {
  [issuer, inside] = [await startTokenIssuer(AUDIENCE), await startTokenIssuer(AUDIENCE)];
  [elliptic, attacker] = [await issuingKey('elliptic', 'ES256'), await issuingKey('attacker')];
  issuer.keys.push(elliptic.publicJwk);
  for (const name of BAD_ISSUERS) bad.set(name, await startTokenIssuer(AUDIENCE));
  badIssuer('large').keys.push({ kty: 'RSA', kid: 'padding', n: 'A'.repeat(1_048_576), e: 'AQAB' });
  badIssuer('redirecting').answers.set('/keys', (_, response) =>
    response.writeHead(302, { location: `${inside.url}/keys` }).end(),
  );
  const describe = (name: 'inward' | 'other', document: object): unknown =>
    badIssuer(name).answers.set('/.well-known/openid-configuration', (_, response) => sendJson(response, document));
  describe('inward', { issuer: badIssuer('inward').url, jwks_uri: `${inside.url}/keys` });
  describe('other', { issuer: issuer.url, jwks_uri: `${badIssuer('other').url}/keys` });
  badIssuer('rotated').keys.splice(0, 1, attacker.publicJwk);
  badIssuer('short').keys.splice(0, 1, { ...short.publicKey.export({ format: 'jwk' }), kid: 'first', alg: 'RS256' });
  const listed = [issuer, ...bad.values()].map(({ url }) => new URL(url).host);
  service = await bootService({
    environment: {
      MILLWRIGHT_RUN_CONCURRENCY: '0',
      MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32',
      MILLWRIGHT_OIDC_PRIVATE_HOSTS: listed.join(','),
    },
  });
  for (const { url } of [issuer, ...bad.values()]) {
    const ofSubject = url === badIssuer('subjects').url;
    const claims = ofSubject ? { sub: [SUBJECT] } : { repository: ['acme/factory'] };
    const body = { name: 'a repository', issuer: url, audience: AUDIENCE, claims, role: 'viewer' };
    await service.api('POST', '/federated-credentials', body);
  }
  await badIssuer('gone').stop();
});

afterAll(async () => {
  await service.stop();
  const running = BAD_ISSUERS.filter((name) => name !== 'gone' && name !== 'away').map(badIssuer);
  await Promise.all([issuer, inside, ...running].map(({ stop }) => stop()));
});

let address = 0;

async function exchange(token: string): Promise<{ status: number; rule?: unknown; body: Record<string, unknown> }> {
  address += 1;
  const before = service.logged.length;
  const answer = await fetch(`${service.url}/api/v1/token-exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': `192.0.2.${address}` },
    body: JSON.stringify({ ...EXCHANGE, subject_token: token }),
  });
  const body = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, rule: refusalIn(service.logged.slice(before)), body };
}

function refusalIn(lines: readonly string[]): unknown {
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find(({ message }) => message === 'token exchange refused')?.['rule'];
}

const part = (value: string | Uint8Array): string => Buffer.from(value as string).toString('base64url');
const now = (): number => Math.floor(Date.now() / 1000);

/** Claims that would be accepted. */
const claims = (more: object = {}): object => ({
  iss: issuer.url,
  aud: AUDIENCE,
  sub: 'repo:acme/factory',
  repository: 'acme/factory',
  iat: now(),
  exp: now() + 300,
  ...more,
});

/** A token of any header and payload, signed as RS256 by the issuer's own key. */
function raw(header: object, payload: string = JSON.stringify(claims())): string {
  const text = `${part(JSON.stringify({ alg: 'RS256', kid: 'first', ...header }))}.${part(payload)}`;
  return `${text}.${part(sign('sha256', Buffer.from(text), issuer.key.privateKey as unknown as KeyObject))}`;
}

/** The same under the bytes of a public key as a secret. */
function symmetric(secret: string): string {
  const text = `${part(JSON.stringify({ alg: 'HS256', kid: 'first' }))}.${part(JSON.stringify(claims()))}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

const publicPem = (): string =>
  createPublicKey({ key: issuer.key.publicJwk as never, format: 'jwk' })
    .export({ type: 'spki', format: 'pem' })
    .toString();

/** Exchanged before: by whoever should. */
async function used(token: string): Promise<string> {
  expect((await exchange(token)).status).toBe(200);
  return token;
}

/** Order of the curve P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Another signature of the same text, that anybody can compute. */
function respelled(token: string): string {
  const [header, payload, signature = ''] = token.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  const s = (ORDER - BigInt(`0x${bytes.subarray(32).toString('hex')}`)).toString(16).padStart(64, '0');
  return `${header}.${payload}.${part(Buffer.concat([bytes.subarray(0, 32), Buffer.from(s, 'hex')]))}`;
}

const ATTACKS: readonly [attack: string, token: () => Promise<string> | string, rule: string][] = [
  ['of an issuer that nobody named', () => issuer.token({ iss: 'https://ci.example' }), 'issuer'],
  ['of the issuer with a slash behind it', () => issuer.token({ iss: `${issuer.url}/` }), 'issuer'],
  ['of the issuer in capital letters', () => issuer.token({ iss: issuer.url.toUpperCase() }), 'issuer'],
  ['of an issuer with a NUL', () => issuer.token({ iss: `${issuer.url}/\0` }), 'issuer'],
  ['for another audience', () => issuer.token({ aud: 'https://other.example' }), 'audience'],
  ['for an audience that begins as ours', () => issuer.token({ aud: `${AUDIENCE}.evil.example` }), 'audience'],
  ['for several audiences', () => issuer.token({ aud: [AUDIENCE, 'https://other.example'] }), 'audience'],
  ['for no audience', () => issuer.token({ aud: undefined }), 'audience'],
  ['of another repository', () => issuer.token({ repository: 'acme/factory-fork' }), 'claims'],
  ['of the repository in capital letters', () => issuer.token({ repository: 'ACME/factory' }), 'claims'],
  ['of a list of repositories', () => issuer.token({ repository: ['acme/factory'] }), 'claims'],
  ['of no repository', () => issuer.token({ repository: undefined }), 'claims'],
  ['of another subject', () => badIssuer('subjects').token({ sub: 'repo:acme/factory:pull_request' }), 'claims'],
  ['of a subject that begins as ours', () => badIssuer('subjects').token({ sub: `${SUBJECT}-2` }), 'claims'],
  ['of no subject', () => issuer.token({ sub: undefined }), 'claims'],
  ['of a subject that writes into terminals', () => issuer.token({ sub: 'repo\u001b[2J' }), 'claims'],
  ['without a signature', () => `${part('{"alg":"none"}')}.${part(JSON.stringify(claims()))}.`, 'form'],
  ['of the algorithm none', () => raw({ alg: 'none' }), 'algorithm'],
  ['of the algorithm nOnE', () => raw({ alg: 'nOnE' }), 'algorithm'],
  ['under the public key as a secret (PEM)', () => symmetric(publicPem()), 'algorithm'],
  ['under the public key as a secret (JWK)', () => symmetric(JSON.stringify(issuer.key.publicJwk)), 'algorithm'],
  ['of an algorithm that is not listed', () => raw({ alg: 'RS512' }), 'algorithm'],
  ['of an algorithm that is not the key’s', () => raw({ alg: 'PS256' }), 'key'],
  ['of a foreign key', () => issuer.token({}, {}, attacker), 'key'],
  ['of a foreign key under a known name', () => issuer.token({}, { kid: 'first' }, attacker), 'signature'],
  ['of a key without a name', () => raw({ kid: undefined }), 'header'],
  ['that says where its key is (jku)', () => raw({ jku: 'https://evil.example/keys' }), 'header'],
  ['that says where its certificate is (x5u)', () => raw({ x5u: 'https://evil.example/c.pem' }), 'header'],
  ['that brings its key (jwk)', () => issuer.token({}, { jwk: attacker.publicJwk }, attacker), 'header'],
  ['that brings its certificate (x5c)', () => raw({ x5c: ['AAAA'] }), 'header'],
  ['with a critical extension', () => issuer.token({}, { crit: ['unknown'], unknown: 1 }), 'header'],
  ['of another type', () => raw({ typ: 'at+jwt' }), 'header'],
  ['that has run out', () => issuer.token({ iat: now() - 400, exp: now() - 100 }), 'expired'],
  ['without an end', () => issuer.token({ exp: undefined }), 'expired'],
  ['from the future', () => issuer.token({ iat: now() + 300, exp: now() + 600 }), 'not-yet-valid'],
  ['that is not valid yet', () => issuer.token({ nbf: now() + 300 }), 'not-yet-valid'],
  ['of two hours ago, without an end in sight', () => issuer.token({ iat: now() - 2 * HOUR_SECONDS, exp: 9e9 }), 'age'],
  ['of a time that is no number', () => raw({}, JSON.stringify(claims({ iat: 'now' }))), 'claims'],
  ['that was exchanged', async () => used(await issuer.token()), 'replayed'],
  [
    'that was exchanged, with another signature of it',
    async () => respelled(await used(await issuer.token({ jti: undefined }, {}, elliptic))),
    'replayed',
  ],
  ['that is encoded twice', async () => part(await issuer.token()), 'form'],
  ['in another spelling of base64', async () => `${await issuer.token()}=`, 'form'],
  [
    'that is encrypted',
    () => `${part('{"alg":"dir","enc":"A256GCM"}')}..${part('iv')}.${part('x')}.${part('t')}`,
    'form',
  ],
  [
    'with a claim twice',
    () => raw({}, JSON.stringify(claims()).replace('{', '{"aud":"https://evil.example",')),
    'form',
  ],
  [
    'with a claim twice, spelled differently',
    () => raw({}, JSON.stringify(claims()).replace('{', '{"\\u0061ud":"https://evil.example",')),
    'form',
  ],
  ['that is a list', () => raw({}, JSON.stringify([claims()])), 'form'],
  ['that is huge', () => issuer.token({ padding: 'x'.repeat(7_000) }), 'size'],
  ['of a key that the issuer has taken back', () => badIssuer('rotated').token(), 'key'],
  ['of a key that is too short', () => shortKeyToken(), 'key'],
  ['of an issuer that is away', () => badIssuer('gone').token(), 'keys-unavailable'],
  ['of an issuer with a megabyte of keys', () => badIssuer('large').token(), 'keys-unavailable'],
  ['of an issuer that redirects into the private network', () => badIssuer('redirecting').token(), 'keys-unavailable'],
  ['of an issuer with keys in the private network', () => badIssuer('inward').token(), 'keys-unavailable'],
  ['of an issuer that says it is another one', () => badIssuer('other').token(), 'keys-unavailable'],
];

function shortKeyToken(): string {
  const payload = JSON.stringify(claims({ iss: badIssuer('short').url }));
  const text = `${part('{"alg":"RS256","kid":"first"}')}.${part(payload)}`;
  return `${text}.${part(sign('sha256', Buffer.from(text), short.privateKey))}`;
}

describe('a token', () => {
  it('that is right is exchanged, so that what follows can fail', async () => {
    for (const token of [await issuer.token(), raw({ typ: 'JWT', x5t: 'AAAA' }), raw({}, spaced())])
      expect(await exchange(token)).toMatchObject({ status: 200, rule: undefined });
  });

  it('of the subject that is asked for is exchanged, so that another one can be refused', async () => {
    expect(await exchange(await badIssuer('subjects').token())).toMatchObject({ status: 200, rule: undefined });
  });

  it('counts more attacks than were asked for, each once', () => {
    expect(new Set(ATTACKS.map(([attack]) => attack)).size).toBe(ATTACKS.length);
    expect(ATTACKS.length).toBeGreaterThanOrEqual(30);
  });

  it.each(ATTACKS)('%s is refused', async (_attack, make, rule) => {
    const { status, body, ...refused } = await exchange(await make());
    expect({ status, rule: refused.rule }).toEqual({ status: 401, rule });
    expect(body).not.toHaveProperty('access_token');
  });

  it('of a key that its issuer has rotated to is exchanged, and of the one before no more', async () => {
    const rotating = badIssuer('rotating');
    let laterMs = 0;
    const monotonicMs = (): number => 1e6 + laterMs;
    const host = readHostPattern(new URL(rotating.url).host)!;
    const cache = new IssuerKeyCache(issuerDocumentReader([host]), monotonicMs);
    const kidsOf = async (kid: string): Promise<unknown> => {
      const found = await cache.keysOf(rotating.url, kid);
      return found.ok && found.keys.keys.map((key) => key.kid);
    };
    expect(await kidsOf('first')).toEqual(['first']);
    const next = await issuingKey('next');
    rotating.keys.splice(0, 1, next.publicJwk);
    const documents = rotating.asked.length;
    expect(await kidsOf('next')).toEqual(['first']); // it was asked a moment ago
    expect(rotating.asked).toHaveLength(documents);
    laterMs = 61_000;
    expect(await kidsOf('next')).toEqual(['next']);
    // Over HTTP, where it was never asked before.
    const exchanged = await exchange(await rotating.token({}, {}, next));
    const refused = await exchange(await rotating.token());
    expect([exchanged.status, refused.status, refused.rule]).toEqual([200, 401, 'key']);
  });

  it('of an issuer that is away is exchanged for hours, and not after a day', async () => {
    const away = badIssuer('away');
    const lines: string[] = [];
    let laterMs = 0;
    const host = readHostPattern(new URL(away.url).host)!;
    const monotonicMs = (): number => 1e6 + laterMs;
    const exchanges = new TokenExchangeService(
      service.service.app.get(FederatedCredentialStore),
      new IssuerKeyCache(issuerDocumentReader([host]), monotonicMs),
      { nowMs: Date.now, monotonicMs } satisfies Clock,
      service.service.app.get(IdSource),
      new Log((line) => void lines.push(line), Date.now),
    );
    const ask = async (): Promise<string> => {
      const token = await away.token();
      return exchanges.exchange({ ...EXCHANGE, subject_token: token }, '192.0.2.1').then(
        ({ scope }) => scope,
        () => String(refusalIn(lines)),
      );
    };
    expect(await ask()).toBe('viewer');
    await away.stop();
    laterMs = 5 * HOUR_SECONDS * 1_000;
    expect(await ask()).toBe('viewer');
    laterMs = 24 * HOUR_SECONDS * 1_000;
    expect(await ask()).toBe('keys-unavailable');
  });

  it('never made the service ask for anything in the private network', () => {
    expect(inside.asked).toEqual([]);
    expect(badIssuer('redirecting').asked).toContain('/keys');
  });
});

/** Names and values repeat in other places; nothing is there twice. */
function spaced(): string {
  return JSON.stringify(
    claims({ nested: { aud: 'a', list: [{ aud: 'b' }, 'aud', '"aud":'] }, text: '{"aud":"x"}' }),
    null,
    2,
  );
}
