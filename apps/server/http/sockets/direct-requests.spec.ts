/** Bodies that go from Node.js's parser to their taker, over real connections. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type BodyTaker, DirectRequest } from './direct-requests.ts';

/** Notes what it is told; `isDone` settles with the end or the abort. */
class Noting implements BodyTaker {
  pieces = '';
  events: string[] = [];
  onAdd: (() => void) | undefined;
  private end: () => void = () => undefined;
  readonly isDone = new Promise<void>((resolve) => (this.end = resolve));

  add(piece: Buffer): void {
    this.pieces += piece.toString();
    this.onAdd?.();
  }

  endWhole(): void {
    this.events.push('whole');
    this.end();
  }

  abort(): void {
    this.events.push('abort');
    this.end();
  }
}

type Handler = (request: DirectRequest, response: ServerResponse) => void;

let server: Server;
let handle: Handler;
let client: Socket;

beforeEach(async () => {
  server = createServer({ IncomingMessage: DirectRequest }, (request, response) => handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(client, 'connect');
});

afterEach(() => {
  client.destroy();
  server.close();
});

const head = (length: number): string => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

/** The next request that comes, and its answer. */
function nextRequest(): Promise<[DirectRequest, ServerResponse]> {
  return new Promise((resolve) => {
    handle = (request, response) => resolve([request, response]);
  });
}

/** The next request, whose body is taken in the moment in which it comes. */
function nextTaken(taker: Noting): Promise<{ request: DirectRequest; response: ServerResponse; isGiven: boolean }> {
  return new Promise((resolve) => {
    handle = (request, response) => resolve({ request, response, isGiven: request.giveBody(taker) });
  });
}

describe('a body', () => {
  it.each([
    { how: 'in one packet with its head', packets: [`${head(3)}abc`], body: 'abc' },
    { how: 'in pieces', packets: [head(6), 'ab', 'cd', 'ef'], body: 'abcdef' },
    { how: 'of no bytes', packets: [head(0)], body: '' },
    {
      how: 'in chunks with a trailer',
      packets: [
        'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
        '3\r\nabc\r\n',
        '0\r\nx: y\r\n\r\n',
      ],
      body: 'abc',
    },
  ])('$how comes whole, and another one behind it on the same connection', async ({ packets, body }) => {
    for (let round = 0; round < 2; round += 1) {
      const taker = new Noting();
      const taken = nextTaken(taker);
      for (const packet of packets) {
        client.write(packet);
        await delay(5);
      }
      const { request, response, isGiven } = await taken;
      await taker.isDone;
      expect([isGiven, taker.pieces, taker.events]).toEqual([true, body, ['whole']]);
      expect([request.complete, request.readableEnded, request.listenerCount('data')]).toEqual([true, true, 0]);
      const answered = once(client, 'data');
      response.end('done');
      expect(String(await answered)).toContain('200 OK');
    }
  });

  it('whose sender goes away is aborted', async () => {
    const taker = new Noting();
    const taken = nextTaken(taker);
    client.write(`${head(6)}abc`);
    const { request } = await taken;
    await delay(5);
    client.destroy();
    await taker.isDone;
    expect([taker.pieces, taker.events, request.readableEnded]).toEqual(['abc', ['abort'], false]);
  });

  it('that was taken whole is not aborted when its sender goes away before the answer', async () => {
    const taker = new Noting();
    const taken = nextTaken(taker);
    client.write(`${head(3)}abc`);
    const { request, response } = await taken;
    await taker.isDone;
    let isAborted = false;
    request.on('aborted', () => (isAborted = true));
    client.destroy();
    await once(response, 'close');
    expect([isAborted, taker.events[0]]).toEqual([false, 'whole']);
  });

  it('of which something was read already is not given', async () => {
    const coming = nextRequest();
    client.write(`${head(6)}abc`);
    const [request] = await coming;
    await delay(5);
    const taker = new Noting();
    expect(request.giveBody(taker)).toBe(false);
    client.write('def');
    request.setEncoding('utf8');
    const pieces: string[] = [];
    for await (const piece of request) pieces.push(piece as string);
    expect([pieces.join(''), taker.pieces]).toEqual(['abcdef', '']);
  });
});

describe('what becomes a stream again', () => {
  it('stops its sender while it is paused, brings the rest when it is resumed, and ends', async () => {
    const size = 8 * 1_048_576;
    const taker = new Noting();
    const taken = nextTaken(taker);
    client.write(head(size));
    const { request, response } = await taken;
    taker.onAdd = () => {
      taker.onAdd = undefined;
      request.becomeStream();
      request.pause();
    };
    client.write(Buffer.alloc(size, 'x'));
    await delay(100);
    const before = taker.pieces.length;
    expect(before).toBeLessThan(size / 2);
    expect(request.socket.bytesRead).toBeLessThan(size / 2);
    const isClosed = once(request, 'close');
    request.resume();
    await isClosed;
    expect([taker.pieces.length, taker.events, request.readableEnded]).toEqual([size, ['whole', 'abort'], true]);
    const answered = once(client, 'data');
    response.end();
    expect(String(await answered)).toContain('200 OK');
  });

  it('goes on flowing where nobody pauses it', async () => {
    const taker = new Noting();
    const taken = nextTaken(taker);
    client.write(`${head(6)}ab`);
    const { request } = await taken;
    await delay(5);
    request.becomeStream();
    client.write('cd');
    await delay(5);
    client.write('ef');
    await once(request, 'end');
    expect(taker.pieces).toBe('abcdef');
  });
});

it('whoever takes nothing has a stream as ever', async () => {
  const coming = nextRequest();
  client.write(`${head(3)}abc`);
  const [request, response] = await coming;
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  expect(Buffer.concat(pieces).toString()).toBe('abc');
  const answered = once(client, 'data');
  response.end();
  expect(String(await answered)).toContain('200 OK');
});
