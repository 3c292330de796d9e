// Suites called `x.external.spec.ts` need programs that are no packages of this project: they are installed into a
// cache outside of it, once for each list of versions. Plain JavaScript without packages: it runs before any is there.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closingLine } from '../../.ci/closing-line.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** Between attempts to fetch something. */
const PAUSES_MS = [5_000, 15_000];

/** The folder of a cache: what the variable says, or that of the user. */
export function cacheFolder(variable, name) {
  return process.env[variable] ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), `millwright-${name}`);
}

/** Installs packages of npm into a cache. Answers the folder of their programs; ends the process where that fails. */
export function installPackages(cache, packages) {
  once(cache, { private: true, dependencies: packages, node: process.version }, (wanted) => {
    console.error(`millwright: installing ${Object.keys(packages).join(', ')} into ${cache} (once) …`);
    rmSync(join(cache, 'node_modules'), { recursive: true, force: true });
    writeFileSync(join(cache, 'package.json'), wanted);
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
    mustFetch('npm', ['install', '--prefix', cache, ...quiet], { cwd: cache, stdio: 'inherit' });
  });
  return join(cache, 'node_modules/.bin');
}

/** Fills a cache when the list of what is wanted has changed since the last time. */
export function once(cache, list, fill) {
  const wanted = JSON.stringify(list);
  const marker = join(cache, '.installed');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  mkdirSync(cache, { recursive: true });
  fill(wanted);
  writeFileSync(marker, wanted);
}

/** Runs a program. Answers what it printed; ends the process where it fails. */
export function must(program, args, options) {
  return printedBy(program, args, options) ?? failed(program, args);
}

/** The same with a program that fetches something: a connection that broke is tried again. */
export function mustFetch(program, args, options) {
  for (const pauseMs of PAUSES_MS) {
    const printed = printedBy(program, args, options);
    if (printed !== undefined) return printed;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
  return must(program, args, options);
}

/** Undefined where it fails. */
function printedBy(program, args, options) {
  const { status, stdout, error } = spawnSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
  return error === undefined && status === 0 ? (stdout ?? '') : undefined;
}

function failed(program, args) {
  console.error(`millwright: ${program} ${args.join(' ')} failed; see the lines above`);
  return process.exit(1);
}

/**
 * Runs the external suites of a folder, one after the other: two at once are slower than that on a small machine.
 * Prints how many tests passed; answers the exit code.
 */
export function runTests(folder, environment, args = process.argv.slice(2)) {
  const box = mkdtempSync(join(tmpdir(), 'millwright-external-tests-'));
  const results = join(box, 'results.json');
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
      ...args,
      `${folder}/.+\\.external\\.spec\\.ts$`,
    ],
    { cwd: root, stdio: ['inherit', 'ignore', 'inherit'], env: { ...process.env, ...environment } },
  );
  if (existsSync(results)) closingLine(JSON.parse(readFileSync(results, 'utf8')));
  rmSync(box, { recursive: true, force: true });
  return status ?? 1;
}
