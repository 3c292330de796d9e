// Installs pre-commit into a cache outside the project (once), and runs the tests of hooks with it. Needs Python.
import { join } from 'node:path';
import { cacheFolder, must, mustFetch, once, runTests } from '../support/external-tests.mjs';

const PRE_COMMIT = '4.7.0';

const cache = cacheFolder('MILLWRIGHT_HOOKS_CACHE', 'hooks');
const programs = join(cache, 'venv/bin');
once(cache, { preCommit: PRE_COMMIT }, () => {
  console.error(`millwright: installing pre-commit ${PRE_COMMIT} into ${cache} (once) …`);
  must('python3', ['-m', 'venv', '--clear', join(cache, 'venv')], {});
  mustFetch(join(programs, 'pip'), ['install', '--quiet', `pre-commit==${PRE_COMMIT}`], {});
});
process.exitCode = runTests('test/hooks', { MILLWRIGHT_TEST_PRE_COMMIT: join(programs, 'pre-commit') });
