/**
 * Hosts to which secrets of a run go: their TLS ends here, with a certificate of the run's own authority, each request
 * is judged, and what it may carry is added. contract §10.4 (Declared injections).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Transform } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { decideInjection, readTarget, type HeaderInjection, type HostInjections } from '#isolation';
import { answerInTurn, EVERY_HEADER } from '../../http/pipelining.ts';
import { answerWith, passOn } from './broker-answers.ts';
import { UpstreamError, type Upstreams } from './broker-upstreams.ts';
import { leadingElsewhere, withoutOwn } from './egress-requests.ts';
import type { RunAuthority } from './run-authority.ts';

export interface InjectedHostsDeps {
  hosts: readonly HostInjections[];
  authority: RunAuthority;
  upstreams: Upstreams;
  pace(bytes: number): Promise<void>;
  /** A stream at the run's pace. */
  throttle(): Transform;
  /** Tells what was refused, without a value. */
  onRefused(what: string, why: string): void;
}

/** Milliseconds for a request line and its headers; they come from the same machine. */
const HEADERS_MS_MAX = 10_000;
/** Milliseconds for a handshake, without which a connection says nothing. */
const HANDSHAKE_MS_MAX = 10_000;
/** Set anew, or of the run alone. */
const NOT_PASSED_ON = ['host', 'accept-encoding', 'forwarded'];

export class InjectedHosts {
  private readonly deps: InjectedHostsDeps;
  private readonly servers = new Map<HostInjections, Server>();

  constructor(deps: InjectedHostsDeps) {
    this.deps = deps;
  }

  /** Undefined: no secret goes there, and a tunnel is a tunnel. `target`: host:port as a run says it. */
  find(target: string): HostInjections | undefined {
    const read = readTarget(target);
    if (read === undefined) return undefined;
    const name = read.host.kind === 'name' ? read.host.name : read.host.address;
    return this.deps.hosts.find(({ host, port }) => host === name && port === read.port);
  }

  /** Takes a tunnel that the run has asked for; `head`: what it has sent too early. */
  async take(client: Socket, head: Buffer, host: HostInjections): Promise<void> {
    const secureContext = await this.deps.authority.contextFor(host.host);
    if (client.destroyed) return;
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) client.unshift(head);
    const secure = new TLSSocket(client, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
    const late = setTimeout(() => secure.destroy(), HANDSHAKE_MS_MAX);
    secure.once('secure', () => clearTimeout(late));
    secure.once('close', () => clearTimeout(late));
    // A program that does not trust the authority says so and leaves.
    secure.on('error', () => client.destroy());
    this.serverOf(host).emit('connection', secure);
  }

  close(): void {
    for (const server of this.servers.values()) server.close();
  }

  private serverOf(host: HostInjections): Server {
    let server = this.servers.get(host);
    if (server === undefined) {
      server = createServer({ headersTimeout: HEADERS_MS_MAX, requestTimeout: 0 });
      server.maxHeadersCount = EVERY_HEADER;
      server.on('clientError', (_error, client) => client.destroy());
      server.on(
        'request',
        answerInTurn((request, response) => void this.answer(request, response, host).catch(() => response.destroy())),
      );
      this.servers.set(host, server);
    }
    return server;
  }

  private async answer(request: IncomingMessage, response: ServerResponse, host: HostInjections): Promise<void> {
    const { method = '', url = '' } = request;
    const decision = namesHost(request, host)
      ? decideInjection(host, method, url)
      : { ok: false as const, reason: 'its Host is another one' };
    if (!decision.ok) return this.refuse(request, response, host, decision.reason);
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    response.on('close', leave);
    try {
      const answer = await this.deps.upstreams.request({
        method,
        url: new URL(`${originOf(host)}${url}`),
        headers: headersWith(request, decision.headers),
        body: hasBody(request) ? request.pipe(this.deps.throttle()) : [],
        gone: gone.signal,
      });
      await passOn(answer, response, {
        secrets: decision.headers.flatMap(({ plain, value }) => [plain, value.replace(/^\S+ /, '')]),
        pace: (bytes) => this.deps.pace(bytes),
        readsOn: false,
      });
    } catch (error) {
      const { status, message } =
        error instanceof UpstreamError ? error : { status: 502, message: 'the request could not be passed on' };
      await answerWith(request, response, status, { text: `${message}\n` });
    }
  }

  private async refuse(
    request: IncomingMessage,
    response: ServerResponse,
    { host }: HostInjections,
    reason: string,
  ): Promise<void> {
    const path = (request.url ?? '').replace(/\?.*$/s, '').slice(0, SHOWN_MAX);
    this.deps.onRefused(`request refused: ${request.method} ${JSON.stringify(path)} at ${host}:`, reason);
    await answerWith(request, response, 403, { text: `the credential broker of this run refuses this: ${reason}\n` });
  }
}

/** Characters of a path in the run's log. */
const SHOWN_MAX = 200;

function originOf({ host, port }: HostInjections): string {
  return `https://${host}:${port}`;
}

/** A certificate is for one host, and so is each connection. */
function namesHost({ headers }: IncomingMessage, { host, port }: HostInjections): boolean {
  const said = headers.host?.toLowerCase();
  return said === `${host}:${port}` || (port === 443 && said === host);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The run's headers, those that carry a secret replaced by the secret. */
function headersWith(request: IncomingMessage, added: readonly HeaderInjection[]): string[] {
  const replaced = added.map(({ header }) => header);
  const own = withoutOwn(request.rawHeaders, [...NOT_PASSED_ON, ...leadingElsewhere(request), ...replaced]);
  return [...own, ...added.flatMap(({ header, value }) => [header, value]), 'accept-encoding', 'identity'];
}
