/** The README's commands are run as a new user would paste them, and its tables are compared with the code. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UNSHIPPED_SCHEMES } from '#authentication';
import { KNOWN_VARIABLES } from '../apps/server/config/config.ts';
import { bootService, eventually, type TestService } from './support/service.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const COMMAND = join(ROOT, 'apps/cli/millwright.mjs');
const BUILT = existsSync(join(ROOT, 'dist/apps/cli/main.js'));

/** Blocks marked `sh`, in order; those without a language are patterns or trees, not commands. */
const BLOCKS = [...README.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '');

describe('npm commands of the README', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = BLOCKS.flatMap((block) =>
    [...block.matchAll(/^npm (?:run )?([\w:]+)/gm)].map((match) => match[1] ?? ''),
  ).filter((name) => name !== 'link');
  it.each(named)('npm %s is a script', (name) => {
    expect(scripts[name]).toBeDefined();
  });
});

describe('variables of the README', () => {
  it.each([...KNOWN_VARIABLES])('%s is explained', (name) => {
    expect(README).toContain(`\`${name}\``);
  });

  it('explains no variable that does not exist', () => {
    const explained = [...README.matchAll(/`(MILLWRIGHT_[A-Z_]+)(?:=\w+)?`/g)].map((match) => match[1] ?? '');
    expect(explained.filter((name) => !KNOWN_VARIABLES.has(name))).toEqual([]);
  });
});

(BUILT ? describe : describe.skip)(
  `shell commands of the README${BUILT ? '' : ' (skipped: run through npm test, which builds first)'}`,
  () => {
    let folder = '';
    let service: TestService;
    const environment: Record<string, string> = {};

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'millwright-readme-'));
      await mkdir(join(folder, '.millwright'), { mode: 0o700 });
      service = await bootService({ dataDir: join(folder, '.millwright') });
      await writeFile(join(folder, '.millwright/admin-key'), `${service.adminKey}\n`, { mode: 0o600 });
      environment['MILLWRIGHT_SERVER'] = service.url;
    });
    afterAll(async () => {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    });

    it('every block ends without an error, in order, and the deliveries start runs', async () => {
      for (const block of BLOCKS) {
        const commands = block.replace(/^npm .*$/gm, '');
        const { code, output } = await shell(commands, folder, environment);
        expect({ block, code, output: code === 0 ? '' : output }).toEqual({ block, code: 0, output: '' });
        if (block.includes('secrets set')) await serveFolder();
      }
      const { body } = await service.api('GET', `/agent/runs?factory_uid=${environment['FACTORY']}`);
      expect(body['runs']).toHaveLength(2);
    }, 120_000);

    /** What the text says between two blocks: the folder is served, and its webhook has a URL. */
    async function serveFolder(): Promise<void> {
      environment['FACTORY'] = await service.factory('mine', { kind: 'directory', path: join(folder, 'my-factory') });
      environment['INGRESS_URL'] = service.ingressUrl('mine', 'builds');
      await eventually('the webhook is served', () =>
        service.service.serving.webhook(service.webhookUid('mine', 'builds')),
      );
    }
  },
);

/** Runs a block in one shell that stops at the first error. */
function shell(
  script: string,
  cwd: string,
  environment: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const preamble = `set -eu\nmillwright() { "${process.execPath}" --disable-warning=ExperimentalWarning "${COMMAND}" "$@"; }\n`;
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', preamble + script], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: cwd, ...environment },
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('close', (code) => resolve({ code, output }));
  });
}

describe('schemes that are not served', () => {
  it.each([...UNSHIPPED_SCHEMES])('%s stands beside its reason', (id, reason) => {
    const row = README.split('\n').find((line) => line.startsWith(`| ${reason} |`)) ?? '';
    expect(row).toContain(`\`${id}\``);
  });
});
