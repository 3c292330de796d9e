/**
 * Connections of a run's broker to what it speaks to outside: judged, verified, and used again. contract §10.3 (Model
 * calls).
 */
import { Agent, request as startRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { Readable, type Duplex } from 'node:stream';
import { connect as connectTls, rootCertificates } from 'node:tls';
import type { Reached } from './egress-gate.ts';

export interface UpstreamsDeps {
  /** Opens the connection if the run may have it. */
  reach(target: string, gone: AbortSignal): Promise<Reached>;
  /** Certificates (PEM) accepted beside the usual ones. */
  ca?: string;
  /** Milliseconds that a connection is kept without a call. */
  freeMs?: number;
}

export interface UpstreamRequest {
  method: string;
  url: URL;
  /** Names and values, in order; without those that frame the body, unless that is a stream. */
  headers: readonly string[];
  body: readonly Uint8Array[] | Readable;
  /** Aborted when nobody wants the answer any more. */
  gone: AbortSignal;
}

/** It could not be reached; the message is for the run. */
export class UpstreamError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Connections of one origin that are kept for the next call. */
const FREE_MAX = 8;
/** Milliseconds for a handshake. */
const HANDSHAKE_MS_MAX = 10_000;
/** Milliseconds that a connection is kept without a call; servers close them after a minute or so. */
const FREE_MS_MAX = 15_000;

export class Upstreams {
  private readonly deps: UpstreamsDeps;
  private readonly agents = new Map<string, Agent>();
  /** Ends connections that nobody has used for a while; one that is used again may be silent for minutes. */
  private readonly free = new WeakMap<Socket, NodeJS.Timeout>();

  constructor(deps: UpstreamsDeps) {
    this.deps = deps;
  }

  /** The answer as it begins. Throws UpstreamError. A kept connection that was closed meanwhile is tried once more. */
  async request(wanted: UpstreamRequest): Promise<IncomingMessage> {
    const first = await this.attempt(wanted);
    if (first !== 'stale') return first;
    const second = await this.attempt(wanted);
    if (second !== 'stale') return second;
    throw new UpstreamError(502, `${wanted.url.host} closed the connection`);
  }

  close(): void {
    for (const agent of this.agents.values()) agent.destroy();
  }

  private attempt({ method, url, headers, body, gone }: UpstreamRequest): Promise<IncomingMessage | 'stale'> {
    return new Promise((resolve, reject) => {
      const outgoing: ClientRequest = startRequest({
        method,
        agent: this.agentOf(url),
        host: hostOf(url),
        port: portOf(url),
        path: url.pathname + url.search,
        headers: ['host', url.host, ...headers, ...framingOf(method, body)],
        signal: gone,
      });
      outgoing.once('socket', (socket) => clearTimeout(this.free.get(socket)));
      outgoing.once('response', (answer) => {
        answer.on('error', () => undefined);
        resolve(answer);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        const isRepeatable = !(body instanceof Readable) && outgoing.reusedSocket;
        if (isRepeatable && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) return resolve('stale');
        reject(error instanceof UpstreamError ? error : new UpstreamError(502, wordsOf(error, url)));
      });
      if (body instanceof Readable) return void body.pipe(outgoing);
      for (const part of body) outgoing.write(part);
      outgoing.end();
    });
  }

  private agentOf(url: URL): Agent {
    let agent = this.agents.get(url.origin);
    if (agent === undefined) {
      agent = new Agent({ keepAlive: true, maxFreeSockets: FREE_MAX });
      agent.on('free', (socket: Socket) => {
        const { freeMs = FREE_MS_MAX } = this.deps;
        this.free.set(socket, setTimeout(() => socket.destroy(), freeMs).unref());
      });
      // The framework's way to open connections otherwise; the callback is part of it.
      Object.assign(agent, {
        createConnection: (_options: unknown, done: (error: Error | null, socket?: Duplex) => void): void => {
          this.connect(url).then(
            (socket) => done(null, socket),
            (error: unknown) => done(error as Error),
          );
        },
      });
      this.agents.set(url.origin, agent);
    }
    return agent;
  }

  private async connect(url: URL): Promise<Duplex> {
    const gone = new AbortController();
    const reached = await this.deps.reach(`${url.hostname}:${portOf(url)}`, gone.signal);
    if (!reached.ok) throw new UpstreamError(reached.status === 403 ? 403 : 502, reached.reason);
    const { socket } = reached;
    // A server that has said its last word is not to be asked again.
    socket.allowHalfOpen = false;
    socket.setNoDelay(true);
    return url.protocol === 'https:' ? this.secured(socket, url) : socket;
  }

  private secured(socket: Socket, url: URL): Promise<Duplex> {
    const { ca } = this.deps;
    const host = hostOf(url);
    return new Promise((resolve, reject) => {
      const secure = connectTls({
        socket,
        host,
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ALPNProtocols: ['http/1.1'],
        ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      });
      const late = setTimeout(() => secure.destroy(new Error('the handshake took too long')), HANDSHAKE_MS_MAX);
      secure.once('error', reject);
      secure.once('close', () => clearTimeout(late));
      secure.once('secureConnect', () => {
        clearTimeout(late);
        secure.off('error', reject);
        resolve(secure);
      });
    });
  }
}

/** A stream is framed as it came. */
function framingOf(method: string, body: UpstreamRequest['body']): string[] {
  if (body instanceof Readable) return [];
  const length = body.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return length > 0 || !['GET', 'HEAD'].includes(method) ? ['content-length', String(length)] : [];
}

function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}

/** The code alone: a message may repeat what was sent. */
function wordsOf(error: NodeJS.ErrnoException, { host }: URL): string {
  return `${host} could not be spoken to (${error.code ?? error.name})`;
}
