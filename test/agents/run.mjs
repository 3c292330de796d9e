// Installs the coding agents of these tests into a cache outside the project, and runs the tests with them. Plain
// JavaScript, no packages.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Exactly these: another version may speak another way. */
const AGENTS = {
  'opencode-ai': '1.18.33',
  '@google/gemini-cli': '0.61.0',
  '@agentclientprotocol/claude-agent-acp': '0.49',
  '@qwen-code/qwen-code': '0.24.4',
};

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const cache =
  process.env.MILLWRIGHT_AGENTS_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'millwright-agents');

install();
process.exitCode = tests();

/** Once for each list of versions. */
function install() {
  const wanted = JSON.stringify({ private: true, dependencies: AGENTS, node: process.version });
  const marker = join(cache, '.installed');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  console.error(`millwright: installing ${Object.keys(AGENTS).join(' and ')} into ${cache} (once) …`);
  rmSync(join(cache, 'node_modules'), { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), wanted);
  const { status, error } = spawnSync(
    'npm',
    ['install', '--prefix', cache, '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'],
    { cwd: cache, stdio: 'inherit' },
  );
  if (error !== undefined || status !== 0) {
    console.error('millwright: the agents could not be installed; see the lines above');
    process.exit(1);
  }
  writeFileSync(marker, wanted);
}

function tests() {
  const folder = mkdtempSync(join(tmpdir(), 'millwright-agent-tests-'));
  const results = join(folder, 'results.json');
  const { status } = spawnSync(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      join(root, 'node_modules/jest/bin/jest.js'),
      // One after the other: two agents at once are slower than that on a small machine.
      '--runInBand',
      '--testPathIgnorePatterns',
      '/node_modules/',
      '--json',
      `--outputFile=${results}`,
      ...process.argv.slice(2),
      'test/agents/.+\\.external\\.spec\\.ts$',
    ],
    {
      cwd: root,
      stdio: ['inherit', 'ignore', 'inherit'],
      env: { ...process.env, MILLWRIGHT_TEST_AGENTS: join(cache, 'node_modules/.bin') },
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
