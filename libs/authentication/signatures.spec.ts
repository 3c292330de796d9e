/**
 * The signature engine against signatures that others made, and against everything that can be wrong with a request.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  prepareSigningKey,
  sign,
  SIGNATURE_SCHEMES,
  verifySignature,
  type Headers,
  type SignatureScheme,
  type AuthenticationResult,
} from './index.ts';

interface Vector {
  id: string;
  scheme: string;
  secret: string;
  body: string;
  headers: Record<string, string>;
}

const { vectors } = JSON.parse(
  readFileSync(new URL('../../test/vectors/signatures.json', import.meta.url), 'utf8'),
) as {
  vectors: Vector[];
};
const SECOND_MS = 1000;
const NO_TIME_MS = 1_700_000_000_000;

function schemeOf(id: string): SignatureScheme {
  const scheme = SIGNATURE_SCHEMES.get(id);
  if (scheme === undefined) throw new Error(`no scheme ${id}`);
  return scheme;
}

function keyOf(scheme: SignatureScheme, secret: string): Uint8Array {
  const prepared = prepareSigningKey(scheme, Buffer.from(secret));
  if (!prepared.ok) throw new Error(prepared.reason);
  return prepared.key;
}

function toHeaders(record: Record<string, string | string[]>): Headers {
  return new Map(Object.entries(record).map(([name, value]) => [name, [value].flat()]));
}

/** The time the vector was signed at. */
function timeOf(vector: Vector): number {
  const text =
    /t=(\d+)/.exec(vector.headers['stripe-signature'] ?? '')?.[1] ??
    vector.headers['webhook-timestamp'] ??
    vector.headers['svix-timestamp'];
  return text === undefined ? NO_TIME_MS : Number(text) * SECOND_MS;
}

function check(
  vector: Vector,
  change: Partial<{
    body: string | Uint8Array;
    headers: Record<string, string | string[]>;
    nowMs: number;
    secret: string;
  }> = {},
): AuthenticationResult {
  const scheme = schemeOf(vector.scheme);
  return verifySignature(scheme, keyOf(scheme, change.secret ?? vector.secret), {
    headers: toHeaders(change.headers ?? vector.headers),
    body: Buffer.from(change.body ?? vector.body),
    nowMs: change.nowMs ?? timeOf(vector),
  });
}

const otherSecret = (secret: string): string =>
  secret.slice(0, 10) + (secret[10] === 'A' ? 'B' : 'A') + secret.slice(11);
const signatureHeaderOf = (vector: Vector): string =>
  Object.keys(vector.headers).find((name) => name.includes('signature')) ?? '';
const signatureOf = (vector: Vector): string => vector.headers[signatureHeaderOf(vector)] ?? '';
const withSignature = (vector: Vector, value: string | string[]): Record<string, string | string[]> => ({
  ...vector.headers,
  [signatureHeaderOf(vector)]: value,
});

describe('every shipped scheme', () => {
  it('is one of the set of contract §6, or beyond it, never in its place', () => {
    const hosted = ['github', 'stripe', 'standard_webhooks', 'sentry', 'pagerduty', 'vercel'];
    expect([...SIGNATURE_SCHEMES.keys()].slice(0, hosted.length)).toEqual(hosted);
  });

  it('names a document of its own provider', () => {
    for (const scheme of SIGNATURE_SCHEMES.values()) expect(scheme.source).toMatch(/^[a-z0-9.-]+\.[a-z]+\/\S+$/);
    expect(new Set([...SIGNATURE_SCHEMES.values()].map(({ source }) => source)).size).toBe(SIGNATURE_SCHEMES.size);
  });

  it('covers the body', () => {
    for (const scheme of SIGNATURE_SCHEMES.values()) expect(scheme.signed).toContain('{body}');
  });

  it.each([...SIGNATURE_SCHEMES.keys()])('%s has a vector that our engine did not make', (id) => {
    expect(vectors.some((vector) => vector.scheme === id)).toBe(true);
  });

  it.each(['stripe', 'standard_webhooks'])('%s is pinned to five minutes', (id) => {
    expect(schemeOf(id).timestamp?.toleranceSeconds).toBe(300);
  });

  it.each(['stripe', 'pagerduty', 'vercel'])('%s has no delivery header, because its provider sends none', (id) => {
    expect(schemeOf(id).deliveryHeader).toBeUndefined();
  });
});

describe.each(vectors)('vector $id', (vector) => {
  const header = signatureHeaderOf(vector);

  it('is accepted as it was sent', () => {
    expect(check(vector)).toMatchObject({ ok: true });
  });

  it('is what our own sender writes', () => {
    const scheme = schemeOf(vector.scheme);
    const deliveryId = vector.headers['webhook-id'] ?? vector.headers['svix-id'] ?? vector.headers['request-id'];
    const family = vector.id.startsWith('svix') ? 'svix' : undefined;
    const signed = sign(scheme, keyOf(scheme, vector.secret), {
      body: Buffer.from(vector.body),
      nowMs: timeOf(vector),
      deliveryId,
      family,
    });
    expect(vector.headers).toMatchObject(signed);
  });

  it.each([
    { what: 'one byte more', change: { body: `${vector.body} ` }, why: 'the signature covers every byte' },
    { what: 'an empty body', change: { body: '' }, why: 'a proxy that swallowed the body must be noticed' },
    { what: 'another newline', change: { body: `${vector.body}\n` }, why: 'the raw bytes are signed, not the JSON' },
    {
      what: 'another secret',
      change: { secret: otherSecret(vector.secret) },
      why: 'knowledge of the secret is the point',
    },
  ])('tampered, $what: mismatch, because $why', ({ change }) => {
    expect(check(vector, change)).toMatchObject({ ok: false, reason: 'mismatch' });
  });

  it.each([
    {
      what: 'missing',
      headers: { ...vector.headers, [header]: [] },
      reason: 'header-missing',
      why: 'verification is never skipped',
    },
    {
      what: 'empty',
      headers: withSignature(vector, ''),
      reason: 'header-missing',
      why: 'an empty header is as good as none',
    },
    {
      what: 'sent twice',
      headers: withSignature(vector, [signatureOf(vector), signatureOf(vector)]),
      reason: 'header-repeated',
      why: 'which one counts must not be guessed',
    },
    {
      what: 'sent twice, second empty',
      headers: withSignature(vector, [signatureOf(vector), '']),
      reason: 'header-repeated',
      why: 'twice is twice',
    },
    {
      what: 'cut by one',
      headers: withSignature(vector, signatureOf(vector).slice(0, -1)),
      reason: 'header-malformed',
      why: 'odd length; must not throw or compare only a part',
    },
    {
      what: 'longer by one byte',
      headers: withSignature(vector, `${signatureOf(vector)}00`),
      reason: 'header-malformed',
      why: 'timingSafeEqual throws on unequal lengths',
    },
    {
      what: 'trailing space',
      headers: withSignature(vector, `${signatureOf(vector)}\t`),
      reason: 'header-malformed',
      why: 'decoders that skip whitespace accept other texts',
    },
    {
      what: 'only the prefix',
      headers: withSignature(vector, signatureOf(vector).replace(/[^=,]+=*$/u, '')),
      reason: /header-m/u,
      why: 'an empty signature equals nothing',
    },
    {
      what: 'noise',
      headers: withSignature(vector, '=,=,, =='),
      reason: 'header-malformed',
      why: 'any text is only ever a refusal',
    },
    {
      what: 'latin1 noise',
      headers: withSignature(vector, '\u00ff\u00fe'.repeat(4000)),
      reason: 'header-malformed',
      why: 'any bytes are only ever a refusal',
    },
  ])('signature header $what: $reason, because $why', ({ headers, reason }) => {
    const verdict = check(vector, { headers });
    expect(verdict).toMatchObject({ ok: false, header });
    expect(verdict.ok ? '' : verdict.reason).toMatch(reason);
  });

  it('never authenticates without a secret value, also not under the stand-in key', () => {
    const scheme = schemeOf(vector.scheme);
    const forged = sign(scheme, new Uint8Array(32), { body: Buffer.from('{}'), nowMs: NO_TIME_MS, deliveryId: 'x' });
    const verdict = verifySignature(scheme, undefined, {
      headers: toHeaders(forged),
      body: Buffer.from('{}'),
      nowMs: NO_TIME_MS,
    });
    expect(verdict).toEqual({ ok: false, reason: 'secret-unset' });
  });

  it('refuses an algorithm named by the request', () => {
    expect(
      check(vector, { headers: withSignature(vector, signatureOf(vector).replace(/sha256=|v1|^/u, 'sha1=')) }),
    ).toMatchObject({
      ok: false,
    });
  });
});

describe('digits and letters of a signature', () => {
  const hex = vectors.filter((vector) => schemeOf(vector.scheme).encoding === 'hex');
  it.each(hex)('$id: upper-case hexadecimal is another text and refused', (vector) => {
    const upper = signatureOf(vector).replace(/[0-9a-f]{40,}/u, (text) => text.toUpperCase());
    expect(check(vector, { headers: withSignature(vector, upper) })).toMatchObject({
      ok: false,
      reason: 'header-malformed',
    });
  });

  const base64 = vectors.find((vector) => vector.scheme === 'standard_webhooks');
  it.each([
    { form: (text: string) => text.replace('=', ''), why: 'padding left out' },
    { form: (text: string) => text.replaceAll('+', '-').replaceAll('/', '_'), why: 'another alphabet' },
    { form: (text: string) => text.replace('E=', 'F='), why: 'unused bits set: the same bytes by another text' },
    { form: (text: string) => `${text.slice(0, 20)}\n${text.slice(20)}`, why: 'whitespace that lenient decoders skip' },
  ])('base64 with $why is refused', ({ form }) => {
    if (base64 === undefined) throw new Error('no vector');
    expect(check(base64, { headers: withSignature(base64, form(signatureOf(base64))) })).toMatchObject({
      ok: false,
      reason: 'header-malformed',
    });
  });
});

describe('rotation: several signatures in one header', () => {
  const cases = vectors
    .filter((vector) => schemeOf(vector.scheme).signature.itemSeparator !== undefined)
    .map((vector) => {
      const scheme = schemeOf(vector.scheme);
      const separator = scheme.signature.itemSeparator ?? '';
      const timePart = /^t=\d+/u.exec(signatureOf(vector))?.[0];
      const own = signatureOf(vector).replace(/^t=\d+,/u, '');
      const other = own.replace(/.{4}(?==*$)/u, (text) => (text === 'AAAA' || text === '0000' ? 'BBBB' : '0000'));
      const join = (...items: string[]): string =>
        [...(timePart === undefined ? [] : [timePart]), ...items].join(separator);
      return { id: vector.id, vector, own, other, join, pair: scheme.signature.pairSeparator ?? '' };
    });

  it.each(cases)('$id: either position counts', ({ vector, own, other, join }) => {
    expect(check(vector, { headers: withSignature(vector, join(other, own)) })).toMatchObject({ ok: true });
    expect(check(vector, { headers: withSignature(vector, join(own, other)) })).toMatchObject({ ok: true });
    expect(check(vector, { headers: withSignature(vector, join(other, other)) })).toMatchObject({
      ok: false,
      reason: 'mismatch',
    });
  });

  it.each(cases)(
    '$id: signatures of other versions are neither accepted nor an obstacle',
    ({ vector, own, join, pair }) => {
      const foreign = `v0${pair}${own.slice(3)}`;
      expect(check(vector, { headers: withSignature(vector, join(foreign, own)) })).toMatchObject({ ok: true });
      expect(check(vector, { headers: withSignature(vector, join(foreign)) })).toMatchObject({
        ok: false,
        reason: 'header-malformed',
      });
    },
  );

  it.each(cases)('$id: sixteen candidates are evaluated, seventeen refused', ({ vector, own, other, join }) => {
    const others = Array.from({ length: 15 }, () => other);
    expect(check(vector, { headers: withSignature(vector, join(...others, own)) })).toMatchObject({ ok: true });
    expect(check(vector, { headers: withSignature(vector, join(...others, other, own)) })).toMatchObject({
      ok: false,
      reason: 'too-many-candidates',
    });
  });
});

describe('timestamps', () => {
  const timed = vectors.filter((vector) => schemeOf(vector.scheme).timestamp !== undefined);

  it.each(timed)('$id: stale and future are refused beyond 300 s, both bounds included', (vector) => {
    const at = timeOf(vector);
    expect(check(vector, { nowMs: at + 300_000 })).toMatchObject({ ok: true });
    expect(check(vector, { nowMs: at - 300_000 })).toMatchObject({ ok: true });
    expect(check(vector, { nowMs: at + 301_000 })).toEqual({ ok: false, reason: 'timestamp-stale', skewSeconds: 301 });
    expect(check(vector, { nowMs: at - 301_000 })).toEqual({
      ok: false,
      reason: 'timestamp-future',
      skewSeconds: -301,
    });
    expect(check(vector, { nowMs: at + 300_001 })).toMatchObject({ ok: false, reason: 'timestamp-stale' });
  });

  it.each(timed)('$id: a changed timestamp is a mismatch, because it is signed', (vector) => {
    const at = timeOf(vector) / SECOND_MS;
    const headers = Object.fromEntries(
      Object.entries(vector.headers).map(([name, value]) => [name, value.replace(String(at), String(at + 1))]),
    );
    expect(check(vector, { headers })).toMatchObject({ ok: false, reason: 'mismatch' });
  });

  const written = [
    ['123abc', 'parseInt reads 123'],
    ['1e9', 'Number reads 1000000000'],
    ['+1700000000', 'a sign'],
    ['-1700000000', 'a sign'],
    ['0x65536a00', 'Number reads hexadecimal'],
    ['1700000000.0', 'a fraction'],
    ['170000000', 'nine digits'],
    ['17000000000', 'eleven digits'],
    ['17000000000000', 'fourteen digits'],
    ['１７００００００００', 'digits, but not ASCII'],
    ['', 'nothing'],
    ['NaN', 'comparisons with NaN are all false'],
    ['Infinity', 'no number'],
    ['2023-11-14T22:13:20Z', 'another format than the scheme has'],
  ] as const;

  it.each(written)('stripe t=%s is malformed: %s', (text) => {
    const scheme = schemeOf('stripe');
    const headers = toHeaders({ 'stripe-signature': `t=${text},v1=${'0'.repeat(64)}` });
    expect(
      verifySignature(scheme, Buffer.from('k'), { headers, body: Buffer.from('{}'), nowMs: NO_TIME_MS }),
    ).toMatchObject({
      reason: 'timestamp-malformed',
    });
  });

  it.each([
    [`v1=${'0'.repeat(64)}`, 'no timestamp'],
    [`t=1700000000,t=1700000000,v1=${'0'.repeat(64)}`, 'two of them: libraries differ on which one counts'],
    [` t=1700000000,v1=${'0'.repeat(64)}`, 'a key with a space is another key'],
  ])('stripe %s is malformed: %s', (value) => {
    const headers = toHeaders({ 'stripe-signature': value });
    const verdict = verifySignature(schemeOf('stripe'), Buffer.from('k'), {
      headers,
      body: Buffer.from('{}'),
      nowMs: NO_TIME_MS,
    });
    expect(verdict).toEqual({ ok: false, reason: 'timestamp-malformed', header: 'stripe-signature' });
  });

  it('takes 13 digits as milliseconds', () => {
    const scheme: SignatureScheme = {
      ...schemeOf('stripe'),
      timestamp: { from: 'header:x-time', format: 'unix', toleranceSeconds: 300 },
      signature: { header: 'x-sig' },
    };
    const signed = sign(scheme, Buffer.from('k'), { body: Buffer.from('{}'), nowMs: NO_TIME_MS });
    const again = sign({ ...scheme, signed: `${NO_TIME_MS + 1}.{body}` }, Buffer.from('k'), {
      body: Buffer.from('{}'),
      nowMs: NO_TIME_MS,
    });
    const headers = toHeaders({ ...signed, 'x-time': String(NO_TIME_MS + 1), 'x-sig': again['x-sig'] ?? '' });
    expect(
      verifySignature(scheme, Buffer.from('k'), { headers, body: Buffer.from('{}'), nowMs: NO_TIME_MS }),
    ).toMatchObject({ ok: true });
  });
});

describe('standard_webhooks header families', () => {
  const scheme = schemeOf('standard_webhooks');
  const key = Buffer.alloc(32, 7);
  const body = Buffer.from('{}');
  const signed = (family: string): Record<string, string> =>
    sign(scheme, key, { body, nowMs: NO_TIME_MS, deliveryId: `msg_${family}`, family });
  const verify = (headers: Record<string, string | string[]>): AuthenticationResult =>
    verifySignature(scheme, key, { headers: toHeaders(headers), body, nowMs: NO_TIME_MS });
  const without = (headers: Record<string, string>, name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));
  const svix = signed('svix');
  const webhook = signed('webhook');

  it.each([
    { what: 'webhook-*', headers: webhook, expected: { ok: true, deliveryHeader: 'webhook-id' }, why: 'the standard' },
    { what: 'svix-*', headers: svix, expected: { ok: true, deliveryHeader: 'svix-id' }, why: 'the older names' },
    {
      what: 'both',
      headers: { ...svix, ...webhook },
      expected: { ok: true, deliveryHeader: 'webhook-id' },
      why: 'webhook-* first',
    },
    {
      what: 'webhook-* wrong, svix-* right',
      headers: { ...svix, ...webhook, 'webhook-signature': svix['svix-signature'] ?? '' },
      expected: { ok: false, reason: 'mismatch' },
      why: 'the first complete family decides',
    },
    {
      what: 'webhook-id missing, svix-* complete',
      headers: { ...svix, ...without(webhook, 'webhook-id') },
      expected: { ok: true, deliveryHeader: 'svix-id' },
      why: 'one family has all three',
    },
    {
      what: 'mixed',
      headers: {
        'svix-id': svix['svix-id'] ?? '',
        'webhook-timestamp': webhook['webhook-timestamp'] ?? '',
        'webhook-signature': svix['svix-signature'] ?? '',
      },
      expected: { ok: false, reason: 'header-missing', header: 'webhook-id' },
      why: 'all three must come from one family',
    },
    {
      what: 'svix-timestamp missing',
      headers: without(svix, 'svix-timestamp'),
      expected: { ok: false, reason: 'header-missing', header: 'svix-timestamp' },
      why: 'the message names what lacks',
    },
    {
      what: 'id sent twice',
      headers: { ...webhook, 'webhook-id': ['a', 'b'] },
      expected: { ok: false, reason: 'header-repeated', header: 'webhook-id' },
      why: 'it is signed',
    },
    {
      what: 'timestamp sent twice',
      headers: { ...webhook, 'webhook-timestamp': [webhook['webhook-timestamp'] ?? '', '1'] },
      expected: { ok: false, reason: 'header-repeated', header: 'webhook-timestamp' },
      why: 'contract §5',
    },
    {
      what: 'repeated in the other family',
      headers: { ...webhook, 'svix-signature': ['a', 'b'] },
      expected: { ok: false, reason: 'header-repeated', header: 'svix-signature' },
      why: 'nothing hides behind the family that is read',
    },
    {
      what: 'id that is no visible ASCII',
      headers: { ...webhook, 'webhook-id': 'a\u00e9' },
      expected: { ok: false, reason: 'header-malformed', header: 'webhook-id' },
      why: 'senders and receivers disagree about its bytes',
    },
    {
      what: 'no header at all',
      headers: {},
      expected: { ok: false, reason: 'header-missing', header: 'webhook-signature' },
      why: 'unsigned',
    },
  ])('$what: $why', ({ headers, expected }) => {
    expect(verify(headers)).toMatchObject(expected);
  });
});

describe('the signed message as a second identity', () => {
  it('is the same for one signed message under any unsigned header, and absent where no timestamp is signed', () => {
    const stripe = vectors.find((vector) => vector.scheme === 'stripe');
    const github = vectors.find((vector) => vector.scheme === 'github');
    if (stripe === undefined || github === undefined) throw new Error('no vector');
    const first = check(stripe);
    const replayed = check(stripe, { headers: { ...stripe.headers, 'x-millwright-delivery-id': 'another' } });
    expect(first.ok && first.signedMessageDigest).toHaveLength(32);
    expect(replayed).toEqual(first);
    expect(check(github)).not.toHaveProperty('signedMessageDigest');
  });

  it('is one for all readings of a message whose id holds the separator', () => {
    const scheme = schemeOf('standard_webhooks');
    const key = Buffer.alloc(32, 1);
    const nowMs = NO_TIME_MS;
    const second = String(nowMs / SECOND_MS);
    const headers = sign(scheme, key, { body: Buffer.from(`${second}.5`), nowMs, deliveryId: 'msg' });
    const shifted = { ...headers, 'webhook-id': `msg.${second}` };
    const first = verifySignature(scheme, key, {
      headers: toHeaders(headers),
      body: Buffer.from(`${second}.5`),
      nowMs,
    });
    const again = verifySignature(scheme, key, { headers: toHeaders(shifted), body: Buffer.from('5'), nowMs });
    const message = createHash('sha256').update(`msg.${second}.${second}.5`).digest('binary');
    expect(first).toMatchObject({ ok: true, signedMessageDigest: message });
    expect(again).toMatchObject({ ok: true, signedMessageDigest: message });
  });
});

describe('sign', () => {
  it('wants a delivery id where the scheme signs one', () => {
    expect(() =>
      sign(schemeOf('standard_webhooks'), Buffer.alloc(32), { body: Buffer.from('{}'), nowMs: NO_TIME_MS }),
    ).toThrow(/webhook-id/u);
  });
});
