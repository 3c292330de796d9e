/** What a run sees of the installation: the parts that its harness consists of, and no settings, repository or data. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { sandboxHere, startSandboxed } from '../../../../test/support/agents/sandboxed-command.ts';
import { partsOf } from '../agent/agents.ts';
import { INSTALLATION_FOLDER, privateFiles } from './installation-files.ts';
import type { Sandbox } from './sandboxes.ts';

/** As a checkout has them, secrets included. */
const FILES = (
  'package.json .env .env.production .npmrc .git/config data/master-key run.sh notes.txt node_modules/ai/index.js ' +
  'dist/apps/agent/main.js dist/apps/server/main.js dist/libs/runs/index.js'
).split(' ');

let base: string;
let app: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'millwright-installation-')));
  app = join(base, 'app');
  for (const file of FILES) {
    await mkdir(dirname(join(app, file)), { recursive: true });
    await writeFile(join(app, file), `secret of ${file}`, { mode: 0o755 });
  }
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe('private files of the installation', () => {
  it('are those of this package', () => {
    expect(privateFiles()).toEqual(expect.arrayContaining([join(INSTALLATION_FOLDER, '.env')]));
    expect(privateFiles()).toEqual(expect.arrayContaining([join(INSTALLATION_FOLDER, '.git')]));
  });

  it('are settings and repositories, also of the folder that the service was started in', async () => {
    await mkdir(join(base, 'started', '.ssh'), { recursive: true });
    await writeFile(join(base, 'started', 'environment'), '');
    const found = privateFiles([app, join(base, 'started'), join(base, 'missing')]).map((file) => relative(base, file));
    expect(found.sort()).toEqual(['app/.env', 'app/.env.production', 'app/.git', 'app/.npmrc', 'started/.ssh']);
  });
});

describe('the built-in agent', () => {
  it('consists of its program, the libs, the packages and package.json, and of nothing beside them', async () => {
    for (const part of ['dist/apps/agent', 'dist/apps/server', 'dist/libs', 'dist/schemas', 'node_modules', 'data'])
      await mkdir(join(base, part), { recursive: true });
    for (const file of ['package.json', '.env']) await writeFile(join(base, file), '{}');
    expect(partsOf(base).map((path) => relative(base, path))).toEqual([
      'dist/apps/agent',
      'dist/libs',
      'dist/schemas',
      'package.json',
      'node_modules',
    ]);
  });
});

for (const kind of ['bubblewrap', 'pid-namespace'] as const) {
  const sandbox = await sandboxHere(kind);
  const hasFiles = sandbox?.guarantees.files === true;
  if (!hasFiles) console.warn(`SKIPPED: files in the sandbox "${kind}": ${sandbox?.description ?? 'none'}`);

  (hasFiles ? describe : describe.skip)(`a run in the sandbox "${kind}"`, () => {
    const seen = async (words: readonly string[], readOnly: readonly string[]): Promise<string[]> => {
      const hidden = [join(app, 'data'), ...privateFiles([app])];
      const command = await startSandboxed({ ...(sandbox as Sandbox), hidden }, join(base, 'service'), {
        script: `cd ${app} 2>/dev/null && find ${app} -type f -size +0; cat .env .git/config data/* 2>/dev/null`,
        operatorWords: words,
        readOnly,
      });
      await command.finished;
      const lines = command.text('stdout').split('\n').filter(Boolean);
      return lines.map((line) => (line.startsWith(app) ? relative(app, line) : line)).sort();
    };

    it('sees the named parts of an installation and nothing beside them', async () => {
      const parts = ['dist/apps/agent', 'dist/libs', 'node_modules', 'package.json'];
      const words = [join(app, 'dist/apps/agent/main.js')];
      expect(
        await seen(
          words,
          parts.map((part) => join(app, part)),
        ),
      ).toEqual(['dist/apps/agent/main.js', 'dist/libs/runs/index.js', 'node_modules/ai/index.js', 'package.json']);
    });

    it('sees of a command in the installation folder the command alone', async () => {
      expect(await seen([join(app, 'run.sh')], [])).toEqual(['run.sh']);
    });

    it('sees no private file, whoever names it or its folder', async () => {
      expect(await seen([join(app, '.env'), app], [app, join(app, '.env'), join(app, '.git/config')])).toEqual([]);
    });
  });
}
