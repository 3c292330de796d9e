// Builds Gitea into a cache outside the project (ten minutes on two cores, once), and runs the tests with it. Needs Go.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, must, mustFetch, once, runTests } from '../support/external-tests.mjs';

/** Exactly this: another version may answer another way. */
const GITEA = 'v1.24.6';

const cache = cacheFolder('MILLWRIGHT_FORGES_CACHE', 'forges');
const [sources, program] = [join(cache, 'gitea'), join(cache, 'bin/gitea')];
once(cache, { gitea: GITEA }, () => {
  console.error(`millwright: building Gitea ${GITEA} in ${cache} (once) …`);
  // Its module names replacements of others, so that `go install` does not take it.
  const module = JSON.parse(
    mustFetch('go', ['mod', 'download', '-json', `code.gitea.io/gitea@${GITEA}`], { cwd: cache }),
  );
  rmSync(sources, { recursive: true, force: true });
  cpSync(module.Dir, sources, { recursive: true });
  must('chmod', ['-R', 'u+w', sources], {});
  must('go', ['build', '-tags', 'sqlite sqlite_unlock_notify', '-o', program, '.'], {
    cwd: sources,
    stdio: 'inherit',
    env: { ...process.env, CGO_ENABLED: '1' },
  });
});
process.exitCode = runTests('test/forges', {
  MILLWRIGHT_TEST_GITEA: program,
  MILLWRIGHT_TEST_GITEA_SOURCES: sources,
});
