/**
 * Runs that take more than they may: ended with words, in every sandbox that works here; those that keep to it are left
 * alone.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  sandboxHere,
  startSandboxed,
  type SandboxedCommand,
} from '../../../../test/support/agents/sandboxed-command.ts';

const MIB = 1_024 ** 2;

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-usage-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

for (const kind of ['bubblewrap', 'pid-namespace', 'bare'] as const) {
  const sandbox = await sandboxHere(kind);
  if (sandbox === undefined)
    console.warn(`SKIPPED: what runs may take in the sandbox "${kind}": it does not work on this machine`);

  (sandbox === undefined ? describe.skip : describe)(`a run in the sandbox "${kind}"`, () => {
    const start = async (spec: Parameters<typeof startSandboxed>[2]): Promise<SandboxedCommand> => {
      if (sandbox === undefined) throw new Error('not on this machine');
      return startSandboxed(sandbox, base, spec);
    };

    it.each([
      {
        script: 'trap "" TERM; head -c 30000000 /dev/zero > "$HOME/.hidden"; echo full; sleep 60',
        why: 'one large file, and deaf to TERM',
      },
      {
        script:
          'mkdir many; i=0; while [ $i -lt 30 ]; do head -c 1000000 /dev/zero > "many/$i"; i=$((i+1)); done; ' +
          'echo full; exec sleep 60',
        why: 'many small ones',
      },
      {
        script: 'head -c 30000000 /dev/zero > "$TMPDIR/x"; echo full; exec sleep 60',
        why: 'temporary files count too',
      },
    ])('ends when it fills the disk: $why', async ({ script }) => {
      const command = await start({ script, usage: { diskBytesMax: 20 * MIB, pollMs: 100 } });
      expect(await command.finished).toEqual({
        kind: 'exceeded',
        message: expect.stringMatching(/^the run took too much of the disk: \d+ MiB, and 20 are allowed$/),
      });
      expect(command.text('status')).toContain('too much of the disk');
    });

    it('ends when its processes together fill the memory', async () => {
      const fill =
        `${process.execPath} -e 'const kept = []; for (let index = 0; index < 8; index += 1) ` +
        `kept.push(Buffer.alloc(10 * 1024 * 1024, 1)); setInterval(() => kept, 1000)'`;
      const command = await start({
        script: `${fill} & ${fill} & ${fill} & wait`,
        usage: { memoryBytesMax: 200 * MIB, pollMs: 100 },
      });
      expect(await command.finished).toEqual({
        kind: 'exceeded',
        message: expect.stringMatching(/^the run took too much memory: \d+ MiB, and 200 are allowed$/),
      });
    });

    it('may take what it is allowed', async () => {
      const command = await start({
        script: 'head -c 10000000 /dev/zero > x; sleep 0.5; rm x',
        usage: { diskBytesMax: 100 * MIB, memoryBytesMax: 500 * MIB, pollMs: 50 },
      });
      expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
    });

    it('stands behind the service when processors are short', async () => {
      const command = await start({ script: 'nice' });
      await command.finished;
      expect(Number(command.text('stdout'))).toBeGreaterThanOrEqual(10);
    });
  });
}
