// Builds actionlint into a cache outside the project (once), and runs the tests of workflow files with it. Needs Go.
import { join } from 'node:path';
import { cacheFolder, mustFetch, once, runTests } from '../support/external-tests.mjs';

const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

const cache = cacheFolder('MILLWRIGHT_WORKFLOWS_CACHE', 'workflows');
once(cache, { actionlint: ACTIONLINT }, () => {
  console.error(`millwright: building ${ACTIONLINT} in ${cache} (once) …`);
  mustFetch('go', ['install', ACTIONLINT], { cwd: cache, env: { ...process.env, GOBIN: cache } });
});
process.exitCode = runTests('test/workflows', { MILLWRIGHT_TEST_ACTIONLINT: join(cache, 'actionlint') });
