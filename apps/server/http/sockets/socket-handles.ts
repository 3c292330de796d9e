/**
 * What is below a socket of node, so that another process can take it over while its client notices nothing. Node has
 * no public way to do it for a connection that HTTP was spoken on. contract §1.8.
 */
import type { Server } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';

/** Node's own object for a descriptor: what a process can send to another one. It is not read by itself. */
export type SocketHandle = NetServer & { readonly fd: number };

/** Undefined: it is closed, or encrypted, and nobody else could go on with it. */
export function handleOf(socket: Socket): SocketHandle | undefined {
  const handle = Reflect.get(socket, '_handle') as SocketHandle | null | undefined;
  return socket.destroyed || handle === null || handle === undefined || handle.fd < 0 ? undefined : handle;
}

/** Takes a connection as if it had come over the server's socket: the way of node's cluster module. */
export function acceptHandle(server: Server, handle: SocketHandle): void {
  const listening = Reflect.get(server, '_handle') as { onconnection(status: number, client: SocketHandle): void };
  listening.onconnection(0, handle);
}

/**
 * Those of a server's sockets whose parsers are between two requests, so that not a byte of the next one was read. Node
 * tells nobody but who closes them: for a moment that is all that closing does.
 */
export function idleSockets(server: Server, sockets: Iterable<Socket>): ReadonlySet<Socket> {
  const idle = new Set<Socket>();
  const watched = [...sockets];
  for (const socket of watched) socket.destroy = () => idle.add(socket) && socket;
  server.closeIdleConnections();
  for (const socket of watched) Reflect.deleteProperty(socket, 'destroy');
  return idle;
}
