/**
 * A model endpoint on loopback that answers by script: streams texts and tool calls, or misbehaves; records what it is
 * asked. One server speaks every protocol that is listed here.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropicMessages } from './fake-model-anthropic.ts';
import { chatCompletions } from './fake-model-chat.ts';
import { geminiContent } from './fake-model-gemini.ts';
import { responses } from './fake-model-responses.ts';

/** What the model answers to one request. */
export interface Answer {
  /** Thoughts before the text. */
  reasoning?: string;
  text?: string;
  tools?: readonly { name: string; input: unknown }[];
  /** `done` unless something is said; with tools the protocol's own word for a tool call. */
  finish?: 'done' | 'length' | 'refusal';
  usage?: { input: number; output: number; cached?: number };
  /** Milliseconds between two pieces of the stream. */
  pauseMs?: number;
}

/** How the endpoint misbehaves. */
export type Fault =
  | { fault: 'status'; status: number; message?: string; headers?: Readonly<Record<string, string>> }
  /** Accepts the request and never answers. */
  | { fault: 'hang' }
  /** Begins its answer and never goes on. */
  | { fault: 'stall'; text: string }
  /** Begins its answer and cuts the connection. */
  | { fault: 'cut'; text: string }
  /** Begins its answer, then sends what is no JSON. */
  | { fault: 'malformed'; text: string }
  /** Begins its answer and ends it in an orderly way, without saying that it is done. */
  | { fault: 'unfinished'; text: string }
  /** Answers 200 with a page for people. */
  | { fault: 'page' }
  /** Sends an error inside the stream. */
  | { fault: 'stream-error'; message: string };

export type Reply = Answer | Fault;

/** One message of the conversation as the endpoint got it, whatever the protocol. */
export interface AskedMessage {
  role: 'user' | 'assistant' | 'tool';
  text: string;
  /** Tool calls of an assistant. */
  calls: readonly { id: string; name: string; input: unknown }[];
  /** Media types of attached files. */
  files: readonly string[];
}

/** A request, read. */
export interface Asked {
  protocol: string;
  model: string;
  stream: boolean;
  system: string;
  messages: readonly AskedMessage[];
  /** Names of the offered tools. */
  tools: readonly string[];
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}

/** One provider's way to ask and to answer. A new provider is one of these. */
export interface Protocol {
  name: string;
  /** `path` without a query. */
  matches(path: string): boolean;
  read(body: Record<string, unknown>, path: string): Omit<Asked, 'protocol' | 'headers' | 'body'>;
  /** The answer as pieces of an event stream. */
  stream(answer: Answer, asked: Asked): string[];
  /** The answer as one JSON value, for requests that do not stream. */
  whole(answer: Answer, asked: Asked): unknown;
  /** The body of an answer that is an error. */
  error(status: number, message: string): unknown;
  /** The same inside a stream. */
  streamedError(message: string): string;
}

const PROTOCOLS: readonly Protocol[] = [chatCompletions, responses, anthropicMessages, geminiContent];

/**
 * Either replies in order (the last one is repeated), or one worked out from the request; `index` counts requests from
 * 0.
 */
export type Script = readonly Reply[] | ((asked: Asked, index: number) => Reply);

export interface FakeModelServer {
  /** `http://127.0.0.1:<port>`; the provider's base URL is this with `/v1`. */
  url: string;
  readonly requests: readonly Asked[];
  /** Changes what is answered from the next request on, and forgets the requests so far. */
  script: Script;
  close(): Promise<void>;
}

/** Starts a server on a port of its own. */
export async function startFakeModelServer(script: Script): Promise<FakeModelServer> {
  const requests: Asked[] = [];
  const sockets = new Set<Socket>();
  let [current, index] = [script, 0];
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const protocol = PROTOCOLS.find((known) => known.matches(path));
    const body = await bodyOf(request);
    if (protocol === undefined)
      return void response
        .writeHead(404, JSON_TYPE)
        .end(JSON.stringify({ error: { message: `no such path: ${path}` } }));
    const asked: Asked = { ...protocol.read(body, path), protocol: protocol.name, headers: request.headers, body };
    requests.push(asked);
    const reply =
      typeof current === 'function' ? current(asked, index) : (current[Math.min(index, current.length - 1)] ?? {});
    index += 1;
    await send(reply, asked, protocol, response);
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get script() {
      return current;
    },
    set script(next) {
      [current, index] = [next, 0];
      requests.splice(0);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };
/** Clients that try again do so at once. */
const SOON = { 'retry-after-ms': '1' };
const STREAM_TYPE = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };

async function send(reply: Reply, asked: Asked, protocol: Protocol, response: ServerResponse): Promise<void> {
  if ('fault' in reply) return misbehave(reply, asked, protocol, response);
  if (!asked.stream) return void response.writeHead(200, JSON_TYPE).end(JSON.stringify(protocol.whole(reply, asked)));
  response.writeHead(200, STREAM_TYPE);
  for (const piece of protocol.stream(reply, asked)) {
    if (reply.pauseMs !== undefined) await sleep(reply.pauseMs);
    if (response.destroyed) return;
    response.write(piece);
  }
  response.end();
}

function misbehave(reply: Fault, asked: Asked, protocol: Protocol, response: ServerResponse): void {
  if (reply.fault === 'hang') return; // the socket is ended with the client or the server
  if (reply.fault === 'status') {
    return void response
      .writeHead(reply.status, { ...JSON_TYPE, ...SOON, ...reply.headers })
      .end(JSON.stringify(protocol.error(reply.status, reply.message ?? 'no')));
  }
  if (reply.fault === 'page')
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>sign in</html>');
  response.writeHead(200, STREAM_TYPE);
  if (reply.fault === 'stream-error') return void response.end(protocol.streamedError(reply.message));
  response.write(begun(reply.text, asked, protocol));
  if (reply.fault === 'malformed') response.end('data: {"this is": no JSON\n\n');
  if (reply.fault === 'unfinished') response.end();
  if (reply.fault === 'cut') setImmediate(() => response.destroy());
}

/** The pieces of an answer up to its text. */
function begun(text: string, asked: Asked, protocol: Protocol): string {
  const pieces = protocol.stream({ text }, asked);
  return pieces.slice(0, pieces.findIndex((piece) => piece.includes(JSON.stringify(text))) + 1).join('');
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>);
}
