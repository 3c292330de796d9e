/** Files and their digest, by which a task knows whether what it makes is still of today's sources. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** All files below a folder, sorted, but for installed packages and what a checker keeps. */
export function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/node_modules|\.venv|\.mypy_cache/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Of their paths, sizes and contents. */
export function digestOf(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash.update(`${file.slice(root.length)} ${statSync(file).size} `).update(readFileSync(file));
  return hash.digest('hex');
}
