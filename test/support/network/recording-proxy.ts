/** A proxy on loopback that counts what a client sends, and can answer in the service's place. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PassedRequest {
  method: string;
  path: string;
  atMs: number;
  /** Status that the client got. */
  status: number;
}

export interface CannedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface RecordingProxy {
  url: string;
  /** What has been answered since the last call. */
  recorded(): PassedRequest[];
  /** Settles when the next request has been answered. */
  nextAnswer(): Promise<PassedRequest>;
  /** The next request is answered with this, and does not reach the service. */
  answerNext(answer: CannedAnswer): void;
  close(): Promise<void>;
}

/** An answer of the real service, to be given again. */
export async function cannedFrom(answer: Response): Promise<CannedAnswer> {
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !HOP_HEADERS.has(name)));
  return { status: answer.status, headers, body: await answer.text() };
}

const HOP_HEADERS = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'host',
  'expect',
]);

/** Starts a proxy in front of a service; the service sees its own name in Host. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  let passed: PassedRequest[] = [];
  const canned: CannedAnswer[] = [];
  const waiting: ((request: PassedRequest) => void)[] = [];
  const server = createServer((request, response) => {
    const atMs = performance.now();
    void (async () => {
      const answer = canned.shift() ?? (await forward(target, request));
      send(response, answer);
      const seen = { method: request.method ?? '', path: request.url ?? '', atMs, status: answer.status };
      passed.push(seen);
      waiting.shift()?.(seen);
    })().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    recorded: () => {
      const taken = passed;
      passed = [];
      return taken;
    },
    nextAnswer: () => new Promise((resolve) => waiting.push(resolve)),
    answerNext: (answer) => void canned.push(answer),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function forward(target: string, request: IncomingMessage): Promise<CannedAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      HOP_HEADERS.has(name) || value === undefined ? [] : [[name, String(value)] as const],
    ),
  );
  const body = chunks.length === 0 ? undefined : Buffer.concat(chunks);
  return cannedFrom(
    await fetch(target + (request.url ?? ''), { method: request.method, headers, body, redirect: 'manual' }),
  );
}

function send(response: ServerResponse, { status, headers, body }: CannedAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
