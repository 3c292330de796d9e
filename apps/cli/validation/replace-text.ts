/** How a file of the author's gets another text: in place, and only if it is still what was read. */
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Writes through no link, and over nothing that was changed since it was read; mode and owner stay. */
export function replaceText(file: string, read: Uint8Array, text: string): string | undefined {
  const handle = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    if (Buffer.compare(readFileSync(handle), read) !== 0) return 'it was changed meanwhile';
    const bytes = Buffer.from(text, 'utf8');
    for (let written = 0; written < bytes.length;)
      written += writeSync(handle, bytes, written, bytes.length - written, written);
    ftruncateSync(handle, bytes.length);
    return undefined;
  } finally {
    closeSync(handle);
  }
}
