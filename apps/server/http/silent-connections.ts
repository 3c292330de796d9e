/** Connections over which nothing was ever asked, as browsers open them ahead: a server that stops would wait for them until their head is overdue. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Makes the server end them when it is closed. `opened`: the event by which it tells of a connection. */
export function endSilentOnClose(server: Server, opened: 'connection' | 'secureConnection'): void {
  const silent = new Set<Socket>();
  server.on(opened, (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.prependListener('request', ({ socket }: IncomingMessage) => silent.delete(socket));
  const close = server.close.bind(server);
  server.close = (done) => {
    // A head that has begun to come is waited for. Of encrypted ones nobody can tell.
    for (const socket of silent) if (opened === 'secureConnection' || socket.bytesRead === 0) socket.destroy();
    return close(done);
  };
}
