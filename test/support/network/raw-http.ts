/**
 * HTTP written byte by byte over a socket: for requests that no client library would send, and answers exactly as they
 * came.
 */
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  /** Header names in lower case; a repeated header's values joined by commas. */
  headers: ReadonlyMap<string, string>;
  body: string;
  /** Status codes of interim answers (100 Continue) that came before. */
  interim: readonly number[];
}

export interface RawConnection {
  readonly socket: Socket;
  send(bytes: string | Uint8Array): void;
  /** The next final answer; rejects when the connection ends before it is whole. `toHead`: it has no body. */
  answer(options?: { toHead?: boolean }): Promise<RawAnswer>;
  /** Everything received and not yet read as an answer. */
  pending(): string;
  /** Settles when the other side has closed, in order or by a reset. */
  readonly closed: Promise<void>;
  destroy(): void;
}

export type HeaderLines = readonly (readonly [name: string, value: string])[];

export interface RawRequest {
  method?: string;
  /** Request target as sent. */
  target: string;
  headers?: HeaderLines;
  body?: string | Uint8Array;
  /** The Host header; null: none. */
  host?: string | null;
  /** Content-Length header; null: none. */
  declared?: number | null;
}

/** Opens a connection to the server of a URL. */
export async function connectRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let received = '';
  let over = false;
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((look) => look());
  const closed = new Promise<void>((resolve) => {
    const end = (): void => {
      over = true;
      wake();
      resolve();
    };
    socket.once('end', end).once('close', end);
  });
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    wake();
  });
  socket.on('error', () => undefined); // a reset shows as `closed`
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));

  return {
    socket,
    closed,
    send: (bytes) => void socket.write(bytes),
    pending: () => received,
    destroy: () => void socket.destroy(),
    answer: ({ toHead = false } = {}) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const parsed = parseAnswer(received, toHead);
          if (parsed === undefined && !over) return;
          waiting.delete(look);
          if (parsed === undefined)
            return reject(new Error(`the connection ended without a whole answer: ${JSON.stringify(received)}`));
          received = received.slice(parsed.length);
          resolve(parsed.answer);
        };
        waiting.add(look);
        look();
      }),
  };
}

/** One request on a connection of its own. */
export async function exchange(url: string, request: RawRequest | string | Uint8Array): Promise<RawAnswer> {
  const connection = await connectRaw(url);
  try {
    connection.send(
      typeof request === 'string' || request instanceof Uint8Array ? request : requestBytes(url, request),
    );
    return await connection.answer({
      toHead: typeof request === 'object' && 'method' in request && request.method === 'HEAD',
    });
  } finally {
    connection.destroy();
  }
}

/** The bytes of a request: head, blank line, body. */
export function requestBytes(url: string, request: RawRequest): Uint8Array {
  const body = Buffer.from(request.body ?? '');
  return Buffer.concat([
    Buffer.from(
      requestHead(url, { ...request, declared: request.declared === undefined ? body.length : request.declared }),
      'latin1',
    ),
    body,
  ]);
}

/** Request line and headers with the blank line behind them. */
export function requestHead(
  url: string,
  { method = 'POST', target, headers = [], host, declared = null }: RawRequest,
): string {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(host === null ? [] : [`Host: ${host ?? new URL(url).host}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(declared === null ? [] : [`Content-Length: ${BigInt(declared)}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** One chunk of a chunked body. */
export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** The last chunk. */
export const LAST_CHUNK = '0\r\n\r\n';

function parseAnswer(text: string, toHead: boolean): { answer: RawAnswer; length: number } | undefined {
  const interim: number[] = [];
  for (let start = 0; ;) {
    const end = text.indexOf('\r\n\r\n', start);
    if (end < 0) return undefined;
    const [statusLine = '', ...lines] = text.slice(start, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
    if (status < 200) {
      interim.push(status);
      start = end + 4;
      continue;
    }
    const headers = headersOf(lines);
    const length = toHead ? 0 : Number(headers.get('content-length') ?? 0);
    const body = text.slice(end + 4, end + 4 + length);
    return body.length < length ? undefined : { answer: { status, headers, body, interim }, length: end + 4 + length };
  }
}

function headersOf(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const before = headers.get(name);
    headers.set(name, (before === undefined ? '' : `${before}, `) + line.slice(colon + 1).trim());
  }
  return headers;
}
