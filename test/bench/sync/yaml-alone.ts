/**
 * The counterpart of `validate`: reads the definition files of the folders that it is given and parses their YAML,
 * nothing more.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

let count = 0;
for (const folder of process.argv.slice(2)) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
    parse(entry.name.endsWith('.md') ? (text.split(/^---$/m, 2)[1] ?? '') : text);
    count += 1;
  }
}
process.stdout.write(`${count}\n`);
