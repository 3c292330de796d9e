/**
 * Runs as users of their own, in the real sandboxes: what they are called, what they may not become, and that one
 * cannot use up another's processes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxHere, startSandboxed } from '../../../../test/support/agents/sandboxed-command.ts';
import { bubblewrapCandidates } from './sandboxes-bubblewrap.ts';
import { findTools, STANDARD_PATH } from '../../process/program.ts';
import { ownerOf, type Sandbox } from './sandboxes.ts';

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-users-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

for (const kind of ['bubblewrap', 'pid-namespace'] as const) {
  const sandbox = await sandboxHere(kind);
  const hasUsers = sandbox?.owner !== undefined;
  if (!hasUsers)
    console.warn(
      `SKIPPED: users of runs in the sandbox "${kind}": ${sandbox?.description ?? 'it does not work on this machine'}`,
    );

  (hasUsers ? describe : describe.skip)(`a run in the sandbox "${kind}"`, () => {
    const start = (spec: Parameters<typeof startSandboxed>[2]) => startSandboxed(sandbox as Sandbox, base, spec);

    it('is a user with a name, a home and no groups, and knows what localhost is', async () => {
      const command = await start({
        script:
          `id; ${process.execPath} -p 'const { username, homedir } = require("os").userInfo(); username + " " + ` +
          `homedir'; cat /etc/hosts; wc -l < /etc/passwd`,
      });
      expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
      const { uid } = ownerOf(sandbox as Sandbox, command.workspace.runId) ?? {};
      expect(command.text('stdout')).toBe(
        `uid=${uid}(run) gid=${uid}(run) groups=${uid}(run)\nrun ${command.workspace.home}\n127.0.0.1 ` +
          `localhost\n::1 localhost\n3\n`,
      );
    });

    it('may use up its own processes, and nobody else’s', async () => {
      const limits = { processesMax: 40, fileBytesMax: 1_000_000, openFilesMax: 64 };
      const full = await start({
        limits,
        script:
          '(i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done; echo unbounded) 2>/dev/null; echo full; ' +
          'exec sleep 60',
      });
      await full.says('full');
      const other = await start({ limits, script: 'sleep 0; sleep 0 & wait; echo fine' });
      expect(await other.finished).toEqual({ kind: 'exited', code: 0 });
      expect(other.text('stdout')).toBe('fine\n');
      await full.cancel();
      expect(full.text('stdout')).not.toContain('unbounded');
    });
  });
}

describe('a sealed user namespace', () => {
  it('lets no further one be made inside', async () => {
    const tools = await findTools(['bwrap', 'unshare'], STANDARD_PATH);
    const candidate = bubblewrapCandidates(tools, 'bubblewrap 0.8.0', false)[0];
    const sandbox = await sandboxHere('bubblewrap');
    if (candidate === undefined || sandbox === undefined || !tools.has('unshare'))
      return console.warn('SKIPPED: a sealed user namespace: no bubblewrap here');
    const script = 'unshare --user true && echo made; unshare --user --map-root-user true && echo made; echo tried';
    const command = await startSandboxed({ ...sandbox, ...candidate, owner: undefined }, base, { script });
    await command.finished;
    expect(command.text('stdout')).toBe('tried\n');
  });
});
