/** Reads a request's bytes ourselves, bounded in size and time, so that no parser of a framework comes before our checks. contract 5. */
import type { IncomingMessage } from 'node:http';

export type RawBody =
  | { kind: 'whole'; bytes: Buffer }
  /** More than the limit: declared by Content-Length, or counted until it was passed. */
  | { kind: 'too-large'; sizeBytes: number }
  | { kind: 'timeout' }
  /** The sender went away: there is nobody to answer. */
  | { kind: 'aborted' };

/** Reads at most `bytesMax` bytes within `timeoutMs`. A declared length above the limit is refused unread. */
export function readRawBody(request: IncomingMessage, bytesMax: number, timeoutMs: number): Promise<RawBody> {
  const declared = declaredLength(request);
  if (declared !== undefined && declared > bytesMax) return Promise.resolve({ kind: 'too-large', sizeBytes: declared });
  return collect(request, bytesMax, timeoutMs);
}

/** Content-Length as a number; node has refused malformed and repeated ones before. */
export function declaredLength(request: IncomingMessage): number | undefined {
  const text = request.headers['content-length'];
  return text === undefined ? undefined : Number(text);
}

function collect(request: IncomingMessage, bytesMax: number, timeoutMs: number): Promise<RawBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (body: RawBody): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('aborted', onGone).off('error', onGone).off('close', onGone);
      resolve(body);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > bytesMax) {
        request.pause();
        return settle({ kind: 'too-large', sizeBytes: size });
      }
      chunks.push(chunk);
    };
    const onEnd = (): void => settle({ kind: 'whole', bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size) });
    const onGone = (): void => settle({ kind: 'aborted' });
    const timer = setTimeout(() => settle({ kind: 'timeout' }), timeoutMs);
    request.on('data', onData).on('end', onEnd).on('aborted', onGone).on('error', onGone).on('close', onGone);
  });
}

/** Bytes and time that a refused body may still take, so that the sender gets to read the answer instead of a reset. contract 5. */
const DRAIN_BYTES_MAX = 65_536;
const DRAIN_MS_MAX = 1_000;

/** Lets the rest of a refused body run out within bounds, then closes the connection. */
export function drain(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let left = DRAIN_BYTES_MAX;
  const end = (): void => void request.socket.destroySoon();
  const timer = setTimeout(end, DRAIN_MS_MAX);
  timer.unref();
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  request.once('close', () => clearTimeout(timer)).once('error', () => undefined);
  request.resume();
}
