/** How payload bytes are stored: compressed where that is worth its time. contract §5.9 (Log). */
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/**
 * Below this, compressing costs more time at receipt than the disk it saves: one database page holds the row either
 * way.
 */
const COMPRESSED_FROM_BYTES = 2_048;
const FASTEST = 1;

/** Bytes to store and the name of their encoding. */
export function encodePayload(body: Uint8Array): { payload: Uint8Array; payloadEncoding: string } {
  if (body.length < COMPRESSED_FROM_BYTES) return { payload: body, payloadEncoding: 'identity' };
  const deflated = deflateRawSync(body, { level: FASTEST });
  return deflated.length < body.length
    ? { payload: deflated, payloadEncoding: 'deflate-raw' }
    : { payload: body, payloadEncoding: 'identity' };
}

/** The exact bytes that were received. */
export function decodePayload(stored: { bytes: Uint8Array; encoding: string }): Uint8Array {
  return stored.encoding === 'deflate-raw' ? inflateRawSync(stored.bytes) : stored.bytes;
}
