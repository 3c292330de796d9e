/**
 * Plain http through the proxy: a request in absolute form, passed on without what is meant for the proxy alone. RFC
 * 9110, 9112.
 */
import { type IncomingMessage, request as startRequest, type ServerResponse } from 'node:http';
import { pipeline, type Transform } from 'node:stream';
import type { Reached } from './egress-gate.ts';

/** Headers of one connection, not of the message; `expect` has been answered here. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-authenticate',
  'te',
  'trailer',
  'upgrade',
  'expect',
]);

export interface ForwardOptions {
  /** Opens the connection if the run may have it. */
  reach(target: string, gone: AbortSignal): Promise<Reached>;
  /** A stream at the run's pace. */
  throttle(): Transform;
}

/** Passes one request on, or refuses it with words. */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { reach, throttle }: ForwardOptions,
): Promise<void> {
  const url = absoluteUrl(request.url ?? '');
  if (url === undefined)
    return refuseEgress(response, 400, 'this is a proxy: ask for http://host/path, or CONNECT host:port');
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const reached = await reach(targetOf(url), gone.signal);
  if (!reached.ok) return refuseEgress(response, reached.status, reached.reason);
  const { socket } = reached;
  if (gone.signal.aborted) return void socket.destroy();
  // With the answer, or with the client, its connection ends.
  response.on('close', () => socket.destroy());
  const headers = ['host', url.host, ...withoutOwn(request.rawHeaders, ['host'])];
  const outgoing = startRequest({
    method: request.method,
    path: url.pathname + url.search,
    headers,
    createConnection: () => socket,
  });
  outgoing.on('error', () =>
    response.headersSent ? response.destroy() : refuseEgress(response, 502, 'the connection broke'),
  );
  outgoing.on('response', (answer) => answered(answer, response, throttle()));
  request.pipe(throttle()).pipe(outgoing);
}

function answered(answer: IncomingMessage, response: ServerResponse, slowed: Transform): void {
  try {
    response.writeHead(answer.statusCode ?? 0, withoutOwn(answer.rawHeaders, ['transfer-encoding']));
    pipeline(answer, slowed, response, () => undefined);
  } catch {
    // A status or a header that cannot be said again.
    response.destroy();
  }
}

/** Answers with words instead of passing on. */
export function refuseEgress(response: ServerResponse, status: number, text: string): void {
  response.shouldKeepAlive = false; // said with the header; the next request's turn looks here
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`);
}

/** `host:port` of a request to a proxy; empty where it is none. */
export function targetOfRequest(text: string): string {
  const url = absoluteUrl(text);
  return url === undefined ? '' : targetOf(url);
}

function targetOf({ hostname, port }: URL): string {
  return `${hostname}:${port === '' ? 80 : port}`;
}

function absoluteUrl(text: string): URL | undefined {
  return /^http:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
}

/** By which some servers take a request for one of another method, or to another path or host. */
const ELSEWHERE = /^x-(?:forwarded-|original-|rewrite-|http-method|method-)/i;

/** Names of headers of a request that are not passed on with a credential. */
export function leadingElsewhere({ headers }: IncomingMessage): string[] {
  return Object.keys(headers).filter((name) => ELSEWHERE.test(name.replaceAll('_', '-')));
}

/** Names and values, in order, without those of the connection, those it names itself, and some more. */
export function withoutOwn(raw: readonly string[], more: readonly string[]): string[] {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) =>
      value
        .toLowerCase()
        .split(',')
        .map((part) => part.trim()),
    );
  const dropped = new Set([...OF_THE_CONNECTION, ...named, ...more]);
  // What frames the body stays, whatever a message claims about it.
  for (const name of ['content-length', 'transfer-encoding']) if (!more.includes(name)) dropped.delete(name);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
}
