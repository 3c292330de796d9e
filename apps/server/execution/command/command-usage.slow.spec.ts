/**
 * Runs that take more than they may: ended with words, in every sandbox that works here; those that keep to it are left
 * alone.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callNumber, isSeccompArchitecture } from '#isolation';
import {
  sandboxHere,
  startSandboxed,
  type SandboxedCommand,
} from '../../../../test/support/agents/sandboxed-command.ts';

const MIB = 1_024 ** 2;

/** Numbers of the calls that perl makes. */
const callOf = (name: string): number | undefined =>
  isSeccompArchitecture(process.arch) ? callNumber(name, process.arch) : undefined;
const CALLS: Readonly<Record<string, number | undefined>> = {
  MMAP: callOf('mmap'),
  MEMFD: callOf('memfd_create'),
  READ: callOf('read'),
  MADVISE: callOf('madvise'),
};

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

    // Without walls /dev/shm is the machine's, and the machine has no bound for it.
    const hasOwnFolders = sandbox?.guarantees.files === true;
    const memory = { memoryBytesMax: 100 * MIB, pollMs: 100 };
    const disk = { diskBytesMax: 20 * MIB, pollMs: 100 };
    it.each([
      {
        script: 'open F, "+>", "x"; unlink "x"; syswrite F, "x" x 1e6 for 1..40; print "full\\n"; sleep 60',
        usage: disk,
        takes: 'disk',
        why: 'a file that has no name any more',
      },
      {
        script:
          'open F, "+>", "x"; unlink "x"; syswrite F, "x" x 1e6 for 1..40; ' +
          '$p = syscall(MMAP, 0, 4e7, 1, 1, fileno F, 0); close F; print "full\\n"; sleep 60',
        usage: disk,
        takes: 'disk',
        why: 'such a file, mapped and closed',
        asRoot: true,
      },
      {
        script: '$n = "m"; $f = syscall(MEMFD, $n, 0); open F, ">&=", $f; syswrite F, "x" x 1e6 for 1..150; sleep 60',
        usage: memory,
        takes: 'memory',
        why: 'a memfd that is not mapped',
      },
      {
        script:
          '$p = syscall(MMAP, 0, 15e7, 3, 33, -1, 0); open Z, "<", "/dev/zero"; syscall(READ, fileno Z, $p, 15e7); ' +
          'syscall(MADVISE, $p, 15e7, 4); print "full\\n"; sleep 60',
        usage: memory,
        takes: 'memory',
        why: 'shared memory that was given back to nobody',
        asRoot: true,
      },
      {
        script: 'open F, ">", "/dev/shm/x"; syswrite F, "x" x 1e6 for 1..150; sleep 60',
        usage: memory,
        takes: 'memory',
        why: 'files in /dev/shm',
        own: true,
      },
      {
        script: 'open F, ">", "/tmp/x"; unlink "/tmp/x"; syswrite F, "x" x 1e6 for 1..150; sleep 60',
        usage: memory,
        takes: 'memory',
        why: 'files in /tmp without a name',
        own: true,
      },
    ])(
      'ends when it holds too much $takes: $why',
      async ({ script, usage, takes, own = false, asRoot = false }) => {
        if ((own && !hasOwnFolders) || (asRoot && process.getuid?.() !== 0))
          return console.warn(`SKIPPED: ${kind}: whose memory it is cannot be told here`);
        const numbered = script.replaceAll(/[A-Z]{4,}/g, (name) => String(CALLS[name] ?? name));
        const command = await start({ command: ['perl', '-e', numbered], usage, deadlineMs: 100_000 });
        expect(await command.finished).toEqual({
          kind: 'exceeded',
          message: expect.stringMatching(takes === 'disk' ? /too much of the disk: \d+/ : /too much memory: \d+/),
        });
      },
      120_000,
    );

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
