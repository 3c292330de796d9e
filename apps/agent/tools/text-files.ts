/** Text files: read whole within a bound, only when they are text. */
import { readFile, stat } from 'node:fs/promises';

/**
 * Bytes of a file that is read whole: larger ones are no sources, and an edit would hold them several times in memory.
 */
export const WHOLE_FILE_BYTES_MAX = 8 * 1_024 * 1_024;

export type TextFile = { ok: true; text: string } | { ok: false; reason: string };

/**
 * The text of a regular file in UTF-8 without NUL; a byte order mark stays part of it. Throws the file system's errors.
 */
export async function readText(realPath: string): Promise<TextFile> {
  const status = await stat(realPath);
  if (status.isDirectory()) return { ok: false, reason: 'is a folder' };
  // Opening a pipe or a device could wait for ever.
  if (!status.isFile()) return { ok: false, reason: 'is not a regular file' };
  if (status.size > WHOLE_FILE_BYTES_MAX)
    return {
      ok: false,
      reason:
        `has ${status.size} bytes, more than the ${WHOLE_FILE_BYTES_MAX} that are read at once; use bash to look ` +
        'at parts of it',
    };
  const bytes = await readFile(realPath);
  if (bytes.includes(0)) return { ok: false, reason: `is a binary file of ${bytes.length} bytes` };
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { ok: false, reason: `is not text in UTF-8 (${bytes.length} bytes)` };
  }
}
