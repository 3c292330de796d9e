/**
 * Requests of a run to its MCP servers over HTTP: to the server's one address, with the secret headers added outside.
 * contract §10.6 (MCP servers).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import type { McpRoute } from '../agent/agent-mcp-servers.ts';
import { answerWith, passOn } from './broker-answers.ts';
import { UpstreamError, type Upstreams } from './broker-upstreams.ts';
import { leadingElsewhere, withoutOwn } from './egress-requests.ts';

export interface McpCallsDeps {
  routes: readonly McpRoute[];
  upstreams: Upstreams;
  pace(bytes: number): Promise<void>;
  /** A stream at the run's pace. */
  throttle(): Transform;
  /** Tells what was refused, without a value. */
  onRefused(what: string, why: string): void;
}

/** Those of the protocol's transport. */
const METHODS = ['GET', 'POST', 'DELETE'];
/** Set anew, or of the run alone. */
const NOT_PASSED_ON = ['host', 'accept-encoding', 'cookie', 'forwarded'];

export class McpCalls {
  private readonly deps: McpCallsDeps;

  constructor(deps: McpCallsDeps) {
    this.deps = deps;
  }

  /** `target`: what stands behind `/mcp/`. */
  async answer(request: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
    const { routes, upstreams, throttle, pace } = this.deps;
    const { method = '' } = request;
    const route = routes.find(({ id }) => id === target);
    if (route === undefined || !METHODS.includes(method))
      return this.refuse(request, response, 404, 'this run has no MCP server at this address');
    if (!route.headers.every(({ name, placeholder }) => isSame(request.headers[name.toLowerCase()], placeholder)))
      return this.refuse(request, response, 401, 'the headers of an MCP server are not those of this run');
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    response.on('close', leave);
    const replaced = route.headers.map(({ name }) => name.toLowerCase());
    const hasBody =
      request.headers['transfer-encoding'] !== undefined || request.headers['content-length'] !== undefined;
    try {
      const answer = await upstreams.request({
        method,
        url: new URL(route.url),
        headers: [
          ...withoutOwn(request.rawHeaders, [...NOT_PASSED_ON, ...leadingElsewhere(request), ...replaced]),
          ...route.headers.flatMap(({ name, value }) => [name, value]),
          'accept-encoding',
          'identity',
        ],
        body: hasBody ? request.pipe(throttle()) : [],
        gone: gone.signal,
      });
      await passOn(answer, response, { secrets: route.secrets, pace, readsOn: false });
    } catch (error) {
      const { status, message } =
        error instanceof UpstreamError ? error : { status: 502, message: 'the MCP server could not be asked' };
      await answerWith(request, response, status, { text: `${message}\n` });
    }
  }

  private async refuse(
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    reason: string,
  ): Promise<void> {
    this.deps.onRefused('MCP request refused:', reason);
    await answerWith(request, response, status, { text: `${reason}\n` });
  }
}

/** Compared by digests: how much of a wrong one is right shows in no time. */
function isSame(said: string | string[] | undefined, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return typeof said === 'string' && timingSafeEqual(digest(said), digest(wanted));
}
