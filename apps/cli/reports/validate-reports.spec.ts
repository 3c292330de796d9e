/**
 * What build servers get of `millwright validate`: formats that they show, and only what a change brings. contract §11;
 * explanation: CI output.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { ruleOf, ruleTextOf } from '#definitions';
import { validate } from '../verbs/validate.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'validate-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

async function run(
  argv: string[],
  environment: Record<string, string> = {},
): Promise<{ code: number; out: string; err: string }> {
  const texts = { out: '', err: '' };
  const into = (key: 'out' | 'err') =>
    new Writable({ write: (chunk: Buffer, _encoding, done) => ((texts[key] += chunk.toString()), done()) });
  const code = await validate(argv, { stdout: into('out'), stderr: into('err'), cwd: folder, environment });
  return { code, ...texts };
}

const WARNS = 'alias: Till\n';
const HOSTILE = 'webhooks/%0A::error,file=x\u001b[2J<b>&"\u202e.yaml';

describe('--format github', () => {
  it('names file, range and rule of each problem, errors first, from the folder where the command stands', async () => {
    put('factory/factory.yaml', WARNS);
    put('factory/webhooks/orders.yaml', 'secretname: x\n');
    const { code, out } = await run(['factory', '--format', 'github']);
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      expect.stringMatching(
        new RegExp(
          String.raw`^::error file=factory/webhooks/orders\.yaml,line=1,.*title=unknown-key::` +
            String.raw`unknown key "secretname"; did you mean "secretName"\?$`,
        ),
      ),
      expect.stringMatching(
        /^::error file=factory\/webhooks\/orders\.yaml,line=1,.*col=1,.*title=missing-key::missing key /,
      ),
      expect.stringMatching(/^::warning file=factory\/factory\.yaml,line=1,.*title=unsupported-here::/),
      '',
    ]);
  });

  it('lets no name begin a command of its own, and writes the summary where it is asked for', async () => {
    put(HOSTILE, 'secretName: x\n');
    const file = join(folder, 'summary.md');
    writeFileSync(file, 'before\n');
    const { out } = await run(['--format', 'github'], { GITHUB_STEP_SUMMARY: file });
    expect(out.trim().split('\n')).toHaveLength(1);
    expect(out).toMatch(/^::error file=webhooks\/%250A%3A%3Aerror%2Cfile=x/);
    expect(out).not.toMatch(/[\u001b\u202e]/);
    const summary = readFileSync(file, 'utf8');
    expect(summary).toMatch(/^before\n### Factory files: not valid\n/);
    expect(summary).not.toMatch(/<b>|\u001b|\u202e/);
  });
});

it('--format sarif is one run with the rules broken, and a fingerprint that outlives moved lines', async () => {
  put(HOSTILE, 'secretName: x\n');
  put('webhooks/orders.yaml', 'secretname: x\n');
  const first = JSON.parse((await run(['--format', 'sarif'])).out);
  expect(first).toMatchObject({
    version: '2.1.0',
    runs: [
      {
        columnKind: 'utf16CodeUnits',
        tool: {
          driver: {
            name: 'millwright',
            rules: [
              { id: 'bad-name' },
              { id: 'missing-key' },
              { id: 'unknown-key', defaultConfiguration: { level: 'error' } },
            ],
          },
        },
      },
    ],
  });
  const [run0] = first.runs;
  const uris = run0.results.map(
    (result: { locations: { physicalLocation: { artifactLocation: { uri: string } } }[] }) =>
      result.locations[0]?.physicalLocation.artifactLocation.uri,
  );
  for (const uri of uris) expect(() => new URL(uri, 'file:///')).not.toThrow();
  expect(uris.join(' ')).not.toMatch(/[<>"\u001b\u202e]/);
  for (const result of run0.results) expect(run0.tool.driver.rules[result.ruleIndex].id).toBe(result.ruleId);
  const prints = (report: typeof first): string[] =>
    report.runs[0].results.map(
      ({ partialFingerprints }: { partialFingerprints: Record<string, string> }) =>
        partialFingerprints['millwright/v1'],
    );
  put('webhooks/orders.yaml', '# a line above\nsecretname: x\n');
  expect(prints(JSON.parse((await run(['--format', 'sarif'])).out))).toEqual(prints(first));
  expect(new Set(prints(first)).size).toBe(run0.results.length);
});

it.each([
  ['https://mill.example.com/', 'https://mill.example.com/docs/guide/reference/generated/rules#unknown-key'],
  ['https://user:pw@mill.example.com', undefined],
  [undefined, undefined],
])('--format sarif links each rule to its page where a service is known (%s)', async (server, helpUri) => {
  put('webhooks/orders.yaml', 'secretname: x\n');
  const { out } = await run(['--format', 'sarif'], server === undefined ? {} : { MILLWRIGHT_SERVER: server });
  const { rules } = JSON.parse(out).runs[0].tool.driver as { rules: { id: string; helpUri?: string; help: object }[] };
  const rule = rules.find(({ id }) => id === 'unknown-key');
  expect([rule?.helpUri, rule?.help]).toEqual([
    helpUri,
    { text: `${ruleOf('unknown-key').summary} ${ruleTextOf('unknown-key').why}` },
  ]);
  expect(out).not.toContain('user:pw');
});

it('--format junit is well-formed XML with a case a problem, also for names that no XML can hold', async () => {
  expect((await run(['--format', 'junit'])).out).toContain('failures="1"'); // an empty folder is no factory
  put('factory.yaml', WARNS);
  expect((await run(['--format', 'junit'])).out).toMatch(/tests="1" failures="0"[\s\S]*<system-out>warning: /);
  put(HOSTILE, 'secretName: x\n');
  const { out } = await run(['--format', 'junit']);
  const counted = execFileSync(
    'python3',
    [
      '-c',
      'import sys, xml.etree.ElementTree as t; r = t.fromstring(sys.stdin.read()); print(r.get("tests"), ' +
        'r.get("failures"), len(r.findall(".//testcase")), len(r.findall(".//failure")))',
    ],
    { input: out },
  );
  expect(counted.toString().trim()).toBe('2 1 2 1');
});

it('--strict fails for warnings', async () => {
  put('factory.yaml', WARNS);
  expect([(await run([])).code, (await run(['--strict'])).code]).toEqual([0, 1]);
});

describe('--changed-since', () => {
  const git = (...args: string[]): void =>
    void execFileSync(
      'git',
      ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', ...args],
      { cwd: folder, stdio: 'pipe' },
    );
  const commit = (): void => {
    git('add', '-A');
    git('commit', '-qm', 'a commit');
  };

  it('tells only what the branch brings: problems of its files, and those that it causes elsewhere', async () => {
    git('init', '-q');
    put('f/webhooks/old.yaml', 'secretname: x\n');
    put('f/webhooks/orders.yaml', 'secretName: x\n');
    put(
      'f/automations/act/automation.md',
      '---\ntriggers:\n  - {provider: webhook, event: received, filter: {webhooks: [orders]}}\n---\nDo it.\n',
    );
    commit();
    git('checkout', '-qb', 'change');
    expect(await run(['f', '--changed-since', 'main'])).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining('2 problems of before left out'),
    });
    put('f/webhooks/new.yaml', 'colour: red\nsecretName: x\n');
    rmSync(join(folder, 'f/webhooks/orders.yaml'));
    const { code, out } = await run(['f', '--changed-since', 'main']);
    expect(code).toBe(1);
    expect(out).toContain('webhooks/new.yaml:1:1: unknown key "colour"');
    expect(out).toContain('automations/act/automation.md'); // its webhook is gone
    expect(out).not.toContain('webhooks/old.yaml');
    put('f/webhooks/old.yaml', '# touched\nsecretname: x\n');
    expect((await run(['f', '--changed-since', 'main'])).out).toContain('webhooks/old.yaml:2:1');
  });

  it.each([['no-such-branch'], ['--output=x'], ['HEAD:f']])(
    '%s is no commit: 64, with the way out',
    async (reference) => {
      put('factory.yaml', '{}\n');
      git('init', '-q');
      commit();
      expect(await run([`--changed-since=${reference}`])).toMatchObject({
        code: 64,
        out: '',
        err: expect.stringContaining('git knows no commit'),
      });
    },
  );

  it('a factory that was not there before is all new', async () => {
    git('init', '-q');
    put('README.md', 'x');
    commit();
    put('f/webhooks/new.yaml', 'colour: red\nsecretName: x\n');
    expect((await run(['f', '--changed-since', 'main'])).out).toContain('unknown key "colour"');
  });
});
