/**
 * Figures of this process: to whoever has a key, and without one at an address of their own that the operator names.
 * contract §1.1 (/metrics, MILLWRIGHT_METRICS_LISTEN), §1.7.
 */
import { Controller, Get, Inject, Injectable, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { ConfigError, type Config } from '../config/config.ts';
import { accessOf, Allow } from '../http/access-guard.ts';
import { RefusalError } from '../http/error-codes.ts';
import { answerInTurn, EVERY_HEADER } from '../http/pipelining.ts';
import { KEEP_ALIVE_MS } from '../http/server.ts';
import { CONFIG } from '../process/injection-tokens.ts';
import { Log } from '../process/log.ts';
import { MetricsText } from './metrics-text.ts';

@Controller()
export class MetricsController {
  constructor(private readonly metrics: MetricsText) {}

  @Get('metrics')
  @Allow('viewer')
  async figures(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    if (accessOf(request).factories !== undefined)
      throw new RefusalError(
        'not_authorized',
        'this key is limited to factories, and these figures are of all of them',
      );
    const { contentType, text } = await this.metrics.answer(request.headers.accept);
    await reply.header('Content-Type', contentType).header('Vary', 'Accept').send(text);
  }
}

/** Nobody but a few collectors asks. */
const CONNECTIONS_MAX = 50;
/** Milliseconds for a request to arrive. */
const REQUEST_MS_MAX = 10_000;

/** The same figures without a key, for a Prometheus beside the service. */
@Injectable()
export class MetricsListener {
  private server: Server | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly metrics: MetricsText,
    private readonly log: Log,
  ) {}

  /** Listens where the operator named an address. Throws ConfigError where nobody can listen there. */
  async start(): Promise<void> {
    const { metricsListen } = this.config;
    if (metricsListen === undefined) return;
    const limits = {
      headersTimeout: REQUEST_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      keepAliveTimeout: KEEP_ALIVE_MS, // a scraper comes every few seconds
    };
    const server = createServer(
      limits,
      answerInTurn((request, response) => void this.answer(request, response)),
    );
    server.maxConnections = CONNECTIONS_MAX;
    server.maxHeadersCount = EVERY_HEADER;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error.code)));
      server.listen(metricsListen, resolve);
    });
    this.server = server;
  }

  async stop(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  /** Never rejects. */
  private async answer({ method, url = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = url.split('?', 1);
    if (path !== '/metrics') return void response.writeHead(404).end();
    if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    try {
      const { contentType, text } = await this.metrics.answer(headers.accept);
      response.writeHead(200, { 'Content-Type': contentType, 'Cache-Control': 'no-store', Vary: 'Accept' }).end(text);
    } catch (error) {
      this.log.fault('metrics collection failed', error);
      response.writeHead(500).end();
    }
  }
}

function cannotListen(code = 'unknown'): ConfigError {
  return new ConfigError([
    {
      variable: 'MILLWRIGHT_METRICS_LISTEN',
      rule: `must be an address and port of this machine that are free (${code})`,
    },
  ]);
}
