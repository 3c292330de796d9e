/** Knows the object ID that git gives a file: what names its content wherever it is stored. */
import { createHash } from 'node:crypto';

/** The hash that a repository of this revision names objects by; directories count as the common one. */
export function objectFormatOf(revision: string): 'sha1' | 'sha256' {
  return /@sha256:[0-9a-f]{64}$/.test(revision) ? 'sha256' : 'sha1';
}

/** What `git hash-object` answers for exactly these bytes. */
export function blobOf(content: Uint8Array, format: 'sha1' | 'sha256'): string {
  return createHash(format).update(`blob ${content.length}\0`).update(content).digest('hex');
}
