/**
 * The HTTP server: ingress requests go straight to the receiver, everything else to the API; node's own error pages are
 * replaced. contract §1, §5.
 */
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTls } from 'node:https';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import { unservedReason } from '#contracts';
import { hasEncodedUnreserved, HEADER_MS_MAX } from '#deliveries';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Config } from '../config/config.ts';
import type { Log } from '../process/log.ts';
import { Metrics } from '../process/metrics.ts';
import { AccessGuard } from './access-guard.ts';
import { parseJsonBodies, schemaPipe } from './body.ts';
import { beginRecord, ClientAddresses, noteRoute, RawRoutes, recordOf, recordWhenOver } from './requests.ts';
import { ClientErrors, MISDIRECTED_DELIVERY, transportSecurity } from './client-errors.ts';
import { answerAndClose, isUnread, sendAnswer } from './connections.ts';
import { hostsOf, hostVerdict, originForm } from './hosts.ts';
import { Idempotency, refuseBadKey } from './idempotency.ts';
import { refuseUnacceptable } from './negotiation.ts';
import { RefusalError } from './error-codes.ts';
import { EVERY_HEADER, Pipelining } from './pipelining.ts';
import { AnonymousConnections, noteRead } from './sockets/anonymous-connections.ts';
import { DirectRequest } from './sockets/direct-requests.ts';
import { Connections } from './sockets/open-connections.ts';
import { ProblemFilter, unknownResource } from './problem-filter.ts';
import { UnfinishedBodies } from './unfinished-bodies.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Open sockets of one process: more wait in the kernel's queue. */
const CONNECTIONS_MAX = 20_000;
/** Longer than clients and proxies keep a connection as a rule: it is theirs to close, and no request meets its end. */
export const KEEP_ALIVE_MS = 65_000;

/** Longer than any request's head: what a router would refuse for its length is looked up and not found. */
const PARAMETER_CHARACTERS_MAX = 65_536;

export interface HttpServerDeps {
  config: Config;
  log: Log;
  /** The application: its providers hold what stands before and behind the routes. */
  module: DynamicModule;
  /** Whether others answer where this process has listened, once it stops. */
  othersAnswer: boolean;
}

/** What is asked for every request, known once the application is built; nothing listens before. */
interface Front {
  addresses: ClientAddresses;
  rawRoutes: RawRoutes;
  metrics: Metrics;
  connections: Connections;
  pipelining: Pipelining;
  anonymous: AnonymousConnections;
}

/** An application that does not listen yet, and what is open below it. */
export interface HttpServer {
  app: NestFastifyApplication;
  connections: Connections;
}

/** Builds the application, not yet listening. */
export async function createHttp({ config, log, module, othersAnswer }: HttpServerDeps): Promise<HttpServer> {
  const clientErrors = new ClientErrors(config.publicUrl);
  const filter = new ProblemFilter(config.publicUrl, log);
  const front = {} as Front;
  const adapter = new FastifyAdapter({
    serverFactory: (handler: Handler): Server =>
      createServerFor(
        { config, clientErrors, othersAnswer },
        front,
        createRequestHandler({ config, log, clientErrors }, front, handler),
      ),
    // Ours end when they can.
    forceCloseConnections: false,
    // The framework's own would destroy the socket behind ours.
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket): void => {
      const answer = (): void => clientErrors.answer(error, socket, front.connections.latest(socket));
      if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || !front.pipelining.excuseLateHead(socket, answer)) answer();
    },
    genReqId: (request: IncomingMessage) => recordOf(request).id,
    trustProxy: false,
    // What has come is answered, in our words.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAMETER_CHARACTERS_MAX },
    // A target that cannot be decoded is not repeated.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply): void =>
      filter.answer(error, request, reply, ''),
  });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    logger: false,
    abortOnError: false,
  });
  front.addresses = app.get(ClientAddresses);
  front.rawRoutes = app.get(RawRoutes);
  front.metrics = app.get(Metrics);
  front.metrics.read('millwright_http_anonymous_connections_waiting', () => [{ value: front.anonymous.waitingCount }]);
  const fastify = app.getHttpAdapter().getInstance();
  addHooks(fastify, app.get(AccessGuard), app.get(Idempotency));
  parseJsonBodies(fastify, app.get(UnfinishedBodies));
  app.useGlobalFilters(filter);
  app.useGlobalPipes(schemaPipe());
  return { app, connections: front.connections };
}

function createRequestHandler(
  { config, log, clientErrors }: { config: Config; log: Log; clientErrors: ClientErrors },
  front: Front,
  api: Handler,
): Handler {
  const apiHosts = hostsOf([config.publicUrl]);
  const ingressHosts = hostsOf([config.ingressUrl]);
  return (request, response) => {
    const { rawRoutes } = front;
    const target = request.url ?? '';
    const isRaw = rawRoutes.owns(target);
    const isProbe = target === '/healthz' || target === '/readyz';
    if (!isRaw) begin({ log, config }, front, { request, response, isProbe });
    if (isFramedUnclearly(request))
      return answerAndClose(request, response, clientErrors.answerToFraming(isRaw ? undefined : recordOf(request)));
    if (isProbe) return api(request, response); // probes name any host, or none
    const verdict = hostVerdict(request, isRaw ? ingressHosts : apiHosts);
    if (isRaw && verdict === 'foreign') return sendAnswer(request, response, MISDIRECTED_DELIVERY);
    if (verdict !== 'ours')
      return answerAndClose(
        request,
        response,
        clientErrors.answerToHost(verdict, isRaw ? undefined : recordOf(request)),
      );
    if (isRaw) return rawRoutes.answer(request, response);
    request.url = originForm(target);
    api(request, response);
  };
}

/**
 * Only HTTP/1.1 knows Transfer-Encoding: to a proxy that does not know it the chunks are requests of their own.
 * And nobody here undoes a coding below the chunks; the parser refuses what does not end in them. RFC 9112 §6.1.
 */
function isFramedUnclearly({ httpVersion, headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return false;
  return httpVersion !== '1.1' || /,[ \t]*chunked$/i.test(coding);
}

/**
 * What every answer of the API and the page carries, whoever writes it; a handler that means something else says so.
 * Probes are not logged.
 */
function begin(
  { log, config }: { log: Log; config: Config },
  { addresses, metrics }: Front,
  { request, response, isProbe }: { request: IncomingMessage; response: ServerResponse; isProbe: boolean },
): void {
  const record = beginRecord(request, addresses.of(request));
  response
    .setHeader('X-Request-Id', record.id)
    .setHeader('X-Content-Type-Options', 'nosniff')
    .setHeader('Cache-Control', 'no-store');
  for (const [name, value] of transportSecurity(config.publicUrl)) response.setHeader(name, value);
  if (!isProbe) recordWhenOver({ log, metrics }, request, response, record);
}

function createServerFor(
  {
    config,
    clientErrors,
    othersAnswer,
  }: Pick<HttpServerDeps, 'config' | 'othersAnswer'> & { clientErrors: ClientErrors },
  front: Front,
  handler: Handler,
): Server {
  // Host is looked at by us: node answers a missing one without a body.
  const options = {
    headersTimeout: HEADER_MS_MAX,
    handshakeTimeout: HEADER_MS_MAX,
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 1_000,
    requireHostHeader: false,
    IncomingMessage: DirectRequest,
  };
  const server = config.tls === undefined ? createPlain(options) : secured(options, config.tls);
  const connections = new Connections(server, { isEncrypted: config.tls !== undefined, othersAnswer });
  front.connections = connections;
  const anonymous = new AnonymousConnections({
    isAnswering: (socket) => connections.isAnswering(socket),
    onCut: () => countAnonymousCut(front.metrics),
  });
  front.anonymous = anonymous;
  server.on(config.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => anonymous.add(socket));
  front.pipelining = new Pipelining({ sockets: () => connections.sockets(), onCut: () => countCut(front.metrics) });
  const answer: Handler = (request, response) => {
    noteRead(request.socket);
    const before = connections.begin(request, response, front.rawRoutes.owns(request.url ?? ''));
    front.pipelining.begin(before, { request, response, handle: handler });
  };
  server.maxConnections = CONNECTIONS_MAX;
  server.maxHeadersCount = EVERY_HEADER;
  server.on('request', answer);
  server.on('checkContinue', answer); // answered when the body is wanted, not before
  server.on('checkExpectation', answer); // an unknown expectation is ignored, like any header we do not know
  server.on('connect', (request: IncomingMessage, socket: Socket) =>
    clientErrors.refuseConnect(front.rawRoutes.owns(request.url ?? ''), socket),
  );
  return server;
}

function countCut(metrics: Metrics): void {
  metrics.count('millwright_http_connections_cut_total');
}

function countAnonymousCut(metrics: Metrics): void {
  metrics.count('millwright_http_anonymous_connections_cut_total');
}

/** Certificate and key cannot be used; the message names the variables and what is wrong, never what the files hold. */
export class TlsError extends Error {}

function secured(options: object, { certFile, keyFile }: NonNullable<Config['tls']>): Server {
  try {
    return createTls({ ...options, cert: readFileSync(certFile), key: readFileSync(keyFile) });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new TlsError(
      `MILLWRIGHT_TLS_CERT_FILE, MILLWRIGHT_TLS_KEY_FILE: ${certFile} and ${keyFile} are no certificate with ` +
        `its key (${code})`,
    );
  }
}

/**
 * Adds the steps to the framework; the body is read between the first and the second. They are hooks of Fastify and not
 * guards of Nest: a guard runs behind the reading of the body, so that who has no key could make the process read one;
 * and never for a route that there is not, whose absence is told only to who has a key.
 */
function addHooks(fastify: FastifyInstance, guard: AccessGuard, idempotency: Idempotency): void {
  fastify.addHook('onRequest', async (request, reply) => {
    noteRoute(request);
    await guard.admit(request, reply);
    if (hasEncodedUnreserved(request.url)) throw unknownResource();
    if (request.is404) throw unservedRoute(request) ?? unknownRoute(fastify, request.url);
    refuseUnacceptable(request);
    refuseBadKey(request);
  });
  fastify.addHook('preHandler', async (request, reply) => {
    const isAnswered = await idempotency.begin(request, reply);
    return isAnswered ? reply : undefined;
  });
  fastify.addHook('onSend', async (request, reply, payload) => {
    await idempotency.end(request, reply, payload);
    // A body that nobody asked for and that is still coming must not hold the socket.
    if (isUnread(request.raw)) {
      void reply.header('Connection', 'close');
      reply.raw.shouldKeepAlive = false;
    }
    if (request.method !== 'HEAD' || !(payload instanceof Readable)) return payload;
    payload.destroy(); // the framework would read it to its end, which may never come
    return Readable.from([]);
  });
}

/** The refusal for what only the hosted service does, with the reason. contract §3.11 (501). */
function unservedRoute({ method, url }: FastifyRequest): RefusalError | undefined {
  const [path = ''] = url.split(/[?#]/, 1);
  const reason = unservedReason(method, path.slice('/api/v1'.length));
  if (reason === undefined) return undefined;
  return new RefusalError('operation_not_supported', `not served here: ${reason}`, { status: 501 });
}

/** Every method that a route of ours has. HEAD comes with GET. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The refusal for a target that the router did not find under its method. */
function unknownRoute(fastify: FastifyInstance, target: string): RefusalError {
  const [url = ''] = target.split(/[?#]/, 1);
  const allowed = METHODS.filter((method) => fastify.findRoute({ method, url }) !== null);
  if (allowed.length === 0) return unknownResource();
  return new RefusalError('invalid_request', `the methods of this path are ${allowed.join(', ')}`, {
    status: 405,
    headers: { Allow: allowed.join(', ') },
  });
}
