/** What a load counts, against a server that counts too. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { openLoad, type Load } from './load-generator.ts';

const CONNECTIONS = 8;
const REQUEST = Buffer.from('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}');

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function counting(answer: { closes: boolean } = { closes: false }) {
  const seen = { connections: 0, requests: 0, ended: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    seen.requests += 1;
    request.resume();
    if (answer.closes) response.setHeader('Connection', 'close');
    response.writeHead(202).end();
  });
  server.on('connection', (socket) => {
    seen.connections += 1;
    sockets.add(socket);
    socket.on('close', () => (seen.ended += 1));
  });
  server.listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { seen, sockets, port: (server.address() as AddressInfo).port };
}

const loadOf = (port: number, more: Partial<Load> = {}): Load => ({
  port,
  connections: CONNECTIONS,
  count: 100,
  secondsMax: 30,
  addresses: 1,
  request: () => REQUEST,
  ...more,
});

describe('a load', () => {
  it('has its connections before the first request, and until it is closed', async () => {
    const { seen, port } = await counting();
    const load = await openLoad(loadOf(port));
    expect(seen).toEqual({ connections: CONNECTIONS, requests: 0, ended: 0 });
    const result = await load.send();
    expect(result.statuses).toEqual({ 202: 100 });
    expect(seen).toEqual({ connections: CONNECTIONS, requests: 100, ended: 0 });
    load.close();
    while (seen.ended < CONNECTIONS) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('goes on by another connection where an answer closes one', async () => {
    const { seen, port } = await counting({ closes: true });
    const load = await openLoad(loadOf(port, { count: 20 }));
    expect((await load.send()).statuses).toEqual({ 202: 20 });
    expect(seen.requests).toBe(20);
    expect(seen.connections).toBeGreaterThanOrEqual(20);
    load.close();
  });

  it('opens no more connections than it has requests', async () => {
    const { seen, port } = await counting();
    const load = await openLoad(loadOf(port, { count: 3 }));
    expect((await load.send()).requests).toBe(3);
    expect(seen.connections).toBe(3);
    load.close();
  });

  it('has one socket for each connection, also where the server has closed them before it is sent', async () => {
    for (let ticks = 0; ticks < 4; ticks += 1) {
      const { seen, sockets, port } = await counting();
      const load = await openLoad(loadOf(port));
      for (const socket of sockets) socket.end();
      for (let tick = 0; tick < ticks; tick += 1) await new Promise((resolve) => setImmediate(resolve));
      const { statuses, requests } = await load.send();
      // What was sent to a connection that ended meanwhile is broken, and is no answer.
      expect(Object.keys(statuses).filter((status) => status !== 'broken')).toEqual(['202']);
      expect(requests + (statuses['broken'] ?? 0)).toBe(100);
      load.close();
      while (seen.ended < seen.connections) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(seen.connections).toBe(2 * CONNECTIONS);
    }
  });

  it('takes nothing for an answer that came before its request', async () => {
    const { seen, sockets, port } = await counting();
    const load = await openLoad(loadOf(port));
    for (const socket of sockets) socket.end('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n');
    while (seen.ended < CONNECTIONS) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await load.send()).statuses).toEqual({ 202: 100 });
    load.close();
  });

  it('is over when it is closed, also where it waits to connect again', async () => {
    const { seen, sockets, port } = await counting();
    const [server] = servers.splice(0);
    const load = await openLoad(loadOf(port, { perSecond: 1_000, count: 10_000 }));
    server?.close();
    const sent = load.send();
    for (const socket of sockets) socket.destroy();
    await expect(sent).rejects.toThrow('nobody takes connections');
    load.close();
    const { requests } = seen;
    const again = createServer().on('connection', () => (seen.connections += 1_000));
    servers.push(again);
    again.once('error', () => undefined); // somebody else has the port: nobody comes here
    again.listen(port, '127.0.0.1');
    await new Promise((resolve) => setTimeout(resolve, 100)); // five times as long as between two attempts
    expect(seen).toMatchObject({ requests, connections: CONNECTIONS });
  });

  it('is refused where nobody listens', async () => {
    const { port } = await counting();
    const [server] = servers.splice(0);
    server?.close();
    await once(server as Server, 'close');
    await expect(openLoad(loadOf(port))).rejects.toThrow('nobody takes connections');
  });
});
