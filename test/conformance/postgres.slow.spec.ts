/**
 * Every suite of this folder that is declared on each database again, on PostgreSQL; the first tier runs them on
 * SQLite. `-t` picks one by its subject.
 */
import { readdirSync, readFileSync } from 'node:fs';

const suites = readdirSync(new URL('.', import.meta.url))
  .filter((name) => /(?<!\.(?:slow|long))\.spec\.ts$/.test(name))
  .filter((name) => /\bon(?:EachBackend|Postgres)\(/.test(readFileSync(new URL(name, import.meta.url), 'utf8')));
for (const suite of suites) await import(`./${suite}`);

it('finds the suites', () => {
  expect(suites.length).toBeGreaterThan(30);
});
