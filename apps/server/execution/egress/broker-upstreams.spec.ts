/** Connections of a broker: used again while fresh, ended when nobody uses them, never while somebody waits. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Upstreams } from './broker-upstreams.ts';

let server: Server;
let connections: number;
let delayMs: number;
let upstreams: Upstreams;
beforeEach(async () => {
  [connections, delayMs] = [0, 0];
  server = createServer((_request, response) => void setTimeout(() => response.end('hello'), delayMs));
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  upstreams = new Upstreams({
    freeMs: 60,
    reach: async (target) => {
      const socket = connect(Number(target.split(':')[1]), '127.0.0.1');
      await once(socket, 'connect');
      return { ok: true, socket };
    },
  });
});
afterEach(() => {
  upstreams.close();
  server.closeAllConnections();
  server.close();
});

async function call(): Promise<string> {
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const answer = await upstreams.request({
    method: 'GET',
    url,
    headers: [],
    body: [],
    gone: new AbortController().signal,
  });
  let text = '';
  for await (const bytes of answer as AsyncIterable<Buffer>) text += bytes.toString();
  return text;
}

it('an answer that takes longer than a free connection is kept is waited for', async () => {
  await call();
  delayMs = 300;
  expect(await call()).toBe('hello');
  expect(connections).toBe(1);
});

it('one that nobody uses is ended, and the next call has a new one', async () => {
  await call();
  await sleep(200);
  expect(await call()).toBe('hello');
  expect(connections).toBe(2);
});
