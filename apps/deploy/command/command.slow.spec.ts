/**
 * The command as one file, and the package of it: packed, put where nothing else is, and run by the oldest Node.js that
 * is at hand. contract §11.10 (One file), decision 0100.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { IS_BUILT, ROOT } from '../../../test/support/guide/documents.ts';
import { packCommand, packedCommand, ranProgram } from '../../../test/support/deploy/one-file.ts';
import type { PackedCommand, Ran, RunOptions } from '../../../test/support/deploy/one-file.ts';
import { treeOf } from '../../../test/support/factories/golden-tree.ts';
import { bootService } from '../../../test/support/services/service.ts';
import { IS_PART } from '../../../test/support/tier.ts';

const PACKED_MS_MAX = 240_000;
const MEGABYTES_MAX = 3;
/** Of the golden trees every so many: each is two processes. */
const EVERY = IS_PART ? 8 : 4;
const FORMATS = ['text', 'json', 'github', 'sarif', 'junit'];
const EXAMPLE = join(ROOT, 'examples/factory-repo');

(IS_BUILT ? describe : describe.skip)('the command as one file', () => {
  let packed: PackedCommand;
  let bytes: Buffer;

  beforeAll(async () => {
    packed = await packedCommand();
    bytes = readFileSync(packed.file);
  }, PACKED_MS_MAX);
  afterAll(() => packed?.remove());

  /** The same call of the checkout's command. */
  const ofCheckout = (args: readonly string[], options: RunOptions): Promise<Ran> =>
    ranProgram([process.execPath, '--no-warnings', join(ROOT, 'apps/cli/millwright.mjs'), ...args], options);

  /** Writes a golden tree into a folder, as far as a folder can hold it. */
  function written(golden: string): string {
    const folder = mkdtempSync(join(dirname(packed.folder), 'tree-'));
    for (const { path, content, kind } of treeOf(golden)) {
      if ((kind ?? 'file') !== 'file' || /(^|\/)\.\.(\/|$)|\0/.test(path)) continue;
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    return folder;
  }

  const sample = ['err', 'ok']
    .flatMap((kind) => readdirSync(join(ROOT, 'test/definitions', kind)).map((name) => `${kind}/${name}`))
    .sort()
    .filter((_, at) => at % EVERY === 0);

  it.each(sample.map((name, at) => [name, FORMATS[at % FORMATS.length] ?? 'text'] as const))(
    'says of the tree %s as %s what the checkout says, byte for byte',
    async (name, format) => {
      const cwd = written(join(ROOT, 'test/definitions', name));
      const args = ['validate', '.', '--strict', '--verbose', `--format=${format}`];
      const [ours, theirs] = await Promise.all([packed.run(args, { cwd }), ofCheckout(args, { cwd })]);
      expect(ours).toEqual(theirs);
      expect([0, 1]).toContain(ours.code);
    },
  );

  it.each<[string[], string]>([
    [['schema'], ''],
    [['schema', 'automation'], ''],
    [['explain', 'filter-near-operator'], ''],
    [['explain', 'trust-inputs', '--format', 'json'], ''],
    [['explain', 'trust-inputs', '-o', 'yaml'], ''],
    [['validate', EXAMPLE, '-o', 'yaml'], ''],
    [['validate', '-', '--stdin-path', 'webhooks/a.yaml'], 'secretname: x\n'],
    [['fmt', '-', '--stdin-path', 'webhooks/a.yaml'], 'secretName:   x # why\n'],
    [['filter', 'test', join(ROOT, 'package.json'), '-'], '{}'],
    [['filter', 'test', '/dev/null', '-'], '{}'],
    [['statsu'], ''],
    [['plan', '--fromat'], ''],
    [['status', '--server', 'http://127.0.0.1:1', '-o', 'json'], ''],
    [['send', 'http://127.0.0.1:1/webhooks/x', '--scheme', 'none', '--data', '-'], '{}'],
    [['wait', 'main', '--revision', 'x', '--help'], ''],
    [['--version'], ''],
  ])('answers %j as the checkout does', async (args, input) => {
    const options = { cwd: packed.folder, input, environment: { MILLWRIGHT_API_KEY: `mw_${'s'.repeat(43)}` } };
    expect(await packed.run(args, options)).toEqual(await ofCheckout(args, options));
  });

  it('compares two trees of a git repository', async () => {
    const cwd = mkdtempSync(join(dirname(packed.folder), 'repository-'));
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd, stdio: 'pipe' }) +
      '';
    git('init', '-q');
    expect(await packed.run(['init', '.'], { cwd })).toMatchObject({ code: 0 });
    git('add', '.');
    git('commit', '-qm', 'one');
    writeFileSync(join(cwd, 'webhooks/more.yaml'), 'secretName: more\n');
    const plan = ['plan', '.', '--changed-since=HEAD'];
    const ours = await packed.run(plan, { cwd });
    expect(ours).toMatchObject({ code: 2, out: expect.stringContaining('webhooks/more.yaml') });
    expect(ours).toEqual(await ofCheckout(plan, { cwd }));
  });

  it('speaks to a service', async () => {
    const test = await bootService();
    try {
      const uid = await test.factory('mine', { kind: 'directory', path: EXAMPLE });
      const environment = { MILLWRIGHT_SERVER: test.url, MILLWRIGHT_API_KEY: test.adminKey };
      for (const args of [
        ['factories', 'list', '-o', 'json'],
        ['status', 'mine', '-o', 'yaml'],
        ['keys', 'current'],
        ['webhooks', 'mine'],
      ]) {
        const ours = await packed.run(args, { environment });
        // A factory that has not been read yet is told of with 1.
        expect(ours).toMatchObject({ code: args[0] === 'status' ? 1 : 0 });
        expect(ours).toEqual(await ofCheckout(args, { environment }));
      }
      await test.secret('ci-events-token', 'a-token-of-the-example-that-is-long-enough');
      await test.sync(uid);
      const plan = ['plan', EXAMPLE, '--factory', 'mine'];
      const planned = await packed.run(plan, { environment });
      expect(planned.code).toBe(0); // nothing is applied between the two
      expect(planned).toEqual(await ofCheckout(plan, { environment }));
      expect(await packed.run(['status', 'nope'], { environment })).toMatchObject({ code: 5 });
    } finally {
      await test.stop();
    }
  }, 120_000);

  it.each([
    ['start', '--factory', 'x'],
    ['start', '--help'],
    ['doctor'],
    ['backup', 'x.tar', '-o', 'text'],
    ['restore', 'x.tar'],
    ['upgrade'],
    ['support-bundle', 'x.tar.gz'],
    ['keys', 'rotate-master'],
  ])('has no %s %s, and says in one line which package has it', async (...args) => {
    const { code, out, err } = await packed.run(args);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(/^millwright [a-z -]+: .*@millwright\/server\n$/);
    expect(readdirSync(packed.folder)).toEqual(['millwright.mjs']);
  });

  it('says the same as JSON, and in its overview', async () => {
    const { code, err } = await packed.run(['doctor', '-o', 'json']);
    expect({ code, error: JSON.parse(err) as unknown }).toMatchObject({
      code: 64,
      error: { error: { command: 'millwright doctor', kind: 'usage', exit_code: 64 } },
    });
    const help = await packed.run(['help']);
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining('the package @millwright/server has them') });
    expect(await packed.run(['completion', 'bash'])).toMatchObject({ code: 0, err: '' });
  });

  it(`has at most ${MEGABYTES_MAX} MB, and knows no path of the machine that made it`, () => {
    expect(bytes.length).toBeLessThanOrEqual(MEGABYTES_MAX * 1_000_000);
    const text = bytes.toString('utf8');
    expect(text.startsWith('#!/usr/bin/env node\n')).toBe(true);
    expect(text).not.toContain(ROOT.replace(/\/$/, ''));
    expect(text).not.toMatch(/sourceMappingURL|\r/); // git may change line ends, and with them the digest
  });

  it(
    'is the same, byte for byte, when it is made again, and its digest lies beside it',
    async () => {
      const again = await packCommand(mkdtempSync(join(dirname(packed.folder), 'again-')));
      expect(readFileSync(again.file).equals(bytes)).toBe(true);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(readFileSync(again.digest, 'utf8')).toBe(`${sha256}  millwright.mjs\n`);
      execFileSync('sha256sum', ['--check', again.digest], { cwd: dirname(again.file), stdio: 'pipe' });
    },
    PACKED_MS_MAX,
  );
});

(IS_BUILT ? describe : describe.skip)('the package millwright', () => {
  let packed: PackedCommand;
  let folder: string;

  beforeAll(async () => {
    packed = await packedCommand();
    folder = mkdtempSync(join(dirname(packed.folder), 'empty-'));
    writeFileSync(join(folder, 'package.json'), '{"name":"empty","version":"1.0.0","private":true}');
    const options = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund'];
    execFileSync('npm', ['install', ...options, packed.made.tarball], { cwd: folder, stdio: 'pipe' });
  }, PACKED_MS_MAX);
  afterAll(() => packed?.remove());

  const home = (): string => join(folder, 'node_modules/millwright');

  it('holds the one file and its papers, and no test, script or dependency', () => {
    const files = execFileSync('tar', ['-tzf', packed.made.tarball], { encoding: 'utf8' }).trim().split('\n');
    expect(files.sort()).toEqual([
      'package/LICENSE',
      'package/README.md',
      'package/THIRD-PARTY-NOTICES.txt',
      'package/millwright.mjs',
      'package/package.json',
      'package/sbom.cdx.json',
    ]);
    const manifest = JSON.parse(readFileSync(join(home(), 'package.json'), 'utf8')) as object;
    expect(Object.keys(manifest).sort()).toEqual(
      ['bin', 'description', 'engines', 'license', 'name', 'type', 'version'].sort(),
    );
    expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['millwright']);
  });

  it('runs by its name, without a script having run', async () => {
    const { code, err } = await ranProgram(['npx', '--no-install', 'millwright', 'validate', EXAMPLE], { cwd: folder });
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('0 errors') });
    expect(statSync(join(home(), 'millwright.mjs')).mode & 0o111).toBe(0o111);
  });

  it('is locked with an integrity by whoever installs it', () => {
    const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { integrity?: string; hasInstallScript?: boolean }>;
    };
    const digest = createHash('sha512').update(readFileSync(packed.made.tarball)).digest('base64');
    expect(packages['node_modules/millwright']).toMatchObject({ integrity: `sha512-${digest}` });
    expect(packages['node_modules/millwright']?.hasInstallScript).toBeUndefined();
  });

  it('says under which licence everything in it is, in the file as well', () => {
    const notices = readFileSync(join(home(), 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    const { components } = JSON.parse(readFileSync(join(home(), 'sbom.cdx.json'), 'utf8')) as {
      components: { 'bom-ref': string }[];
    };
    expect(components.length).toBeGreaterThan(2);
    const sections = notices.split(`\n${'-'.repeat(80)}\n`).slice(1);
    expect(sections.map((section) => section.trim().split(' ')[0]).sort()).toEqual(
      components.map((component) => component['bom-ref']).sort(),
    );
    for (const section of sections) expect(section).toMatch(/copyright/i);
    const file = readFileSync(join(home(), 'millwright.mjs'), 'utf8');
    for (const component of components) expect(file).toContain(`\n// ${component['bom-ref']} (`);
  });
});

it('npm pack of the checkout makes nothing, and says what does', async () => {
  const { code, err } = await ranProgram(['npm', 'pack', '--silent', '--dry-run'], { cwd: ROOT.replace(/\/$/, '') });
  expect({ code, isThere: existsSync(join(ROOT, 'millwright-0.1.0.tgz')) }).toEqual({ code: 1, isThere: false });
  expect(err).toContain('npm run package');
});
