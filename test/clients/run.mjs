// Installs what the published clients and the document of the interface are tried with (package checkers, Deno, Bun,
// older compilers, checkers of documents, a generator of clients) into a cache outside the project, and runs those
// tests.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { cacheFolder, installPackages, mustFetch, once, runTests } from '../support/external-tests.mjs';

/** Exactly these: the checkers' rules change from version to version. */
const TOOLS = {
  '@arethetypeswrong/cli': '0.18.5',
  '@redocly/cli': '2.41.0',
  '@stoplight/spectral-cli': '6.16.3',
  publint: '0.3.25',
  deno: '2.9.6',
  bun: '1.4.5',
  'typescript-5.0': 'npm:typescript@5.0.4',
  'typescript-5.4': 'npm:typescript@5.4.5',
};
const GENERATOR = { name: 'openapi-generator-cli', version: '7.14.0' };
const MAVEN_COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';

/** The generator of clients, where there is what brings it, starts it, and compiles what it writes. */
function generator(cache) {
  const missing = ['java', 'mvn', 'go'].filter((program) => spawnSync(program, ['version']).error !== undefined);
  if (missing.length > 0) {
    console.error(`millwright: generated clients are SKIPPED: there is no ${missing.join(', no ')}`);
    return {};
  }
  const { name, version } = GENERATOR;
  once(cache, GENERATOR, () => {
    const artifact = `org.openapitools:${name}:${version}:jar`;
    mustFetch('mvn', ['-q', '-B', MAVEN_COPY, `-Dartifact=${artifact}`, `-DoutputDirectory=${cache}`], { cwd: cache });
  });
  return { MILLWRIGHT_TEST_OPENAPI_GENERATOR: join(cache, `${name}-${version}.jar`) };
}

const cache = cacheFolder('MILLWRIGHT_CLIENT_TOOLS_CACHE', 'client-tools');
process.exitCode = runTests('test/clients', {
  MILLWRIGHT_TEST_CLIENT_TOOLS: installPackages(cache, TOOLS),
  ...generator(join(cache, 'generator')),
});
