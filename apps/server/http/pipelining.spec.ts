/**
 * A client may write as many requests as it likes without waiting: the service takes in no more of them than one read
 * brings, and answers all in order. contract §5.11 (One connection).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientErrors } from './client-errors.ts';
import { DirectRequest, takeBody } from './sockets/direct-requests.ts';
import { Connections } from './sockets/open-connections.ts';
import { Pipelining, type PipeliningOptions } from './pipelining.ts';

/** Requests of the shortest form that one read of 64 KiB brings. */
const READ_REQUESTS_MAX = Math.ceil(65_536 / 'GET / HTTP/1.1\r\n\r\n'.length) + 1;
const FLOOD_BYTES = 16 * 1_048_576;

let server: Server;
let pipelining: Pipelining;
let connections: Connections;
let begun: string[];
/** Answers whose turn has come, oldest first, where they are not given at once. */
let parked: ServerResponse[];
let isParking: (request: IncomingMessage) => boolean;
let cut: number;
const clients = new Set<Socket>();

async function listen(options: PipeliningOptions = {}): Promise<void> {
  [begun, parked, isParking, cut] = [[], [], () => true, 0];
  server = createServer({
    headersTimeout: 60_000,
    requestTimeout: 0,
    connectionsCheckingInterval: 50,
    requireHostHeader: false,
    IncomingMessage: DirectRequest,
  });
  connections = new Connections(server);
  pipelining = new Pipelining({ onCut: () => (cut += 1), ...options });
  const errors = new ClientErrors('http://127.0.0.1');
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    pipelining.begin(connections.begin(request, response, true), {
      request,
      response,
      handle: (its, answer) => {
        begun.push(its.url ?? '');
        if (its.url === '/body') answerInside(its, answer);
        else if (isParking(its)) parked.push(answer);
        else answer.end(its.url);
      },
    }),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const answer = (): void => errors.answer(error, socket, connections.latest(socket));
    if (!pipelining.excuseLateHead(socket, answer)) answer();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

/** Answers at the end of the body, which is while the parser still reads what comes behind it. */
function answerInside(request: IncomingMessage, response: ServerResponse): void {
  const nothing = (): void => undefined;
  takeBody(request, { add: nothing, endWhole: () => response.end('done'), abort: nothing });
}

afterEach(() => {
  for (const client of clients) client.destroy();
  server.close();
});

function opened(): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  clients.add(socket);
  return socket;
}

/** Until nothing changes any more. */
async function still(read: () => number): Promise<number> {
  for (let before = Number.NaN; before !== read();) {
    before = read();
    await sleep(150);
  }
  return read();
}

/** However busy the machine is: a test that waits in vain ends by the time of all tests. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10);
}

/** The bodies of answers, as they come; `count` costs nothing. */
function answersTo(socket: Socket): { bodies: () => string[]; count: () => number } {
  let text = '';
  let [counted, searchedTo] = [0, 0];
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  const count = (): number => {
    for (let at = text.indexOf('\r\n\r\n', searchedTo); at !== -1; at = text.indexOf('\r\n\r\n', searchedTo))
      [counted, searchedTo] = [counted + 1, at + 4];
    return counted;
  };
  return { count, bodies: () => [...text.matchAll(/\r\n\r\n([^H]*)/g)].map(([, body = '']) => body) };
}

it('reads nothing behind a request for another protocol, which the parser would take for a head', async () => {
  await listen();
  isParking = () => false;
  const client = opened();
  const answers = answersTo(client);
  client.write('GET /first HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nPOST /second HTTP/1.1\r\n');
  client.once('data', () => client.write('GET /third HTTP/1.1\r\n\r\n'));
  await once(client, 'close');
  expect([answers.bodies(), begun]).toEqual([['/first'], ['/first']]);
});

it('takes in what one read brings of a flood behind a request that is not answered, and leaves the rest', async () => {
  await listen();
  const client = opened();
  client.write('GET / HTTP/1.1\r\n\r\n'.repeat(FLOOD_BYTES / 18));
  await until(() => parked.length === 1);
  expect(await still(() => pipelining.size)).toBeLessThanOrEqual(2 * READ_REQUESTS_MAX);
  expect([begun.length, cut]).toEqual([1, 0]);
  expect(client.bytesWritten - client.writableLength).toBeLessThan(FLOOD_BYTES);
});

it('begins a few of the requests whose turn has come in each round of the event loop, and all in the end', async () => {
  await listen();
  for (let client = 0; client < 40; client += 1) opened().write('GET / HTTP/1.1\r\n\r\n'.repeat(2));
  await until(() => parked.length === 40 && pipelining.size === 40);
  for (const answer of parked) answer.end();
  const inRound: number[] = [];
  while (begun.length < 80) {
    const before = begun.length;
    await new Promise((resolve) => void setImmediate(resolve));
    inRound.push(begun.length - before);
  }
  expect(Math.max(...inRound)).toBeLessThanOrEqual(16);
});

it('begins one of a connection in each round, also where each is answered while the next is parsed', async () => {
  await listen();
  const client = opened();
  const { count } = answersTo(client);
  const coming = once(server, 'request');
  client.write('POST /body HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}'.repeat(100));
  await coming;
  expect(begun.length).toBeLessThanOrEqual(1);
  const inRound: number[] = [];
  while (begun.length < 100) {
    const before = begun.length;
    await new Promise((resolve) => void setImmediate(resolve));
    inRound.push(begun.length - before);
  }
  expect(Math.max(...inRound)).toBeLessThanOrEqual(1);
  await until(() => count() === 100);
});

it.each([
  { behind: 'GET / HTTP/1.1\r\n\r\n', head: 'Connection: close\r\n' },
  { behind: 'garbage', head: '' },
])('answers nothing behind the last answer of a connection ($behind)', async ({ behind, head }) => {
  await listen();
  const client = opened();
  let text = '';
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  client.write(`POST /body HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}${behind}`);
  await once(client, 'close');
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  expect(begun).toEqual(['/body']);
});

it('begins nothing behind an answer that ends its connection', () => {
  const own = new Pipelining();
  const begunBehind = (before: object): boolean => {
    let isBegun = false;
    const request = { socket: { destroyed: false }, headers: {} };
    own.begin({ once: () => undefined, ...before } as unknown as ServerResponse, {
      request: request as unknown as IncomingMessage,
      response: {} as ServerResponse,
      handle: () => (isBegun = true),
    });
    return isBegun;
  };
  expect(begunBehind({ closed: true, shouldKeepAlive: true })).toBe(true);
  expect(begunBehind({ closed: true, shouldKeepAlive: false })).toBe(false);
});

it('takes in no more of a flood behind an answer that goes on, however much of it is taken', async () => {
  await listen();
  isParking = ({ url }) => url === '/stream';
  const client = opened();
  const { bodies } = answersTo(client);
  client.write('GET /stream HTTP/1.1\r\n\r\n' + 'GET / HTTP/1.1\r\n\r\n'.repeat(FLOOD_BYTES / 18));
  await until(() => parked.length === 1);
  // Larger than what the socket takes at once: each piece that runs out is a reason for node to read on.
  for (let piece = 0; piece < 20; piece += 1) {
    parked[0]?.write('x'.repeat(400_000));
    await sleep(20);
  }
  expect(await still(() => pipelining.size)).toBeLessThanOrEqual(2 * READ_REQUESTS_MAX);
  expect([begun, cut]).toEqual([['/stream'], 0]);
  expect(bodies()).toHaveLength(1);
});

it('answers every request of a client that writes many, in order', async () => {
  await listen();
  isParking = () => begun.length % 1_000 === 1;
  const client = opened();
  const { bodies, count } = answersTo(client);
  const targets = Array.from({ length: 12_000 }, (_, index) => `/${index}`);
  client.write(
    targets
      .map((target, index) =>
        index % 3 === 0
          ? `POST ${target} HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello`
          : `GET ${target} HTTP/1.1\r\nX-Filler: ${'f'.repeat(index % 97)}\r\n\r\n`,
      )
      .join(''),
  );
  const releasing = setInterval(() => parked.splice(0).forEach((answer) => answer.end(answer.req.url)), 5);
  try {
    await until(() => count() === targets.length);
  } finally {
    clearInterval(releasing);
  }
  expect(bodies()).toEqual(targets);
  expect(pipelining.size).toBe(0);
});

it('lets every other connection come in between two that wait', async () => {
  await listen();
  isParking = () => false;
  const flood = opened();
  flood.write('GET /flood HTTP/1.1\r\n\r\n'.repeat(3_000));
  await until(() => begun.length > 0);
  const other = opened();
  const { bodies } = answersTo(other);
  other.write('GET /other HTTP/1.1\r\n\r\n');
  await until(() => bodies().length === 1);
  expect(begun.indexOf('/other')).toBeLessThan(begun.lastIndexOf('/flood'));
});

it('counts no more what waited on a connection that is gone', async () => {
  await listen();
  const client = opened();
  client.write('GET / HTTP/1.1\r\n\r\n'.repeat(100));
  await until(() => pipelining.size === 99);
  for (const answer of parked) answer.destroy(); // what a client that goes away does to the answer under way
  await until(() => pipelining.size === 0);
});

it('cuts off whoever has most waiting once all have too much, and nobody else', async () => {
  await listen({ waitingMax: 200 });
  const small = opened();
  const { bodies } = answersTo(small);
  small.write('GET /a HTTP/1.1\r\n\r\n'.repeat(20));
  await until(() => pipelining.size === 19);
  const large = opened();
  large.write('GET /b HTTP/1.1\r\n\r\n'.repeat(2_000));
  await once(large, 'close');
  expect(cut).toBeGreaterThan(0);
  expect(pipelining.size).toBe(19);
  isParking = () => false;
  for (const answer of parked.splice(0)) if (!answer.destroyed) answer.end(answer.req.url);
  await until(() => bodies().length === 20);
});

describe('a head that was begun behind requests that wait', () => {
  const HEAD_MS = 500;

  it('is in time as long as nobody reads it', async () => {
    await listen({ headMsMax: 10_000 });
    const client = opened();
    const { bodies } = answersTo(client);
    client.write('GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTT');
    await until(() => pipelining.size === 1);
    server.headersTimeout = HEAD_MS; // not before: the first request may come late
    client.write('P/1.1\r\n\r\n');
    await sleep(4 * HEAD_MS); // its time is up, counted from its first byte
    isParking = () => false;
    parked[0]?.end('/1');
    await until(() => bodies().length === 3);
    expect(bodies()).toEqual(['/1', '/2', '/3']);
  });

  it('has to come once the connection is read again', async () => {
    await listen({ headMsMax: HEAD_MS });
    const client = opened();
    client.write('GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTT');
    await until(() => pipelining.size === 1);
    server.headersTimeout = HEAD_MS;
    await sleep(4 * HEAD_MS);
    isParking = () => false;
    const said = textOf(client);
    parked[0]?.end('/1');
    expect(await said).toMatch(/\/2HTTP\/1\.1 408 /);
  });
});

async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}
