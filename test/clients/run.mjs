// Installs what the published TypeScript client is tried with (package checkers, Deno, Bun, older compilers) into a
// cache outside the project, and runs those tests.
import { cacheFolder, installPackages, runTests } from '../support/external-tests.mjs';

/** Exactly these: the checkers' rules change from version to version. */
const TOOLS = {
  '@arethetypeswrong/cli': '0.18.5',
  publint: '0.3.25',
  deno: '2.9.6',
  bun: '1.4.5',
  'typescript-5.0': 'npm:typescript@5.0.4',
  'typescript-5.4': 'npm:typescript@5.4.5',
};

const cache = cacheFolder('MILLWRIGHT_CLIENT_TOOLS_CACHE', 'client-tools');
process.exitCode = runTests('test/clients', { MILLWRIGHT_TEST_CLIENT_TOOLS: installPackages(cache, TOOLS) });
