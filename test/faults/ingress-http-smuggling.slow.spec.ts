/**
 * Requests that two readers could take for something different: never two answers for one request, never a second
 * request out of a body, never a delivery out of either. contract §1.2 (Host), §5.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { chunk, connectRaw, LAST_CHUNK } from '../support/network/raw-http.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'bearer-token-of-the-tests';
/** What a request inside another one would be called in the log. */
const INNER = 'smuggled';

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
  folder = await factoryFolder({
    webhooks: { plain: { secretName: 'bearer' } },
    automations: { all: { webhooks: ['plain'] } },
  });
  factory = await mill.factory('smuggling', folder.source);
  target = `/webhooks/w/${mill.webhookUid('smuggling', 'plain')}`;
  host = new URL(mill.url).host;
}, 120_000);

afterAll(async () => {
  await mill?.stop();
  await folder?.remove();
});

beforeEach(() => {
  skewMs += 121_000; // slots and failures are new for everybody
});

const lines = (...some: string[]): string => some.join('\r\n');
const bearer = `Authorization: Bearer ${TOKEN}`;
/** Request line and headers of a delivery, with the blank line. */
const head = (...headers: string[]): string =>
  lines(
    `POST ${target} HTTP/1.1`,
    `Host: ${host}`,
    bearer,
    `X-Millwright-Delivery-Id: outer-${(unique += 1)}`,
    ...headers,
    '',
    '',
  );
/** A whole delivery that must never be taken for one. */
const inner = (): string =>
  lines(
    `POST ${target} HTTP/1.1`,
    `Host: ${host}`,
    bearer,
    `X-Millwright-Delivery-Id: ${INNER}-${(unique += 1)}`,
    'Content-Length: 2',
    '',
    '{}',
  );
const sized = (before: (length: number) => string, body = inner()): string => before(body.length) + body;

interface Outcome {
  statuses: number[];
  /** Delivery IDs that were taken because of it. */
  taken: string[];
}

/** Sends the bytes, says that no more will come, and reads whatever is answered until the other side closes. */
async function send(bytes: string): Promise<Outcome> {
  const before = await logged();
  const connection = await connectRaw(mill.url);
  connection.socket.end(Buffer.from(bytes, 'latin1'));
  await connection.closed;
  const statuses = [...connection.pending().matchAll(/HTTP\/1\.1 (\d{3}) /g)]
    .map(([, status]) => Number(status))
    .filter((status) => status >= 200);
  connection.destroy();
  return { statuses, taken: (await logged()).slice(0, -before.length || undefined) };
}

async function logged(): Promise<string[]> {
  const { body } = await mill.api(
    'GET',
    `/factory/${factory}/webhooks/${mill.webhookUid('smuggling', 'plain')}/deliveries?limit=500`,
  );
  return (body['deliveries'] as { delivery_id: string; outcome: string }[])
    .filter(({ outcome }) => outcome === 'Accepted' || outcome === 'Duplicate')
    .map(({ delivery_id: id }) => id);
}

function expectNothingInside({ statuses, taken }: Outcome, requests: number): void {
  expect(taken.filter((id) => id.startsWith(INNER))).toEqual([]);
  expect(statuses.length).toBeLessThanOrEqual(requests);
  expect(statuses.filter((status) => status === 500)).toEqual([]);
}

describe('a body that looks like a request is a body', () => {
  it.each<{ why: string; bytes: () => string; statuses: number[] }>([
    {
      why: 'of a delivery that is no JSON',
      bytes: () => sized((length) => head(`Content-Length: ${length}`)),
      statuses: [400],
    },
    {
      why: 'of a method that is refused',
      bytes: () =>
        sized((length) =>
          lines(`PUT ${target} HTTP/1.1`, `Host: ${host}`, bearer, `Content-Length: ${length}`, '', ''),
        ),
      statuses: [405],
    },
    {
      why: 'of a GET',
      bytes: () =>
        sized((length) => lines(`GET ${target} HTTP/1.1`, `Host: ${host}`, `Content-Length: ${length}`, '', '')),
      statuses: [405],
    },
    {
      why: 'of a webhook that is unknown',
      bytes: () =>
        sized((length) =>
          lines('POST /webhooks/w/nobody HTTP/1.1', `Host: ${host}`, `Content-Length: ${length}`, '', ''),
        ),
      statuses: [404],
    },
    {
      why: 'without the token',
      bytes: () =>
        sized((length) => lines(`POST ${target} HTTP/1.1`, `Host: ${host}`, `Content-Length: ${length}`, '', '')),
      statuses: [401],
    },
    {
      why: 'to another host',
      bytes: () =>
        sized((length) =>
          lines(`POST ${target} HTTP/1.1`, 'Host: evil.example', bearer, `Content-Length: ${length}`, '', ''),
        ),
      statuses: [421],
    },
    {
      why: 'that is too large',
      bytes: () => sized((length) => head(`Content-Length: ${length}`), inner() + ' '.repeat(262_144)),
      statuses: [413],
    },
    {
      why: 'to the API, without a key',
      bytes: () =>
        sized((length) =>
          lines('POST /api/v1/agent/runs HTTP/1.1', `Host: ${host}`, `Content-Length: ${length}`, '', ''),
        ),
      statuses: [401],
    },
    {
      why: 'to the API, where nothing is',
      bytes: () =>
        sized((length) => lines('POST /api/v1/nothing HTTP/1.1', `Host: ${host}`, `Content-Length: ${length}`, '', '')),
      statuses: [401],
    },
    {
      why: 'to a page',
      bytes: () =>
        sized((length) => lines('POST /nothing HTTP/1.1', `Host: ${host}`, `Content-Length: ${length}`, '', '')),
      statuses: [404],
    },
    {
      why: 'to a probe',
      bytes: () =>
        sized((length) => lines('GET /healthz HTTP/1.1', `Host: ${host}`, `Content-Length: ${length}`, '', '')),
      statuses: [200],
    },
    {
      why: 'in chunks',
      bytes: () => head('Transfer-Encoding: chunked') + chunk(inner()) + LAST_CHUNK,
      statuses: [400],
    },
    {
      why: 'in chunks of a webhook that is unknown',
      bytes: () =>
        lines('POST /webhooks/w/nobody HTTP/1.1', `Host: ${host}`, 'Transfer-Encoding: chunked', '', '') +
        chunk(inner()) +
        LAST_CHUNK,
      statuses: [404],
    },
    {
      why: 'that waits to be asked for, and is not wanted',
      bytes: () =>
        sized((length) =>
          lines(
            'POST /webhooks/w/nobody HTTP/1.1',
            `Host: ${host}`,
            'Expect: 100-continue',
            `Content-Length: ${length}`,
            '',
            '',
          ),
        ),
      statuses: [404],
    },
    {
      why: 'that waits to be asked for, without the token',
      bytes: () =>
        sized((length) =>
          lines(
            `POST ${target} HTTP/1.1`,
            `Host: ${host}`,
            'Expect: 100-continue',
            `Content-Length: ${length}`,
            '',
            '',
          ),
        ),
      statuses: [401],
    },
    {
      why: 'behind an expectation that nobody knows',
      bytes: () => sized((length) => head('Expect: the-unexpected', `Content-Length: ${length}`)),
      statuses: [400],
    },
    {
      why: 'of HTTP/1.0',
      bytes: () =>
        sized((length) =>
          lines(`POST ${target} HTTP/1.0`, `Host: ${host}`, bearer, `Content-Length: ${length}`, '', ''),
        ),
      statuses: [400],
    },
    {
      why: 'of an upgrade that is not made',
      bytes: () => sized((length) => head('Connection: Upgrade', 'Upgrade: websocket', `Content-Length: ${length}`)),
      statuses: [400],
    },
  ])('$why', async ({ bytes, statuses }) => {
    const outcome = await send(bytes());
    expectNothingInside(outcome, 1);
    expect(outcome.statuses).toEqual(statuses);
  });
});

describe('what does not say clearly where it ends takes nothing in, and ends its connection', () => {
  const twoWays =
    (...headers: string[]) =>
    (): string =>
      sized((length) => head(...headers.map((header) => header.replace('{n}', String(length)))), LAST_CHUNK + inner());

  it.each<{ why: string; bytes: () => string }>([
    { why: 'a length and chunks', bytes: twoWays('Content-Length: {n}', 'Transfer-Encoding: chunked') },
    { why: 'chunks and a length', bytes: twoWays('Transfer-Encoding: chunked', 'Content-Length: {n}') },
    { why: 'a short length and chunks', bytes: twoWays('Content-Length: 5', 'Transfer-Encoding: chunked') },
    { why: 'two codings in two lines', bytes: twoWays('Transfer-Encoding: chunked', 'Transfer-Encoding: identity') },
    { why: 'chunks before something else', bytes: twoWays('Transfer-Encoding: chunked, gzip') },
    { why: 'chunks with a parameter', bytes: twoWays('Transfer-Encoding: chunked;q=1') },
    { why: 'chunks in quotes', bytes: twoWays('Transfer-Encoding: "chunked"') },
    { why: 'chunks behind a vertical tab', bytes: twoWays('Transfer-Encoding: \x0bchunked') },
    { why: 'chunks behind a no-break space', bytes: twoWays('Transfer-Encoding: \xa0chunked') },
    { why: 'a tab before the colon', bytes: twoWays('Transfer-Encoding\t: chunked') },
    { why: 'a NUL in the name', bytes: twoWays('Transfer-Encoding\0: chunked') },
    { why: 'a name that begins with a space', bytes: twoWays('X: y', ' Transfer-Encoding: chunked') },
    { why: 'a bare LF before the coding', bytes: twoWays('X: y\nTransfer-Encoding: chunked') },
    { why: 'a bare CR before the coding', bytes: twoWays('X: y\rTransfer-Encoding: chunked') },
    { why: 'a coding without a value', bytes: twoWays('Transfer-Encoding:') },
    { why: 'a coding nobody knows', bytes: twoWays('Transfer-Encoding: cow') },
    { why: 'two lengths', bytes: twoWays('Content-Length: 5', 'Content-Length: {n}') },
    { why: 'two lengths in another case', bytes: twoWays('content-length: 5', 'CONTENT-LENGTH: {n}') },
    { why: 'two lengths in one line', bytes: twoWays('Content-Length: 5, {n}') },
    { why: 'a length with a sign', bytes: twoWays('Content-Length: +5') },
    { why: 'a length and a half', bytes: twoWays('Content-Length: 5.0') },
    { why: 'a length of two numbers', bytes: twoWays('Content-Length: 5 5') },
    { why: 'a folded length', bytes: twoWays('Content-Length:\r\n 5') },
    { why: 'a length behind a NUL', bytes: twoWays('Content-Length: \x005') },
    { why: 'a length as an exponent', bytes: twoWays('Content-Length: 1e1') },
    { why: 'a length in other digits', bytes: twoWays('Content-Length: \xb2') },
    { why: 'bare LF everywhere', bytes: () => `${head('Content-Length: 2').replaceAll('\r\n', '\n')}{}${inner()}` },
    {
      why: 'a bare LF behind a chunk size',
      bytes: () => `${head('Transfer-Encoding: chunked')}2\n{}\r\n${LAST_CHUNK}${inner()}`,
    },
    {
      why: 'a bare LF behind a chunk',
      bytes: () => `${head('Transfer-Encoding: chunked')}2\r\n{}\n${LAST_CHUNK}${inner()}`,
    },
    {
      why: 'no end behind a chunk',
      bytes: () => `${head('Transfer-Encoding: chunked')}2\r\n{}${LAST_CHUNK}${inner()}`,
    },
    {
      why: 'a space before a chunk size',
      bytes: () => `${head('Transfer-Encoding: chunked')} 2\r\n{}\r\n${LAST_CHUNK}${inner()}`,
    },
    {
      why: 'a prefix before a chunk size',
      bytes: () => `${head('Transfer-Encoding: chunked')}0x2\r\n{}\r\n${LAST_CHUNK}${inner()}`,
    },
    {
      why: 'an underscore in a chunk size',
      bytes: () => `${head('Transfer-Encoding: chunked')}0_2\r\n{}\r\n${LAST_CHUNK}${inner()}`,
    },
    {
      why: 'a bare LF in a chunk extension',
      bytes: () => `${head('Transfer-Encoding: chunked')}2;a\n{}\r\n${LAST_CHUNK}${inner()}`,
    },
    {
      why: 'a bare CR in a chunk extension',
      bytes: () => `${head('Transfer-Encoding: chunked')}2;a\rb\r\n{}\r\n${LAST_CHUNK}${inner()}`,
    },
    {
      why: 'a NUL in a chunk extension',
      bytes: () => `${head('Transfer-Encoding: chunked')}2;a\0\r\n{}\r\n${LAST_CHUNK}${inner()}`,
    },
    {
      why: 'a trailer that is none',
      bytes: () => `${head('Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\nnonsense\r\n\r\n${inner()}`,
    },
    { why: 'no blank line', bytes: () => `${head('Content-Length: 0').slice(0, -2)}${inner()}` },
    {
      why: 'chunks of HTTP/1.0',
      bytes: () => {
        const sizes = ['Transfer-Encoding: chunked', 'Content-Length: 2'];
        const first = lines(`POST ${target} HTTP/1.0`, `Host: ${host}`, bearer, ...sizes, '', '');
        return `${first}${LAST_CHUNK}${inner()}`;
      },
    },
    { why: 'CONNECT', bytes: () => `${lines(`CONNECT ${host} HTTP/1.1`, `Host: ${host}`, '', '')}${inner()}` },
    {
      why: 'CONNECT with a body',
      bytes: () =>
        sized((length) => lines(`CONNECT ${host} HTTP/1.1`, `Host: ${host}`, `Content-Length: ${length}`, '', '')),
    },
  ])('$why', async ({ bytes }) => {
    const outcome = await send(bytes());
    expectNothingInside(outcome, 1);
    // A sound head may be taken for what it is; nothing behind it is.
    expect(outcome.taken.length).toBe(outcome.statuses.filter((status) => status === 202).length);
  });
});

describe('requests one behind the other', () => {
  it('are answered one by one, in order', async () => {
    const each = [0, 1, 2].map(() => `${head('Content-Length: 2')}{}`);
    const { statuses } = await send(each.join(''));
    expect(statuses).toEqual([202, 202, 202]);
  });

  it.each([
    {
      why: 'a refused method',
      first: () => `${lines(`PUT ${target} HTTP/1.1`, `Host: ${host}`, 'Content-Length: 2', '', '')}{}`,
      status: 405,
    },
    {
      why: 'an unknown webhook',
      first: () => `${lines('POST /webhooks/w/nobody HTTP/1.1', `Host: ${host}`, 'Content-Length: 2', '', '')}{}`,
      status: 404,
    },
    {
      why: 'a wrong token',
      first: () =>
        lines(`POST ${target} HTTP/1.1`, `Host: ${host}`, 'Authorization: Bearer wrong', 'Content-Length: 2', '', '{}'),
      status: 401,
    },
    { why: 'no JSON', first: () => `${head('Content-Length: 1')}x`, status: 400 },
    {
      why: 'another host',
      first: () => `${lines(`POST ${target} HTTP/1.1`, 'Host: evil.example', 'Content-Length: 2', '', '')}{}`,
      status: 421,
    },
    {
      why: 'the API without a key',
      first: () => lines('GET /api/v1/agent HTTP/1.1', `Host: ${host}`, '', ''),
      status: 401,
    },
    {
      why: 'a chunk extension and a trailer',
      first: () => `${head('Transfer-Encoding: chunked')}2;name=value\r\n{}\r\n0\r\nX-Trailer: yes\r\n\r\n`,
      status: 202,
    },
  ])('behind $why: each at most one answer, the first its own', async ({ first, status }) => {
    const { statuses, taken } = await send(`${first()}${head('Content-Length: 2')}{}`);
    expect(statuses[0]).toBe(status);
    expect(statuses.length).toBeLessThanOrEqual(2);
    expect(taken.length).toBe(statuses.filter((given) => given === 202).length);
  });
});

describe('behind an upgrade that is not made nothing is read, and the connection ends', () => {
  const upgrade = ['Connection: Upgrade', 'Upgrade: h2c'];

  it.each([
    { why: 'a delivery', first: () => `${head(...upgrade, 'Content-Length: 2')}{}`, status: 202 },
    {
      why: 'a delivery in chunks',
      first: () => `${head(...upgrade, 'Transfer-Encoding: chunked')}${chunk('{}')}${LAST_CHUNK}`,
      status: 202,
    },
    { why: 'a probe', first: () => lines('GET /healthz HTTP/1.1', `Host: ${host}`, ...upgrade, '', ''), status: 200 },
    {
      why: 'the API',
      first: () => lines('GET /api/v1/agent HTTP/1.1', `Host: ${host}`, ...upgrade, '', ''),
      status: 401,
    },
  ])('of $why', async ({ first, status }) => {
    const before = await logged();
    const body = inner();
    const connection = await connectRaw(mill.url);
    // In one piece with the head of another request: what comes next is that one's body, and no head.
    connection.send(`${first()}${head(`Content-Length: ${body.length}`)}`);
    const answer = await connection.answer();
    expect([answer.status, answer.headers.get('connection')]).toEqual([status, 'close']);
    connection.send(body);
    await connection.closed;
    expect(connection.pending()).toBe('');
    connection.destroy();
    const taken = (await logged()).slice(0, -before.length || undefined);
    expect(taken.filter((id) => id.startsWith(INNER))).toEqual([]);
    expect(taken).toHaveLength(status === 202 ? 1 : 0);
  });
});

describe('behind two thousand headers', () => {
  const many = Array.from({ length: 2_000 }, () => 'a:b');
  const first = (version: string): string[] => [`POST ${target} HTTP/${version}`, `Host: ${host}`, bearer, ...many];

  it.each<{ why: string; head: () => string[]; body: string; status: number }>([
    { why: 'a length counts', head: () => [...first('1.1'), 'Content-Length: 2'], body: '{}', status: 202 },
    {
      why: 'chunks of HTTP/1.0 are refused',
      head: () => [...first('1.0'), 'Transfer-Encoding: chunked'],
      body: `${chunk('{}')}${LAST_CHUNK}`,
      status: 400,
    },
    {
      why: 'a coding below the chunks is refused',
      head: () => [...first('1.1'), 'Transfer-Encoding: gzip, chunked'],
      body: `${chunk('{}')}${LAST_CHUNK}`,
      status: 400,
    },
    {
      why: 'another Host is refused',
      head: () => [...first('1.1'), 'Host: evil.example', 'Content-Length: 2'],
      body: '{}',
      status: 400,
    },
    {
      why: 'another token is refused',
      head: () => [...first('1.1'), 'Authorization: Bearer other', 'Content-Length: 2'],
      body: '{}',
      status: 401,
    },
  ])('$why', async ({ head: headers, body, status }) => {
    const { statuses } = await send(lines(...headers(), '', body));
    expect(statuses).toEqual([status]);
  });
});

describe('what a trailer, an odd header or an odd path says does not count', () => {
  it('a token in a trailer proves nothing', async () => {
    const trailing = ['Transfer-Encoding: chunked', 'Trailer: Authorization'];
    const first = lines(`POST ${target} HTTP/1.1`, `Host: ${host}`, ...trailing, '', '');
    const { statuses } = await send(`${first}${chunk('{}')}0\r\n${bearer}\r\n\r\n`);
    expect(statuses).toEqual([401]);
  });

  it('a delivery ID in a trailer, or spelt with underscores, names nothing', async () => {
    const body = `{"n": ${(unique += 1)}}`;
    const named = [`X_Millwright_Delivery_Id: ${INNER}-underscores`, 'Transfer-Encoding: chunked'];
    const first = lines(`POST ${target} HTTP/1.1`, `Host: ${host}`, bearer, ...named, '', '');
    await send(`${first}${chunk(body)}0\r\nX-Millwright-Delivery-Id: ${INNER}-trailer\r\n\r\n`);
    expect((await logged())[0]).toMatch(/^sha256:/);
  });

  it.each<{ why: string; headers: () => string[]; status: number }>([
    { why: 'the token twice', headers: () => [bearer, bearer], status: 401 },
    { why: 'two tokens in one line', headers: () => [`${bearer}, Bearer ${TOKEN}`], status: 401 },
    { why: 'a tab before the token', headers: () => [`Authorization: Bearer\t${TOKEN}`], status: 401 },
    {
      why: 'the token as Basic',
      headers: () => [`Authorization: Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}`],
      status: 401,
    },
    { why: 'the token in a proxy header', headers: () => [`Proxy-${bearer}`], status: 401 },
    { why: 'a method to be read instead', headers: () => [bearer, 'X-HTTP-Method-Override: DELETE'], status: 202 },
    {
      why: 'a path to be read instead',
      headers: () => [bearer, 'X-Original-URL: /api/v1/agent', 'X-Rewrite-URL: /'],
      status: 202,
    },
    {
      why: 'a host to be read instead',
      headers: () => [bearer, 'X-Forwarded-Host: evil.example', 'Forwarded: host=evil.example'],
      status: 202,
    },
    { why: 'hop-by-hop: the token', headers: () => [bearer, 'Connection: Authorization'], status: 202 },
    { why: 'compressed, says a header', headers: () => [bearer, 'Content-Encoding: gzip'], status: 202 },
    {
      why: 'a range of the body',
      headers: () => [bearer, 'Content-Range: bytes 0-1/1000', 'Range: bytes=0-1'],
      status: 202,
    },
  ])('$why: $status', async ({ headers, status }) => {
    const body = `{"n": ${(unique += 1)}}`;
    const { statuses } = await send(
      lines(`POST ${target} HTTP/1.1`, `Host: ${host}`, ...headers(), `Content-Length: ${body.length}`, '', body),
    );
    expect(statuses).toEqual([status]);
  });

  it.each<{ why: string; path: () => string; status: number }>([
    { why: 'a doubled slash', path: () => `/${target}`, status: 404 },
    { why: 'dot segments', path: () => target.replace('/w/', '/w/../w/'), status: 404 },
    { why: 'encoded dot segments', path: () => target.replace('/w/', '/w/%2e%2e/w/'), status: 404 },
    { why: 'a backslash', path: () => target.replace('/w/', '\\w/'), status: 404 },
    { why: 'another case', path: () => target.replace('webhooks', 'Webhooks'), status: 404 },
    { why: 'an encoded letter of the prefix', path: () => target.replace('webhooks', '%77ebhooks'), status: 404 },
    { why: 'a parameter', path: () => `${target};x=1`, status: 404 },
    { why: 'a NUL', path: () => `${target}%00`, status: 404 },
    { why: 'an encoded slash', path: () => `${target}%2F`, status: 404 },
    { why: 'twice encoded', path: () => target.replace(/wh_/, '%2577h_'), status: 404 },
    { why: 'a further segment', path: () => `${target}/x`, status: 404 },
    { why: 'a fragment', path: () => `${target}#x`, status: 404 },
    { why: 'bytes that are no UTF-8', path: () => `${target}%ff`, status: 404 },
    { why: 'bytes above ASCII', path: () => `${target}\xff`, status: 400 },
    { why: 'the server as a whole', path: () => '*', status: 405 },
    { why: 'a UID in capitals', path: () => target.replace(/wh_.*/, (uid) => uid.toUpperCase()), status: 404 },
    { why: 'an encoded letter of the UID', path: () => target.replace('wh_', '%77h_'), status: 404 },
    { why: 'an encoded underscore of the UID', path: () => target.replace('wh_', 'wh%5F'), status: 404 },
    { why: 'one slash at the end', path: () => `${target}/`, status: 202 },
    { why: 'a query', path: () => `${target}?a=/x/../y`, status: 202 },
    { why: 'absolute', path: () => `http://${host}${target}`, status: 202 },
    { why: 'absolute, of another host', path: () => `http://evil.example${target}`, status: 421 },
    { why: 'absolute, with user information', path: () => `http://u:p@${host}${target}`, status: 421 },
    { why: 'absolute, another scheme', path: () => `ftp://${host}${target}`, status: 202 },
  ])('$why in the path: $status', async ({ path, status }) => {
    const body = `{"n": ${(unique += 1)}}`;
    const { statuses } = await send(
      lines(`POST ${path()} HTTP/1.1`, `Host: ${host}`, bearer, `Content-Length: ${body.length}`, '', body),
    );
    expect(statuses).toEqual([status]);
  });

  it.each([
    { why: 'a delivery', first: () => lines(`POST ${target} HTTP/1.0`, `Host: ${host}`, bearer, '') },
    {
      why: 'a request of the API',
      first: () => lines('POST /api/v1/agent/runs HTTP/1.0', `Host: ${host}`, bearer, ''),
    },
    { why: 'a probe', first: () => lines('GET /healthz HTTP/1.0', `Host: ${host}`, '') },
  ])('HTTP/1.0 with chunks, $why, is refused, and nothing behind it is answered', async ({ first }) => {
    for (const keep of ['', 'Connection: keep-alive\r\n']) {
      const bytes = `${first()}${keep}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n${LAST_CHUNK}`;
      const { statuses, taken } = await send(`${bytes}${head('Content-Length: 2')}{}`);
      expect([statuses, taken]).toEqual([[400], []]);
    }
  });

  it.each(['0.9', '2.0'])('HTTP/%s with chunks is refused, too', async (version) => {
    const first = lines(
      `POST ${target} HTTP/${version}`,
      `Host: ${host}`,
      bearer,
      'Transfer-Encoding: chunked',
      '',
      '',
    );
    const { statuses, taken } = await send(`${first}${chunk('{}')}${LAST_CHUNK}`);
    expect([statuses, taken]).toEqual([[400], []]);
  });

  it('HTTP/1.0 without a connection header is answered once and closed', async () => {
    const first = lines(`POST ${target} HTTP/1.0`, `Host: ${host}`, bearer, 'Content-Length: 2', '', '{}');
    const { statuses } = await send(`${first}${head('Content-Length: 2')}{}`);
    expect(statuses).toEqual([202]);
  });
});

it('who reads a stream and says that nothing more comes has left: it is let go', async () => {
  const { runs } = (await mill.api('GET', '/agent/runs?limit=1')).body as { runs: { run_id: string }[] };
  const connection = await connectRaw(mill.url);
  connection.send(
    lines(
      `GET /api/v1/agent/runs/${runs[0]?.run_id ?? ''}/events HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${mill.adminKey}`,
      'Accept: text/event-stream',
      '',
      '',
    ),
  );
  await eventually('the stream has begun', () =>
    connection.pending().includes('text/event-stream') ? true : undefined,
  );
  connection.socket.end();
  await connection.closed;
  connection.destroy();
});

it('afterwards nothing that was inside another request has started a run, and a good delivery is taken', async () => {
  const runs = (await mill.api('GET', '/agent/runs?limit=500')).body['runs'] as { metadata: Record<string, string> }[];
  expect(runs.length).toBeGreaterThan(0);
  expect(runs.filter(({ metadata }) => metadata['delivery_id']?.startsWith(INNER))).toEqual([]);
  expect((await send(`${head('Content-Length: 2')}{}`)).statuses).toEqual([202]);
});
