/**
 * Strict text forms of bytes: one text per value, nothing skipped, nothing guessed. contract §5.5.
 */

/**
 * Bytes of canonical padded base64 in the standard alphabet; undefined for anything else. Node's decoder skips what it
 * does not know, so the decoded bytes are encoded again and must give the very same text.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : undefined;
}
