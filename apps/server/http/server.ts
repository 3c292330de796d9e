/** The HTTP server: ingress requests go straight to the receiver, everything else to the API; node's own error pages are replaced. contract 1, 5. */
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTls } from 'node:https';
import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { HEADER_MS_MAX } from '#deliveries';
import { NestFactory } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.ts';
import type { Config } from '../config.ts';
import { isIngressTarget } from '../ingress/listener.ts';
import type { Log } from '../log.ts';
import { AccessGuard } from './access.ts';
import { parseJsonBodies, schemaPipe } from './body.ts';
import { hostsOf } from './hosts.ts';
import { ProblemFilter, toRefusal } from './problems.ts';
import { toProblem } from './answers.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Open sockets of one process: more wait in the kernel's queue. */
const CONNECTIONS_MAX = 20_000;
const KEEP_ALIVE_MS = 65_000;

export interface HttpParts {
  config: Config;
  log: Log;
  ingress: Handler;
  instances: readonly object[];
}

/** Builds the application, not yet listening. */
export async function createHttp({ config, log, ingress, instances }: HttpParts): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    serverFactory: (handler: Handler): Server => listening(config, routed(config, ingress, handler)),
    genReqId: () => randomUUID(),
    trustProxy: false,
    routerOptions: { maxParamLength: 500 },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply): void => {
      const problem = toProblem(toRefusal(error), { publicUrl: config.publicUrl, instance: '', traceId: request.id });
      void reply.status(toRefusal(error).status).header('Content-Type', 'application/problem+json; charset=utf-8').send(JSON.stringify(problem));
    },
  });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(instances), adapter, { bodyParser: false, logger: ['error', 'warn'], abortOnError: false });
  parseJsonBodies(app.getHttpAdapter().getInstance() as never);
  app.useGlobalFilters(new ProblemFilter(config.publicUrl, log));
  app.useGlobalPipes(schemaPipe());
  app.useGlobalGuards(new PublicOrGuarded(app.get(AccessGuard)));
  return app;
}

/** Health answers everybody; everything else is behind the one guard. */
class PublicOrGuarded {
  private readonly guard: AccessGuard;
  constructor(guard: AccessGuard) {
    this.guard = guard;
  }
  canActivate(context: Parameters<AccessGuard['canActivate']>[0]): boolean | Promise<boolean> {
    const { url } = context.switchToHttp().getRequest<{ url: string }>();
    return url.startsWith('/healthz') || url.startsWith('/readyz') || this.guard.canActivate(context);
  }
}

function routed(config: Config, ingress: Handler, api: Handler): Handler {
  const apiHosts = hostsOf([config.publicUrl]);
  const ingressHosts = hostsOf([config.ingressUrl]);
  return (request, response) => {
    const target = request.url ?? '';
    const host = (request.headers.host ?? '').toLowerCase();
    if (isIngressTarget(target)) return ingressHosts.has(host) ? ingress(request, response) : misdirected(request, response);
    if (target === '/healthz' || target === '/readyz' || apiHosts.has(host)) return api(request, response);
    return misdirected(request, response);
  };
}

function misdirected(request: IncomingMessage, response: ServerResponse): void {
  const body = '{"error": "this server does not answer for that host"}';
  response.writeHead(421, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), connection: 'close' }).end(body);
  request.resume();
}

function listening(config: Config, handler: Handler): Server {
  const options = { headersTimeout: HEADER_MS_MAX, requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS, connectionsCheckingInterval: 1_000 };
  const server = config.tls === undefined
    ? createPlain(options, handler)
    : createTls({ ...options, cert: readFileSync(config.tls.certFile), key: readFileSync(config.tls.keyFile) }, handler);
  server.maxConnections = CONNECTIONS_MAX;
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!isIngressTarget(request.url ?? '')) response.writeContinue();
    handler(request, response);
  });
  server.on('checkExpectation', handler); // an unknown expectation is ignored, like any header we do not know
  server.on('clientError', answerClientError);
  return server;
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [number, string, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'the request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request took too long'],
};

/** What cannot be parsed as HTTP gets a constant answer that repeats nothing of it. */
function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, reason, message] = CLIENT_ERRORS[error.code ?? ''] ?? [400, 'Bad Request', 'the request is not valid HTTP'];
  const body = `{"error": "${message}"}`;
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
