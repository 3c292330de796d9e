/**
 * The service behind real proxies that share connections between senders: whatever one of them sends, each other one
 * gets the answer to its own request, and nothing inside of a request is one. contract §1.2 (Host), §5.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { chunk, connectRaw, LAST_CHUNK, type RawConnection } from '../support/network/raw-http.ts';
import {
  reverseProxyProgram,
  REVERSE_PROXIES,
  startReverseProxy,
  type RunningProxy,
} from '../support/network/reverse-proxies.ts';
import { bootService, type TestService } from '../support/services/service.ts';

const TOKEN = 'bearer-token-of-the-tests';
/** For a proxy that waits for what never comes. */
const ANSWERED_MS = 600;
/** For the answer to one more that was taken. */
const ANSWER_MS = 50;
const ANSWER_LOOKS_MAX = 100;

let mill: TestService;
let folder: FactoryFolder;
let factory: string;
let target: string;
let skewMs = 0;
let unique = 0;
let innerId = '';

beforeAll(async () => {
  mill = await bootService({
    nowMs: () => Date.now() + skewMs,
    environment: { MILLWRIGHT_RUN_CONCURRENCY: '0', MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32' },
  });
  await mill.secret('bearer', TOKEN);
  folder = await factoryFolder({ webhooks: { plain: { secretName: 'bearer' } } });
  factory = await mill.factory('proxied', folder.source);
  target = `/webhooks/w/${mill.webhookUid('proxied', 'plain')}`;
}, 120_000);

afterAll(async () => {
  await mill?.stop();
  await folder?.remove();
});

beforeEach(() => {
  skewMs += 121_000;
});

function head(id: string, headers: readonly string[], version = '1.1'): string {
  const lines = [`POST ${target} HTTP/${version}`, `Host: ${new URL(mill.url).host}`];
  lines.push(`Authorization: Bearer ${TOKEN}`, `X-Millwright-Delivery-Id: ${id}`, ...headers);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A whole delivery, within another one or behind it. */
function inner(): string {
  innerId = `inner-${(unique += 1)}`;
  return `${head(innerId, ['Content-Length: 2'])}{}`;
}

const CHUNKED = ['Transfer-Encoding: chunked'];

const newId = (): string => `outer-${(unique += 1)}`;
const outer = (headers: readonly string[], version?: string): string =>
  head(newId(), headers, version) + LAST_CHUNK + inner();
const withLength = (body: string, headers: readonly string[]): string =>
  head(newId(), [`Content-Length: ${body.length}`, ...headers]) + body;

/** A request whose end is told in two ways, or unclearly, and one more inside or behind it. */
const unclear: readonly (readonly [why: string, bytes: () => string])[] = [
  ['a body that looks like a request', () => withLength(inner(), [])],
  ['a length and chunks', () => withLength(LAST_CHUNK + inner(), ['Transfer-Encoding: chunked'])],
  ['a short length and chunks', () => outer(['Content-Length: 5', 'Transfer-Encoding: chunked'])],
  ['chunks twice', () => outer(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'])],
  ['two codings', () => outer(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity', 'Content-Length: 5'])],
  ['chunks before something else', () => outer(['Transfer-Encoding: chunked, gzip', 'Content-Length: 5'])],
  ['chunks behind something else', () => outer(['Transfer-Encoding: gzip, chunked', 'Content-Length: 5'])],
  ['chunks behind a vertical tab', () => outer(['Transfer-Encoding: \x0bchunked', 'Content-Length: 5'])],
  ['a space before the colon', () => outer(['Transfer-Encoding : chunked', 'Content-Length: 5'])],
  ['a bare LF before the coding', () => outer(['X: y\nTransfer-Encoding: chunked', 'Content-Length: 5'])],
  ['a folded coding', () => outer(['Transfer-Encoding:\r\n chunked', 'Content-Length: 5'])],
  ['a coding nobody knows', () => outer(['Transfer-Encoding: cow', 'Content-Length: 5'])],
  ['two lengths', () => withLength(LAST_CHUNK + inner(), ['Content-Length: 5'])],
  ['a length with a sign', () => outer(['Content-Length: +5'])],
  ['a length of two numbers', () => outer(['Content-Length: 5 5'])],
  ['chunks of HTTP/1.0', () => outer(['Transfer-Encoding: chunked', 'Content-Length: 5'], '1.0')],
  ['an expectation', () => withLength(inner(), ['Expect: 100-continue'])],
  ['an upgrade', () => withLength(inner(), ['Connection: Upgrade', 'Upgrade: websocket'])],
  ['a coding that Connection names', () => outer(['Connection: Transfer-Encoding', 'Transfer-Encoding: chunked'])],
  ['a length that Connection names', () => withLength(inner(), ['Connection: Content-Length'])],
  ['a chunk size behind 0x', () => head(newId(), CHUNKED) + `0x2\r\n{}\r\n${LAST_CHUNK}${inner()}`],
  ['a bare LF behind a chunk size', () => head(newId(), CHUNKED) + `2\n{}\r\n${LAST_CHUNK}${inner()}`],
  ['a bare LF in a chunk extension', () => head(newId(), CHUNKED) + `2;a\nxx\r\n{}\r\n${LAST_CHUNK}${inner()}`],
  [
    'trailers that are headers',
    () => `${head(newId(), CHUNKED)}${chunk('{}')}0\r\nContent-Length: 99\r\n\r\n${inner()}`,
  ],
  ['a body that is cut off', () => `${head(newId(), ['Content-Length: 4000'])}${inner()}`],
  ['chunks that are cut off', () => `${head(newId(), CHUNKED)}${(4_000).toString(16)}\r\n${inner()}`],
];
/** Whether the request inside the last one was taken for a delivery. */
async function isInnerTaken(): Promise<boolean> {
  const path = `/factory/${factory}/webhooks/${mill.webhookUid('proxied', 'plain')}/deliveries?limit=500`;
  const { body } = await mill.api('GET', path);
  return (body['deliveries'] as { delivery_id: string }[]).some(({ delivery_id: id }) => id === innerId);
}

for (const proxy of REVERSE_PROXIES) {
  const suite = reverseProxyProgram(proxy) === undefined ? describe.skip : describe;
  suite(`behind ${proxy}`, () => {
    let front: RunningProxy;
    let kept: RawConnection;

    beforeAll(async () => {
      front = await startReverseProxy(proxy, mill.url);
    });
    afterAll(() => front?.close());
    beforeEach(async () => {
      kept = await connectRaw(front.url);
    });

    /** A delivery of somebody else; its answer names it. */
    async function deliver(connection: RawConnection): Promise<void> {
      const id = `victim-${(unique += 1)}`;
      connection.send(`${head(id, ['Content-Length: 2'])}{}`);
      const { status, body } = await connection.answer();
      expect([status, (JSON.parse(body) as { delivery_id?: string }).delivery_id]).toEqual([202, id]);
    }

    it('senders share a connection to the service', async () => {
      let opened = 0;
      const server = mill.service.app.getHttpServer();
      const count = (): void => void (opened += 1);
      server.on('connection', count);
      for (let sender = 0; sender < 10; sender += 1) {
        const connection = await connectRaw(front.url);
        await deliver(connection);
        connection.destroy();
      }
      kept.destroy();
      server.off('connection', count);
      expect(opened).toBeLessThanOrEqual(2);
    });

    it.each(unclear)('%s changes nobody else’s answer', async (_why, bytes) => {
      await deliver(kept);
      const attacker = await connectRaw(front.url);
      attacker.send(Buffer.from(bytes(), 'latin1'));
      const answered = (): number => attacker.pending().match(/HTTP\/1\.[01] [2-5]\d\d /g)?.length ?? 0;
      await Promise.race([attacker.closed, sleep(ANSWERED_MS)]);
      for (let look = 0; look < ANSWER_LOOKS_MAX && answered() < 2 && (await isInnerTaken()); look += 1)
        await sleep(ANSWER_MS);
      attacker.destroy();
      for (let count = 0; count < 3; count += 1) await deliver(kept);
      const another = await connectRaw(front.url);
      await deliver(another);
      another.destroy();
      kept.destroy();
      // What is taken of the one inside was a request to the proxy as well, and answered as one.
      expect(answered() >= 2 || !(await isInnerTaken())).toBe(true);
    });
  });
}
