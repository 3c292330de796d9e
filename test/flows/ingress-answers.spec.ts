/**
 * What a sender is answered, check by check in the order in which they are made. spec: Webhook ingress; contract §5.
 */
import { DRAIN_MS_MAX } from '#deliveries';
import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder, type WebhookFile } from '../support/factories/factory-folder.ts';
import {
  chunk,
  connectRaw,
  exchange,
  LAST_CHUNK,
  requestHead,
  type HeaderLines,
  type RawAnswer,
  type RawRequest,
} from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const TOKEN = 'bearer-token-of-the-tests';
const URL_TOKEN = 'url-token.of~the_tests';
const SIGNING = 'signing-secret-of-the-tests';
const BODY_BYTES_MAX = 262_144;

const KEPT: Record<string, WebhookFile> = {
  plain: { secretName: 'bearer' },
  other: { secretName: 'bearer' },
  linked: { authMode: 'url_token', secretName: 'in-url' },
  signed: { authMode: 'signature', signatureScheme: 'github', secretName: 'signing' },
  off: { secretName: 'bearer', enabled: false },
  'linked-off': { authMode: 'url_token', secretName: 'in-url', enabled: false },
};

let mill: TestService;
let folder: FactoryFolder;
let factory: string;
let skewMs = 0;

beforeAll(async () => {
  mill = await bootService({ nowMs: () => Date.now() + skewMs, environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await mill.secret('bearer', TOKEN);
  await mill.secret('in-url', URL_TOKEN);
  await mill.secret('signing', SIGNING);
  folder = await factoryFolder({ webhooks: { ...KEPT, gone: { secretName: 'bearer' } } });
  factory = await mill.factory('answers', folder.source);
  await folder.write({ webhooks: KEPT });
  const status = await mill.sync(factory);
  if ((status['condition'] as { ending: string }).ending !== 'applied')
    throw new Error(JSON.stringify(status['last_sync']));
}, 120_000);

afterAll(async () => {
  await mill?.stop();
  await folder?.remove();
});

// Every test has minutes of its own, so that neither slots nor failure budgets of one reach another.
beforeEach(() => {
  skewMs += 121_000;
});

const path = (slug: string): string => `/webhooks/w/${mill.webhookUid('answers', slug)}`;
const bearer = (token = TOKEN): HeaderLines => [['Authorization', `Bearer ${token}`]];
const signature = (body: string | Uint8Array, secret = SIGNING): HeaderLines => [
  ['X-Hub-Signature-256', `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`],
];
const send = (
  target: string,
  headers: HeaderLines = [],
  body: string | Uint8Array = '{}',
  more: Partial<RawRequest> = {},
): Promise<RawAnswer> => exchange(mill.url, { target, headers, body, ...more });
/** A body that no other test sends. */
let unique = 0;
const fresh = (): string => `{"n": ${(unique += 1)}}`;

async function log(slug: string): Promise<Record<string, unknown>[]> {
  const answer = await mill.api(
    'GET',
    `/factory/${factory}/webhooks/${mill.webhookUid('answers', slug)}/deliveries?limit=500`,
  );
  return answer.body['deliveries'] as Record<string, unknown>[];
}

const ANSWERS: Record<number, string> = {
  400: '{"error": "body is not valid JSON"}',
  401: '{"error": "authentication failed"}',
  404: '{"error": "webhook not found"}',
  405: '{"error": "only POST is accepted"}',
  413: '{"error": "body is larger than 262144 bytes"}',
  429: '{"error": "too many requests"}',
};

function expectRefusal(answer: RawAnswer, status: number): void {
  expect([answer.status, answer.body]).toEqual([status, ANSWERS[status]]);
  expect(answer.headers.get('content-type')).toBe('application/json');
}

describe('1: only POST is accepted', () => {
  const methods = [
    'GET',
    'HEAD',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'MKCOL',
    'QUERY',
    'CONNECT',
    'FOO',
    'post',
  ];
  const targets: { why: string; target: () => string }[] = [
    { why: 'a live webhook', target: () => path('plain') },
    { why: 'one that never was', target: () => '/webhooks/w/wh_00000000000000000000000000' },
    { why: 'no webhook path at all below the prefix', target: () => '/webhooks/else/where' },
  ];
  it.each(methods.flatMap((method) => targets.map((row) => ({ method, ...row }))))(
    '$method is 405 for $why',
    async ({ method, target }) => {
      const answer = await send(target(), bearer(), '', { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('POST');
      if (method !== 'HEAD') expectRefusal(answer, 405);
    },
  );

  it('leaves a body of another method unread and closes', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(requestHead(mill.url, { method: 'PUT', target: path('plain'), declared: 10_000_000 }));
    const answer = await connection.answer();
    expectRefusal(answer, 405);
    expect(answer.headers.get('connection')).toBe('close');
    await connection.closed;
  });
});

describe('2: unknown, disabled and deleted are one and the same 404', () => {
  it.each<{ why: string; target: () => string }>([
    { why: 'never existed', target: () => '/webhooks/w/wh_00000000000000000000000000' },
    { why: 'no UID', target: () => '/webhooks/w/' },
    { why: 'nothing below the prefix', target: () => '/webhooks/' },
    { why: 'another word instead of w', target: () => path('plain').replace('/w/', '/v/') },
    { why: 'disabled', target: () => path('off') },
    { why: 'disabled url_token, right token', target: () => `${path('linked-off')}/${URL_TOKEN}` },
    { why: 'disabled url_token, no token', target: () => path('linked-off') },
    { why: 'deleted', target: () => path('gone') },
    { why: 'a token webhook has no further segment', target: () => `${path('plain')}/${TOKEN}` },
    { why: 'an empty further segment is one too', target: () => `${path('plain')}//` },
    { why: 'a signature webhook has no further segment', target: () => `${path('signed')}/x` },
    { why: 'url_token: deeper', target: () => `${path('linked')}/${URL_TOKEN}/x` },
    { why: 'url_token: deeper by one empty segment', target: () => `${path('linked')}/${URL_TOKEN}//` },
    { why: 'UID cannot be decoded', target: () => '/webhooks/w/%ZZ' },
    { why: 'UID is not UTF-8', target: () => '/webhooks/w/%ff%fe' },
    { why: '%2F makes no segment: the UID holds a slash', target: () => `${path('linked')}%2F${URL_TOKEN}` },
    { why: 'decoded once, not twice', target: () => path('plain').replace('wh_', '%2577h_') },
    { why: 'a dot segment is not resolved', target: () => path('plain').replace('/w/', '/w/../w/') },
    { why: 'a doubled slash is not resolved', target: () => path('plain').replace('/w/', '/w//') },
    { why: 'UIDs are exact', target: () => path('plain').toUpperCase().replace('/WEBHOOKS/W/', '/webhooks/w/') },
    { why: 'longer than any framework likes', target: () => `/webhooks/w/${'a'.repeat(9_000)}` },
    { why: 'many segments', target: () => `/webhooks/w/${'a/'.repeat(4_000)}` },
    { why: 'NUL', target: () => `${path('plain')}%00` },
  ])('$why', async ({ target }) => {
    const before = mill.logged.length;
    const answers = [
      await send(target(), bearer()),
      await send(target(), [], 'not json'),
      await send(target(), signature('{}')),
    ];
    for (const answer of answers) expectRefusal(answer, 404);
    expect(new Set(answers.map(({ headers }) => [...headers.keys()].join()))).toHaveProperty('size', 1);
    expect(mill.logged.length).toBe(before);
  });

  it('are not logged', async () => {
    const deleted = await mill.api(
      'GET',
      `/factory/${factory}/webhooks/${mill.webhookUid('answers', 'off')}/deliveries`,
    );
    expect(deleted.body['deliveries']).toEqual([]);
  });

  it('do not read the body', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(requestHead(mill.url, { target: path('off'), headers: bearer(), declared: 200_000 }));
    const answer = await connection.answer();
    expectRefusal(answer, 404);
    expect(answer.headers.get('connection')).toBe('close');
    await connection.closed;
  });
});

describe('paths that lead to a webhook', () => {
  it.each<{ why: string; target: () => string; headers?: HeaderLines }>([
    { why: 'as given out', target: () => path('plain'), headers: bearer() },
    { why: 'one trailing slash', target: () => `${path('plain')}/`, headers: bearer() },
    { why: 'the query is ignored', target: () => `${path('plain')}?a=b&uid=/x//y?z`, headers: bearer() },
    { why: 'slash and query', target: () => `${path('plain')}/?`, headers: bearer() },
    { why: 'absolute form', target: () => `${mill.url}${path('plain')}`, headers: bearer() },
    { why: 'absolute form with a query', target: () => `${mill.url}${path('plain')}/?x`, headers: bearer() },
    { why: 'token in the URL', target: () => `${path('linked')}/${URL_TOKEN}` },
    { why: 'token and trailing slash', target: () => `${path('linked')}/${URL_TOKEN}/` },
    { why: 'token and query', target: () => `${path('linked')}/${URL_TOKEN}?token=other` },
    { why: 'token in absolute form', target: () => `${mill.url}${path('linked')}/${URL_TOKEN}` },
  ])('$why', async ({ target, headers }) => {
    expect((await send(target(), headers, fresh())).status).toBe(202);
  });
});

describe('3: failed authentication is 401', () => {
  it.each<{ why: string; headers: HeaderLines }>([
    { why: 'no header', headers: [] },
    { why: 'empty', headers: [['Authorization', '']] },
    { why: 'scheme alone', headers: [['Authorization', 'Bearer']] },
    { why: 'scheme and spaces', headers: [['Authorization', 'Bearer   ']] },
    { why: 'no space', headers: [['Authorization', `Bearer${TOKEN}`]] },
    { why: 'a tab is no space', headers: [['Authorization', `Bearer\t${TOKEN}`]] },
    { why: 'another scheme', headers: [['Authorization', `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}`]] },
    { why: 'the token without a scheme', headers: [['Authorization', TOKEN]] },
    { why: 'a wrong token of the same length', headers: bearer(TOKEN.replace('b', 'c')) },
    { why: 'a prefix', headers: bearer(TOKEN.slice(0, -1)) },
    { why: 'something behind', headers: bearer(`${TOKEN}x`) },
    { why: 'a list', headers: bearer(`${TOKEN}, ${TOKEN}`) },
    { why: 'quoted', headers: bearer(`"${TOKEN}"`) },
    { why: 'the case of the token counts', headers: bearer(TOKEN.toUpperCase()) },
    { why: 'the right one twice', headers: [...bearer(), ...bearer()] },
    { why: 'right and wrong', headers: [...bearer(), ...bearer('wrong-token-of-the-tests')] },
    { why: 'twice in different cases of the name', headers: [...bearer(), ['AUTHORIZATION', `Bearer ${TOKEN}`]] },
    { why: 'in a query or another header', headers: [['X-Authorization', `Bearer ${TOKEN}`]] },
    { why: 'bytes beyond ASCII', headers: [['Authorization', 'Bearer \u00fc\u00e9\u00ff']] },
    { why: 'a signature instead', headers: signature('{}') },
    { why: '8 KB', headers: bearer('x'.repeat(8_000)) },
  ])('token: $why', async ({ headers }) => {
    expectRefusal(await send(path('plain'), headers), 401);
  });

  it.each<{ why: string; headers: HeaderLines }>([
    { why: 'lower case', headers: [['authorization', `bearer ${TOKEN}`]] },
    { why: 'upper case', headers: [['AUTHORIZATION', `BEARER ${TOKEN}`]] },
    { why: 'mixed case', headers: [['Authorization', `bEaReR ${TOKEN}`]] },
    { why: 'two spaces', headers: [['Authorization', `Bearer  ${TOKEN}`]] },
    { why: 'many spaces', headers: [['Authorization', `Bearer        ${TOKEN}`]] },
    { why: 'spaces around the value belong to HTTP', headers: [['Authorization', `   Bearer ${TOKEN}  `]] },
  ])('token: accepted with $why', async ({ headers }) => {
    expect((await send(path('plain'), headers, fresh())).status).toBe(202);
  });

  it.each<{ why: string; segment: string }>([
    { why: 'missing', segment: '' },
    { why: 'missing with a slash', segment: '/' },
    { why: 'empty', segment: '//' },
    { why: 'wrong', segment: '/url-token.of~the_testz' },
    { why: 'the placeholder', segment: '/{token}' },
    { why: 'undecodable', segment: '/%ZZ' },
    { why: 'cut in the middle of an escape', segment: `/${URL_TOKEN}%2` },
    { why: 'not UTF-8', segment: '/%ff' },
    { why: '%2F makes no segment', segment: `/${URL_TOKEN}%2Fx` },
    { why: 'decoded once only', segment: `/${URL_TOKEN.replace('.', '%252e')}` },
    { why: 'NUL behind it', segment: `/${URL_TOKEN}%00` },
    { why: 'a dot segment', segment: '/..' },
    { why: 'the case counts', segment: `/${URL_TOKEN.toUpperCase()}` },
  ])('url_token: $why', async ({ segment }) => {
    expectRefusal(await send(`${path('linked')}${segment}`, bearer(URL_TOKEN)), 401);
  });

  it('url_token: an Authorization header is not looked at', async () => {
    expect((await send(`${path('linked')}/${URL_TOKEN}`, bearer('wrong'), fresh())).status).toBe(202);
  });

  it.each<{ why: string; headers: (body: string) => HeaderLines }>([
    { why: 'unsigned', headers: () => [] },
    { why: 'a token instead', headers: () => bearer(SIGNING) },
    { why: 'another secret', headers: (body) => signature(body, 'another-secret') },
    { why: 'another body', headers: (body) => signature(`${body} `) },
    { why: 'no prefix', headers: (body) => [['X-Hub-Signature-256', (signature(body)[0]?.[1] ?? '').slice(7)]] },
    {
      why: 'upper-case hex',
      headers: (body) => [
        ['X-Hub-Signature-256', (signature(body)[0]?.[1] ?? '').toUpperCase().replace('SHA256', 'sha256')],
      ],
    },
    { why: 'odd length', headers: (body) => [['X-Hub-Signature-256', (signature(body)[0]?.[1] ?? '').slice(0, -1)]] },
    { why: 'twice', headers: (body) => [...signature(body), ...signature(body)] },
    {
      why: 'the old header',
      headers: (body) => [['X-Hub-Signature', `sha1=${createHmac('sha1', SIGNING).update(body).digest('hex')}`]],
    },
  ])('signature: $why', async ({ headers }) => {
    const body = fresh();
    expectRefusal(await send(path('signed'), headers(body), body), 401);
  });

  it('signature: over the raw bytes, whatever they mean', async () => {
    const body = `{ "a":1,\r\n\t"a" : 2, "u": "\\ud800", "x": ${unique} }`;
    expect((await send(path('signed'), signature(body), body)).status).toBe(202);
  });

  it('comes before the body in token modes', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(requestHead(mill.url, { target: path('plain'), headers: bearer('wrong'), declared: 200_000 }));
    const answer = await connection.answer();
    expectRefusal(answer, 401);
    expect(answer.headers.get('connection')).toBe('close');
    await connection.closed;
  });
});

describe('3: more than 262,144 bytes is 413', () => {
  const big = ` ${'x'.repeat(BODY_BYTES_MAX)}`;
  const exact = (): string => fresh().padEnd(BODY_BYTES_MAX);

  it('the limit itself is accepted', async () => {
    expect((await send(path('plain'), bearer(), exact())).status).toBe(202);
    const signed = exact();
    expect((await send(path('signed'), signature(signed), signed)).status).toBe(202);
  });

  it.each<{ why: string; target: () => string; headers: HeaderLines; status: number }>([
    { why: 'token: the credential comes first', target: () => path('plain'), headers: bearer('wrong'), status: 401 },
    { why: 'token: then the size', target: () => path('plain'), headers: bearer(), status: 413 },
    { why: 'url_token: the credential comes first', target: () => `${path('linked')}/wrong`, headers: [], status: 401 },
    { why: 'url_token: then the size', target: () => `${path('linked')}/${URL_TOKEN}`, headers: [], status: 413 },
    { why: 'signature: the size comes first, unsigned', target: () => path('signed'), headers: [], status: 413 },
    {
      why: 'signature: the size comes first, signed',
      target: () => path('signed'),
      headers: signature(big),
      status: 413,
    },
  ])('$why', async ({ target, headers, status }) => {
    const declared = await send(target(), headers, big);
    expectRefusal(declared, status);
    expect(declared.headers.get('connection')).toBe(status === 413 ? 'keep-alive' : 'close');
  });

  it.each([
    {
      why: 'up to 64 KiB more are skipped, and the connection takes the next one',
      more: 65_536,
      connection: 'keep-alive',
    },
    { why: 'more than that ends the connection', more: 65_537, connection: 'close' },
  ])('$why', async ({ more, connection: then }) => {
    const connection = await connectRaw(mill.url);
    const [tooMuch, body] = ['x'.repeat(BODY_BYTES_MAX + more), fresh()];
    connection.send(requestHead(mill.url, { target: path('plain'), headers: bearer(), declared: tooMuch.length }));
    connection.send(tooMuch);
    const answer = await connection.answer();
    expectRefusal(answer, 413);
    expect(answer.headers.get('connection')).toBe(then);
    if (then === 'close') return connection.closed.then(() => connection.destroy());
    connection.send(requestHead(mill.url, { target: path('plain'), headers: bearer(), declared: body.length }) + body);
    expect((await connection.answer()).status).toBe(202);
    connection.destroy();
  });

  it('is known from the declaration alone: nothing of the body need be sent', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(requestHead(mill.url, { target: path('plain'), headers: bearer(), declared: BODY_BYTES_MAX + 1 }));
    expectRefusal(await connection.answer(), 413);
    connection.destroy();
  });

  it('is logged with the largest number where more than any is declared', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(requestHead(mill.url, { target: path('plain'), headers: bearer(), declared: 2 ** 63 }));
    expectRefusal(await connection.answer(), 413);
    connection.destroy();
    const { body } = await mill.api(
      'GET',
      `/factory/${factory}/webhooks/${mill.webhookUid('answers', 'plain')}/deliveries?limit=1`,
    );
    expect(body['deliveries']).toMatchObject([{ size: Number.MAX_SAFE_INTEGER }]);
  });

  it('is counted where nothing is declared', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(
      requestHead(mill.url, { target: path('plain'), headers: [...bearer(), ['Transfer-Encoding', 'chunked']] }),
    );
    for (let sent = 0; sent <= BODY_BYTES_MAX; sent += 65_536) connection.send(chunk('x'.repeat(65_536)));
    const answer = await connection.answer();
    expectRefusal(answer, 413);
    expect(answer.headers.get('connection')).toBe('close');
    await connection.closed;
  });

  it('a chunked body of exactly the limit is accepted', async () => {
    const connection = await connectRaw(mill.url);
    const body = exact();
    connection.send(
      requestHead(mill.url, { target: path('plain'), headers: [...bearer(), ['Transfer-Encoding', 'chunked']] }),
    );
    for (let at = 0; at < body.length; at += 50_000) connection.send(chunk(body.slice(at, at + 50_000)));
    connection.send(LAST_CHUNK);
    expect((await connection.answer()).status).toBe(202);
    connection.destroy();
  });

  it('a truncated prefix of a longer body is never accepted, even where the prefix is JSON', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(
      requestHead(mill.url, { target: path('plain'), headers: [...bearer(), ['Transfer-Encoding', 'chunked']] }),
    );
    connection.send(chunk(exact()));
    connection.send(chunk(' '));
    expectRefusal(await connection.answer(), 413);
    connection.destroy();
  });
});

describe('a sender that goes on although it was refused', () => {
  it('reads its answer while it still sends, and is cut off after a bounded amount', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(
      requestHead(mill.url, { target: path('plain'), headers: [...bearer('wrong'), ['Transfer-Encoding', 'chunked']] }),
    );
    connection.send(chunk('x'.repeat(30_000)));
    expectRefusal(await connection.answer(), 401);
    connection.send(chunk('x'.repeat(10_000))); // within the bound: read and thrown away, no reset
    let sent = 40_000;
    const flood = setInterval(() => {
      if (connection.socket.writable) connection.send(chunk('x'.repeat(16_000)));
      sent += 16_000;
    }, 5);
    await connection.closed;
    clearInterval(flood);
    expect(sent).toBeLessThan(50_000_000);
  });

  it('gets its answer in order, not a reset, when the rest of the body fits the bound', async () => {
    for (let [tries, left] = [0, 3]; left > 0; tries += 1) {
      let reset = false;
      const connection = await connectRaw(mill.url);
      const gone = new Promise((resolve) => connection.socket.once('close', resolve));
      connection.socket.on('error', () => (reset = true));
      connection.send(requestHead(mill.url, { target: '/webhooks/w/nobody', declared: 60_000 }));
      connection.send('x'.repeat(30_000));
      expectRefusal(await connection.answer(), 404);
      const answeredAtMs = performance.now();
      for (let part = 0; part < 6; part += 1) {
        connection.send('x'.repeat(5_000));
        await new Promise((resolve) => setTimeout(resolve, 10)); // later than the answer, as over a slow line
      }
      const isLate = performance.now() - answeredAtMs > DRAIN_MS_MAX / 2; // the machine stood still
      connection.socket.end();
      await gone;
      if (isLate && tries < 20) continue;
      expect(reset).toBe(false);
      left -= 1;
    }
  });
});

describe('Expect: 100-continue', () => {
  const expecting: HeaderLines = [['Expect', '100-continue']];
  it.each<{
    why: string;
    target: () => string;
    headers: HeaderLines;
    declared: number;
    status: number;
    method?: string;
  }>([
    { why: '405', target: () => path('plain'), headers: bearer(), declared: 10, status: 405, method: 'PUT' },
    { why: '404', target: () => '/webhooks/w/nobody', headers: bearer(), declared: 10, status: 404 },
    { why: '401', target: () => path('plain'), headers: bearer('wrong'), declared: 10, status: 401 },
    { why: '401 in the URL', target: () => `${path('linked')}/wrong`, headers: [], declared: 10, status: 401 },
    { why: '413 declared', target: () => path('plain'), headers: bearer(), declared: BODY_BYTES_MAX + 1, status: 413 },
    {
      why: '413 declared, signature mode',
      target: () => path('signed'),
      headers: [],
      declared: BODY_BYTES_MAX + 1,
      status: 413,
    },
  ])('is not answered 100 before $why', async ({ target, headers, declared, status, method }) => {
    const connection = await connectRaw(mill.url);
    connection.send(requestHead(mill.url, { method, target: target(), headers: [...headers, ...expecting], declared }));
    const answer = await connection.answer();
    expectRefusal(answer, status);
    expect(answer.interim).toEqual([]);
    expect(answer.headers.get('connection')).toBe('close');
    await connection.closed;
  });

  it('is answered 100 once when the body is wanted', async () => {
    const connection = await connectRaw(mill.url);
    const body = fresh();
    connection.send(
      requestHead(mill.url, { target: path('plain'), headers: [...bearer(), ...expecting], declared: body.length }),
    );
    while (!connection.pending().includes('100')) await new Promise((resolve) => setTimeout(resolve, 5));
    connection.send(body);
    const answer = await connection.answer();
    expect([answer.status, answer.interim]).toEqual([202, [100]]);
    connection.destroy();
  });

  it('is not answered 100 to a sender of HTTP/1.0, which does not know it', async () => {
    const body = fresh();
    const head = requestHead(mill.url, {
      target: path('plain'),
      headers: [...bearer(), ...expecting],
      declared: body.length,
    });
    const answer = await exchange(mill.url, head.replace('HTTP/1.1', 'HTTP/1.0') + body);
    expect([answer.status, answer.interim]).toEqual([202, []]);
  });

  it('another expectation is a header like any other', async () => {
    const answer = await send(path('plain'), [...bearer(), ['Expect', 'tea']], fresh());
    expect([answer.status, answer.interim]).toEqual([202, []]);
  });
});

describe('a sender that disconnects in the middle of its body', () => {
  const body = `{"cut": "${'x'.repeat(5_000)}"}`;
  it.each([0, 1, 10, 2_500, body.length - 1])('after %i bytes: nothing is stored', async (length) => {
    const before = await log('plain');
    for (const encoding of ['declared', 'chunked'] as const) {
      const connection = await connectRaw(mill.url);
      const head = encoding === 'declared' ? { declared: body.length } : {};
      const headers: HeaderLines = encoding === 'declared' ? bearer() : [...bearer(), ['Transfer-Encoding', 'chunked']];
      connection.send(requestHead(mill.url, { target: path('plain'), headers, ...head }));
      const part = body.slice(0, length);
      if (part !== '') connection.send(encoding === 'declared' ? part : chunk(part));
      // Half of them end in order, half by a reset.
      if (encoding === 'declared') connection.socket.end();
      else await new Promise((resolve) => setTimeout(resolve, 20)).then(() => connection.destroy());
      await connection.closed.then(() => connection.destroy());
    }
    // Something that came behind is logged, and nothing between.
    expect((await send(path('plain'), bearer(), fresh())).status).toBe(202);
    expect((await log('plain')).length).toBe(before.length + 1);
  });

  it('a chunked body whose last chunk never comes is not accepted, although what came is JSON', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(
      requestHead(mill.url, { target: path('plain'), headers: [...bearer(), ['Transfer-Encoding', 'chunked']] }),
    );
    const sent = fresh();
    connection.send(chunk(sent));
    connection.socket.end();
    await connection.closed;
    expect(connection.pending()).not.toContain('202');
    connection.destroy();
    const before = (await log('plain')).length;
    expect((await send(path('plain'), bearer(), sent)).status).toBe(202);
    expect((await log('plain'))[0]).toMatchObject({ outcome: 'Accepted' });
    expect((await log('plain')).length).toBe(before + 1);
  });
});

describe('5: what is not one JSON text in UTF-8 is 400', () => {
  it.each<{ why: string; body: string | Uint8Array; headers?: HeaderLines }>([
    { why: 'empty', body: '' },
    { why: 'white space', body: ' \n\t ' },
    { why: 'text', body: 'hello' },
    { why: 'a form', body: 'payload=%7B%7D', headers: [['Content-Type', 'application/x-www-form-urlencoded']] },
    {
      why: 'a multipart form',
      body: '--x\r\nContent-Disposition: form-data; name="payload"\r\n\r\n{}\r\n--x--\r\n',
      headers: [['Content-Type', 'multipart/form-data; boundary=x']],
    },
    { why: 'XML', body: '<a/>' },
    { why: 'gzip, declared: nothing is inflated', body: gzipSync('{}'), headers: [['Content-Encoding', 'gzip']] },
    { why: 'a byte order mark', body: '\ufeff{}' },
    { why: 'UTF-16', body: Buffer.from('\ufeff{}', 'utf16le') },
    { why: 'UTF-16 without a mark', body: Buffer.from('{"a":1}', 'utf16le') },
    { why: 'invalid UTF-8 in a string', body: Buffer.from([0x22, 0xff, 0x22]) },
    { why: 'overlong UTF-8', body: Buffer.from([0x22, 0xc0, 0x80, 0x22]) },
    { why: 'a surrogate as UTF-8', body: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]) },
    { why: 'a character cut at the end', body: Buffer.from([0x22, 0x61, 0x22, 0xe2, 0x82]) },
    { why: 'two texts', body: '{}{}' },
    { why: 'two texts on lines', body: '{}\n{}' },
    { why: 'a text and a comma', body: '{},' },
    { why: 'a comment', body: '{} // really' },
    { why: 'a trailing comma', body: '[1,]' },
    { why: 'single quotes', body: "{'a': 1}" },
    { why: 'NaN', body: 'NaN' },
    { why: 'a control character in a string', body: '"\u0001"' },
    { why: 'NUL behind it', body: '{}\0' },
    { why: 'a non-breaking space around it', body: '\u00a0{}' },
    { why: 'a leading zero', body: '01' },
    { why: 'a plus sign', body: '+1' },
    { why: 'cut in the middle', body: '{"a": [1, 2' },
    { why: '100,000 unclosed brackets', body: '['.repeat(100_000) },
  ])('$why', async ({ body, headers = [] }) => {
    expectRefusal(await send(path('plain'), [...bearer(), ...headers], body), 400);
    expectRefusal(await send(path('signed'), [...signature(body), ...headers], body), 400);
  });
});

describe('what is one JSON text is valid, whatever it holds', () => {
  const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  it.each<{ why: string; body: string }>([
    { why: 'an object', body: '{"valid": true}' },
    { why: 'an array', body: '["valid"]' },
    { why: 'a string', body: '"valid"' },
    { why: 'an empty string', body: '""' },
    { why: 'a number', body: '-12.5e-3' },
    { why: 'true', body: 'true' },
    { why: 'null', body: 'null' },
    { why: 'white space around', body: ' \r\n\t{"space": 1} \n' },
    { why: 'duplicate keys', body: '{"a": 1, "a": 2}' },
    { why: '__proto__', body: '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}' },
    { why: 'depth 100,000', body: deep(100_000) },
    { why: 'objects, depth 40,000', body: `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}` },
    { why: 'a lone surrogate escape', body: '"\\ud800"' },
    { why: 'NUL escaped', body: '{"\\u0000": "\\u0000"}' },
    { why: 'a huge number', body: '1e999999' },
    { why: 'a number of 200,000 digits', body: '9'.repeat(200_000) },
    { why: 'noncharacters and astral characters', body: '"\uffff\u{1f600}\u{10ffff}"' },
    { why: '130,000 members', body: `[${'1,'.repeat(130_000)}1]` },
  ])('$why', async ({ body }) => {
    expect((await send(path('plain'), bearer(), body)).status).toBe(202);
    expect((await send(path('signed'), signature(Buffer.from(body)), body)).status).toBe(202);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    const [entry] = await log('plain');
    expect(entry).toMatchObject({ outcome: 'Accepted', size: Buffer.byteLength(body), size_exact: true });
    const stored = await fetch(
      `${mill.url}/api/v1/factory/${factory}/webhooks/${mill.webhookUid('answers', 'plain')}` +
        `/deliveries/${String(entry?.['entry_id'])}/payload`,
      {
        headers: { authorization: `Bearer ${mill.adminKey}` },
      },
    );
    expect(Buffer.from(await stored.arrayBuffer()).equals(Buffer.from(body))).toBe(true);
  });
});

describe('Content-Type and Content-Encoding are never consulted', () => {
  it.each<{ why: string; headers: HeaderLines }>([
    { why: 'none', headers: [] },
    { why: 'empty', headers: [['Content-Type', '']] },
    { why: 'malformed', headers: [['Content-Type', ';;;']] },
    { why: 'text', headers: [['Content-Type', 'text/plain']] },
    { why: 'a form', headers: [['Content-Type', 'application/x-www-form-urlencoded']] },
    { why: 'multipart without a boundary', headers: [['Content-Type', 'multipart/form-data']] },
    { why: 'another charset', headers: [['Content-Type', 'application/json; charset=utf-16']] },
    { why: 'an unknown charset', headers: [['Content-Type', 'application/json; charset=nonsense']] },
    { why: '10 KB long', headers: [['Content-Type', `application/json; x=${'y'.repeat(10_000)}`]] },
    {
      why: 'twice',
      headers: [
        ['Content-Type', 'text/xml'],
        ['Content-Type', 'application/json'],
      ],
    },
    { why: 'beyond ASCII', headers: [['Content-Type', '\u00e4\u00f6']] },
    { why: '__proto__', headers: [['Content-Type', '__proto__']] },
    { why: 'gzip that is none', headers: [['Content-Encoding', 'gzip']] },
    { why: 'an unknown encoding', headers: [['Content-Encoding', 'br, nonsense']] },
    { why: 'Accept that wants something else', headers: [['Accept', 'text/html;q=1, */*;q=0']] },
    {
      why: 'an upgrade',
      headers: [
        ['Connection', 'Upgrade'],
        ['Upgrade', 'websocket'],
      ],
    },
    { why: 'a method override', headers: [['X-HTTP-Method-Override', 'DELETE']] },
  ])('$why', async ({ headers }) => {
    expect((await send(path('plain'), [...bearer(), ...headers], fresh())).status).toBe(202);
    expectRefusal(await send(path('plain'), [...bearer(), ...headers], 'no json'), 400);
  });
});

describe('6: an accepted delivery', () => {
  it('is 202 with its delivery_id and nothing else', async () => {
    const answer = await send(path('plain'), [...bearer(), ['X-Millwright-Delivery-Id', 'order-1']], fresh());
    expect([answer.status, JSON.parse(answer.body)]).toEqual([202, { delivery_id: 'order-1' }]);
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  it('keeps the connection for the next one', async () => {
    const connection = await connectRaw(mill.url);
    for (let count = 0; count < 5; count += 1) {
      const body = fresh();
      connection.send(
        requestHead(mill.url, { target: path('plain'), headers: bearer(), declared: body.length }) + body,
      );
      expect((await connection.answer()).status).toBe(202);
    }
    connection.destroy();
  });

  it('is answered in order where several are sent at once on one connection', async () => {
    const connection = await connectRaw(mill.url);
    const ids = ['a', 'b', 'c'].map((name) => `pipelined-${name}-${unique}`);
    connection.send(
      ids
        .map(
          (id) =>
            requestHead(mill.url, {
              target: path('plain'),
              headers: [...bearer(), ['X-Millwright-Delivery-Id', id]],
              declared: 2,
            }) + '{}',
        )
        .join(''),
    );
    for (const id of ids) expect(JSON.parse((await connection.answer()).body)).toEqual({ delivery_id: id });
    connection.destroy();
  });
});

it('every refusal is the same for every webhook', async () => {
  const seen = async (slug: string): Promise<string[]> => {
    const answers = [
      await send(path(slug), bearer('wrong')),
      await send(path(slug), bearer(), 'x'),
      await send(path(slug), bearer(), ' '.repeat(BODY_BYTES_MAX + 1)),
    ];
    return answers.map(({ status, headers, body }) =>
      JSON.stringify([status, [...headers].filter(([name]) => name !== 'date'), body]),
    );
  };
  expect(await seen('plain')).toEqual(await seen('other'));
});
