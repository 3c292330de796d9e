/** Senders that say with their request that nothing more comes, and still wait for its answer: they get it. Whoever reads from the API and says so has left. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Lets a connection that its sender has half closed live until its last answer is out. `isDelivery`: whether a request is one of theirs; for all others the connection ends with the client's half, so that nobody streams to who is gone. */
export function answerHalfOpen(server: Server, isDelivery: (request: IncomingMessage) => boolean): void {
  Object.assign(server, { httpAllowHalfOpen: true }); // known to node's server, not to its types
  const ofReaders = new WeakSet<Socket>();
  server.prependListener('request', (request: IncomingMessage) => {
    const { socket } = request;
    if (ofReaders.has(socket) || isDelivery(request)) return;
    ofReaders.add(socket);
    socket.once('end', () => socket.end());
  });
}
