// Installs what the published TypeScript client is tried with (package checkers, Deno, Bun, older compilers) into a
// cache outside the project, and runs those tests. Plain JavaScript, no packages.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Exactly these: the checkers' rules change from version to version. */
const TOOLS = {
  '@arethetypeswrong/cli': '0.18.5',
  publint: '0.3.25',
  deno: '2.9.6',
  bun: '1.4.5',
  'typescript-5.0': 'npm:typescript@5.0.4',
  'typescript-5.4': 'npm:typescript@5.4.5',
};

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const cache =
  process.env.MILLWRIGHT_CLIENT_TOOLS_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'millwright-client-tools');

install();
process.exitCode = tests();

/** Once for each list of versions. */
function install() {
  const wanted = JSON.stringify({ private: true, dependencies: TOOLS, node: process.version });
  const marker = join(cache, '.installed');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  console.error(`millwright: installing ${Object.keys(TOOLS).join(', ')} into ${cache} (once) …`);
  rmSync(join(cache, 'node_modules'), { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), wanted);
  const { status, error } = spawnSync(
    'npm',
    ['install', '--prefix', cache, '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'],
    { cwd: cache, stdio: 'inherit' },
  );
  if (error !== undefined || status !== 0) {
    console.error('millwright: the tools could not be installed; see the lines above');
    process.exit(1);
  }
  writeFileSync(marker, wanted);
}

function tests() {
  const folder = mkdtempSync(join(tmpdir(), 'millwright-client-tests-'));
  const results = join(folder, 'results.json');
  const { status } = spawnSync(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      join(root, 'node_modules/jest/bin/jest.js'),
      '--runInBand',
      '--testPathIgnorePatterns',
      '/node_modules/',
      '--json',
      `--outputFile=${results}`,
      ...process.argv.slice(2),
      'test/clients/.+\\.external\\.spec\\.ts$',
    ],
    {
      cwd: root,
      stdio: ['inherit', 'ignore', 'inherit'],
      env: { ...process.env, MILLWRIGHT_TEST_CLIENT_TOOLS: join(cache, 'node_modules/.bin') },
    },
  );
  if (existsSync(results)) closingLine(JSON.parse(readFileSync(results, 'utf8')));
  rmSync(folder, { recursive: true, force: true });
  return status ?? 1;
}

/** The tests that did not run are counted as skipped. */
function closingLine({ numPassedTests, numFailedTests, numPendingTests }) {
  console.log(`Tests: ${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
}
