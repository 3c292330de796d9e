/**
 * How the broker of a run answers: another server's words without its credentials, or words of its own. contract §10.3
 * (Model calls).
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { redact, redactor } from '#isolation';
import { withoutOwn } from './egress-requests.ts';

export interface AnswerOptions {
  /** Values that the run must not see, whoever repeats them. */
  secrets: readonly string[];
  /** Resolves when so many bytes may be passed on. */
  pace(bytes: number): Promise<void>;
  /** Every byte as it came. */
  onBytes?(bytes: Uint8Array): void;
  /** What to pass on of these bytes; all of them unless said. */
  filter?: { push(bytes: Uint8Array): Uint8Array; end(): Uint8Array };
  /** Nobody reads it any more: whether it is read to its end all the same. */
  readsOn: boolean;
}

/** Headers of an answer that would not be true any more, or are nobody's business but the broker's. */
const NOT_PASSED_ON = [
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
];

/** Milliseconds for the rest of an answer that nobody reads any more, to know what it has cost. */
export const REST_MS_MAX = 5 * 60_000;

/**
 * Passes an answer on, piece by piece as it comes. What is compressed, although nobody asked for that, is not any more:
 * a value inside would not be seen, nor what a call has used. Resolves at its end; never rejects.
 */
export async function passOn(answer: IncomingMessage, response: ServerResponse, options: AnswerOptions): Promise<void> {
  const { secrets, pace, onBytes, filter, readsOn } = options;
  const plain = decoded(answer, response);
  if (plain === undefined) {
    answer.destroy();
    const text = 'the host answered in an encoding that the credential broker of this run cannot read\n';
    return answerWith(response.req, response, 502, { text });
  }
  const hidden = bytesRedactor(secrets);
  const ended = (): void => {
    if (!readsOn) return void answer.destroy();
    late = setTimeout(() => answer.destroy(), REST_MS_MAX);
  };
  let late: NodeJS.Timeout | undefined;
  if (response.destroyed) ended();
  else response.on('close', ended);
  try {
    writeHead(answer, response, secrets);
    for await (const bytes of plain as AsyncIterable<Buffer>) {
      onBytes?.(bytes);
      if (response.destroyed) continue;
      await pace(bytes.byteLength);
      await written(response, hidden.push(filter === undefined ? bytes : filter.push(bytes)));
    }
    response.off('close', ended);
    if (filter !== undefined) response.write(hidden.push(filter.end()));
    response.end(hidden.end());
  } catch {
    // It broke off, or its head cannot be said again: so does this one.
    response.destroy();
  } finally {
    clearTimeout(late);
    response.off('close', ended);
  }
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The bytes of an answer without its encoding; undefined: it is none that is known. */
function decoded(answer: IncomingMessage, { req }: ServerResponse): Readable | undefined {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const isEmpty = req.method === 'HEAD' || answer.statusCode === 204 || answer.statusCode === 304;
  if (isEmpty || encoding === '' || encoding === 'identity') return answer;
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined;
  if (decoder !== undefined) pipeline(answer, decoder, () => undefined);
  return decoder;
}

function writeHead(answer: IncomingMessage, response: ServerResponse, secrets: readonly string[]): void {
  const headers = withoutOwn(answer.rawHeaders, NOT_PASSED_ON).map((text) => redact(text, secrets));
  response.writeHead(answer.statusCode ?? 502, headers);
  response.flushHeaders();
}

async function written(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  if (bytes.byteLength === 0 || response.write(bytes)) return;
  const gone = new AbortController();
  const close = (): void => gone.abort();
  response.once('close', close);
  await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
  response.off('close', close);
}

/** The redaction of logs, byte for byte: what is no text passes unchanged. */
function bytesRedactor(secrets: readonly string[]): { push(bytes: Uint8Array): Uint8Array; end(): Uint8Array } {
  const byBytes = secrets.flatMap((value) => [value, Buffer.from(value, 'utf8').toString('latin1')]);
  const stream = redactor([...new Set(byBytes)]);
  return {
    push: (bytes) =>
      secrets.length === 0
        ? bytes
        : Buffer.from(
            stream.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')),
            'latin1',
          ),
    end: () => Buffer.from(stream.end(), 'latin1'),
  };
}

/** Answers with words instead, when the request is read: who still sends does not hear. */
export async function answerWith(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  { type = 'text/plain; charset=utf-8', text }: { type?: string; text: string },
): Promise<void> {
  await skipBody(request);
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}

function skipBody(request: IncomingMessage): Promise<void> {
  let bytes = 0;
  return new Promise((resolve) => {
    if (request.readableEnded || request.destroyed) return resolve();
    for (const event of ['end', 'close', 'error']) request.once(event, () => resolve());
    request.on('data', (part: Buffer) => {
      bytes += part.byteLength;
      if (bytes > BODY_BYTES_MAX) request.destroy();
    });
    request.resume();
  });
}

/** Bytes of one body, and of all bodies of a run that are held at once: what the largest context of a model takes. */
const BODY_BYTES_MAX = 32 * 1_024 ** 2;
const BODIES_BYTES_MAX = 64 * 1_024 ** 2;

export interface HeldBody {
  ok: true;
  parts: readonly Buffer[];
  /** It is sent, or it is not needed. May be repeated. */
  release(): void;
}

export interface BodyRefusal {
  ok: false;
  status: number;
  reason: string;
}

function refusedBody(status: number, reason: string): BodyRefusal {
  return { ok: false, status, reason };
}

/** What the bodies of a run's requests take together. */
export class CallBodies {
  private bytes = 0;

  /** The whole body, or its refusal. `onBytes` sees it as it comes. Release it when it is sent. */
  async read(request: IncomingMessage, onBytes: (bytes: Uint8Array) => void): Promise<HeldBody | BodyRefusal> {
    const parts: Buffer[] = [];
    let held = 0;
    const release = (): void => {
      this.bytes -= held;
      held = 0;
    };
    try {
      // Without its end: what is refused is still answered.
      const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      for await (const bytes of pieces) {
        held += bytes.byteLength;
        this.bytes += bytes.byteLength;
        if (held > BODY_BYTES_MAX)
          return (release(), refusedBody(413, 'the request is larger than calls of models are'));
        if (this.bytes > BODIES_BYTES_MAX)
          return (release(), refusedBody(503, 'too many requests of this run are held'));
        onBytes(bytes);
        parts.push(bytes);
      }
    } catch {
      return (release(), refusedBody(400, 'the request broke off'));
    }
    return { ok: true, parts, release };
  }
}
