/** Reads a request's bytes ourselves, bounded in size and time, so that no parser of a framework comes before our checks. contract 5. */
import type { IncomingMessage } from 'node:http';

export type RawBody =
  | { kind: 'whole'; bytes: Buffer }
  /** More than the limit: declared by Content-Length, or counted until it was passed. */
  | { kind: 'too-large'; sizeBytes: number }
  | { kind: 'timeout' }
  /** The sender went away: there is nobody to answer. */
  | { kind: 'aborted' };

/** Reads at most `bytesMax` bytes within `timeoutMs`. A declared length above the limit is refused unread; `begin` is called before anything is read. */
export function readRawBody(
  request: IncomingMessage,
  bytesMax: number,
  timeoutMs: number,
  begin: () => void = () => undefined,
): Promise<RawBody> {
  const declared = declaredLength(request);
  if (declared !== undefined && declared > bytesMax) return Promise.resolve({ kind: 'too-large', sizeBytes: declared });
  begin();
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
    let isSettled = false;
    const settle = (body: RawBody): void => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      resolve(body);
    };
    const onGone = (): void => settle({ kind: 'aborted' });
    const timer = setTimeout(() => settle({ kind: 'timeout' }), timeoutMs);
    // Listeners stay: taking them off again costs more than their silence.
    request.on('data', (chunk: Buffer) => {
      if (isSettled) return; // somebody reads the rest only to be rid of it
      size += chunk.length;
      if (size <= bytesMax) return void chunks.push(chunk);
      request.pause();
      settle({ kind: 'too-large', sizeBytes: size });
    });
    request.on('end', () =>
      settle({ kind: 'whole', bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size) }),
    );
    request.on('aborted', onGone).on('error', onGone).on('close', onGone);
  });
}
