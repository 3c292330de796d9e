/**
 * The set-up of a workspace in every means of isolation of this machine: cloned from a copy that the run cannot keep,
 * by its own user. contract §8.1 (environments), §10.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostPatternOfUrl, type HostPattern } from '#isolation';
import { uuidv7 } from '#runs';
import { startGitServer, type GitServer } from '../../../../test/support/git/git-server.ts';
import { sandboxHere } from '../../../../test/support/agents/sandboxed-command.ts';
import { checkGitUrl } from '../../sync/sources/git/git-urls.ts';
import { startCommand } from '../command/command.ts';
import type { RunEnvironment } from '../preparation/environments.ts';
import { EnvironmentSetup, type SetupResult, type SetupStepDeps } from './environment-setup.ts';
import { LastLines } from './run-setup.ts';
import { Repositories } from '../repositories/repositories.ts';
import { ownerOf, type Sandbox, type SandboxKind } from '../sandbox/sandboxes.ts';
import { prepareWorkspace, type Workspace } from '../workspace/workspaces.ts';

let git: GitServer;
let dataDir: string;
beforeAll(async () => {
  git = await startGitServer();
  git.createRepository('acme/app').commit({ 'file.txt': 'content', '.gitattributes': '*.txt filter=planted\n' });
});
afterAll(() => git.close());
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'environments-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const kinds: SandboxKind[] = ['bubblewrap', 'pid-namespace', 'bare'];
const here = await Promise.all(kinds.map(async (kind) => ({ kind, sandbox: await sandboxHere(kind) })));

describe('a set-up', () => {
  it.each(here.filter(({ sandbox }) => sandbox !== undefined))(
    'in $kind clones as the run’s own user, and leaves nothing that needs the copy',
    async ({ sandbox }) => {
      const found = sandbox as Sandbox;
      const runId = uuidv7(Date.now(), randomBytes(10));
      const workspace = await prepareWorkspace({
        root: join(dataDir, 'runs'),
        runId,
        epoch: 1,
        owner: ownerOf(found, runId),
      });
      const config = {
        dataDir,
        gitCaFile: git.caFile,
        searchPath: process.env['PATH'],
        setupTimeoutMs: 30_000,
      };
      const repositories = new Repositories({ config, isDiskLow: () => false, nowMs: Date.now });
      const environments = new EnvironmentSetup({ config, repositories });
      const verdict = checkGitUrl(git.urlOf('acme/app'), false);
      if (!verdict.ok) throw new Error(verdict.reason);
      const { url } = verdict.address;
      const environment: RunEnvironment = {
        uid: 'e',
        name: 'build',
        secrets: [],
        secretValues: [],
        hosts: [],
        repositories: [
          {
            url,
            folder: 'app',
            access: {
              factoryUid: 'f',
              address: verdict.address,
              host: hostPatternOfUrl(url) as HostPattern,
              publicOnly: false,
            },
          },
        ],
        setupCommands: [
          'set -e; cat app/file.txt; git -C app log --format=%s; echo x >> app/file.txt; git -C app status --short',
        ],
      };
      const said: string[] = [];
      const setUp = (): Promise<SetupResult> => environments.setUp(environment, stepDeps(found, workspace, said));
      expect(await setUp()).toEqual({ ok: true });
      expect(said.join('')).toContain('content');
      expect(said.join('')).toContain(' M file.txt');
      expect(readFileSync(join(workspace.workspace, 'app/.git/config'), 'utf8')).toContain(`url = ${url}`);
      const before = said.length;
      expect(await setUp()).toEqual({ ok: true });
      expect(said).toHaveLength(before);
      expect(await environments.setUp({ ...environment, setupCommands: [] }, stepDeps(found, workspace, said))).toEqual(
        { ok: true },
      );
      expect(said.at(-1)).toContain('has changed');
    },
    120_000,
  );
});

function stepDeps(sandbox: Sandbox, workspace: Workspace, said: string[]): SetupStepDeps {
  return {
    workspace,
    say: (text) => void said.push(text),
    run: async (command, more) => {
      const output = new LastLines();
      const onEvent = ({ kind, text }: { kind: string; text: string }): void => {
        if (kind === 'status') return;
        output.add(text);
        said.push(text);
      };
      const running = await startCommand({
        ...more,
        command,
        operatorWords: [],
        workspace,
        sandbox: { ...sandbox, hidden: [dataDir] },
        prompt: '',
        deadlineMs: 30_000,
        onEvent,
      });
      return { end: await running.finished, lastLines: output.text() };
    },
  };
}
