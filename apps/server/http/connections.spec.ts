/** Constant answers as they come over the wire. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { RawAnswer, sendAnswer } from './connections.ts';

const ANSWER = new RawAnswer(405, '{"error": "not so"}', { allow: 'POST' });
const ACCEPTANCE = new RawAnswer(202, '{}');

let server: Server;
/** Of each answer whether it was sent at once. */
let sent: boolean[];
beforeEach(async () => {
  sent = [];
  server = createServer((request: IncomingMessage, response) => {
    request.resume().once('end', () => {
      sendAnswer(request, response, request.url === '/accepted' ? ACCEPTANCE : ANSWER);
      sent.push(response.headersSent);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => void server.close());

/** All that comes back until the server closes. */
async function exchange(text: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.write(text);
  await once(socket, 'close');
  return received.replaceAll(/^Date: .*\r\n/gm, 'Date: D\r\n');
}

const answer = (connection: string): string =>
  'HTTP/1.1 405 Method Not Allowed\r\nx-content-type-options: nosniff\r\ncontent-type: application/json\r\n' +
  `content-length: 19\r\nallow: POST\r\nDate: D\r\n${connection}\r\n`;
const STAYS = 'Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n';
const CLOSES = 'Connection: close\r\n';

it('come whole, one behind the other on a connection', async () => {
  const request = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n';
  expect(await exchange(`${request}\r\n{}${request}Connection: close\r\n\r\n{}`)).toBe(
    `${answer(STAYS)}{"error": "not so"}${answer(CLOSES)}{"error": "not so"}`,
  );
});

it('have no body where only the head is asked for', async () => {
  expect(await exchange('HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toBe(answer(CLOSES));
});

it('are whole for a client of HTTP/1.0', async () => {
  expect(await exchange('GET / HTTP/1.0\r\n\r\n')).toBe(`${answer(CLOSES)}{"error": "not so"}`);
});

it('wait for the others of the turn, but for deliveries that were accepted together', async () => {
  for (const target of ['/', '/accepted'])
    await exchange(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`);
  expect(sent).toEqual([false, true]);
});
