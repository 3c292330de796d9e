/** The signature engine against the providers' own libraries: what they sign, what we sign, and what they refuse. */
import { sign as octokitSign, verify as octokitVerify } from '@octokit/webhooks-methods';
import * as fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { prepareSigningKey, sign, SIGNATURE_SCHEMES, verifySignature, type SignatureScheme } from './index.ts';
import { examples, PROPERTY_SEED } from '../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

const SECRET = `whsec_${Buffer.alloc(32, 42).toString('base64')}`;
const RUNS = examples(150);

interface Signed {
  headers: Record<string, string>;
  body: string;
}

/** A library as three functions; `accepts` throws nothing. */
interface Library {
  name: string;
  scheme: string;
  family?: string;
  signs: (body: string, id: string, nowMs: number) => Promise<Record<string, string>> | Record<string, string>;
  accepts: (signed: Signed, nowMs: number) => Promise<boolean> | boolean;
}

function survives(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

const stripe = Stripe.webhooks;

const libraries: Library[] = [
  {
    name: 'standardwebhooks',
    scheme: 'standard_webhooks',
    signs: (body, id, nowMs) => ({
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(nowMs / 1000)),
      'webhook-signature': new StandardWebhook(SECRET).sign(id, new Date(nowMs), body),
    }),
    accepts: ({ headers, body }) =>
      survives(() => new StandardWebhook(SECRET).verify(body, headers, { jsonParse: false })),
  },
  {
    name: 'svix',
    scheme: 'standard_webhooks',
    family: 'svix',
    signs: (body, id, nowMs) => ({
      'svix-id': id,
      'svix-timestamp': String(Math.floor(nowMs / 1000)),
      'svix-signature': new SvixWebhook(SECRET).sign(id, new Date(nowMs), body),
    }),
    accepts: ({ headers, body }) => survives(() => new SvixWebhook(SECRET).verify(body, headers)),
  },
  {
    name: 'stripe',
    scheme: 'stripe',
    signs: (payload, _id, nowMs) => ({
      'stripe-signature': stripe.generateTestHeaderString({
        payload,
        secret: SECRET,
        timestamp: Math.floor(nowMs / 1000),
      }),
    }),
    accepts: ({ headers, body }, nowMs) =>
      survives(() =>
        stripe.signature?.verifyHeader(body, headers['stripe-signature'] ?? '', SECRET, 300, undefined, nowMs),
      ),
  },
  {
    name: '@octokit/webhooks-methods',
    scheme: 'github',
    signs: async (body) => ({ 'x-hub-signature-256': await octokitSign(SECRET, body) }),
    accepts: ({ headers, body }) =>
      octokitVerify(SECRET, body, headers['x-hub-signature-256'] ?? '').catch(() => false),
  },
];

const body = fc.json().filter((text) => !text.includes('"v2.core.event"'));
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/u);

function parts(library: Library): { scheme: SignatureScheme; key: Uint8Array } {
  const scheme = SIGNATURE_SCHEMES.get(library.scheme);
  const prepared = scheme === undefined ? undefined : prepareSigningKey(scheme, Buffer.from(SECRET));
  if (scheme === undefined || !prepared?.ok) throw new Error(library.scheme);
  return { scheme, key: prepared.key };
}

function weAccept(library: Library, signed: Signed, nowMs: number): boolean {
  const { scheme, key } = parts(library);
  const headers = new Map(Object.entries(signed.headers).map(([name, value]) => [name, [value]]));
  return verifySignature(scheme, key, { headers, body: Buffer.from(signed.body), nowMs }).ok;
}

/** One change of one text: a character replaced, left out, doubled, or the text cut or doubled. */
function mutate(text: string, at: number, how: number, character: string): string {
  const index = text.length === 0 ? 0 : at % text.length;
  switch (how) {
    case 0:
      return text.slice(0, index) + character + text.slice(index + 1);
    case 1:
      return text.slice(0, index) + text.slice(index + 1);
    case 2:
      return text.slice(0, index) + character + text.slice(index);
    case 3:
      return text.slice(0, index);
    case 4:
      return text + text;
    default:
      return text.toUpperCase();
  }
}

describe.each(libraries)('$name', (library) => {
  it('signs what we accept', async () => {
    await fc.assert(
      fc.asyncProperty(body, id, async (text, delivery) => {
        const nowMs = Date.now();
        expect(weAccept(library, { headers: await library.signs(text, delivery, nowMs), body: text }, nowMs)).toBe(
          true,
        );
      }),
      { numRuns: RUNS },
    );
  });

  it('accepts what we sign', async () => {
    const { scheme, key } = parts(library);
    await fc.assert(
      fc.asyncProperty(body, id, async (text, deliveryId) => {
        const nowMs = Date.now();
        const headers = sign(scheme, key, { body: Buffer.from(text), nowMs, deliveryId, family: library.family });
        expect(await library.accepts({ headers, body: text }, nowMs)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('refuses nothing that we accept, whatever was changed', async () => {
    await fc.assert(
      fc.asyncProperty(
        body,
        id,
        fc.nat(),
        fc.nat(5),
        fc.constantFrom('0', 'a', 'F', '=', ',', ' ', '.', '+', '/'),
        fc.nat(3),
        async (text, delivery, at, how, character, which) => {
          const nowMs = Date.now();
          const headers = await library.signs(text, delivery, nowMs);
          const names = Object.keys(headers);
          const name = names[which];
          const changed =
            name === undefined
              ? { headers, body: mutate(text, at, how, character) }
              : { headers: { ...headers, [name]: mutate(headers[name] ?? '', at, how, character) }, body: text };
          if (weAccept(library, changed, nowMs)) expect(await library.accepts(changed, nowMs)).toBe(true);
        },
      ),
      { numRuns: RUNS * 4 },
    );
  });

  it.each([-3600, -301, 301, 3600])('is not more patient than we are at %i seconds', async (skewSeconds) => {
    const nowMs = Date.now();
    const signed = { headers: await library.signs('{}', 'msg_1', nowMs + skewSeconds * 1000), body: '{}' };
    const timed = parts(library).scheme.timestamp !== undefined;
    expect(weAccept(library, signed, nowMs)).toBe(!timed);
  });
});
