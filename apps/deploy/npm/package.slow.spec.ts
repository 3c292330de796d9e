/** The npm package: packed, installed from the tarball into an empty folder, and run there. decision 0078. */
import { execFileSync, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CI_PATHS, COMMAND_FOLDER } from '../../cli/starter/ci-jobs.ts';
import { IS_BUILT, README } from '../../../test/support/guide/documents.ts';
import { ended, installedPackage, type InstalledPackage } from '../../../test/support/deploy/installed-package.ts';
import { freshDatabase, postgresServer } from '../../../test/support/databases/postgres.ts';
import { eventually, freePort } from '../../../test/support/services/service.ts';

const PACKED_MS_MAX = 240_000;
const PACKAGES_MAX = 200;
const MEGABYTES_MAX = 120;

(IS_BUILT ? describe : describe.skip)('the package @millwright/server', () => {
  let installed: InstalledPackage;
  let running: ChildProcess | undefined;

  beforeAll(async () => {
    installed = await installedPackage({ compiles: false });
  }, PACKED_MS_MAX);
  afterEach(async () => {
    if (running !== undefined) await ended(running);
    running = undefined;
  });
  afterAll(() => installed?.remove());

  /** Starts it and waits until it is ready. Answers its address and what it printed. */
  async function started(
    args: readonly string[] = [],
    environment: Record<string, string> = {},
  ): Promise<{ url: string; banner: string }> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const service = installed.start(port, args, environment);
    running = service;
    let banner = '';
    for (const stream of [service.stdout, service.stderr])
      stream?.on('data', (chunk: Buffer) => (banner += chunk.toString()));
    await eventually('the service is ready', async () => {
      if (service.exitCode !== null) throw new Error(banner);
      const answer = await fetch(`${url}/readyz`).catch(() => undefined);
      return answer?.status === 200 && banner.includes('See what this machine lacks');
    });
    return { url, banner };
  }

  it('holds what is built, its papers, and neither tests nor sources', () => {
    const files = execFileSync('tar', ['-tzf', installed.tarball], { encoding: 'utf8' }).trim().split('\n');
    const outside = files.filter(
      (file) => !/^package\/(?:dist|examples\/factory-repo|apps\/deploy\/systemd)\//.test(file),
    );
    expect(outside.sort()).toEqual([
      'package/LICENSE',
      'package/README.md',
      'package/THIRD-PARTY-NOTICES.txt',
      'package/apps/cli/millwright.mjs',
      'package/package.json',
      'package/sbom.cdx.json',
    ]);
    expect(files).toEqual(expect.arrayContaining(['package/dist/dashboard/index.html']));
    expect(files.filter((file) => /\.spec\.|\.tsx?$|\/\.|dist\/(?:test|apps\/deploy)\//.test(file))).toEqual([]);
  });

  it(`installs at most ${PACKAGES_MAX} packages and ${MEGABYTES_MAX} MB`, () => {
    const lock = JSON.parse(readFileSync(join(installed.folder, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version?: string }>;
    };
    const bill = JSON.parse(readFileSync(join(installed.home, 'sbom.cdx.json'), 'utf8')) as { components: unknown[] };
    const packages = Object.keys(lock.packages).filter((path) => path !== '').length;
    expect(packages).toBeGreaterThan(1);
    expect(packages).toBeLessThanOrEqual(PACKAGES_MAX);
    expect(bill.components.length).toBeGreaterThan(packages); // what is inside is told too
    const kilobytes = execFileSync('du', ['-sk', join(installed.folder, 'node_modules')], { encoding: 'utf8' });
    expect(parseInt(kilobytes, 10) / 1_024).toBeLessThanOrEqual(MEGABYTES_MAX);
  });

  it('says under which licence everything in it is', () => {
    const text = readFileSync(join(installed.home, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of ['fastify', 'typeorm', '@nestjs/core', 'react'])
      expect(text).toMatch(new RegExp(`^${name}@[\\d.]+ \\(MIT\\)$`, 'm'));
  });

  it('each package that is part of it can be loaded', async () => {
    const files = (await readdir(join(installed.home, 'dist/vendor'))).filter((name) => name.endsWith('.js'));
    expect(files.length).toBeGreaterThan(20);
    const names = ['reflect-metadata.js', ...files]; // what decorators need, before anything that has some
    const program = names.map((name) => `await import('./dist/vendor/${name}');`).join('\n');
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: installed.home });
  });

  it('writes jobs that check nothing out but their repository, and run the command as one file', async () => {
    for (const ci of ['github', 'gitlab', 'gitea'] as const) {
      await installed.command(['init', ci, '--ci', ci]);
      const job = await readFile(join(installed.folder, ci, CI_PATHS[ci]), 'utf8');
      expect(job).not.toMatch(/MILLWRIGHT_REPOSITORY|git clone|\bsecrets\./);
      const file = await readFile(join(installed.folder, ci, COMMAND_FOLDER, 'millwright.mjs'));
      expect(job).toContain(createHash('sha256').update(file).digest('hex'));
    }
    const command = join(installed.folder, 'github', COMMAND_FOLDER, 'millwright.mjs');
    execFileSync(process.execPath, [command, 'validate', 'github'], { cwd: installed.folder });
  });

  it('serves a factory by the words of the README: health, a page, an accepted delivery, a run', async () => {
    expect(README.text).toContain('npx @millwright/server start');
    await mkdir(join(installed.folder, 'my-factory/webhooks'), { recursive: true });
    await mkdir(join(installed.folder, 'my-factory/automations/triage'), { recursive: true });
    const webhook = 'authMode: token\nsecretName: builds-token\n';
    await writeFile(join(installed.folder, 'my-factory/webhooks/builds.yaml'), webhook);
    const automation =
      '---\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      webhooks: [builds]\n---\n' +
      'Write a report.\n';
    await writeFile(join(installed.folder, 'my-factory/automations/triage/automation.md'), automation);
    const { url } = await started(['--factory', './my-factory']);
    expect((await fetch(`${url}/`)).headers.get('content-type')).toContain('text/html');
    const server = ['--server', url];
    await installed.command(['secrets', 'set', 'builds-token', ...server], 'a-token-of-the-test-0123456789');
    await installed.command(['sync', 'main', ...server]);
    const listed = await installed.command(['webhooks', 'main', '--format', 'json', ...server]);
    const ingressUrl = /"ingress_url":\s*"([^"]+)"/.exec(listed)?.[1] ?? '';
    const sent = await fetch(ingressUrl, {
      method: 'POST',
      headers: { authorization: 'Bearer a-token-of-the-test-0123456789', 'content-type': 'application/json' },
      body: '{"status": "failed"}',
    });
    expect(sent.status).toBe(202);
    await eventually('the run has succeeded', async () =>
      (await installed.command(['runs', '--format', 'json', ...server])).includes('"SUCCEEDED"'),
    );
  }, 240_000);

  it('brings an example factory, and says how to call it again', async () => {
    const { banner } = await started(['--example'], { MILLWRIGHT_DATA_DIR: join(installed.folder, 'example') });
    expect(banner).toMatch(/^ {2}webhook ci-events: http/m);
    expect(banner).toContain('npx @millwright/server run --prompt');
    expect(existsSync(join(installed.folder, 'example/secrets/ci-events-token'))).toBe(true);
  }, 180_000);

  it('runs on PostgreSQL', async () => {
    const server = await postgresServer();
    if (!server.ok) throw new Error(server.reason);
    const database = await freshDatabase(server.url);
    const folder = join(installed.folder, 'on-postgresql');
    await mkdir(folder, { mode: 0o700 });
    for (const name of ['master-key', 'uid-key'])
      await writeFile(join(folder, name), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    try {
      await started([], { MILLWRIGHT_DATABASE_URL: database.url, MILLWRIGHT_DATA_DIR: folder });
      if (running !== undefined) await ended(running);
    } finally {
      await database.drop();
    }
  }, 180_000);
});
