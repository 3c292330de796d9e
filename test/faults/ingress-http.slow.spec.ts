/**
 * Senders that break HTTP, smuggle, dawdle or lie about the host: constant answers, and nobody else notices. contract
 * §1.2 (Host), §5.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import {
  chunk,
  connectRaw,
  exchange,
  LAST_CHUNK,
  requestHead,
  type HeaderLines,
  type RawAnswer,
  type RawConnection,
} from '../support/network/raw-http.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const TOKEN = 'bearer-token-of-the-tests';
const MALFORMED = '{"error": "the request is not valid HTTP"}';

let mill: TestService;
let folder: FactoryFolder;
let factory: string;
let target: string;
let host: string;
let skewMs = 0;
let unique = 0;

beforeAll(async () => {
  mill = await bootService({ nowMs: () => Date.now() + skewMs, environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await mill.secret('bearer', TOKEN);
  folder = await factoryFolder({ webhooks: { plain: { secretName: 'bearer' } } });
  factory = await mill.factory('http', folder.source);
  target = `/webhooks/w/${mill.webhookUid('http', 'plain')}`;
  host = new URL(mill.url).host;
}, 120_000);

afterAll(async () => {
  await mill?.stop();
  await folder?.remove();
});

beforeEach(() => {
  skewMs += 121_000;
});

const bearer: HeaderLines = [['Authorization', `Bearer ${TOKEN}`]];
const good = (): Promise<RawAnswer> => exchange(mill.url, { target, headers: bearer, body: `{"n": ${(unique += 1)}}` });

async function entries(): Promise<number> {
  return (
    (await mill.api('GET', `/factory/${factory}/webhooks/${mill.webhookUid('http', 'plain')}/deliveries?limit=500`))
      .body['deliveries'] as unknown[]
  ).length;
}

/** Lines joined by CRLF; the last line is what follows the headers. */
const raw = (...lines: string[]): string => lines.join('\r\n');
const head = (...headers: string[]): string =>
  raw(`POST ${target} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${TOKEN}`, ...headers, '', '');

function expectConstant(answer: RawAnswer, status: number, body: string): void {
  expect([answer.status, answer.body, answer.headers.get('content-type'), answer.headers.get('connection')]).toEqual([
    status,
    body,
    'application/json',
    'close',
  ]);
}

describe('what is not HTTP is 400, constant, and stores nothing', () => {
  it.each<{ why: string; bytes: () => string }>([
    { why: 'garbage', bytes: () => '\0\x01\x02garbage\r\n\r\n' },
    { why: 'a TLS hello', bytes: () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' },
    { why: 'the HTTP/2 preface', bytes: () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
    { why: 'no version', bytes: () => `POST ${target}\r\n\r\n` },
    { why: 'a version that does not exist', bytes: () => `POST ${target} HTTP/9.9\r\n\r\n` },
    { why: 'another protocol', bytes: () => `POST ${target} RTSP/1.0\r\n\r\n` },
    { why: 'a space in the target', bytes: () => `POST ${target} x HTTP/1.1\r\nHost: ${host}\r\n\r\n` },
    { why: 'a control character in the target', bytes: () => `POST ${target}\x01 HTTP/1.1\r\nHost: ${host}\r\n\r\n` },
    { why: 'a space before the colon', bytes: () => head('Content-Length : 2') + '{}' },
    { why: 'a space in a header name', bytes: () => head('X Y: z', 'Content-Length: 2') + '{}' },
    { why: 'NUL in a header', bytes: () => head('X: a\0b', 'Content-Length: 2') + '{}' },
    { why: 'a bare CR in a header', bytes: () => head('X: a\rb', 'Content-Length: 2') + '{}' },
    { why: 'a header without a colon', bytes: () => head('nonsense', 'Content-Length: 2') + '{}' },
    {
      why: 'no Host',
      bytes: () => raw(`POST ${target} HTTP/1.1`, `Authorization: Bearer ${TOKEN}`, 'Content-Length: 2', '', '{}'),
    },
    { why: 'two Hosts', bytes: () => head(`Host: ${host}`, 'Content-Length: 2') + '{}' },
    {
      why: 'smuggling: Content-Length and chunked',
      bytes: () => head('Content-Length: 2', 'Transfer-Encoding: chunked') + chunk('{}') + LAST_CHUNK,
    },
    {
      why: 'smuggling: chunked and Content-Length',
      bytes: () => head('Transfer-Encoding: chunked', 'Content-Length: 2') + chunk('{}') + LAST_CHUNK,
    },
    { why: 'smuggling: two lengths', bytes: () => head('Content-Length: 2', 'Content-Length: 3') + '{} ' },
    { why: 'smuggling: two equal lengths', bytes: () => head('Content-Length: 2', 'Content-Length: 2') + '{}' },
    { why: 'smuggling: a list of lengths', bytes: () => head('Content-Length: 2, 2') + '{}' },
    { why: 'smuggling: a signed length', bytes: () => head('Content-Length: +2') + '{}' },
    { why: 'smuggling: a negative length', bytes: () => head('Content-Length: -2') + '{}' },
    { why: 'smuggling: a hexadecimal length', bytes: () => head('Content-Length: 0x2') + '{}' },
    { why: 'smuggling: a length with garbage', bytes: () => head('Content-Length: 2abc') + '{}' },
    { why: 'smuggling: an empty length', bytes: () => head('Content-Length: ') + '{}' },
    {
      why: 'smuggling: a length beyond every number',
      bytes: () => head('Content-Length: 99999999999999999999999999') + '{}',
    },
    {
      why: 'smuggling: an unknown transfer coding',
      bytes: () => head('Transfer-Encoding: xchunked') + chunk('{}') + LAST_CHUNK,
    },
    {
      why: 'smuggling: chunked is not last',
      bytes: () => head('Transfer-Encoding: chunked, identity') + chunk('{}') + LAST_CHUNK,
    },
    {
      why: 'smuggling: a coding that nobody undoes, and chunked',
      bytes: () => head('Transfer-Encoding: gzip, chunked') + chunk('{}') + LAST_CHUNK,
    },
    { why: 'smuggling: identity', bytes: () => head('Transfer-Encoding: identity', 'Content-Length: 2') + '{}' },
    {
      why: 'smuggling: chunked behind a space',
      bytes: () => head('Transfer-Encoding : chunked') + chunk('{}') + LAST_CHUNK,
    },
    {
      why: 'smuggling: a folded coding',
      bytes: () => head('Transfer-Encoding:', ' chunked') + chunk('{}') + LAST_CHUNK,
    },
    { why: 'a folded header', bytes: () => head('X-Folded: a', ' b', 'Content-Length: 2') + '{}' },
    { why: 'a folded header with a tab', bytes: () => head('X-Folded: a', '\tb', 'Content-Length: 2') + '{}' },
    {
      why: 'a chunk size that is no number',
      bytes: () => `${head('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
    },
    { why: 'a chunk size with a sign', bytes: () => `${head('Transfer-Encoding: chunked')}+2\r\n{}\r\n0\r\n\r\n` },
    {
      why: 'a chunk size beyond every number',
      bytes: () => `${head('Transfer-Encoding: chunked')}ffffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
    },
    { why: 'a chunk longer than it says', bytes: () => `${head('Transfer-Encoding: chunked')}2\r\n{}{}\r\n0\r\n\r\n` },
  ])('$why', async ({ bytes }) => {
    const before = await entries();
    const connection = await connectRaw(mill.url);
    connection.send(Buffer.from(bytes(), 'latin1'));
    const answer = await connection.answer();
    expectConstant(answer, 400, MALFORMED);
    await connection.closed;
    expect(connection.pending()).toBe(''); // one answer, never a second for a smuggled request
    connection.destroy();
    expect(await entries()).toBe(before);
  });

  it('a body that is longer than it says is no second delivery', async () => {
    const before = await entries();
    const connection = await connectRaw(mill.url);
    connection.send(`${head('Content-Length: 2')}{}{"smuggled": true}`);
    expect((await connection.answer()).status).toBe(202);
    await connection.closed;
    expect(connection.pending().includes('202')).toBe(false);
    connection.destroy();
    expect(await entries()).toBe(before + 1);
  });

  it('garbage behind a request that is still being decided takes no part in its answer', async () => {
    const connection = await connectRaw(mill.url);
    const body = `{"n": ${(unique += 1)}}`;
    connection.send(`${head(`Content-Length: ${body.length}`)}${body}\0\0garbage\r\n\r\n`);
    const answer = await connection.answer();
    expect([answer.status, answer.headers.get('connection')]).toEqual([202, 'close']);
    await connection.closed;
    expect(connection.pending()).toBe('');
    connection.destroy();
  });
});

describe('bounded heads', () => {
  const tooLarge = '{"error": "the request headers are too large"}';
  it.each<{ why: string; bytes: () => string }>([
    { why: 'one header', bytes: () => head(`X-Long: ${'x'.repeat(40_000)}`) },
    { why: 'many headers', bytes: () => head(...Array.from({ length: 3_000 }, (_, index) => `X-${index}: ${index}`)) },
    { why: 'the target', bytes: () => raw(`POST /webhooks/w/${'x'.repeat(40_000)} HTTP/1.1`, `Host: ${host}`, '', '') },
    { why: 'a head that never ends', bytes: () => raw(`POST ${target} HTTP/1.1`, `X: ${'x'.repeat(200_000)}`) },
  ])('$why: 431', async ({ bytes }) => {
    expectConstant(await exchange(mill.url, bytes()), 431, tooLarge);
    expect((await good()).status).toBe(202);
  });
});

describe('Host', () => {
  it.each<{ why: string; host: () => string }>([
    { why: 'another name', host: () => 'evil.example' },
    { why: 'our address with another port', host: () => '127.0.0.1:1' },
    { why: 'our name without its port', host: () => '127.0.0.1' },
    { why: 'our name inside another', host: () => `${host}.evil.example` },
    { why: 'with user information', host: () => `x@${host}` },
    { why: 'empty', host: () => '' },
  ])('$why: 421, for webhooks and API alike, each in its own form', async ({ host: named }) => {
    const at = (where: string): Promise<RawAnswer> =>
      exchange(mill.url, { target: where, headers: bearer, body: '{}', host: named() });
    for (const where of [target, '/webhooks/w/nobody']) {
      const { status, body, headers } = await at(where);
      expect([status, body]).toEqual([421, '{"error": "this server does not answer for that host"}']);
      expect(headers.get('connection')).toBe('keep-alive');
    }
    for (const where of ['/api/v1/factory', '/']) {
      const answer = await at(where);
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('connection')]).toEqual([
        421,
        'application/problem+json; charset=utf-8',
        'close',
      ]);
    }
  });

  it('a delivery for another name leaves its connection to one for ours', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(requestHead(mill.url, { target, headers: bearer, host: 'evil.example', declared: 2 }) + '{}');
    expect((await connection.answer()).status).toBe(421);
    const body = `{"n": ${(unique += 1)}}`;
    connection.send(requestHead(mill.url, { target, headers: bearer, declared: body.length }) + body);
    expect((await connection.answer()).status).toBe(202);
    connection.destroy();
  });

  it('a target in absolute form names the host too', async () => {
    const answer = await exchange(mill.url, { target: `http://evil.example${target}`, headers: bearer, body: '{}' });
    expect(answer.status).toBe(421);
  });

  it.each(['localhost', 'LOCALHOST'])('%s is this machine as well', async (name) => {
    const answer = await exchange(mill.url, {
      target,
      headers: bearer,
      body: `{"n": ${(unique += 1)}}`,
      host: `${name}:${new URL(mill.url).port}`,
    });
    expect(answer.status).toBe(202);
  });

  it('probes of the process may name any host, or none', async () => {
    for (const named of ['10.0.0.1:8080', null])
      expect((await exchange(mill.url, { method: 'GET', target: '/healthz', host: named })).status).toBe(200);
  });
});

describe('slow senders', () => {
  it('a hundred that dawdle in head or body do not hold up a good one', async () => {
    const slow: RawConnection[] = [];
    for (let count = 0; count < 100; count += 1) {
      const connection = await connectRaw(mill.url);
      if (count % 3 === 0) connection.send(`POST ${target} HTTP/1.1\r\nHost:`);
      else if (count % 3 === 1) connection.send(`${head('Content-Length: 1000')}{"slow":`);
      else connection.send(`${head('Transfer-Encoding: chunked')}${chunk('{"slow":')}`);
      slow.push(connection);
    }
    for (let count = 0; count < 20; count += 1) expect((await good()).status).toBe(202);
    for (const connection of slow) connection.destroy();
    expect((await good()).status).toBe(202);
  });

  it('a head that does not come is given up', async () => {
    const connection = await connectRaw(mill.url);
    connection.send(`POST ${target} HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `);
    const answer = await connection.answer();
    expectConstant(answer, 408, '{"error": "the request took too long"}');
    await connection.closed;
    connection.destroy();
  }, 120_000);

  it('a socket that broke HTTP and then says nothing is closed', async () => {
    const connection = await connectRaw(mill.url);
    const gone = new Promise<void>((resolve) => connection.socket.once('close', resolve));
    connection.send('garbage\r\n\r\n');
    await connection.answer();
    // Our side stays open; the server must not keep its half for ever.
    const dripping = setInterval(() => connection.send('more'), 50);
    await gone;
    clearInterval(dripping);
  });
});

describe('a service that stops answers what has come', () => {
  let other: TestService;
  let connection: RawConnection;
  let next: (name: string) => string;
  const server = (): Server => other.service.app.getHttpServer();
  /** Until nothing more is taken. What comes right then is still read, and what comes much later is not. */
  async function closing(): Promise<void> {
    while (server().listening) await setImmediate();
  }

  beforeEach(async () => {
    other = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
    await other.secret('bearer', TOKEN);
    await other.factory('http', folder.source);
    connection = await connectRaw(other.url);
    const own = `/webhooks/w/${other.webhookUid('http', 'plain')}`;
    next = (name) =>
      requestHead(other.url, { target: own, headers: [...bearer, ['X-Millwright-Delivery-Id', name]], declared: 2 });
  });

  it('and is not held up by a sender that never pauses', async () => {
    connection.send(`${next('first')}{}${next('second')}{`);
    expect((await connection.answer()).status).toBe(202);
    const stopped = other.stop();
    await closing();
    connection.send(`}${next('third')}{}`);
    expect((await connection.answer()).status).toBe(202);
    // The third had come before the second was answered: it is answered too, and nothing behind it.
    const last = await connection.answer();
    expect([last.status, last.headers.get('connection')]).toEqual([202, 'close']);
    await connection.closed;
    connection.destroy();
    await stopped;
  });

  it('and is not held up by a sender that keeps its connection', async () => {
    const begun = once(server(), 'request');
    connection.send(`${next('only')}{`);
    await begun;
    const stopped = other.stop();
    await closing();
    connection.send('}');
    expect((await connection.answer()).status).toBe(202);
    await stopped;
    await connection.closed;
    connection.destroy();
  });
});

it('a request with an Upgrade is answered like any other', async () => {
  const answer = await exchange(mill.url, {
    target,
    headers: [
      ...bearer,
      ['Connection', 'Upgrade, HTTP2-Settings'],
      ['Upgrade', 'h2c'],
      ['HTTP2-Settings', 'AAMAAABkAAQAAP__'],
    ],
    body: `{"n": ${(unique += 1)}}`,
  });
  expect(answer.status).toBe(202);
});

it('requestHead of the support writes what it is told', () => {
  expect(requestHead('http://h:1', { method: 'PUT', target: '/x', headers: [['A', 'b']], declared: 3 })).toBe(
    'PUT /x HTTP/1.1\r\nHost: h:1\r\nA: b\r\nContent-Length: 3\r\n\r\n',
  );
});
