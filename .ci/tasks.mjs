/** Makes a fresh clone ready (packages, build), then does an npm script's task. Needs no package: it runs first. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closingLine } from './closing-line.mjs';
import { digestOf, filesBelow } from './digests.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const quietNode = ['--disable-warning=ExperimentalWarning', '--enable-source-maps'];
const quietNpm = ['--no-audit', '--no-fund', '--loglevel=error'];
const dashboard = join(root, 'apps/dashboard');
const guide = join(root, 'apps/guide');
const cli = join(root, 'apps/cli/millwright.mjs');

/** Many tests wait for clocks, sockets and processes. */
const WORKERS_PER_PROCESSOR = 1.5;

/** Node.js frees little of a suite that is over: beyond it a worker is replaced, which takes less than collecting. */
const WORKER_HEAP_MAX = '700MB';

/** What is type-checked, each by its own rules. */
const PROJECTS = ['.', 'apps/dashboard', 'libs/client-typescript', 'libs/client-typescript/test'];

/** Folders that are compiled, and stand in `dist` under the same names. */
const SOURCES = ['apps', 'libs', 'test', 'schemas'];

const tasks = {
  build: () => 0,
  start: (args) =>
    serve(process.execPath, [
      ...quietNode,
      '--max-semi-space-size=8', // as the installed command says it
      cli,
      'start',
      '--factory',
      join(root, 'examples/factory-repo'),
      '--example',
      ...args,
    ]),
  demo: (args) => run(process.execPath, [...quietNode, join(root, 'dist/test/demo/demo.js'), ...args]),
  bench: (args) => run(process.execPath, [...quietNode, join(root, 'dist/test/bench/all.js'), ...args]),
  'bench:runs': (args) => run(process.execPath, [...quietNode, join(root, 'dist/test/bench/runs.js'), ...args]),
  'bench:start': (args) => run(process.execPath, [...quietNode, join(root, 'dist/test/bench/start.js'), ...args]),
  'bench:sync': (args) => run(process.execPath, [...quietNode, join(root, 'dist/test/bench/sync/sync.js'), ...args]),
  'bench:cli': (args) =>
    packageCommand() || run(process.execPath, [...quietNode, join(root, 'dist/test/bench/cli/cli.js'), ...args]),
  'bench:broker': (args) => run(process.execPath, [...quietNode, join(root, 'dist/test/bench/broker.js'), ...args]),
  'bench:clients': (args) => run(process.execPath, [...quietNode, join(root, 'dist/test/bench/clients.js'), ...args]),
  'bench:page': (args) => run(process.execPath, [...quietNode, join(root, 'dist/test/bench/page.js'), ...args]),
  'measure:install': (args) => run(process.execPath, [...quietNode, join(root, 'dist/test/bench/install.js'), ...args]),
  'measure:house': () => run(process.execPath, [...quietNode, join(root, 'dist/test/bench/house.js')]),
  test: (args) => jest(args),
  'test:agents': (args) => onBundle([join(root, 'test/agents/run.mjs'), ...args]),
  // Both published clients on whatever they may meet: runtimes, interpreters (`-- --edges`: the oldest and the newest),
  // oldest packages, checkers of types and packages.
  'test:clients': (args) => tasks['test:clients:typescript']() || tasks['test:clients:python'](args),
  'test:clients:typescript': () => onBundle([join(root, 'test/clients/run.mjs')]),
  'test:clients:python': ([extent = '--all']) => run('python3', [join(root, 'libs/client-python/test.py'), extent]),
  'test:forges': (args) => onBundle([join(root, 'test/forges/run.mjs'), ...args]),
  'test:hooks': (args) => packageCommand() || run(process.execPath, [join(root, 'test/hooks/run.mjs'), ...args]),
  'test:workflows': (args) =>
    packageCommand() || run(process.execPath, [join(root, 'test/workflows/run.mjs'), ...args]),
  'test:deploy': (args) => run(process.execPath, [join(root, 'test/deploy/run.mjs'), ...args]),
  'test:postgres': () => run(process.execPath, [join(root, 'test/flows/newest-postgres.mjs')]),
  'test:slow': (args) => slowTier(args),
  'test:long': (args) => slowTier(args, { tier: 'long' }),
  'test:faults': (args) => slowTier(args, { folder: 'test/faults/', tier: 'slow|long' }),
  fuzz: (args) => slowTier(args, { folder: 'test/fuzz/', tier: 'slow|long' }),
  guide: () => buildGuide(),
  package: () =>
    buildGuide() || run(process.execPath, [join(root, 'dist/apps/deploy/npm/pack.js')]) || packageCommand(),
  'package:command': () => packageCommand(),
  generate: () => jest(['test/generated'], { UPDATE_GENERATED: '1' }),
  check: () =>
    PROJECTS.reduce((code, project) => code || run(bin('tsc'), ['--noEmit', '-p', join(root, project)]), 0) ||
    run(bin('oxlint'), ['--type-aware', '--deny-warnings', root]) ||
    run(bin('oxfmt'), ['--check', root]),
  format: () => run(bin('oxfmt'), [root]),
};

const [task, ...args] = process.argv.slice(2);
process.chdir(root);
process.on('SIGINT', () => undefined); // the program in the foreground gets it too and decides
if (!(task in tasks)) fail(`unknown task ${task}; known: ${Object.keys(tasks).join(', ')}`);
const compiled = install();
if (task !== 'check' && task !== 'guide') {
  build();
  buildDashboard();
}
if (task !== 'check') await compiled();
process.exitCode = await tasks[task](args);
await compiled();

/** Makes the command as one file, its digest and its package. */
function packageCommand() {
  return run(process.execPath, [join(root, 'dist/apps/deploy/command/pack.js')]);
}

/** Makes the files of the guide. Its packages, of which none needs a script, are installed only here. */
function buildGuide() {
  const wanted = digestOf([join(guide, 'package-lock.json'), join(guide, 'package.json')]);
  const marker = join(guide, 'node_modules/.millwright-installed');
  if (!existsSync(marker) || readFileSync(marker, 'utf8') !== wanted) {
    say("installing the guide's packages (once) …");
    if (installLocked(['--prefix', guide]) !== 0) fail("the guide's packages could not be installed; see above");
    writeFileSync(marker, wanted);
  }
  rmSync(join(root, 'dist/guide'), { recursive: true, force: true });
  return run(join(guide, 'node_modules/.bin/vitepress'), ['build', guide]);
}

/**
 * Installs the locked packages when the lock file has changed since the last time. What has to be compiled for this
 * machine (SQLite: most of a minute on one core) is compiled while the sources are; who needs it awaits the answer.
 */
function install() {
  const wanted = digestOf([join(root, 'package-lock.json'), join(root, 'package.json')]);
  const marker = join(root, 'node_modules/.millwright-installed');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return async () => undefined;
  say('installing packages (once) …');
  if (installLocked(['--include=dev']) !== 0) fail('the packages could not be installed; see the lines above');
  const compiling = serve('npm', ['rebuild', ...quietNpm]);
  return async () => {
    if ((await compiling) !== 0) fail('the packages could not be compiled; see the lines above');
    writeFileSync(marker, wanted);
  };
}

/** Calls `npm ci`, which a connection that broke ends for good, up to three times. Answers the last exit code. */
function installLocked(options, [pauseMs, ...pausesMs] = [5_000, 15_000]) {
  const code = run('npm', ['ci', '--ignore-scripts', ...options, ...quietNpm]);
  if (code === 0 || code > 127 || pauseMs === undefined) return code; // beyond 127 a signal has ended it
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  return installLocked(options, pausesMs);
}

/** Compiles when a source file has changed since the last build. */
function build() {
  const sources = SOURCES.flatMap((folder) => filesBelow(join(root, folder)));
  const wanted = digestOf([
    ...sources.filter((file) => /\.(ts|json)$/.test(file) && !file.startsWith(dashboard)),
    ...carried(),
    join(root, 'tsconfig.json'),
  ]);
  const marker = join(root, 'dist/.millwright-built');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  say('building …');
  for (const folder of [...SOURCES, '.millwright-built'])
    rmSync(join(root, 'dist', folder), { recursive: true, force: true });
  if (run(bin('tsc'), ['-p', root]) !== 0) fail('the build failed; see the lines above');
  for (const file of carried()) copy(file);
  writeFileSync(marker, wanted);
}

/** Makes the files of the web page when one of its sources has changed since the last time. */
function buildDashboard() {
  const libs = ['filters', 'definitions', 'authentication'].map((lib) => join(root, 'libs', lib));
  const sources = [dashboard, ...libs].flatMap(filesBelow);
  const wanted = digestOf([...sources, join(root, 'package-lock.json')]);
  const marker = join(root, 'dist/dashboard/.millwright-built');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  say('building the web page …');
  if (run(bin('vite'), ['build', '--logLevel', 'warn', dashboard]) !== 0)
    fail('the web page could not be built; see the lines above');
  writeFileSync(marker, wanted);
}

/** What programs read at run time and the compiler does not make: scripts, threads, files of the documentation. */
function carried() {
  return filesBelow(join(root, 'apps')).filter((file) =>
    /\.sh$|\/server\/.+\.mjs$|\/docs\/.+\.(html|css|js)$/.test(file),
  );
}

function copy(file) {
  const target = join(root, 'dist', file.slice(root.length + 1));
  mkdirSync(dirname(target), { recursive: true });
  cpSync(file, target);
}

/**
 * Runs the suites that are called `x.slow.spec.ts`, which `test` leaves out: killed processes, lying git servers, real
 * repositories and sandboxes, agents that mean harm, random histories and kills, the fuzzer; or those called
 * `x.long.spec.ts`, which CI leaves out too: the same things at length. Paths before the first option narrow it down. A
 * suite prints the seed that it took; the same seed repeats what it did.
 */
function slowTier(args, { folder = '', tier = 'slow' } = {}) {
  const firstOption = args.findIndex((arg) => arg.startsWith('-'));
  const paths = firstOption === -1 ? args : args.slice(0, firstOption);
  const seed = String(Date.now() % 1_000_000);
  return jest(
    [
      ...(paths.length === 0 ? [''] : paths).map((path) => `${folder}.*${path}.*\\.(${tier})\\.spec\\.ts$`),
      ...args.slice(paths.length),
      // Last of all: it would take the next arguments for patterns.
      '--testPathIgnorePatterns=/node_modules/',
    ],
    {
      CRASH_RUNS: process.env.CRASH_RUNS ?? '200',
      CRASH_SEED: process.env.CRASH_SEED ?? seed,
      SYNC_HISTORIES: process.env.SYNC_HISTORIES ?? '2000',
      SYNC_SEED: process.env.SYNC_SEED ?? seed,
      FUZZ_EXAMPLES: process.env.FUZZ_EXAMPLES ?? '50',
      FUZZ_SEED: process.env.FUZZ_SEED ?? seed,
      PROPERTY_SEED: process.env.PROPERTY_SEED ?? seed,
    },
  );
}

/** Runs suites that install what they need, by a script of theirs, behind the build. */
function onBundle(args) {
  return bundle() || run(process.execPath, args, { SUITES_ON_BUILD: process.env.SUITES_ON_BUILD ?? '1' });
}

/** What suites take from the build is bundled, when there has been a build since the last time. */
function bundle() {
  return run(process.execPath, [join(root, '.ci/suite-programs.mjs')]);
}

function jest(args, environment = {}) {
  const bundled = bundle();
  if (bundled !== 0) return bundled;
  const results = join(mkdtempSync(join(tmpdir(), 'millwright-tests-')), 'results.json');
  const code = run(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      join(root, 'node_modules/jest/bin/jest.js'),
      `--maxWorkers=${Math.ceil(WORKERS_PER_PROCESSOR * availableParallelism())}`,
      `--workerIdleMemoryLimit=${WORKER_HEAP_MAX}`,
      '--json',
      `--outputFile=${results}`,
      ...args,
    ],
    // Suites take from the build what is dear to load: test/support/processes/built-modules.ts
    { SUITES_ON_BUILD: process.env.SUITES_ON_BUILD ?? '1', ...environment },
    ['inherit', 'ignore', 'inherit'], // the report goes to stderr, the JSON to the file
  );
  if (existsSync(results)) closingLine(JSON.parse(readFileSync(results, 'utf8')));
  rmSync(dirname(results), { recursive: true, force: true });
  return code;
}

function bin(name) {
  return join(root, 'node_modules/.bin', name);
}

/** Runs a program in the foreground; signals reach it with us, so we only wait. Answers its exit code. */
function run(program, args, environment = {}, stdio = 'inherit') {
  const { status, signal, error } = spawnSync(program, args, {
    cwd: root,
    stdio,
    env: { ...process.env, ...environment },
  });
  if (error) fail(`${program} could not be started: ${error.message}`);
  return signal ? 128 : (status ?? 1);
}

/** Runs a program that lives until it is told to end: what ends us is passed on. Answers its exit code. */
function serve(program, args) {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.once('error', (error) => fail(`${program} could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal ? 128 : (code ?? 1)));
  });
}

function say(text) {
  process.stderr.write(`millwright: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
