/**
 * Which mistake explains a refused signature: signed by the providers' own libraries, each wrong in one way; and that
 * nothing else is taken for one.
 */
import { createHmac } from 'node:crypto';
import { sign as octokitSign } from '@octokit/webhooks-methods';
import * as fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import {
  likelyMistake,
  prepareSigningKey,
  SIGNATURE_SCHEMES,
  verifySignature,
  type SignatureScheme,
  type SignedRequest,
} from './index.ts';
import type { LikelyMistake } from './types.ts';
import { PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const NOW_MS = 1_760_000_000_000;
const BYTES = Buffer.from('a key of thirty-two bytes length', 'utf8');
const BASE64 = BYTES.toString('base64');
const WHSEC = `whsec_${BASE64}`;
const BODY = '{"id":"evt_1","amount":12.5,"name":"Zoë","items":[{"a":null},[]],"none":{}}';
const TWO_SPACES = JSON.stringify(JSON.parse(BODY), undefined, 2);
/** `json.dumps(json.loads(BODY))` of Python 3. */
const PYTHON = '{"id": "evt_1", "amount": 12.5, "name": "Zo\\u00eb", "items": [{"a": null}, []], "none": {}}';

type Headers = Record<string, string>;

const seconds = Math.floor(NOW_MS / 1000);
const hex = (key: string | Uint8Array, text: string, algorithm = 'sha256'): string =>
  createHmac(algorithm, key).update(text).digest('hex');
const github = async (key: string, body: string): Promise<Headers> => ({
  'x-hub-signature-256': await octokitSign(key, body),
});
const stripe = (secret: string, payload: string): Headers => ({
  'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: seconds }),
});
const standard = (
  library: { sign(id: string, at: Date, body: string): string },
  body: string,
  family = 'webhook',
): Headers => ({
  [`${family}-id`]: 'msg_1',
  [`${family}-timestamp`]: String(seconds),
  [`${family}-signature`]: library.sign('msg_1', new Date(NOW_MS), body),
});

function schemeOf(id: string): SignatureScheme {
  const scheme = SIGNATURE_SCHEMES.get(id);
  if (scheme === undefined) throw new Error(id);
  return scheme;
}

function keyOf(scheme: SignatureScheme, secret: string): Uint8Array {
  const prepared = prepareSigningKey(scheme, Buffer.from(secret));
  if (!prepared.ok) throw new Error(prepared.reason);
  return prepared.key;
}

const requestOf = (headers: Headers, body: string): SignedRequest => ({
  headers: new Map(Object.entries(headers).map(([name, value]) => [name, [value]])),
  body: Buffer.from(body),
  nowMs: NOW_MS,
});

interface Row {
  mistake: LikelyMistake | undefined;
  why: string;
  scheme: string;
  secret: string;
  headers: Headers | Promise<Headers>;
  sent?: string;
}

const rows: Row[] = [
  {
    mistake: 'trailing-newline',
    why: 'the secret was read from a file with its newline',
    scheme: 'github',
    secret: 'it-is-secret',
    headers: github('it-is-secret\n', BODY),
  },
  {
    mistake: 'trailing-newline',
    why: 'of a file from Windows',
    scheme: 'stripe',
    secret: WHSEC,
    headers: stripe(`${WHSEC}\r\n`, BODY),
  },
  {
    mistake: 'trailing-newline',
    why: 'the newline is in what was stored here',
    scheme: 'github',
    secret: 'it-is-secret\n',
    headers: github('it-is-secret', BODY),
  },
  {
    mistake: 'trailing-newline',
    why: 'the same with a carriage return',
    scheme: 'github',
    secret: 'it-is-secret\r\n',
    headers: github('it-is-secret', BODY),
  },
  {
    mistake: 'trailing-newline',
    why: 'the body lost its newline on the way',
    scheme: 'github',
    secret: 'it-is-secret',
    headers: github('it-is-secret', `${BODY}\n`),
  },
  {
    mistake: 'trailing-newline',
    why: 'the body gained one on the way',
    scheme: 'standard_webhooks',
    secret: WHSEC,
    headers: standard(new StandardWebhook(WHSEC), BODY),
    sent: `${BODY}\n`,
  },
  {
    mistake: 'trailing-newline',
    why: 'the body gained one with a carriage return',
    scheme: 'github',
    secret: 'it-is-secret',
    headers: github('it-is-secret', BODY),
    sent: `${BODY}\r\n`,
  },
  {
    mistake: 're-encoded-json',
    why: 'compact signed, printed with two spaces sent',
    scheme: 'stripe',
    secret: WHSEC,
    headers: stripe(WHSEC, BODY),
    sent: TWO_SPACES,
  },
  {
    mistake: 're-encoded-json',
    why: 'two spaces signed, compact sent',
    scheme: 'standard_webhooks',
    secret: WHSEC,
    headers: standard(new SvixWebhook(WHSEC), TWO_SPACES, 'svix'),
    sent: BODY,
  },
  {
    mistake: 're-encoded-json',
    why: 'printed by Python signed, compact sent',
    scheme: 'github',
    secret: 'it-is-secret',
    headers: github('it-is-secret', PYTHON),
    sent: BODY,
  },
  {
    mistake: 're-encoded-json',
    why: 'compact signed, printed by Python sent',
    scheme: 'github',
    secret: 'it-is-secret',
    headers: github('it-is-secret', BODY),
    sent: PYTHON,
  },
  {
    mistake: 'key-encoding',
    why: 'Standard Webhooks with the text of the secret',
    scheme: 'standard_webhooks',
    secret: WHSEC,
    headers: standard(new StandardWebhook(WHSEC, { format: 'raw' }), BODY),
  },
  {
    mistake: 'key-encoding',
    why: 'Standard Webhooks with the text behind its prefix',
    scheme: 'standard_webhooks',
    secret: WHSEC,
    headers: standard(new SvixWebhook(BASE64, { format: 'raw' }), BODY, 'svix'),
  },
  {
    mistake: 'key-encoding',
    why: 'Stripe with the decoded secret',
    scheme: 'stripe',
    secret: WHSEC,
    headers: { 'stripe-signature': `t=${seconds},v1=${hex(BYTES, `${seconds}.${BODY}`)}` },
  },
  {
    mistake: 'key-encoding',
    why: 'Stripe without the prefix',
    scheme: 'stripe',
    secret: WHSEC,
    headers: stripe(BASE64, BODY),
  },
  {
    mistake: 'key-encoding',
    why: 'a secret in base64 that was decoded',
    scheme: 'github',
    secret: BASE64,
    headers: { 'x-hub-signature-256': `sha256=${hex(BYTES, BODY)}` },
  },
  {
    mistake: 'key-encoding',
    why: 'one in the base64 of URLs, as ours are',
    scheme: 'github',
    secret: Buffer.alloc(32, 251).toString('base64url'),
    headers: { 'x-hub-signature-256': `sha256=${hex(Buffer.alloc(32, 251), BODY)}` },
  },
  {
    mistake: 'key-encoding',
    why: 'a secret in hexadecimal that was decoded',
    scheme: 'sentry',
    secret: BYTES.toString('hex').toUpperCase(),
    headers: { 'sentry-hook-signature': hex(BYTES, BODY) },
  },
  {
    mistake: 'other-scheme',
    why: 'signed for Stripe alone: its headers say so',
    scheme: 'standard_webhooks',
    secret: WHSEC,
    headers: stripe('another secret', BODY),
  },
  {
    mistake: 'other-scheme',
    why: 'signed for Standard Webhooks alone',
    scheme: 'github',
    secret: 'it-is-secret',
    headers: standard(new StandardWebhook(WHSEC), BODY),
  },
  {
    mistake: 'other-scheme',
    why: 'signed rightly for both, of which one is wrong',
    scheme: 'github',
    secret: WHSEC,
    headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}`, ...standard(new StandardWebhook(WHSEC), BODY) },
  },
  {
    mistake: undefined,
    why: 'headers of both, and neither is right',
    scheme: 'github',
    secret: 'it-is-secret',
    headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}`, ...standard(new StandardWebhook(WHSEC), BODY) },
  },
  {
    mistake: undefined,
    why: 'some other secret',
    scheme: 'github',
    secret: 'it-is-secret',
    headers: github('another secret', BODY),
  },
  {
    mistake: undefined,
    why: 'a body that says something else',
    scheme: 'github',
    secret: 'it-is-secret',
    headers: github('it-is-secret', BODY),
    sent: '{"id":"evt_2"}',
  },
  { mistake: undefined, why: 'no headers at all', scheme: 'github', secret: 'it-is-secret', headers: {} },
  {
    mistake: undefined,
    why: 'own headers in part, and others’',
    scheme: 'standard_webhooks',
    secret: WHSEC,
    headers: { 'webhook-id': 'msg_1', ...stripe(WHSEC, BODY) },
  },
  {
    mistake: undefined,
    why: 'headers of another scheme that it could not read itself',
    scheme: 'github',
    secret: 'it-is-secret',
    headers: { 'stripe-signature': 'nothing' },
  },
];

describe('a refused request', () => {
  it.each(rows)('$scheme, $why: $mistake', async ({ mistake, scheme: id, secret, headers, sent = BODY }) => {
    const scheme = schemeOf(id);
    const request = requestOf(await headers, sent);
    const key = keyOf(scheme, secret);
    expect(verifySignature(scheme, key, request).ok).toBe(false);
    expect(likelyMistake(scheme, key, request)).toBe(mistake);
  });

  it('of a webhook whose secret has no value explains nothing, and not by the key that stands in', () => {
    const zeros = new Uint8Array(32);
    for (const key of [zeros, Buffer.concat([zeros, Buffer.from('\n')])]) {
      expect(
        likelyMistake(
          schemeOf('github'),
          undefined,
          requestOf({ 'x-hub-signature-256': `sha256=${hex(key, BODY)}` }, BODY),
        ),
      ).toBeUndefined();
    }
  });

  it('is never explained by a key that stands in for a form that the secret does not have', () => {
    const scheme = schemeOf('github');
    expect(
      likelyMistake(
        scheme,
        keyOf(scheme, 'neither base64, nor hexadecimal!'),
        requestOf({ 'x-hub-signature-256': `sha256=${hex(new Uint8Array(32), BODY)}` }, BODY),
      ),
    ).toBeUndefined();
  });

  it.each([
    { why: 'as deep as is looked at', value: `${'['.repeat(32)}1${']'.repeat(32)}`, isFound: true },
    { why: 'deeper', value: `${'['.repeat(34)}1${']'.repeat(34)}`, isFound: false },
    { why: 'of as many values as are looked at', value: `[${'1,'.repeat(4_094)}1]`, isFound: true },
    { why: 'of more', value: `[${'1,'.repeat(4_095)}1]`, isFound: false },
    { why: 'large', value: `["${'x'.repeat(65_000)}"]`, isFound: true },
    { why: 'larger', value: `["${'x'.repeat(66_000)}"]`, isFound: false },
  ])('whose JSON is $why: printed again $isFound', async ({ value, isFound }) => {
    const scheme = schemeOf('github');
    const request = requestOf(await github('it-is-secret', value), ` ${value}`);
    expect(likelyMistake(scheme, keyOf(scheme, 'it-is-secret'), request)).toBe(isFound ? 're-encoded-json' : undefined);
  });

  it.each([
    { why: 'no JSON', body: Buffer.from('{"a":') },
    { why: 'no UTF-8', body: Buffer.from([0x22, 0xff, 0x22]) },
    { why: 'a hundred thousand levels deep', body: Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) },
    { why: 'deep and small', body: Buffer.from(`${'['.repeat(30_000)}${']'.repeat(30_000)}`) },
    { why: 'of the greatest size', body: Buffer.alloc(262_144, '1') },
    { why: 'larger than any', body: Buffer.alloc(262_145, '1') },
    { why: 'empty', body: Buffer.alloc(0) },
    {
      why: 'of names that objects have anyway',
      body: Buffer.from('{"__proto__":1,"toJSON":{"a":1},"constructor":null,"n":1e999}'),
    },
  ])('whose body is $why is looked at without fault', ({ body }) => {
    const scheme = schemeOf('github');
    const headers = new Map([['x-hub-signature-256', [`sha256=${'0'.repeat(64)}`]]]);
    expect(likelyMistake(scheme, keyOf(scheme, 'it-is-secret'), { headers, body, nowMs: NOW_MS })).toBeUndefined();
  });

  it('whatever it is: never a fault, and never an explanation for somebody without the secret', () => {
    const names = [
      'x-hub-signature-256',
      'stripe-signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'svix-id',
      'sentry-hook-signature',
      'x-pagerduty-signature',
      'x-vercel-signature',
    ];
    const value = fc.oneof(
      fc.string({ maxLength: 80 }),
      fc.constant(`sha256=${'0'.repeat(64)}`),
      fc.constant(`t=${seconds},v1=${'0'.repeat(64)}`),
      fc.constant(`v1,${Buffer.alloc(32).toString('base64')}`),
      fc.constant('0'.repeat(64)),
      fc.constant(String(seconds)),
    );
    const headers = fc.array(fc.tuple(fc.constantFrom(...names), fc.array(value, { minLength: 1, maxLength: 2 })), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...SIGNATURE_SCHEMES.values()),
        headers,
        fc.oneof(fc.json(), fc.string()),
        (scheme, sent, body) => {
          const mistake = likelyMistake(scheme, keyOf(scheme, WHSEC), {
            headers: new Map(sent),
            body: Buffer.from(body),
            nowMs: NOW_MS,
          });
          expect([undefined, 'other-scheme']).toContain(mistake);
        },
      ),
    );
  });
});
