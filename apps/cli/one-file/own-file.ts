/** The file that runs, read from where it lies. contract §11.10 (One file), decision 0101. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { OwnFile } from '../starter/own-file.ts';
import { version } from '../version.ts';
import { SCRIPTS } from './scripts.ts';

export function ownFile(): OwnFile | undefined {
  const bytes = readFileSync(fileURLToPath(import.meta.url));
  return {
    text: bytes.toString('utf8'),
    sha256: createHash('sha256').update(bytes).digest('hex'),
    version: version(),
    scripts: SCRIPTS,
  };
}
