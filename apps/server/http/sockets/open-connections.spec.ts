/**
 * A server that stops does not wait for connections that browsers opened ahead, and does for requests that have begun.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createEncrypted } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { connect as connectEncrypted } from 'node:tls';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../../../test/support/git/git-server.ts';
import { Connections } from './open-connections.ts';

describe('closing a server', () => {
  let server: Server;
  let port: number;

  beforeEach(async () => {
    server = createServer({ headersTimeout: 3_600_000, requestTimeout: 0 });
    const connections = new Connections(server);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      connections.begin(request, response, true);
      response.end(request.url);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  async function opened(): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
    return socket;
  }

  it('ends the connections over which nothing was asked, without a word', async () => {
    const socket = await opened();
    const [said] = await Promise.all([textOf(socket), closed(server)]);
    expect(said).toBe('');
  });

  it('answers what has begun to come', async () => {
    const socket = await opened();
    socket.write('GET /begun HTTP/1.1\r\nHost: x\r\n');
    await seen(server);
    const closing = closed(server);
    socket.write('Connection: close\r\n\r\n');
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\/begun/);
    await closing;
  });
});

describe('an encrypted server that steps aside', () => {
  let box: string;
  let server: Server;
  let connections: Connections;
  let client: Socket;

  beforeEach(async () => {
    box = mkdtempSync(join(tmpdir(), 'mw-handshakes-'));
    await makeCertificate(box);
    const [key, cert] = ['server.key', 'server.pem'].map((name) => readFileSync(join(box, name)));
    server = createEncrypted({ key, cert });
    connections = new Connections(server, { isEncrypted: true, othersAnswer: true });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      connections.begin(request, response, true);
      response.end(request.url);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    await Promise.all([once(client, 'connect'), once(server, 'connection')]);
  });

  afterEach(() => {
    client.destroy();
    if (server.listening) server.close();
    server.closeAllConnections();
    rmSync(box, { recursive: true });
  });

  it('waits for a handshake that is under way, and answers what comes of it', async () => {
    let isFrozen = false;
    const frozen = connections.freeze(60_000).then(() => (isFrozen = true));
    const over = closed(server);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isFrozen).toBe(false);
    const secured = connectEncrypted({ socket: client, rejectUnauthorized: false });
    secured.write('GET /late HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await textOf(secured)).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*\/late/i);
    await Promise.all([frozen, over]);
  });

  it('closes what nothing was asked on before it freezes, so that nobody waits for it', async () => {
    const secured = connectEncrypted({ socket: client, rejectUnauthorized: false });
    await Promise.all([once(secured, 'secureConnect'), once(server, 'secureConnection')]);
    const ended = once(secured.resume(), 'end');
    await connections.retire();
    await ended;
    const over = closed(server);
    await Promise.all([over, connections.freeze(60_000)]);
  });

  it('cuts off a handshake that does not begin', async () => {
    const over = closed(server);
    await connections.freeze(100);
    await Promise.all([over, client.destroyed || once(client, 'close')]);
  });

  it('is not frozen while it still listens', async () => {
    let isFrozen = false;
    const frozen = connections.freeze(60_000).then(() => (isFrozen = true));
    client.destroy();
    await once(client, 'close');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isFrozen).toBe(false);
    const over = closed(server);
    await Promise.all([frozen, over]);
  });
});

it('a connection is answering from the end of its request to the end of its answer', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  const connections = new Connections(server);
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  expect(connections.isAnswering(socket)).toBe(false);
  client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n123');
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  connections.begin(request, response, true);
  expect(connections.isAnswering(socket)).toBe(false);
  client.write('45');
  await once(request.resume(), 'end');
  expect(connections.isAnswering(socket)).toBe(true);
  response.write('first of two');
  expect(connections.isAnswering(socket)).toBe(true);
  response.end();
  expect(connections.isAnswering(socket)).toBe(false);
  client.destroy();
  await closed(server);
});

async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk)).on('error', () => undefined);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}

/** Until the server has read something of its one connection. */
async function seen(server: Server): Promise<void> {
  const connections = (): Promise<number> =>
    new Promise(
      (resolve, reject) =>
        void server.getConnections((fault, count) => (fault === null ? resolve(count) : reject(fault))),
    );
  while ((await connections()) !== 1) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 100)); // nothing tells of a head that is not whole
}
