/**
 * What a run changes in the repositories of its environment is kept as a diff that can be applied, whatever the run
 * makes of its clones. contract §3.1 (artifacts), §10.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGitServer, type GitServer } from '../support/git/git-server.ts';
import { ENDED, logOf, startedRun } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

let git: GitServer;
let service: TestService;
let factoryUid: string;
let scratch: string;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'repository-diffs-'));
  git = await startGitServer();
  git.createRepository('acme/app').commit({
    'changed.txt': 'one\ntwo\n',
    'gone.txt': 'away\n',
    'moved.txt': 'the same\n',
    'picture.bin': new Uint8Array([0, 1, 2, 255]),
    '.gitignore': 'ignored/\n',
  });
  git.createRepository('acme/site').commit({ 'index.html': 'main\n' });
  git.createRepository('acme/factory').commit({ 'environments/both.yaml': 'repositories: [acme/app, acme/site]\n' });
  service = await bootService({
    environment: {
      MILLWRIGHT_GIT_CA_FILE: git.caFile,
      MILLWRIGHT_RUN_COMMAND: JSON.stringify(['/bin/sh', '-c', 'sh prompt.md']),
    },
  });
  factoryUid = await service.factory('acme', { kind: 'git', url: git.urlOf('acme/factory'), branch: 'main' });
}, 120_000);
afterAll(async () => {
  await service.stop();
  await git.close();
  rmSync(scratch, { recursive: true, force: true });
});

interface Artifact {
  artifact_uid: string;
  data: { filename?: string; note?: string };
}

async function ended(runId: string, state?: string): Promise<{ diffs: Map<string, Artifact>; said: string[] }> {
  const run = await eventually(
    'the run has ended',
    async () => {
      const { body } = await service.api('GET', `/agent/runs/${runId}`);
      return ENDED.includes(String(body['state'])) ? body : undefined;
    },
    120_000,
  );
  if (run['state'] !== (state ?? 'SUCCEEDED')) throw new Error(JSON.stringify(await logOf(service, runId)));
  const said = (await logOf(service, runId)).flatMap(({ event_type: type, payload }) =>
    type === 'status' ? [payload.text ?? ''] : [],
  );
  return {
    said,
    diffs: new Map(
      ((run['artifacts'] ?? []) as Artifact[]).map((artifact) => [artifact.data.filename ?? '', artifact]),
    ),
  };
}

const started = (prompt: string): Promise<string> =>
  startedRun(service, prompt, { factory_uid: factoryUid, config: { environment_id: 'both' } });
const contentOf = async ({ artifact_uid: uid }: Artifact): Promise<Buffer> =>
  Buffer.from(
    await (
      await fetch(`${service.url}/api/v1/agent/artifacts/${uid}/download`, {
        headers: { authorization: `Bearer ${service.adminKey}` },
      })
    ).arrayBuffer(),
  );

/** Files of a fresh clone to which a diff is applied, with their kinds and contents. */
async function applied(name: string, diff: Artifact): Promise<string> {
  const folder = mkdtempSync(join(scratch, 'clone-'));
  execFileSync('git', ['clone', '--quiet', join(git.root, 'acme', name), folder], { stdio: 'pipe' });
  writeFileSync(join(scratch, 'it.diff'), await contentOf(diff));
  execFileSync('git', ['-C', folder, 'apply', join(scratch, 'it.diff')], { stdio: 'pipe' });
  return treeOf(folder);
}
const treeOf = (folder: string): string =>
  execFileSync(
    '/bin/sh',
    [
      '-c',
      'cd "$1" && find . -path ./.git -prune -o -path ./ignored -prune -o -type f -printf "%m %p\\n" | sort && ' +
        'find . -path ./.git -prune -o -path ./ignored -prune -o -type f -print0 | sort -z | xargs -0 sha256sum ' +
        '&& find . -type l -printf "%p %l\\n"',
      'tree',
      folder,
    ],
    { encoding: 'utf8' },
  );

/** Sets whatever git lets a repository set to run something, or to change the form of a diff. */
const HOSTILE = [
  'diff.external /bin/false',
  'diff.noprefix true',
  'diff.mnemonicPrefix true',
  'diff.relative true',
  'color.ui always',
  'core.fsmonitor /bin/false',
  'core.hooksPath /bin',
  'diff.submodule log',
  'diff.context 0',
  'core.pager /bin/false',
  'core.worktree /',
  'diff.x.textconv /bin/false',
  'diff.renames copies',
]
  .map((setting) => `git -C app config ${setting}`)
  .join('; ');

describe('the changes of a run', () => {
  it(
    'are a diff for each repository that has any: changed, new, deleted, moved, committed, binary and executable ' +
      'files, links; nothing that is ignored',
    async () => {
      const runId = await started(
        [
          'set -e',
          'git -C app config user.name x; git -C app config user.email x@example.com',
          'echo three >> app/changed.txt; rm app/gone.txt; mkdir app/sub; git -C app mv moved.txt sub/moved.txt',
          'printf "\\001\\000\\377\\n" > app/picture.bin; printf "\\000" > "app/new file é.bin"; echo "#!/bin/sh" ' +
            '> app/tool.sh; chmod 755 app/tool.sh; ln -s ../changed.txt app/sub/link; : > app/empty',
          'echo committed > app/committed.txt; git -C app add committed.txt; git -C app commit -q -m "Of the run"',
          'mkdir app/ignored; echo no > app/ignored/no.txt',
          'git -C app status --short > status.txt',
          'mkdir -p app/.git/info; echo "* diff=x" > app/.git/info/attributes',
          HOSTILE,
          'mkdir -p "$HOME/.config/git"; echo "*" > "$HOME/.config/git/ignore"; git config --global diff.noprefix true',
        ].join('\n'),
      );
      const { diffs, said } = await ended(runId);
      expect([...diffs.keys()].sort()).toEqual(['app.diff']);
      const workspace = join(service.dataDir, 'runs', runId, 'workspace');
      expect(await applied('app', diffs.get('app.diff') as Artifact)).toBe(treeOf(join(workspace, 'app')));
      expect(said).toContain('the changes in app are in artifacts/app.diff');
      const note = /^The word of the run, not of the service: compared inside its sandbox, .*\n/;
      expect((await contentOf(diffs.get('app.diff') as Artifact)).toString('latin1')).toMatch(note);
      expect(`${diffs.get('app.diff')?.data.note}\n`).toMatch(note);
      expect(existsSync(join(workspace, 'app/.git/millwright.index'))).toBe(false);
      expect(
        execFileSync(
          'git',
          [
            '--git-dir',
            join(workspace, 'app/.git'),
            '-c',
            'safe.directory=*',
            '--work-tree',
            join(workspace, 'app'),
            'ls-files',
          ],
          { encoding: 'utf8' },
        ),
      ).not.toContain('empty'); // the run's index is as the run left it

      // A later execution compares with the same commit.
      await service.api('POST', `/agent/runs/${runId}/followups`, { message: 'echo page >> site/index.html' });
      await eventually(
        'both have differed',
        async () =>
          (await logOf(service, runId)).some(
            ({ payload }) => payload.text === 'the changes in site are in artifacts/site.diff',
          )
            ? true
            : undefined,
        60_000,
      );
      const later = await ended(runId);
      expect(await applied('site', later.diffs.get('site.diff') as Artifact)).toContain('index.html');
      expect(await applied('app', later.diffs.get('app.diff') as Artifact)).toBe(treeOf(join(workspace, 'app')));
    },
    120_000,
  );

  it('are said to be missing where no diff can be: too large, no repository; a failed run keeps its own', async () => {
    const { diffs, said } = await ended(
      await started('rm -rf site/.git; head -c 12000000 /dev/urandom > app/large.bin; exit 3'),
      'FAILED',
    );
    expect([...diffs.keys()]).toEqual([]);
    expect(said).toContain('the changes in app are not kept as a diff: it is larger than 10 MiB');
    expect(said).toContain(
      'the changes in site are not kept as a diff: git could not compare it with what was checked out',
    );
    const failed = await ended(await started('echo x >> app/changed.txt; exit 3'), 'FAILED');
    expect([...failed.diffs.keys()]).toEqual(['app.diff']);
  }, 120_000);

  it('are none where nothing has changed, and where the run was cancelled', async () => {
    const { diffs, said } = await ended(await started('touch app/changed.txt; git -C app status'));
    expect([...diffs.keys()]).toEqual([]);
    expect(said.join('\n')).not.toContain('the changes in');
    const cancelled = await started('echo x >> app/changed.txt; echo waiting; sleep 60');
    await eventually(
      'it waits',
      async () =>
        (await logOf(service, cancelled)).some(({ payload }) => payload.text?.includes('waiting')) ? true : undefined,
      60_000,
    );
    await service.api('POST', `/agent/runs/${cancelled}/cancel`);
    expect([...(await ended(cancelled, 'CANCELLED')).diffs.keys()]).toEqual([]);
  }, 120_000);
});
