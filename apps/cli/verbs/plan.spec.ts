/** `millwright plan` without a server: what a branch changes, in every format. contract §9, §11. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { call, type Call } from '../../../test/support/services/recorded-io.ts';
import { Output } from '../terminal/output.ts';
import { printPlanned, type PrintablePlan } from '../reports/plan-report.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plan-'));
  git('init', '-q');
  put('f/webhooks/orders.yaml', 'secretName: x\n');
  put('f/webhooks/sales.yaml', 'secretName: x\n');
  for (const name of ['act', 'look'])
    put(
      `f/automations/${name}/automation.md`,
      '---\ntriggers:\n  - {provider: webhook, event: received, filter: {webhooks: [orders]}}\n---\nDo it.\n',
    );
  git('add', '-A');
  git('commit', '-qm', 'a commit');
});
afterEach(() => {
  git('reset', '-q', '--hard');
  git('clean', '-qfd');
});
afterAll(() => rmSync(folder, { recursive: true }));

function git(...args: string[]): void {
  execFileSync(
    'git',
    ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', ...args],
    { cwd: folder, stdio: 'pipe' },
  );
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const plan = (argv: string[], environment: Record<string, string> = {}): Promise<Call> =>
  call(['plan', 'f', '--changed-since', 'main', ...argv], { cwd: folder, environment });

describe('plan --changed-since', () => {
  it('of nothing changed ends with 0, and says what only a server could tell', async () => {
    expect(await plan([])).toEqual({
      code: 0,
      out: 'No changes.\n',
      err:
        'not looked at without a server: whether named secrets exist; whether secrets are set and usable; which ' +
        'webhooks are new to the quota; whether webhook UIDs exist; whether undeclared environments exist; what ' +
        'came and ran in the last days; what stored deliveries would start; which values guard the webhooks; ' +
        'which deletions are approved already\n',
    });
  });

  it('shows what the branch changes as a pass would order it, without UIDs, and the same bytes again', async () => {
    put('f/webhooks/fresh.yaml', 'secretName: y\n');
    put('f/webhooks/orders.yaml', 'secretName: x\nenabled: false\n');
    rmSync(join(folder, 'f/webhooks/sales.yaml'));
    put('f/webhooks/offers.yaml', 'secretName: x\n');
    const first = await plan([]);
    expect(first).toMatchObject({
      code: 2,
      out: [
        '+ webhook fresh (assigned when it applies) webhooks/fresh.yaml',
        '+ webhook offers (assigned when it applies) webhooks/offers.yaml: renamed from webhooks/sales.yaml, ' +
          'its UID and URL are new',
        '~ webhook orders webhooks/orders.yaml: enabled',
        '    ~ /enabled true → false',
        '- webhook sales webhooks/sales.yaml',
        '2 to create, 1 to update, 1 to delete.',
        '',
      ].join('\n'),
    });
    expect(await plan([])).toEqual(first);
    const shown = JSON.parse((await plan(['--format', 'json'])).out) as PrintablePlan;
    expect(shown).toMatchObject({
      factory_uid: null,
      valid: true,
      ending: 'applied',
      plan: null,
      summary: { create: 2, update: 1, delete: 1, held: 0 },
      not_run: expect.arrayContaining(['traffic', 'replay', 'uids']),
    });
    expect(shown.changes[0]).toEqual({
      action: 'create',
      kind: 'webhook',
      slug: 'fresh',
      uid: null,
      path: 'webhooks/fresh.yaml',
      changes: [],
    });
  });

  it('shows which secrets of runs are inside their sandbox, and where the others go', async () => {
    put(
      'f/environments/node.yaml',
      'secrets: [{name: FORGE, host: api.test, header: Authorization, paths: [/repos/*]}, ' +
        '{name: NPM_TOKEN, expose: env}, {name: SILENT}, {name: OPENAI_API_KEY}]\n',
    );
    const { out } = await plan([]);
    expect(out.split('\n').filter((line) => /^ +(?:inside|outside) /.test(line))).toEqual([
      '    outside  FORGE: Authorization at api.test (GET, HEAD; /repos/*)',
      '    inside   NPM_TOKEN: a variable of the sandbox (expose: env)',
      '    inside   SILENT: a variable of the sandbox, because neither host nor expose is said',
      '    outside  OPENAI_API_KEY: the key of a model; inside for a harness that takes no such key',
    ]);
    const shown = JSON.parse((await plan(['--format', 'json'])).out) as PrintablePlan;
    expect(shown.changes[0]?.run_secrets?.[1]).toEqual({ name: 'NPM_TOKEN', expose: 'env' });
  });

  it('gives advice besides, which fails nothing, not even strictly', async () => {
    put('f/webhooks/forge.yaml', 'authMode: signature\nsignatureScheme: github\nsecretName: y\n');
    const { code, out, err } = await plan(['--strict']);
    expect([code, out.includes('forge.yaml')]).toEqual([2, true]);
    expect(err).toContain('advice: webhooks/forge.yaml: github signs no time');
    put(
      'f/webhooks/forge.yaml',
      'authMode: signature\nsignatureScheme: github\nsecretName: y\nreplayProtection: body\n',
    );
    expect((await plan([])).err).not.toContain('advice');
  });

  it('names problems as `validate` does, and ends with 1', async () => {
    put('f/webhooks/orders.yaml', 'secretname: x\n');
    expect(await plan([])).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        new RegExp(
          String.raw`^webhooks/orders.yaml:1:1: unknown key .*\nwebhooks/orders.yaml:1:1: missing key "secretName".* ` +
            String.raw`\[missing-key\]\nautomations/act/automation.md:.*\[held-reference\]\n`,
        ),
      ),
      err: expect.stringContaining('nothing of this would apply'),
    });
    put('f/webhooks/orders.yaml', 'secretName: x\n');
    put('f/factory.yaml', 'schemaVersion: v1\n');
    expect([(await plan([])).code, (await plan(['--strict'])).code]).toEqual([0, 1]);
  });

  it('holds what the guard would hold, without a digest that approves nothing', async () => {
    rmSync(join(folder, 'f/automations'), { recursive: true });
    const { code, out, err } = await plan([]);
    expect({ code, out }).toEqual({
      code: 4,
      out:
        '! automation act automations/act/automation.md: deletion held back\n! automation look ' +
        'automations/look/automation.md: deletion held back\n2 deletions held back; nothing else changes.\n',
    });
    expect(err).toMatch(
      new RegExp(
        String.raw`^offline: this revision would delete the last automation \(2 of 2\); bring the files back, ` +
          String.raw`or approve the deletions where the server holds them\n`,
      ),
    );
    expect(await plan(['--format', 'junit'])).toMatchObject({
      code: 4,
      out: expect.stringMatching(/failures="2"[^]*<failure type="plan-held"/),
    });
    expect((await plan(['--format', 'github'])).out.split('\n').map((line) => line.split('::')[1])).toEqual([
      'warning file=f/automations/act/automation.md,title=plan-held',
      'warning file=f/automations/look/automation.md,title=plan-held',
      undefined,
    ]);
  });

  it('compares with what could be read of a commit that is in error itself', async () => {
    put('f/webhooks/broken.yaml', 'colour: red\n');
    git('add', '-A');
    git('commit', '-qm', 'broken');
    put('f/webhooks/broken.yaml', 'secretName: x\n');
    expect(await plan([])).toMatchObject({
      code: 2,
      out: expect.stringContaining('+ webhook broken'),
      err: expect.stringContaining('1 file of the commit before cannot apply'),
    });
    git('reset', '-q', '--hard', 'HEAD~1');
  });

  it('plans a commit of the repository instead of the folder, with old and new of each key', async () => {
    git('checkout', '-q', '-b', 'proposal');
    put('f/webhooks/orders.yaml', 'secretName: proposed-hook\n');
    git('add', '-A');
    git('commit', '-qm', 'propose');
    git('checkout', '-q', '-');
    expect(await plan(['--ref', 'proposal'])).toMatchObject({
      code: 2,
      out: expect.stringMatching(/~ webhook orders[^]*~ \/secretName ".*" → "proposed-hook"/),
    });
    expect(await plan(['--ref', 'no-such-branch'])).toMatchObject({
      code: 64,
      err: expect.stringContaining('git knows no commit "no-such-branch"'),
    });
    git('branch', '-qD', 'proposal');
  });

  it('of a factory that was not there before makes all of it', async () => {
    put('g/webhooks/a.yaml', 'secretName: x\n');
    expect(await call(['plan', 'g', '--changed-since', 'main'], { cwd: folder })).toMatchObject({
      code: 2,
      out: expect.stringMatching(/^\+ factory \(assigned when it applies\) factory.yaml\n\+ webhook a/),
    });
  });

  it.each<[string[], string]>([
    [['--changed-since', 'nope'], 'git knows no commit'],
    [['--server', 'http://127.0.0.1:1'], 'asks no server'],
    [['--format', 'xml'], '--format must be one of text, json, github, sarif, junit'],
  ])('%j is usage', async (argv, message) => {
    expect(await plan(argv)).toMatchObject({ code: 64, out: '', err: expect.stringContaining(message) });
  });
});

describe('formats of a plan', () => {
  const HOSTILE = '::error file=x\n|<b>[x](y)\u202e\u001b[2J%0A,"&';
  const UNKNOWN = { starts: [], stops: [], unreadable: 0, filters_unreadable: 0, cut: false };
  const made = (): PrintablePlan => ({
    factory_uid: 'fac_1',
    revision: 'sha256:0',
    valid: true,
    ending: 'applied',
    reason: null,
    message: null,
    problems: [],
    plan: null,
    summary: { create: 1, update: 1, delete: 0, held: 1 },
    held: [
      {
        action: 'delete',
        kind: 'webhook',
        slug: 'last',
        uid: 'wh_1',
        path: 'webhooks/last.yaml',
        changes: [],
        traffic: {
          days: 7,
          deliveries: 2,
          accepted: 2,
          runs: 1,
          failed_runs: 0,
          last_delivery_at: '2026-01-02T03:04:05.678Z',
          last_run_at: null,
        },
      },
    ],
    changes: [
      {
        action: 'create',
        kind: 'webhook',
        slug: HOSTILE,
        uid: HOSTILE,
        path: HOSTILE,
        changes: [],
        renamed_from: HOSTILE,
        ingress_url: HOSTILE,
        secret: { before: null, after: { name: HOSTILE, version: 1, fingerprint: null } },
      },
      {
        action: 'update',
        kind: 'automation',
        slug: 'stops',
        uid: 'auto_1',
        path: 'automations/stops/automation.md',
        changes: ['triggers'],
        replay: { ...UNKNOWN, deliveries: 50, before: 12, after: 0 },
      },
    ],
  });
  const printed = async (
    format: 'text' | 'github' | 'sarif' | 'junit' | 'json',
    summaryFile?: string,
  ): Promise<string> => {
    const written: string[] = [];
    const stdout = { write: (text: string) => written.push(text) } as unknown as NodeJS.WritableStream;
    const io = { stdin: process.stdin, stdout, stderr: stdout, cwd: '/', environment: {} };
    await printPlanned(made(), {
      format,
      output: new Output(io, format === 'json' ? 'json' : 'text'),
      folder: '.',
      cwd: '/',
      guide: undefined,
      summaryFile,
      files: [],
    });
    return written.join('');
  };

  it.each(['text', 'github', 'sarif', 'junit', 'json'] as const)(
    'let no name of %s steer a terminal, or begin a line',
    async (format) => {
      const out = await printed(format);
      expect(out).not.toMatch(/[\u001b\u202e]/);
      expect(out.split('\n').filter((line) => line.startsWith('::error'))).toEqual([]);
      expect(await printed(format)).toBe(out);
    },
  );

  it('warn of what fired and would fire no more, and put it into a table that holds', async () => {
    const file = join(folder, 'summary.md');
    const out = await printed('github', file);
    expect(out.split('\n').map((line) => line.slice(0, 20))).toEqual([
      '::warning file=autom',
      '::warning file=webho',
      '::notice file=\\u{3a}',
      '',
    ]);
    expect(out).toContain('would have fired 12 → 0 of the last 50 deliveries');
    const summary = readFileSync(file, 'utf8');
    const rows = summary.split('\n').filter((line) => line.startsWith('|'));
    expect(rows).toHaveLength(5);
    for (const row of rows) expect(row.split('|')).toHaveLength(5);
    expect(summary.replaceAll('<br>', '')).not.toMatch(/[<[\u001b\u202e]/);
    rmSync(file);
  });

  it('are well-formed', async () => {
    const counted = execFileSync(
      'python3',
      [
        '-c',
        'import sys, xml.etree.ElementTree as t; r = t.fromstring(sys.stdin.read()); print(r.get("tests"), ' +
          'len(r.findall(".//testcase")), len(r.findall(".//failure")))',
      ],
      { input: await printed('junit') },
    );
    expect(counted.toString().trim()).toBe('3 3 1');
    const sarif = JSON.parse(await printed('sarif'));
    // what is held waits for somebody
    expect(sarif.runs[0].results.map(({ level }: { level: string }) => level)).toEqual(['note', 'note', 'warning']);
    expect(sarif.runs[0].tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual([
      'plan-create',
      'plan-held',
      'plan-update',
    ]);
    expect(await printed('text')).toContain('last delivery 2026-01-02T03:04:05Z\n');
    expect(JSON.parse(await printed('json'))).toEqual(JSON.parse(JSON.stringify(made())));
  });
});
