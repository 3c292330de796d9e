/** Who sent a request, the same for API and ingress: the socket's peer, or what trusted proxies say. contract 2, 5 (Client address). */
import type { IncomingMessage } from 'node:http';
import { clientAddress, type Cidr } from '#deliveries';

/** Bounds what many clients cost. */
const PEERS_MAX = 10_000;

export class ClientAddresses {
  private readonly trustedProxies: readonly Cidr[];
  /** Peers as they are written: a connection brings the same one with every request. */
  private readonly peers = new Map<string, string>();
  constructor(trustedProxies: readonly Cidr[]) {
    this.trustedProxies = trustedProxies;
  }

  /** Canonical text of the address; `unknown` when the socket has none. */
  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined || this.trustedProxies.length === 0) return this.peer(socket.remoteAddress ?? '');
    return clientAddress(
      socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
      this.trustedProxies,
    );
  }
  private peer(remoteAddress: string): string {
    let peer = this.peers.get(remoteAddress);
    if (peer === undefined) {
      if (this.peers.size >= PEERS_MAX) this.peers.clear();
      peer = clientAddress(remoteAddress, undefined, []);
      this.peers.set(remoteAddress, peer);
    }
    return peer;
  }
}
