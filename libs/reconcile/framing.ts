/** Knows how a list of texts is fed to a hash so that no other list gives the same bytes. contract §1. */
import type { Hash, Hmac } from 'node:crypto';

const LENGTH_BYTES = 4; // a part is at most a file of 256 KiB or a path, far below 4 GiB

/**
 * Feeds each part as its length in bytes (32 bit, big-endian) and its bytes; texts as UTF-8. Returns the hash it was
 * given.
 */
export function updateFramed<T extends Hash | Hmac>(hash: T, parts: readonly (string | Uint8Array)[]): T {
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  }
  return hash;
}
