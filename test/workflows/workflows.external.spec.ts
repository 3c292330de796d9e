/**
 * The jobs that `init --ci` writes and those that the action's page shows, read by actionlint: syntax, expressions,
 * inputs of actions. contract §11.3 (CI).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CI_PATHS } from '../../apps/cli/starter/ci-jobs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMMAND = join(ROOT, 'dist/millwright.mjs');
const CHECKOUT = join(ROOT, 'apps/cli/millwright.mjs');
const actionlint = process.env['MILLWRIGHT_TEST_ACTIONLINT'] ?? '';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millwright-workflows-'));
  for (const args of [
    ['init', '--quiet', '.'],
    ['config', 'user.name', 't'],
  ])
    execFileSync('git', args, { cwd: folder });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What actionlint says of the files; nothing of those that are right. */
function lint(...paths: string[]): string {
  const { stdout, stderr, error } = spawnSync(actionlint, ['-no-color', '-oneline', ...paths], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return stdout + stderr;
}

function init(command: string, host: string): void {
  const { status, stderr } = spawnSync(process.execPath, [command, 'init', '.', '--ci', host], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
}

it.each([
  ['github', 'the command as one file', COMMAND],
  ['github', 'a checkout', CHECKOUT],
  ['gitea', 'the command as one file', COMMAND],
  ['gitea', 'a checkout', CHECKOUT],
] as const)('the job of %s, with %s', (host, _how, command) => {
  init(command, host);
  expect(lint(CI_PATHS[host])).toBe('');
});

it("the jobs on the action's page", () => {
  const page = readFileSync(join(ROOT, 'apps/cli/action/README.md'), 'utf8');
  const shown = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
  const jobs = shown.filter((text) => /^steps:/m.test(text));
  expect(jobs.length).toBeGreaterThan(0);
  for (const [at, job] of jobs.entries()) {
    const path = `.github/workflows/shown-${at}.yml`;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const head = 'on: pull_request\njobs:\n  check:\n    runs-on: ubuntu-latest\n';
    writeFileSync(join(folder, path), head + job.replaceAll(/^(?=.)/gm, '    '));
    expect(lint(path)).toBe('');
  }
});

it.each([
  ['an input that the action does not have', 'sha256:', 'sha265:'],
  ['a runner that there is none of', 'ubuntu-latest', 'ubuntu-latst'],
  ['an expression that cannot be read', 'vars.MILLWRIGHT_SERVER', 'vars..MILLWRIGHT_SERVER'],
])('finds %s, so that its silence means something', (_fault, right, wrong) => {
  init(COMMAND, 'github');
  const path = join(folder, CI_PATHS.github);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(right);
  writeFileSync(path, text.replace(right, wrong));
  expect(lint(CI_PATHS.github)).not.toBe('');
});
