/** How much a run has sent to which host, and received of it. contract §10.2. */
import type { Socket } from 'node:net';
import type { HostBytes } from '#isolation';

/** Hosts that are counted each by itself; a run that reaches more has all others counted as one. */
const HOSTS_MAX = 50;
const OTHERS = 'other hosts';

export class EgressBytes {
  private readonly hosts = new Map<string, HostBytes>();
  private readonly open = new Map<Socket, string>();

  /** Counts a connection, until it is closed and afterwards. `host`: as the run named it, with its port. */
  count(host: string, socket: Socket): void {
    const name = this.hosts.has(host) || this.hosts.size < HOSTS_MAX ? host : OTHERS;
    this.entry(name).connections += 1;
    this.open.set(socket, name);
    socket.once('close', () => {
      this.open.delete(socket);
      add(this.entry(name), socket);
    });
  }

  byHost(): HostBytes[] {
    const all = new Map([...this.hosts].map(([host, bytes]) => [host, { ...bytes }]));
    for (const [socket, host] of this.open) add(all.get(host) as HostBytes, socket);
    return [...all.values()];
  }

  private entry(host: string): HostBytes {
    const found = this.hosts.get(host) ?? { host, sentBytes: 0, receivedBytes: 0, connections: 0 };
    this.hosts.set(host, found);
    return found;
  }
}

function add(bytes: HostBytes, { bytesWritten, bytesRead }: Socket): void {
  bytes.sentBytes += bytesWritten;
  bytes.receivedBytes += bytesRead;
}
