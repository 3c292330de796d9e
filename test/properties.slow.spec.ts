/** Every suite that says how many examples it tries (support/tier.ts), again with as many as this tier tries. */
import { readdirSync, readFileSync } from 'node:fs';

const ROOT = new URL('../', import.meta.url);
const suites = ['libs', 'test/flows']
  .flatMap((folder) =>
    readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  )
  .filter((path) => /(?<!\.(?:slow|long))\.spec\.ts$/.test(path) && !path.includes('node_modules'))
  .filter((path) => readFileSync(new URL(path, ROOT), 'utf8').includes('/support/tier.ts'));
for (const suite of suites) await import(`../${suite}`);

it('finds the suites', () => {
  expect(suites.length).toBeGreaterThan(5);
});
