/**
 * Every suite of this folder again, on PostgreSQL; the first tier runs them on SQLite. `-t` picks one by its subject.
 */
import { readdirSync } from 'node:fs';

const suites = readdirSync(new URL('.', import.meta.url)).filter((name) =>
  /(?<!\.(?:slow|long))\.spec\.ts$/.test(name),
);
for (const suite of suites) await import(`./${suite}`);
