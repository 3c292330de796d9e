/** A proxy on loopback that knows CONNECT only, as the egress of a run is one. */
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ConnectProxy {
  url: string;
  /** `host:port` of each connection that was asked for. */
  targets: string[];
  close(): Promise<void>;
}

/** Starts it on a port of its own. */
export async function startConnectProxy(): Promise<ConnectProxy> {
  const targets: string[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on('connect', ({ url = '' }, client: Duplex) => {
    targets.push(url);
    const { hostname, port } = new URL(`http://${url}`);
    const target: Socket = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    for (const socket of [client, target]) sockets.add(socket.on('error', () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
