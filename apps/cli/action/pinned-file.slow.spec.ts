/**
 * The command as one file beside its jobs: what `init` of that file writes, run by real shells as GitHub, GitLab and
 * pre-commit run it, and refused where it is another file than the one that was pinned. contract §11.10, decision 0101.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { IS_BUILT, ROOT } from '../../../test/support/guide/documents.ts';
import { packedCommand, ranProgram, type PackedCommand, type Ran } from '../../../test/support/deploy/one-file.ts';

const SCRIPT = join(ROOT, 'apps/cli/action/command.sh');
const OTHER_DIGEST = '0'.repeat(64);

interface Step {
  uses?: string;
  with?: Record<string, string>;
  env?: Record<string, string>;
  run?: string;
}

(IS_BUILT ? describe : describe.skip)('the command as one file beside its jobs', () => {
  let packed: PackedCommand;
  let work: string;
  let temporary: string;

  beforeAll(async () => {
    packed = await packedCommand();
  }, 120_000);
  afterAll(() => packed?.remove());
  beforeEach(() => {
    work = mkdtempSync(join(dirname(packed.folder), 'work-'));
    temporary = mkdtempSync(join(tmpdir(), 'pinned-'));
  });
  afterEach(() => {
    // The copies that were checked are gone, whatever came of them.
    const left = readdirSync(temporary);
    rmSync(temporary, { recursive: true });
    if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
  });

  const read = (path: string): string => readFileSync(join(work, path), 'utf8');
  const bash = (script: string, environment: Record<string, string> = {}): Promise<Ran> =>
    ranProgram(['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
      cwd: work,
      environment: { TMPDIR: temporary, ...environment },
    });
  const init = async (...args: string[]): Promise<void> => {
    expect(await packed.run(['init', ...args], { cwd: work })).toMatchObject({ code: 0 });
  };
  const BROKEN = 'secretname: x\n';

  /** Runs the steps of the action with what the workflow gives it. */
  async function runWorkflow(): Promise<Ran> {
    const { jobs } = parse(read('.github/workflows/factory.yml')) as { jobs: { check: { steps: Step[] } } };
    const own = jobs.check.steps.find(({ uses }) => uses === './.ci/millwright');
    const { inputs, runs } = parse(read('.ci/millwright/action.yml')) as {
      inputs: Record<string, { default: string }>;
      runs: { steps: Step[] };
    };
    const given = (name: string): string => {
      const value = own?.with?.[name] ?? inputs[name]?.default ?? '';
      return value.includes('${{') ? '' : value; // nothing is set there
    };
    let ended: Ran = { code: -1, out: '', err: '' };
    for (const { run = '', env = {} } of runs.steps) {
      const filled = Object.entries(env).map(([name, text]) => [
        name,
        text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, input: string) => given(input)),
      ]);
      ended = await bash(run, {
        GITHUB_ACTIONS: 'true',
        GITHUB_ACTION_PATH: join(work, '.ci/millwright'),
        ...(Object.fromEntries(filled) as Record<string, string>),
      });
      if (ended.code !== 0) break;
    }
    return ended;
  }

  it('checks on GitHub with nothing but the repository, and is not run when it is another file', async () => {
    await init('.', '--ci', 'github');
    expect(readdirSync(join(work, '.ci/millwright')).sort()).toEqual([
      '.gitattributes',
      'action.yml',
      'check.sh',
      'command.sh',
      'millwright.mjs',
    ]);
    expect(read('.ci/millwright/millwright.mjs')).toBe(readFileSync(packed.file, 'utf8'));
    expect(read('.github/workflows/factory.yml')).not.toContain('MILLWRIGHT_REPOSITORY');
    expect(await runWorkflow()).toMatchObject({ code: 0 });
    writeFileSync(join(work, 'webhooks/builds.yaml'), BROKEN);
    expect(await runWorkflow()).toMatchObject({
      code: 1,
      out: expect.stringContaining('::error file=webhooks/builds.yaml,line=1'),
    });
    appendFileSync(join(work, '.ci/millwright/millwright.mjs'), '\nconsole.log("ran all the same");\n');
    const refused = await runWorkflow();
    expect(refused).toMatchObject({ code: 3, out: expect.stringMatching(/^::error title=Millwright::.*not run/) });
    expect(refused.out + refused.err).not.toContain('ran all the same');
  });

  it('checks on GitLab in the same way', async () => {
    await init('.', '--ci', 'gitlab');
    const { 'factory-files': job } = parse(read('.gitlab-ci.yml')) as {
      'factory-files': { script: string[]; variables: Record<string, string>; before_script?: unknown };
    };
    expect(job.before_script).toBeUndefined();
    const variables = { MILLWRIGHT_SHA256: job.variables['MILLWRIGHT_SHA256'] ?? '' };
    expect(await bash(job.script.join('\n'), variables)).toMatchObject({ code: 0 });
    writeFileSync(join(work, 'webhooks/builds.yaml'), BROKEN);
    expect(await bash(job.script.join('\n'), variables)).toMatchObject({
      code: 1,
      out: expect.stringContaining('webhooks/builds.yaml:1:1'),
    });
    expect(await bash(job.script.join('\n'), { MILLWRIGHT_SHA256: OTHER_DIGEST })).toMatchObject({ code: 3 });
  });

  it('checks on Gitea in the same way', async () => {
    await init('.', '--ci', 'gitea');
    const { jobs } = parse(read('.gitea/workflows/factory.yml')) as { jobs: { check: { steps: Step[] } } };
    const { run = '', env = {} } = jobs.check.steps.find((step) => step.run !== undefined) ?? {};
    expect(env['BASE']).toBe('${{ github.event.pull_request.base.sha }}');
    const variables = { MILLWRIGHT_SHA256: env['MILLWRIGHT_SHA256'] ?? '', BASE: '' };
    expect(await bash(run, variables)).toMatchObject({ code: 0 });
    writeFileSync(join(work, 'webhooks/builds.yaml'), BROKEN);
    expect(await bash(run, variables)).toMatchObject({
      code: 1,
      out: expect.stringContaining('webhooks/builds.yaml:1:1'),
    });
    expect(await bash(run, { ...variables, MILLWRIGHT_SHA256: OTHER_DIGEST })).toMatchObject({ code: 3 });
  });

  it('checks before a commit, and is as it was when git has checked it out', async () => {
    await init('.', '--pre-commit');
    const hook = (
      parse(read('.pre-commit-config.yaml')) as { repos: { hooks: { entry: string; language: string }[] }[] }
    ).repos[0]?.hooks[0];
    expect(hook?.language).toBe('system');
    expect(await bash(hook?.entry ?? '')).toMatchObject({ code: 0 });
    writeFileSync(join(work, 'webhooks/builds.yaml'), BROKEN);
    expect(await bash(hook?.entry ?? '')).toMatchObject({ code: 1, out: expect.stringContaining('[missing-key]') });
    const git = (...args: string[]): unknown =>
      execFileSync(
        'git',
        ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'core.autocrlf=true', ...args],
        {
          cwd: work,
          stdio: 'pipe',
        },
      );
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'one');
    rmSync(join(work, '.ci'), { recursive: true });
    git('checkout', '--', '.ci');
    expect(await bash(hook?.entry ?? '')).toMatchObject({ code: 1, out: expect.stringContaining('[missing-key]') });
  });

  it('is put into a repository that has its definitions, and replaced there, without touching them', async () => {
    writeFileSync(join(work, 'README.md'), 'mine');
    expect(await packed.run(['init', '--checks-only'], { cwd: work })).toMatchObject({ code: 64 });
    await init('.', '--checks-only', '--ci', 'github', '--pre-commit');
    expect(readdirSync(work).sort()).toEqual(['.ci', '.github', '.pre-commit-config.yaml', 'README.md']);
    expect(await packed.run(['init', '.', '--checks-only', '--ci', 'github'], { cwd: work })).toMatchObject({
      code: 1,
    });
    await init('.', '--checks-only', '--force', '--ci', 'github');
    expect(read('README.md')).toBe('mine');
  });

  describe('command.sh', () => {
    const sha256 = (): string => readFileSync(packed.made.digest, 'utf8').slice(0, 64);
    const call = (environment: Record<string, string>): Promise<Ran> => bash(`bash "${SCRIPT}" --version`, environment);

    it('runs the file that it is given, where the digest is right, and answers its exit code', async () => {
      const environment = { MILLWRIGHT_FILE: packed.file, MILLWRIGHT_SHA256: sha256() };
      expect(await call(environment)).toMatchObject({ code: 0, out: expect.stringMatching(/^millwright \d/), err: '' });
      expect(await bash(`bash "${SCRIPT}" statsu`, environment)).toMatchObject({ code: 64 });
    });

    it.each<[string, Record<string, string>, number]>([
      ['another digest', { MILLWRIGHT_SHA256: OTHER_DIGEST }, 3],
      ['no digest', {}, 64],
      ['half a digest', { MILLWRIGHT_SHA256: 'abc' }, 64],
      ['capitals', { MILLWRIGHT_SHA256: 'A'.repeat(64) }, 64],
      ['more than a digest', { MILLWRIGHT_SHA256: `${OTHER_DIGEST}\n${OTHER_DIGEST}` }, 64],
      ['a digest without a file', { MILLWRIGHT_FILE: '', MILLWRIGHT_SHA256: OTHER_DIGEST }, 64],
      ['a file that is not there', { MILLWRIGHT_FILE: '-r nowhere', MILLWRIGHT_SHA256: OTHER_DIGEST }, 3],
    ])('refuses %s with words, and runs nothing', async (_name, environment, code) => {
      const ran = await call({ MILLWRIGHT_FILE: packed.file, ...environment });
      expect(ran).toMatchObject({ code, out: '', err: expect.stringMatching(/^(?:cp: .*\n)?millwright: .+\n$/) });
    });
  });
});
