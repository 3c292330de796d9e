/**
 * A hundred connections that send at the same moment are not all read before anybody else is. contract §5.11
 * (Connections without a key).
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReadRotation } from '#deliveries';
import {
  AnonymousConnections,
  type AnonymousConnectionsOptions,
  isTrusted,
  noteRead,
  trustConnection,
} from './anonymous-connections.ts';

const CONNECTIONS = 100;
/** What a read costs here. */
const READ_MS = 1;

interface World {
  server: Server;
  clients: Socket[];
  /** Reads in each round of the event loop. */
  rounds: number[];
  /** Bytes that were read of each connection, by what it said. */
  heard: string[];
  connections: AnonymousConnections;
  accepted: Socket[];
}

function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

async function open(count: number, options: AnonymousConnectionsOptions = {}): Promise<World> {
  const connections = new AnonymousConnections(options);
  const [rounds, heard, accepted]: [number[], string[], Socket[]] = [[], [], []];
  let reads = 0;
  const server = createServer((socket) => {
    accepted.push(socket);
    connections.add(socket);
    socket.on('data', (chunk) => {
      if ((reads += 1) === 1) {
        setImmediate(() => {
          rounds.push(reads);
          reads = 0;
        });
      }
      noteRead(socket);
      heard.push(chunk.toString());
      work(READ_MS);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    }),
  );
  while (accepted.length < count) await sleep(1);
  return { server, clients, rounds, heard, connections, accepted };
}

function close({ server, clients }: World): void {
  for (const client of clients) client.destroy();
  server.close();
}

/** All send something while the server does something else, so that all of it is there at once. */
async function sendAtOnce(clients: readonly Socket[]): Promise<void> {
  clients.forEach((client, index) => client.write(`said ${index};`));
  await new Promise((resolve) => setImmediate(resolve));
}

async function until(isDone: () => boolean): Promise<void> {
  for (const givenUpAtMs = performance.now() + 20_000; !isDone() && performance.now() < givenUpAtMs;) await sleep(2);
}

it('few of many that send at once are read in one round, and all of them in the end', async () => {
  const world = await open(CONNECTIONS);
  try {
    await sendAtOnce(world.clients);
    await until(() => world.heard.length >= CONNECTIONS);
    expect(world.heard).toHaveLength(CONNECTIONS);
    expect(Math.max(...world.rounds)).toBeLessThan(CONNECTIONS / 2); // 16 and one or two
    expect(world.rounds.slice(1).every((reads) => reads <= 16)).toBe(true);
  } finally {
    close(world);
  }
});

it('what is read where a key was shown makes the rounds of others short', async () => {
  const noted = import.meta.jest.spyOn(ReadRotation.prototype, 'noteOther');
  const world = await open(2);
  try {
    const [known, other] = world.accepted as [Socket, Socket];
    noteRead(known);
    expect(noted).not.toHaveBeenCalled();
    trustConnection(known);
    expect([isTrusted(known), isTrusted(other), noted.mock.calls.length]).toEqual([true, false, 1]);
    noteRead(known);
    noteRead(other);
    expect(noted).toHaveBeenCalledTimes(2);
  } finally {
    noted.mockRestore();
    close(world);
  }
});

it('one that has shown its key is read at once, however many wait', async () => {
  const world = await open(CONNECTIONS);
  try {
    await sendAtOnce(world.clients);
    await until(() => world.connections.waitingCount > 0);
    for (const socket of world.accepted) trustConnection(socket);
    expect(world.connections.waitingCount).toBe(0);
    await until(() => world.heard.length >= CONNECTIONS);
    await sendAtOnce(world.clients);
    await until(() => world.heard.length >= 2 * CONNECTIONS);
    expect(world.heard).toHaveLength(2 * CONNECTIONS);
    expect(world.connections.waitingCount).toBe(0);
  } finally {
    close(world);
  }
});

it('one that waits for its answer is not read on before that is given', async () => {
  const answering = new Set<Socket>();
  const world = await open(CONNECTIONS + 1, { isAnswering: (socket) => answering.has(socket) });
  const clients = world.clients.slice(0, CONNECTIONS);
  const known = world.accepted.find(({ remotePort }) => remotePort === world.clients.at(-1)?.localPort) as Socket;
  try {
    trustConnection(known);
    for (const socket of world.accepted.filter((one) => one !== known)) {
      socket.prependListener('data', () => {
        noteRead(known); // a round is one read
        answering.add(socket);
      });
    }
    await sendAtOnce(clients);
    await until(() => world.heard.length >= CONNECTIONS);
    await until(() => world.connections.waitingCount === CONNECTIONS); // when a round of them is over
    await sendAtOnce(clients);
    await sleep(100);
    expect(world.heard).toHaveLength(CONNECTIONS);
    answering.clear();
    await until(() => world.heard.length >= 2 * CONNECTIONS);
    expect(world.heard).toHaveLength(2 * CONNECTIONS);
  } finally {
    close(world);
  }
});

it('one that ends while it waits is closed within its turn', async () => {
  const world = await open(CONNECTIONS);
  try {
    await sendAtOnce(world.clients);
    await until(() => world.connections.waitingCount > 0);
    for (const client of world.clients) client.destroy();
    for (const socket of world.accepted) socket.on('error', () => undefined);
    await until(() => world.accepted.every(({ destroyed }) => destroyed));
    expect(world.accepted.filter(({ destroyed }) => !destroyed)).toEqual([]);
    expect(world.connections.waitingCount).toBe(0);
  } finally {
    close(world);
  }
});

it('beyond as many as there may be, the one that came first is cut off, and none that has shown its key', async () => {
  let cut = 0;
  const world = await open(3, { connectionsMax: 3, onCut: () => (cut += 1) });
  try {
    const [first, second, third] = world.accepted as [Socket, Socket, Socket];
    trustConnection(first);
    const { port } = world.server.address() as AddressInfo;
    for (let count = 0; count < 2; count += 1) world.clients.push(connect(port, '127.0.0.1'));
    await until(() => second.destroyed);
    expect([first.destroyed, second.destroyed, third.destroyed, cut]).toEqual([false, true, false, 1]);
  } finally {
    close(world);
  }
});

it('one that takes nothing of its answer is cut off, and one that waits for its own is not', async () => {
  const world = await open(2, { unreadMs: 50 });
  try {
    const [unread, silent] = world.accepted as [Socket, Socket];
    world.clients[0]?.pause();
    for (let count = 0; count < 200; count += 1) unread.write(Buffer.alloc(65_536));
    await until(() => unread.destroyed);
    await sleep(200);
    expect([unread.destroyed, silent.destroyed]).toEqual([true, false]);
  } finally {
    close(world);
  }
});
