/** Who sent a request, the same for API and ingress: the socket's peer, or what trusted proxies say. contract 2, 5 (Client address). */
import type { IncomingMessage } from 'node:http';
import { clientAddress, type Cidr } from '#deliveries';

export class ClientAddresses {
  private readonly trustedProxies: readonly Cidr[];
  constructor(trustedProxies: readonly Cidr[]) {
    this.trustedProxies = trustedProxies;
  }

  /** Canonical text of the address; `unknown` when the socket has none. */
  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    const forwarded = headers['x-forwarded-for'];
    return clientAddress(socket.remoteAddress, Array.isArray(forwarded) ? forwarded.join(',') : forwarded, this.trustedProxies);
  }
}
