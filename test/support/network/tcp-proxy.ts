/**
 * A TCP proxy on loopback that delays, stalls, cuts, resets, leads elsewhere and cuts at chosen bytes: what networks,
 * slow machines and failovers do to connections.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * What becomes of a connection when a client has sent a chunk. `lost`: the chunk never arrives. `unanswered`: it does,
 * its answer does not.
 */
export type Fate = 'pass' | 'lost' | 'unanswered';

interface Pair {
  client: Socket;
  upstream: Socket | undefined;
}

export class TcpProxy {
  readonly port: number;
  /** Decides over each chunk that a client sends. */
  fate: ((chunk: Buffer) => Fate) | undefined;
  /** By so much each chunk comes later, in both directions, and the end of a connection too. */
  delayMs = 0;
  private target: number;
  private isStalled = false;
  private readonly pairs = new Set<Pair>();
  private readonly end: () => Promise<void>;

  private constructor(port: number, target: number, end: () => Promise<void>) {
    [this.port, this.target, this.end] = [port, target, end];
  }

  /** Begins to pass connections on to a port of this machine. */
  static async open(target: number): Promise<TcpProxy> {
    let proxy: TcpProxy | undefined;
    const server = createServer((client) => proxy?.accept(client));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy = new TcpProxy(
      (server.address() as AddressInfo).port,
      target,
      () => new Promise((resolve) => server.close(() => resolve())),
    );
    return proxy;
  }

  /** Connections open now. */
  get open(): number {
    return this.pairs.size;
  }

  /** New connections lead to another port; those that are open stay where they are. */
  leadTo(port: number): void {
    this.target = port;
  }

  /** Nothing is passed on in either direction, and nobody is told; new connections are taken and hang as well. */
  stall(): void {
    this.isStalled = true;
    for (const { client, upstream } of this.pairs) {
      client.pause();
      upstream?.pause();
    }
  }

  resume(): void {
    this.isStalled = false;
    for (const pair of this.pairs) {
      pair.client.resume();
      if (pair.upstream === undefined) this.reach(pair);
      else pair.upstream.resume();
    }
  }

  /** Ends every connection that is open, as a peer that is gone does (`reset`) or one that says good-bye. */
  cut({ reset = false } = {}): void {
    for (const pair of this.pairs) this.drop(pair, reset);
  }

  async close(): Promise<void> {
    this.cut();
    await this.end();
  }

  private accept(client: Socket): void {
    const pair: Pair = { client, upstream: undefined };
    this.pairs.add(pair);
    client
      .setNoDelay(true)
      .on('error', () => this.drop(pair))
      .on('close', () => this.later(() => this.drop(pair)));
    client.pause();
    if (!this.isStalled) this.reach(pair);
  }

  private reach(pair: Pair): void {
    const upstream = connect(this.target, '127.0.0.1');
    pair.upstream = upstream;
    let isDeaf = false;
    upstream
      .setNoDelay(true)
      .on('error', () => this.drop(pair))
      .on('close', () => this.later(() => this.drop(pair)));
    upstream.on('data', (chunk) => {
      if (isDeaf) this.drop(pair); // the server has done it, and nobody hears of it
      else this.later(() => pair.client.write(chunk));
    });
    pair.client.on('data', (chunk) => {
      switch (this.fate?.(chunk) ?? 'pass') {
        case 'lost':
          return this.drop(pair);
        case 'unanswered':
          isDeaf = true;
      }
      this.later(() => upstream.write(chunk));
    });
    pair.client.resume();
  }

  private later(work: () => void): void {
    if (this.delayMs === 0) work();
    else setTimeout(work, this.delayMs);
  }

  private drop(pair: Pair, reset = false): void {
    this.pairs.delete(pair);
    for (const socket of [pair.client, pair.upstream]) {
      if (reset) socket?.resetAndDestroy();
      else socket?.destroy();
    }
  }
}
