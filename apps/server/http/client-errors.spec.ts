/** What cannot be read as a request is answered with the headers of every other answer. contract §1.2, §5.1. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { ClientErrors } from './client-errors.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function listen(publicUrl: string, headersTimeout = 60_000): Promise<number> {
  const errors = new ClientErrors(publicUrl);
  const server = createServer({ headersTimeout, requestTimeout: 0, connectionsCheckingInterval: 50 });
  server.on('clientError', (error: Error, socket: Socket) => errors.answer(error, socket, undefined));
  server.on('connect', (request: IncomingMessage, socket: Socket) =>
    errors.refuseConnect(request.url?.startsWith('/webhooks/') === true, socket),
  );
  server.listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function answerTo(port: number, bytes: string): Promise<{ status: number; headers: Map<string, string> }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  const [head = ''] = (await text(socket)).split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  const headers = lines.map((header) => header.split(': ') as [string, string]);
  return {
    status: Number(line.split(' ')[1]),
    headers: new Map(headers.map(([name, value]) => [name.toLowerCase(), value])),
  };
}

describe.each([
  { what: 'no HTTP', bytes: 'hello\r\n\r\n', status: 400 },
  {
    what: 'headers that are too large',
    bytes: `GET /api/v1/x HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    status: 431,
  },
  { what: 'a head that does not end', bytes: 'GET /webhooks/w/x HTTP/1.1\r\nHost:', status: 408, headMs: 200 },
  { what: 'a method that nobody knows', bytes: 'post /webhooks/w/x HTTP/1.1\r\nHost: x\r\n\r\n', status: 405 },
  { what: 'CONNECT', bytes: 'CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n', status: 400 },
])('the answer to $what', ({ bytes, status, headMs }) => {
  it.each([
    { publicUrl: 'https://mill.example', security: 'max-age=31536000' },
    { publicUrl: 'http://127.0.0.1', security: undefined },
  ])(`is ${status}; at $publicUrl Strict-Transport-Security is $security`, async ({ publicUrl, security }) => {
    const answer = await answerTo(await listen(publicUrl, headMs), bytes);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('strict-transport-security')).toBe(security);
    expect([answer.headers.get('connection'), answer.headers.has('content-type')]).toEqual(['close', true]);
  });
});
