/**
 * The GitHub Action, the GitLab job and the hook as their build servers run them: the real scripts in real shells, with
 * inputs that mean harm. contract §11; explanation: CI output.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '../../..');
const IS_BUILT = existsSync(join(ROOT, 'dist/.millwright-built'));
const built = IS_BUILT ? describe : describe.skip;
const skipped = IS_BUILT ? '' : ' (skipped: run through npm test, which builds first)';

interface Step {
  id?: string;
  shell?: string;
  run?: string;
  env?: Record<string, string>;
}

const action = parse(readFileSync(join(HERE, 'action.yml'), 'utf8')) as {
  inputs: Record<string, { default: string }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
};

let folder: string;
let work: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'action-'));
  work = join(folder, 'work');
  mkdirSync(work);
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(work, path)), { recursive: true });
  writeFileSync(join(work, path), text);
}

interface Ended {
  code: number | null;
  log: string;
}

function bash(script: string, environment: Record<string, string>, cwd = work): Promise<Ended> {
  return new Promise((resolve) => {
    // As runners start it, without the files of anybody's shell.
    const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...environment },
    });
    let log = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
    child.once('close', (code) => resolve({ code, log }));
  });
}

/**
 * Runs steps of the action (all but the installing one) as a runner does: inputs and outputs are filled in where the
 * file has them, and nowhere else.
 */
async function runAction(
  inputs: Record<string, string> = {},
  environment: Record<string, string> = {},
  steps = action.runs.steps.slice(-1),
): Promise<Ended & { outputs: Record<string, string>; summary: string }> {
  const [outputFile, summaryFile] = [join(folder, 'output'), join(folder, 'summary')];
  for (const file of [outputFile, summaryFile]) writeFileSync(file, '');
  const given = {
    ...Object.fromEntries(Object.entries(action.inputs).map(([name, { default: value }]) => [name, value])),
    ...inputs,
  };
  const fill = (text: string): string =>
    text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => given[name] ?? '');
  let ended: Ended = { code: 0, log: '' };
  for (const { run = '', env = {} } of steps) {
    const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]));
    const { code, log } = await bash(run, {
      GITHUB_ACTION_PATH: HERE,
      GITHUB_OUTPUT: outputFile,
      GITHUB_STEP_SUMMARY: summaryFile,
      GITHUB_WORKSPACE: work,
      ...environment,
      ...filled,
    });
    ended = { code, log: ended.log + log };
    if (code !== 0) break;
  }
  const told = Object.fromEntries(
    readFileSync(outputFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('=', 2) as [string, string]),
  );
  const outputs = Object.fromEntries(
    Object.entries(action.outputs).map(([name, { value }]) => [
      name,
      told[/steps\.check\.outputs\.([\w-]+)/.exec(value)?.[1] ?? ''] ?? '',
    ]),
  );
  return { ...ended, outputs, summary: readFileSync(summaryFile, 'utf8') };
}

const BROKEN = 'secretname: x\n';
const WHOLE = 'secretName: x\n';

it('the action puts no expression into a script', () => {
  expect(action.runs.using).toBe('composite');
  for (const { run = '', shell } of action.runs.steps)
    expect({ run, hasExpression: run.includes('${{'), shell }).toEqual({ run, hasExpression: false, shell: 'bash' });
  // no key
  expect(Object.keys(action.inputs)).toEqual([
    'directory',
    'strict',
    'changed-since',
    'server',
    'factory',
    'file',
    'sha256',
  ]);
});

built(`the GitHub Action${skipped}`, () => {
  it('shows problems beside their lines and in the summary, and fails', async () => {
    put('factory/webhooks/orders.yaml', BROKEN);
    const { code, log, outputs, summary } = await runAction({ directory: 'factory' }, {}, action.runs.steps);
    expect(code).toBe(1);
    expect(log).toMatch(/^::error file=factory\/webhooks\/orders\.yaml,line=1,.*title=missing-key::/m);
    expect(outputs).toEqual({ valid: 'false', changes: '', 'exit-code': '1' });
    expect(summary).toMatch(/^### Factory files: not valid\n/);
  });

  it('ends well for files that are well, and fails for warnings only with strict', async () => {
    put('factory.yaml', 'schemaVersion: v1\n');
    put('webhooks/orders.yaml', WHOLE);
    expect(await runAction()).toMatchObject({
      code: 0,
      outputs: { valid: 'true', changes: '', 'exit-code': '0' },
      summary: expect.stringContaining('### Factory files: valid'),
    });
    expect(await runAction({ strict: 'true' })).toMatchObject({
      code: 1,
      outputs: { valid: 'false', 'exit-code': '1' },
    });
    expect(await runAction({ strict: 'yes' })).toMatchObject({
      code: 64,
      log: expect.stringContaining('::error title=Millwright::The input strict'),
    });
  });

  it('plans from the two trees where it is given a commit and no server', async () => {
    git('init', '-q');
    put('webhooks/orders.yaml', WHOLE);
    git('add', '.');
    git('commit', '-qm', 'one');
    put('webhooks/more.yaml', WHOLE);
    const { code, outputs, summary, log } = await runAction({ 'changed-since': 'HEAD' });
    expect({ code, outputs }).toEqual({ code: 0, outputs: { valid: 'true', changes: 'true', 'exit-code': '2' } });
    expect(log).toMatch(/^::notice file=webhooks\/more\.yaml/m);
    expect(summary.match(/### Factory files/g)).toHaveLength(1);
    expect(summary).toContain('### Plan');
  });

  it('says that it asked no server where the job gets no token, and fails where that does not answer', async () => {
    put('webhooks/orders.yaml', WHOLE);
    const server = 'http://127.0.0.1:1';
    expect(await runAction({ server })).toMatchObject({
      code: 0,
      log: expect.stringContaining('::warning title=Millwright::The server was not asked'),
      outputs: { valid: 'true', changes: '' },
    });
    const key = `mw_${'s'.repeat(43)}`;
    const refused = await runAction({ server }, { MILLWRIGHT_API_KEY: key });
    expect(refused).toMatchObject({
      code: 3,
      log: expect.stringContaining('::error title=Millwright::No plan could be made'),
      outputs: { valid: 'true', changes: '', 'exit-code': '3' },
    });
    expect(refused.log + refused.summary).not.toContain(key);
    // What was checked is told all the same, once.
    expect(refused.summary.match(/### .*/g)).toEqual(['### Factory files: valid', '### Plan']);
  });

  it('runs by hand, where no job wants a summary or outputs', async () => {
    put('webhooks/orders.yaml', WHOLE);
    expect(await bash(`unset GITHUB_OUTPUT GITHUB_STEP_SUMMARY; bash "${HERE}/check.sh"`, {})).toMatchObject({
      code: 0,
    });
    put('webhooks/orders.yaml', BROKEN);
    expect(await bash(`bash "${HERE}/check.sh"`, {})).toMatchObject({
      code: 1,
      log: expect.stringContaining('title=missing-key'),
    });
  });
});

const { 'factory-files': job } = parse(readFileSync(join(HERE, 'gitlab-ci.yml'), 'utf8')) as {
  'factory-files': {
    before_script: string[];
    script: string[];
    artifacts: { when: string; reports: { junit: string } };
  };
};

function runJob(environment: Record<string, string> = {}): Promise<Ended> {
  // what before_script clones
  if (!existsSync(join(work, '.millwright-checkout'))) symlinkSync(ROOT, join(work, '.millwright-checkout'));
  return bash(job.script.join('\n'), environment);
}

built(`the GitLab job${skipped}`, () => {
  it('leaves a JUnit report, prints the problems, and fails for them', async () => {
    put('f/webhooks/orders.yaml', BROKEN);
    const { code, log } = await runJob({ MILLWRIGHT_DIRECTORY: 'f' });
    expect({ code, when: job.artifacts.when }).toEqual({ code: 1, when: 'always' });
    expect(log).toContain('webhooks/orders.yaml:1:1: missing key "secretName"; add it [missing-key]');
    expect(readFileSync(join(work, job.artifacts.reports.junit), 'utf8')).toMatch(
      /<testsuites name="millwright validate" tests="2" failures="2">/,
    );
    put('f/webhooks/orders.yaml', WHOLE);
    expect(await runJob({ MILLWRIGHT_DIRECTORY: 'f' })).toMatchObject({ code: 0 });
    expect(readFileSync(join(work, job.artifacts.reports.junit), 'utf8')).toContain('failures="0"');
  });

  it('fails where the server that it was given does not answer', async () => {
    put('webhooks/orders.yaml', WHOLE);
    expect(
      await runJob({ MILLWRIGHT_SERVER: 'http://127.0.0.1:1', MILLWRIGHT_ID_TOKEN: 'e30.e30.c2ln' }),
    ).toMatchObject({ code: 3 });
  });
});

built(`the hook${skipped}`, () => {
  it('runs the checkout from wherever the commit is made', async () => {
    const [hook] = parse(readFileSync(join(ROOT, '.pre-commit-hooks.yaml'), 'utf8')) as [
      { id: string; entry: string; language: string; pass_filenames: boolean },
    ];
    expect(hook).toMatchObject({ id: 'millwright-validate', language: 'script', pass_filenames: false });
    put('webhooks/orders.yaml', BROKEN);
    expect(await bash(`"${ROOT}"/${hook.entry}`, {})).toMatchObject({
      code: 1,
      log: expect.stringContaining('[missing-key]'),
    });
    put('webhooks/orders.yaml', WHOLE);
    expect(await bash(`"${ROOT}"/${hook.entry}`, {})).toMatchObject({ code: 0 });
  });
});

describe('what anybody writes into an input', () => {
  const HOSTILE = [
    '$(touch x)',
    '"; touch x; "',
    "'; touch x #",
    '`touch x`',
    'a\ntouch x',
    '-e touch x',
    '--help',
    '::error::hello',
    '${IFS}',
    '*',
  ];
  const TOKEN = { MILLWRIGHT_ID_TOKEN: 'e30.e30.c2ln' };
  let calls: string;
  let played: Record<string, string>;
  beforeEach(() => {
    [calls, played] = [
      join(folder, 'calls'),
      { PATH: `${join(folder, 'programs')}:${process.env['PATH']}`, CALLS: join(folder, 'calls'), ...TOKEN },
    ];
    play('node', 'case "$1" in -e) ;; -p) echo strip ;; *) printf "%s\\0" "$@" "" >> "$CALLS" ;; esac');
    play('npm', 'true');
  });
  /** Arguments of each call of the command, behind the name of its file. */
  const told = (): string[][] =>
    readFileSync(calls, 'utf8')
      .split('\0\0')
      .slice(0, -1)
      .map((one) => one.split('\0'))
      .map((words) => words.slice(words.findIndex((word) => word.endsWith('.mjs')) + 1));

  it.each(HOSTILE)('%j arrives as it is, and runs nothing', async (text) => {
    await runAction({ directory: text, 'changed-since': text, server: text, factory: text }, played);
    expect(told()).toEqual([
      ['validate', '--format=github', `--changed-since=${text}`, '--', text],
      ['plan', '--format=github', `--server=${text}`, `--factory=${text}`, '--', text],
    ]);
    rmSync(calls);
    expect(await runAction({ strict: text }, played)).toMatchObject({
      code: 64,
      log: '::error title=Millwright::The input strict must be true or false.\n',
    });
    expect(readdirSync(work)).toEqual([]);
    const variables = {
      MILLWRIGHT_DIRECTORY: text,
      CI_MERGE_REQUEST_DIFF_BASE_SHA: text,
      MILLWRIGHT_SERVER: text,
      MILLWRIGHT_FACTORY: text,
    };
    expect(await runJob({ ...played, ...variables })).toEqual({ code: 0, log: '' });
    expect(told()).toEqual([
      ['validate', `--changed-since=${text}`, '--format=junit', '--', text],
      ['plan', `--factory=${text}`, '--', text],
    ]);
    expect(
      (await bash(job.before_script.join('\n'), { MILLWRIGHT_REPOSITORY: text, GIT_TERMINAL_PROMPT: '0' })).code,
    ).not.toBe(0);
    expect(readdirSync(work).sort()).toEqual(['.millwright-checkout', 'factory-files.xml']);
  });
});

/** Puts a played program before the real ones. */
function play(name: string, script: string): void {
  mkdirSync(join(folder, 'programs'), { recursive: true });
  writeFileSync(join(folder, 'programs', name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
}

describe('from-checkout.sh', () => {
  /** A checkout that has nothing but the script, and a PATH with programs that are played. */
  async function started(node: string, npm: string): Promise<Ended> {
    const checkout = join(folder, 'checkout');
    mkdirSync(join(checkout, 'apps/cli/action'), { recursive: true });
    copyFileSync(join(HERE, 'from-checkout.sh'), join(checkout, 'apps/cli/action/from-checkout.sh'));
    play('node', node);
    play('npm', npm);
    return bash(`bash "${checkout}/apps/cli/action/from-checkout.sh" validate`, {
      PATH: `${join(folder, 'programs')}:/usr/bin:/bin`,
    });
  }

  it('refuses a Node.js that is too old, with 3', async () => {
    expect(await started('case "$1" in -e) exit 1 ;; --version) echo v18.0.0 ;; esac', 'echo installed')).toEqual({
      code: 3,
      log: 'millwright: Node.js 20.19 or later is needed; this is v18.0.0\n',
    });
  });

  it('fails with 3 when nothing can be installed, which is no finding about the files', async () => {
    expect(await started('[ "$1" = -p ] && echo strip || exit 0', 'exit 1')).toEqual({
      code: 3,
      log: 'millwright: the packages could not be installed; see the lines above\n',
    });
  });

  it('installs without development tools and without their scripts where Node.js reads TypeScript', async () => {
    const { code, log } = await started(
      'case "$1" in -p) echo strip ;; -e) ;; *) echo "node $*" ;; esac',
      'echo "npm $*"',
    );
    expect(code).toBe(0);
    expect(log).toContain('npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --omit=dev\n');
    expect(log).toMatch(
      new RegExp(
        'node --disable-warning=ExperimentalWarning --conditions=source ' +
          String.raw`\S+/apps/cli/action/from-source\.mjs validate\n$`,
      ),
    );
  });

  it('fails with 3 when the build fails', async () => {
    expect(await started('case "$1" in -p) echo false ;; -e) ;; *) exit 2 ;; esac', 'exit 0')).toEqual({
      code: 3,
      log: 'millwright: the build failed; see the lines above\n',
    });
  });
});

function git(...args: string[]): void {
  execFileSync(
    'git',
    ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', ...args],
    { cwd: work, stdio: 'pipe' },
  );
}
