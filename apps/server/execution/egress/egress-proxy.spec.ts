/**
 * The proxy of a run, spoken to as its programs do: what passes, what is refused and told, what breaks, and what is
 * left at the end.
 */
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EgressRules, readHostPattern } from '#isolation';
import { type EgressProxyDeps, openEgressProxy, type OpenEgressProxy } from './egress-proxy.ts';

/** More than the kernel holds of one connection. */
const FLOOD_BYTES = 8 * 1_048_576;

let base: string;
let egress: OpenEgressProxy | undefined;
let events: string[];
const servers: Server[] = [];
const sockets = new Set<Socket>();
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-egress-'));
  events = [];
});
afterEach(async () => {
  await egress?.close();
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
  await rm(base, { recursive: true, force: true });
});

const patterns = (list: string[]) =>
  list.map((text) => readHostPattern(text)).filter((pattern) => pattern !== undefined);
const named = (...list: string[]): EgressRules => ({
  policy: { kind: 'allow', hosts: patterns(list) },
  named: patterns(list),
});
const OPEN: EgressRules = { policy: { kind: 'open' }, named: [] };

async function start(rules: EgressRules, more: Partial<EgressProxyDeps> = {}): Promise<OpenEgressProxy> {
  egress = await openEgressProxy({ rules, folder: base, epoch: 1, onEvent: (text) => void events.push(text), ...more });
  return egress;
}

/** A TCP server on loopback; answers its port. */
async function serve(connected: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('error', () => undefined));
    connected(socket);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function serveHttp(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createHttpServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

interface Client {
  socket: Socket;
  /** Resolves when the text has arrived, or the connection is over; answers all that has. */
  read(wanted?: string): Promise<string>;
}

async function client(): Promise<Client> {
  const socket = connect({ path: egress?.socket ?? '', allowHalfOpen: true });
  sockets.add(socket);
  let text = '';
  let over = false;
  let heard = (): void => undefined;
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
    heard();
  });
  for (const event of ['end', 'close']) socket.on(event, () => ((over = true), heard()));
  await once(socket, 'connect');
  const read = (wanted?: string): Promise<string> =>
    new Promise((resolve) => {
      heard = () => {
        if (over || (wanted !== undefined && text.includes(wanted))) resolve(text);
      };
      heard();
    });
  return { socket, read };
}

async function ask(text: string, wanted?: string): Promise<string> {
  const { socket, read } = await client();
  socket.write(text);
  const answer = await read(wanted);
  socket.destroy();
  return answer;
}

const tunnel = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';

describe('a tunnel', () => {
  it('carries bytes both ways, those sent too early included, and ends one direction at a time', async () => {
    const port = await serve((socket) => {
      let heard = '';
      socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
      socket.on('end', () => socket.end(`heard ${heard}`));
    });
    const { usage } = await start(named(`127.0.0.1:${port}`));
    const { socket, read } = await client();
    socket.write(`${tunnel(`127.0.0.1:${port}`)}early `);
    await read(ESTABLISHED);
    socket.end('late');
    expect(await read()).toBe(`${ESTABLISHED}heard early late`);
    const bytes = { sentBytes: 10, receivedBytes: 16 };
    const hosts = [{ host: `127.0.0.1:${port}`, connections: 1, ...bytes }];
    expect(usage()).toEqual({ connections: 1, denied: 0, ...bytes, hosts });
    expect(events).toEqual([]);
  });

  it('counts bytes by host, also while they flow, and many hosts together', async () => {
    const port = await serve((socket) =>
      socket.on('data', (bytes: Buffer) => void socket.write(`got ${bytes.length}`)),
    );
    const resolve = async (): Promise<string[]> => ['127.0.0.1'];
    const { usage } = await start({ policy: { kind: 'open' }, named: patterns([`127.0.0.1:${port}`]) }, { resolve });
    const { socket, read } = await client();
    socket.write(tunnel(`one.test:${port}`));
    await read(ESTABLISHED);
    socket.write('12345');
    await read('got 5');
    expect(usage().hosts).toEqual([{ host: `one.test:${port}`, connections: 1, sentBytes: 5, receivedBytes: 5 }]);
    for (let count = 0; count < 60; count += 1) await ask(tunnel(`n${count}.test:${port}`), ESTABLISHED);
    expect(usage().hosts).toHaveLength(51);
    expect(usage().hosts.at(-1)).toMatchObject({ host: 'other hosts', connections: 11 });
  });

  it('goes to the very address that was judged, and asks for it once', async () => {
    const port = await serve((socket) => socket.end('reached'));
    const asked: string[] = [];
    const resolve = async (name: string): Promise<string[]> => [asked.push(name) === 1 ? '127.0.0.1' : '127.0.0.2'];
    await start({ policy: { kind: 'open' }, named: patterns([`127.0.0.1:${port}`]) }, { resolve });
    expect(await ask(tunnel(`once.test:${port}`), 'reached')).toContain('reached');
    expect(await ask(tunnel(`ONCE.test.:${port}`), 'reached')).toContain('reached');
    expect(asked).toEqual(['once.test']);
  });

  it.each([
    {
      target: 'rebound.test:443',
      addresses: ['93.184.216.34', '127.0.0.1'],
      why: 'one of its addresses is this machine',
    },
    { target: 'rebound.test:443', addresses: ['::ffff:10.0.0.1'], why: 'it leads into a private network' },
    { target: 'rebound.test:80', addresses: ['169.254.169.254'], why: 'it leads to metadata' },
    { target: '169.254.169.254:80', addresses: [], why: 'metadata' },
    { target: '0x7f.1:80', addresses: [], why: 'this machine, spelt oddly' },
    { target: '[::ffff:7f00:1]:80', addresses: [], why: 'this machine in IPv6' },
    { target: '10.0.0.1:22', addresses: [], why: 'a private network' },
    { target: 'metadata.google.internal:80', addresses: ['93.184.216.34'], why: 'metadata by name' },
  ])('to $target is refused even where everything is open, because $why', async ({ target, addresses }) => {
    const { usage } = await start(OPEN, { resolve: async () => addresses });
    expect(await ask(tunnel(target))).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[^]*egress denied/);
    expect(events).toEqual([expect.stringMatching(/^egress denied \S+:\d+: it is /)]);
    expect(usage()).toMatchObject({ connections: 0, denied: 1 });
  });

  it('to this machine’s public address is refused too', async () => {
    await start(OPEN, { resolve: async () => ['93.184.216.34'], own: () => ['93.184.216.34'] });
    expect(await ask(tunnel('here.test:443'))).toContain('403');
  });

  it('to a name that is not allowed is refused without asking for it: the question could carry data away', async () => {
    const asked: string[] = [];
    await start(named('allowed.test'), { resolve: async (name) => (asked.push(name), []) });
    expect(await ask(tunnel('c2VjcmV0.evil.test:443'))).toContain('403');
    expect(asked).toEqual([]);
    expect(events).toEqual(['egress denied c2vjcmv0.evil.test:443: the network policy of this run does not name it']);
  });

  it('to a name that only the machine knows is made when a list holds that name', async () => {
    const port = await serve((socket) => socket.end('reached'));
    await start({ policy: { kind: 'open' }, named: patterns([`localhost:${port}`]) });
    expect(await ask(tunnel(`localhost:${port}`), 'reached')).toContain('reached');
    expect(await ask(tunnel('no-such-host.invalid:443'))).toMatch(/ 50[23] /);
  });

  it.each([
    { rules: OPEN, target: 'gone.test:443', status: 502, why: 'the name has no address' },
    { rules: named('127.0.0.1:1'), target: '127.0.0.1:1', status: 502, why: 'nobody listens' },
    { rules: OPEN, target: 'no-port.test', status: 400, why: 'where to?' },
    { rules: OPEN, target: 'a%2eb.test:443', status: 400, why: 'this is no host' },
  ])('to $target is answered $status, because $why', async ({ rules, target, status }) => {
    await start(rules, { resolve: async () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await ask(tunnel(target))).toContain(`HTTP/1.1 ${status} `);
    expect(events).toEqual([]);
  });

  it('ends for the other side when the client is gone midway, and for the client when the server is', async () => {
    const ended: Promise<unknown>[] = [];
    const outside: Socket[] = [];
    const port = await serve((socket) => {
      outside.push(socket);
      ended.push(once(socket.resume(), 'close'));
      socket.on('end', () => socket.end());
      socket.write('hello');
    });
    await start(named(`127.0.0.1:${port}`));
    const first = await client();
    first.socket.write(tunnel(`127.0.0.1:${port}`));
    await first.read('hello');
    first.socket.destroy();
    await ended[0];
    const second = await client();
    second.socket.write(tunnel(`127.0.0.1:${port}`));
    await second.read('hello');
    outside[1]?.resetAndDestroy();
    expect(await second.read()).toContain('hello');
  });

  it('does not outlive a client that went before the connection was made', async () => {
    let resolved = (_addresses: string[]): void => undefined;
    let asking = (): void => undefined;
    const ended: Promise<unknown>[] = [];
    const port = await serve((socket) => {
      ended.push(once(socket.resume(), 'close'));
      socket.on('end', () => socket.end());
    });
    const { close } = await start(
      { policy: { kind: 'open' }, named: patterns([`127.0.0.1:${port}`]) },
      { resolve: () => new Promise((resolve) => ((resolved = resolve), asking())) },
    );
    const asked = new Promise<void>((resolve) => (asking = resolve));
    const { socket } = await client();
    socket.write(tunnel(`slow.test:${port}`));
    await asked;
    socket.destroy();
    resolved(['127.0.0.1']);
    expect(await ask(tunnel(`127.0.0.1:${port}`), ESTABLISHED)).toBe(ESTABLISHED);
    await Promise.all(ended);
    await close();
  });
});

describe('a plain request', () => {
  it('is passed on without what is meant for the proxy', async () => {
    const port = await serveHttp((request, response) => {
      let body = '';
      request.on('data', (bytes: Buffer) => (body += bytes.toString()));
      request.on('end', () =>
        response
          .writeHead(201, { 'x-answer': 'yes', connection: 'x-private, close', 'x-private': 'no' })
          .end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body })),
      );
    });
    await start(named(`127.0.0.1:${port}`));
    const head =
      `POST http://user:pw@127.0.0.1:${port}/a%20b?c=d HTTP/1.1\r\nHost: elsewhere.test\r\nProxy-Authorization: ` +
      `Basic eA==\r\nConnection: close, x-mine\r\nX-Mine: 1\r\nX-Kept: 1\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = await ask(`${head}4\r\nbody\r\n0\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 201 Created\r\n/);
    expect(answer).toContain('x-answer: yes');
    expect(answer).not.toContain('x-private');
    const seen = JSON.parse(/\{.*\}/.exec(answer)?.[0] ?? '') as { headers: Record<string, string> };
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/a%20b?c=d',
      body: 'body',
      headers: { host: `127.0.0.1:${port}`, 'x-kept': '1' },
    });
    expect(Object.keys(seen.headers).sort()).toEqual(['connection', 'host', 'transfer-encoding', 'x-kept']);
  });

  it.each([
    { line: 'GET http://10.0.0.1/latest HTTP/1.1', status: 403, why: 'a private network' },
    { line: 'GET http://169.254.169.254/latest/meta-data/ HTTP/1.1', status: 403, why: 'metadata' },
    { line: 'GET / HTTP/1.1', status: 400, why: 'this is no website' },
    { line: 'GET https://example.com/ HTTP/1.1', status: 400, why: 'that is what CONNECT is for' },
    { line: 'GET ftp://example.com/ HTTP/1.1', status: 400, why: 'http alone' },
  ])('$line is answered $status: $why', async ({ line, status }) => {
    await start(OPEN);
    expect(await ask(`${line}\r\nHost: x\r\nConnection: close\r\n\r\n`)).toContain(`HTTP/1.1 ${status} `);
    // A path may hold anything; a host is told.
    expect(events.join()).not.toContain('latest');
  });

  it.each([
    { bytes: 'HTTP/1.1 099 No\r\n\r\n', why: 'a status that cannot be said again' },
    { bytes: 'garbage\r\n\r\n', why: 'no answer at all' },
    { bytes: '', why: 'silence' },
    { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', why: 'half of it' },
  ])('survives a server that sends $why', async ({ bytes }) => {
    const port = await serve((socket) => void socket.resume().once('data', () => socket.end(bytes)));
    await start(named(`127.0.0.1:${port}`));
    await ask(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(await ask(tunnel(`127.0.0.1:${port}`), ESTABLISHED)).toBe(ESTABLISHED);
  });

  it('ends for the server when the client is gone', async () => {
    let seen = (): void => undefined;
    const ended = new Promise<void>((resolve) => (seen = resolve));
    const port = await serveHttp((request, response) => {
      request.on('close', () => seen());
      response.write('never ends');
    });
    await start(named(`127.0.0.1:${port}`));
    const { socket, read } = await client();
    socket.write(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    await read('never');
    socket.destroy();
    await ended;
  });
});

describe('the proxy', () => {
  it('belongs to the run alone, also in a folder that lies deep, and takes the place of dead ones', async () => {
    const folder = join(base, 'x'.repeat(100), 'y'.repeat(100));
    await mkdir(folder, { recursive: true });
    for (const epoch of [1, 2, 4]) await writeFile(join(folder, `egress-${epoch}`), '');
    const asRoot = process.getuid?.() === 0;
    const { socket } = await start(OPEN, {
      folder,
      epoch: 2,
      ...(asRoot ? { owner: { uid: 65_534, gid: 65_534 } } : {}),
    });
    const made = await stat(socket);
    expect({ isSocket: made.isSocket(), mode: made.mode & 0o777, uid: made.uid }).toEqual({
      isSocket: true,
      mode: 0o600,
      uid: asRoot ? 65_534 : process.getuid?.(),
    });
    expect((await readdir(folder)).sort()).toEqual(['egress-2', 'egress-4']);
  });

  it('ends everything with the run, leaves nothing, and may be ended twice', async () => {
    const port = await serve((socket) => void socket.resume().write('hello'));
    const { close, socket: path } = await start(named(`127.0.0.1:${port}`));
    const idle = await client();
    const busy = await client();
    busy.socket.write(tunnel(`127.0.0.1:${port}`));
    await busy.read('hello');
    await Promise.all([close(), close()]);
    await Promise.all([idle.read(), busy.read()]);
    await close();
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(base)).toEqual([]);
  });

  it('serves a bounded number at once, says so once, and serves again when they are gone', async () => {
    const port = await serve((socket) => void socket.resume().on('end', () => socket.end()));
    await start(named(`127.0.0.1:${port}`));
    const many = await Promise.all(Array.from({ length: 300 }, () => client().catch(() => undefined)));
    for (const one of many) one?.socket.write(tunnel(`127.0.0.1:${port}`));
    const answers = await Promise.all(many.map(async (one) => one?.read('\r\n\r\n')));
    expect(answers.filter((text) => text === ESTABLISHED)).toHaveLength(128);
    expect(events).toEqual(['egress: further connections are refused while 128 are open']);
    for (const one of many) one?.socket.destroy();
    while ((await ask(tunnel(`127.0.0.1:${port}`), ESTABLISHED).catch(() => '')) !== ESTABLISHED)
      await new Promise((resolve) => setTimeout(resolve, 10));
  });

  it('tells each denied target once, and not all of a scan', async () => {
    const { usage } = await start(named('a.test'));
    for (let count = 0; count < 120; count += 1) await ask(tunnel(`b.test:${1 + (count % 60)}`));
    expect(events).toHaveLength(51);
    expect(new Set(events).size).toBe(51);
    expect(events.at(-1)).toContain('not told any more');
    expect(usage().denied).toBe(120);
  });

  it('takes in what a few reads bring of a flood behind an unanswered request, and leaves the rest', async () => {
    let asked = (): void => undefined;
    const parked = new Promise<void>((resolve) => (asked = resolve));
    const port = await serve((socket) => void socket.resume().once('data', () => asked()));
    await start(named(`127.0.0.1:${port}`));
    const { socket } = await client();
    const request = `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`;
    socket.write(request.repeat(FLOOD_BYTES / request.length));
    await parked;
    const taken = (): number => socket.bytesWritten - socket.writableLength;
    for (let before = -1; before !== taken(); await sleep(150)) before = taken();
    expect(taken()).toBeLessThan(FLOOD_BYTES / 4);
    // And the service has time for everybody else.
    expect(await ask(tunnel('b.test:443'))).toContain('403');
  });

  it('answers requests that a program sends without waiting one after the other, in order', async () => {
    let open = 0;
    let most = 0;
    const port = await serveHttp((request, response) => {
      most = Math.max(most, (open += 1));
      setTimeout(() => {
        open -= 1;
        response.end(`<${request.url}>`);
      }, 5);
    });
    await start(named(`127.0.0.1:${port}`));
    const { socket, read } = await client();
    const paths = Array.from({ length: 20 }, (_, index) => `/${index}`);
    socket.write(paths.map((path) => `GET http://127.0.0.1:${port}${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
    const answers = await read('</19>');
    expect([...answers.matchAll(/<(.*?)>/g)].map(([, path]) => path)).toEqual(paths);
    expect(most).toBe(1);
  });

  it.each([
    { bytes: '\0\0\0\0', why: 'no text' },
    { bytes: 'GET', why: 'half a word' },
    { bytes: 'CONNECT  HTTP/1.1\r\n\r\n', why: 'no target' },
    { bytes: `GET http://a.test/${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`, why: 'an endless line' },
    { bytes: 'CONNECT a.test:443 HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n', why: 'less than no body' },
  ])('survives nonsense: $why', async ({ bytes }) => {
    await start(named('a.test'));
    const { socket } = await client();
    socket.end(bytes);
    socket.resume();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await ask(tunnel('b.test:443'))).toContain('403');
  });
});
