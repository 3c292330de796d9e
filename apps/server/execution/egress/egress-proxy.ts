/**
 * The only egress of a run's network: a proxy on a socket of its own, which resolves, judges and dials for the run.
 * contract §10.
 */
import { chmod, chown, type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { EgressRules, HostBytes } from '#isolation';
import { Broker, brokerTarget, type BrokerOptions } from './broker.ts';
import { EgressBytes } from './egress-bytes.ts';
import { EgressGate } from './egress-gate.ts';
import { EgressRateLimit } from './egress-rate-limit.ts';
import { forwardRequest, refuseEgress, targetOfRequest } from './egress-requests.ts';
import type { Resolve } from './egress-resolution.ts';
import type { RunAuthority } from './run-authority.ts';
import { answerInTurn, EVERY_HEADER } from '../../http/pipelining.ts';
import type { Owner } from '../workspace/workspaces.ts';

export interface EgressProxyDeps {
  rules: EgressRules;
  /** Folder for the socket: the service's alone, outside of what the run may write. */
  folder: string;
  /** Names the socket; one for each execution. */
  epoch: number;
  /** Who runs are, where they are somebody else than the service. */
  owner?: Owner;
  /** Tells what was denied: host and port, never a path or a header; a bounded number of times. Must not throw. */
  onEvent: (text: string) => void;
  /** What stands between the run and what it has no credentials of. */
  broker?: BrokerOptions;
  /** Stands for the hosts to which secrets of the run go. */
  authority?: RunAuthority;
  /**
   * Where a run has the network of the machine: the broker alone, on a port of the machine's loopback, where everybody
   * who lacks a placeholder of the run is refused.
   */
  isBrokerOnly?: boolean;
  resolve?: Resolve;
  /** Addresses of this machine. */
  own?: () => readonly string[];
}

export interface EgressUsage {
  connections: number;
  denied: number;
  sentBytes: number;
  receivedBytes: number;
  /** The same of each host that was connected to. */
  hosts: readonly HostBytes[];
}

export interface OpenEgressProxy {
  /** Absolute path of the socket; empty where it is a port. */
  socket: string;
  /** Port on the machine's loopback, where it is one. */
  port?: number;
  usage(): EgressUsage;
  /** Ends every connection and removes the socket. May be repeated. */
  close(): Promise<void>;
}

/** Connections of one run at once, each two descriptors of the service: more than a package manager opens. */
const CONNECTIONS_MAX = 128;
/** Milliseconds without a byte: models think for minutes before they say a word. */
const IDLE_MS_MAX = 15 * 60_000;
/** Milliseconds of one connection in all; nothing that an agent does takes one so long. */
const TUNNEL_MS_MAX = 6 * 3_600_000;
/** Milliseconds for a request line and its headers; they come from the same machine. */
const HEADERS_MS_MAX = 10_000;
/** Different denials that become events; a scan is clear after these. */
const REPORTED_MAX = 50;

/** Opens the proxy of one execution. */
export async function openEgressProxy(deps: EgressProxyDeps): Promise<OpenEgressProxy> {
  const over = new AbortController();
  const proxy = new EgressProxy(deps, over.signal);
  if (deps.isBrokerOnly === true) return onLoopback(proxy, over);
  const socket = join(deps.folder, `egress-${deps.epoch}`);
  await removeStale(deps);
  // Through a descriptor: the path of a socket may have 107 bytes only, and a data folder may lie deep.
  const folder = await open(deps.folder, 'r');
  await listening(proxy.server, `/proc/self/fd/${folder.fd}/egress-${deps.epoch}`).catch(async (error: unknown) => {
    await folder.close();
    throw error;
  });
  if (deps.owner !== undefined) await chown(socket, deps.owner.uid, deps.owner.gid);
  await chmod(socket, 0o600);
  let closing: Promise<void> | undefined;
  const close = async (handle: FileHandle): Promise<void> => {
    over.abort();
    await proxy.close();
    await handle.close();
    await rm(socket, { force: true });
  };
  return { socket, usage: () => proxy.usage(), close: () => (closing ??= close(folder)) };
}

async function onLoopback(proxy: EgressProxy, over: AbortController): Promise<OpenEgressProxy> {
  await listening(proxy.server, { port: 0, host: '127.0.0.1' });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    over.abort();
    await proxy.close();
  };
  const { port } = proxy.server.address() as AddressInfo;
  return { socket: '', port, usage: () => proxy.usage(), close: () => (closing ??= close()) };
}

/** What a killed service left; a later execution's socket is not ours. */
async function removeStale({ folder, epoch }: EgressProxyDeps): Promise<void> {
  const stale = (await readdir(folder)).filter((name) => Number(/^egress-(\d+)$/.exec(name)?.[1]) <= epoch);
  await Promise.all(stale.map((name) => rm(join(folder, name), { force: true })));
}

function listening(server: Server, place: string | { port: number; host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
    server.listen(place);
  });
}

class EgressProxy {
  readonly server: Server;
  private readonly deps: EgressProxyDeps;
  private readonly gate: EgressGate;
  private readonly broker: Broker | undefined;
  private readonly clients = new Set<Socket>();
  private readonly outside = new Set<Socket>();
  private readonly reported = new Set<string>();
  private readonly rateLimit = new EgressRateLimit();
  private readonly bytes = new EgressBytes();
  private readonly ended = { connections: 0, denied: 0, sentBytes: 0, receivedBytes: 0 };

  constructor(deps: EgressProxyDeps, over: AbortSignal) {
    this.deps = deps;
    this.gate = this.gateOf(deps.rules, over);
    this.broker = deps.broker && this.brokerOf(deps.broker, over);
    this.server = createServer({
      headersTimeout: HEADERS_MS_MAX,
      requestTimeout: 0,
      connectionsCheckingInterval: HEADERS_MS_MAX,
    });
    Object.assign(this.server, { maxConnections: CONNECTIONS_MAX, maxHeadersCount: EVERY_HEADER });
    this.server.setTimeout(IDLE_MS_MAX);
    this.server.on('connection', (client: Socket) => {
      this.clients.add(client.on('error', () => undefined));
      client.on('close', () => this.clients.delete(client));
    });
    this.server.on('drop', () =>
      this.report('egress: further connections are refused while', `${CONNECTIONS_MAX} are open`),
    );
    this.server.on('clientError', (_error, client: Duplex) => client.destroy());
    this.server.on(
      'connect',
      ({ url = '' }: IncomingMessage, client: Socket, head: Buffer) =>
        void this.tunnel(url, client, head).catch(() => client.destroy()),
    );
    this.server.on(
      'request',
      answerInTurn(
        (request, response) => void this.answer(request, response).catch(() => response.destroy()),
        () => this.clients,
      ),
    );
  }

  private gateOf(rules: EgressRules, over: AbortSignal): EgressGate {
    const { resolve, own } = this.deps;
    return new EgressGate({
      rules,
      rateLimit: this.rateLimit,
      over,
      resolve,
      own,
      onDenied: (shown, why) => this.denied(shown, why),
      track: (shown, socket) => this.track(shown, socket),
    });
  }

  private brokerOf(options: BrokerOptions, over: AbortSignal): Broker {
    const gate = this.gateOf(options.rules, over);
    return new Broker({
      ...options,
      authority: this.deps.authority,
      reach: (target, gone) => gate.reach(target, gone),
      reachAsRun: (target, gone) => this.gate.reach(target, gone),
      throttle: () => this.rateLimit.throttle(),
      pace: (bytes) => this.rateLimit.pace(bytes),
      onRefused: (what, why) => this.report(what, why),
    });
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = this.broker && brokerTarget(request.url ?? '');
    if (this.broker !== undefined && target !== undefined) return this.broker.answer(request, response, target);
    if (this.deps.isBrokerOnly === true) return refuseEgress(response, 404, 'there is nothing at this path');
    // What is declared there is declared for https; in clear a request would come past all of it.
    if (this.broker?.hosts?.find(targetOfRequest(request.url ?? '')) !== undefined)
      return refuseEgress(response, 403, 'this host is asked over https, through CONNECT');
    return forwardRequest(request, response, {
      reach: (reached, gone) => this.gate.reach(reached, gone),
      throttle: () => this.rateLimit.throttle(),
    });
  }

  usage(): EgressUsage {
    const open = [...this.outside];
    return {
      ...this.ended,
      sentBytes: open.reduce((sum, { bytesWritten }) => sum + bytesWritten, this.ended.sentBytes),
      receivedBytes: open.reduce((sum, { bytesRead }) => sum + bytesRead, this.ended.receivedBytes),
      hosts: this.bytes.byHost(),
    };
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of [...this.clients, ...this.outside]) socket.destroy();
    await Promise.all([closed, this.broker?.close()]);
  }

  private async tunnel(target: string, client: Socket, head: Buffer): Promise<void> {
    const gone = new AbortController();
    client.setTimeout(0).on('close', () => gone.abort());
    if (this.deps.isBrokerOnly === true) return client.destroySoon();
    const injected = this.broker?.hosts?.find(target);
    if (injected !== undefined) return this.broker?.hosts?.take(client, head, injected);
    const reached = await this.gate.reach(target, gone.signal);
    if (client.destroyed && reached.ok) return void reached.socket.destroy();
    client.write(
      reached.ok
        ? 'HTTP/1.1 200 Connection Established\r\n\r\n'
        : answer({ status: reached.status, text: reached.reason }),
    );
    if (!reached.ok) return client.destroySoon();
    if (head.length > 0) reached.socket.write(head);
    this.join(client, reached.socket);
  }

  private denied(shown: string, why: string): void {
    this.ended.denied += 1;
    this.report('egress denied', `${shown}: ${why}`);
  }

  /** Says a thing once, and not too many things. */
  private report(what: string, about: string): void {
    const text = `${what} ${about}`;
    if (this.reported.has(text) || this.reported.size > REPORTED_MAX) return;
    this.reported.add(text);
    this.deps.onEvent(this.reported.size > REPORTED_MAX ? 'egress: what else is denied is not told any more' : text);
  }

  /**
   * Pipes both ways. The end of one direction is the end of that direction only; a side that breaks off takes the other
   * with it.
   */
  private join(client: Socket, outside: Socket): void {
    const pairs: [Socket, Socket][] = [
      [client, outside],
      [outside, client],
    ];
    for (const [from, to] of pairs) {
      from.pipe(this.rateLimit.throttle()).pipe(to);
      from.on('close', () => (from.readableEnded && to.readableEnded ? undefined : to.destroy()));
    }
  }

  /** Bounds a connection in time and counts what it carries. */
  private track(shown: string, socket: Socket): Socket {
    this.ended.connections += 1;
    this.bytes.count(shown, socket);
    this.outside.add(socket);
    const total = setTimeout(() => socket.destroy(), TUNNEL_MS_MAX);
    socket.setTimeout(IDLE_MS_MAX, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(total);
      this.outside.delete(socket);
      this.ended.sentBytes += socket.bytesWritten;
      this.ended.receivedBytes += socket.bytesRead;
    });
    return socket;
  }
}

function answer({ status, text }: { status: number; text: string }): string {
  const body = `${text}\n`;
  const phrase =
    { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway', 503: 'Service Unavailable' }[status] ?? 'Refused';
  return (
    `HTTP/1.1 ${status} ${phrase}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ` +
    `${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  );
}
