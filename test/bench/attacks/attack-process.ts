/**
 * One attack on a service, by a process of its own so that its load is not measured: goes on until it is told to end.
 * Loopback only, bounded in connections and bytes.
 */
import { connect, type Socket } from 'node:net';
import type { AttackOrder } from './attacks.ts';

/** What a sender without a key may write ahead. */
const FLOOD = Buffer.from('GET /healthz HTTP/1.1\r\n\r\n'.repeat(2_600));

const sockets = new Set<Socket>();

process.on('message', begin);
process.on('disconnect', () => process.exit());

function begin(order: AttackOrder): void {
  for (let at = 0; at < order.connections; at += 1) attack(order, at);
}

/** One connection, and another one behind it. */
function attack(order: AttackOrder, at: number): void {
  const socket = connect({
    port: order.port,
    host: '127.0.0.1',
    localAddress: `127.0.2.${1 + (at % order.addresses)}`,
  });
  sockets.add(socket);
  socket
    .on('error', () => undefined)
    .once('close', () => {
      sockets.delete(socket);
      setTimeout(() => attack(order, at), order.againMs);
    });
  switch (order.kind) {
    case 'pipelining':
      return flood(socket.pause());
    case 'half bodies':
      socket.resume();
      return void socket.write(order.request);
    case 'silence':
      return void socket.resume();
    case 'wide deliveries':
      socket.on('data', () => void socket.write(order.request)); // the next one when one is answered
      return void socket.write(order.request);
  }
}

/** Writes as fast as it is taken, and reads nothing. */
function flood(socket: Socket): void {
  const write = (): void => {
    while (!socket.destroyed) if (!socket.write(FLOOD)) return void socket.once('drain', write);
  };
  write();
}
