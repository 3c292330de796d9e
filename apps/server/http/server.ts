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
import { ClientErrors } from './client-errors.ts';
import { answerAndClose } from './closing.ts';
import { hostsOf, hostVerdict } from './hosts.ts';
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
  const clientErrors = new ClientErrors();
  const adapter = new FastifyAdapter({
    serverFactory: (handler: Handler): Server => listening(config, clientErrors, routed(config, ingress, handler)),
    // The framework's own would destroy the socket behind ours.
    clientErrorHandler: (error: Error, socket: Socket): void => clientErrors.answer(error, socket),
    genReqId: () => randomUUID(),
    trustProxy: false,
    routerOptions: { maxParamLength: 500 },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply): void => {
      const problem = toProblem(toRefusal(error), { publicUrl: config.publicUrl, instance: '', traceId: request.id });
      void reply.status(toRefusal(error).status).header('Content-Type', 'application/problem+json; charset=utf-8').send(JSON.stringify(problem));
    },
  });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(instances), adapter, { bodyParser: false, logger: false, abortOnError: false });
  parseJsonBodies(app.getHttpAdapter().getInstance());
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
    if (target === '/healthz' || target === '/readyz') return api(request, response); // probes name any host, or none
    const isIngress = isIngressTarget(target);
    switch (hostVerdict(request, isIngress ? ingressHosts : apiHosts)) {
      case 'unclear':
        return answerAndClose(request, response, { status: 400, body: '{"error": "the request is not valid HTTP"}' });
      case 'ours':
        return isIngress ? ingress(request, response) : api(request, response);
      case 'foreign':
        return answerAndClose(request, response, { status: 421, body: '{"error": "this server does not answer for that host"}' });
    }
  };
}

function listening(config: Config, clientErrors: ClientErrors, handler: Handler): Server {
  // Host is looked at by us: node answers a missing one without a body.
  const options = { headersTimeout: HEADER_MS_MAX, requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS, connectionsCheckingInterval: 1_000, requireHostHeader: false };
  const answer: Handler = (request, response) => {
    clientErrors.note(request, response);
    // A server that stops answers what has come and takes nothing more of the connection: else one busy sender would hold it up.
    if (!server.listening) response.shouldKeepAlive = false;
    response.once('finish', () => {
      if (!server.listening && clientErrors.isLatest(request.socket, response)) request.socket.destroySoon();
    });
    handler(request, response);
  };
  const server = config.tls === undefined ? createPlain(options, answer) : secured(options, config.tls, answer);
  server.maxConnections = CONNECTIONS_MAX;
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!isIngressTarget(request.url ?? '')) response.writeContinue();
    answer(request, response);
  });
  server.on('checkExpectation', answer); // an unknown expectation is ignored, like any header we do not know
  server.on('connect', (request: IncomingMessage, socket: Socket) => clientErrors.refuseConnect(isIngressTarget(request.url ?? ''), socket));
  return server;
}

/** Certificate and key cannot be used; the message names the variables and what is wrong, never what the files hold. */
export class TlsProblem extends Error {}

function secured(options: object, { certFile, keyFile }: NonNullable<Config['tls']>, answer: Handler): Server {
  try {
    return createTls({ ...options, cert: readFileSync(certFile), key: readFileSync(keyFile) }, answer);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new TlsProblem(`MILLWRIGHT_TLS_CERT_FILE, MILLWRIGHT_TLS_KEY_FILE: ${certFile} and ${keyFile} are no certificate with its key (${code})`);
  }
}
