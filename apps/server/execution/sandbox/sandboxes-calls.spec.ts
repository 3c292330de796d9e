/**
 * System calls in the real sandboxes, made by their numbers: what the kernel answers, and that ordinary programs do not
 * notice.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callNumber, ERRNO, isSeccompArchitecture } from '#isolation';
import { sandboxHere, startSandboxed } from '../../../../test/support/agents/sandboxed-command.ts';
import { findTools, STANDARD_PATH } from '../../process/program.ts';
import type { Sandbox } from './sandboxes.ts';

const { EPERM, EINVAL, ENOSYS, EAFNOSUPPORT } = ERRNO;

/** What is called with which arguments, and the error number that comes; 0: it works. */
const CALLS: readonly [call: string, args: readonly number[], errno: number][] = [
  ['socket', [1, 1, 0], 0],
  ['socket', [2, 1, 0], 0],
  ['socket', [10, 1, 0], 0],
  ['socket', [16, 3, 0], 0],
  ['socket', [40, 1, 0], EAFNOSUPPORT],
  ['socket', [38, 5, 0], EAFNOSUPPORT],
  ['socket', [17, 2, 0], EAFNOSUPPORT],
  ['socket', [16, 3, 12], EAFNOSUPPORT],
  ['keyctl', [0, -3, 0], EPERM],
  ['add_key', [0, 0, 0, 0, 0], EPERM],
  ['request_key', [0, 0, 0, 0], EPERM],
  ['io_uring_setup', [1, 0], EPERM],
  ['bpf', [0, 0, 0], EPERM],
  ['perf_event_open', [0, 0, -1, -1, 0], EPERM],
  ['userfaultfd', [1], EPERM],
  ['unshare', [0x10_00_00_00], EPERM],
  ['clone', [0x10_00_00_11, 0, 0, 0, 0], EPERM],
  ['clone3', [0, 0], ENOSYS],
  ['setns', [0, 0], EPERM],
  ['mount', [0, 0, 0, 0, 0], EPERM],
  ['fsopen', [0, 0], EPERM],
  ['open_by_handle_at', [0, 0, 0], EPERM],
  ['quotactl', [0, 0, 0, 0], EPERM],
  ['personality', [0x40_00_00], EPERM],
  ['ioctl', [0, 0x54_12, 0], EPERM],
  ['ioctl', [0, 0x40_1c_58_20, 0], EPERM],
  ['ioctl', [0, 0x40_08_66_02, 0], EPERM],
  ['shmget', [0, 1 << 30, 0o1600], EINVAL],
  ['memfd_secret', [0], EPERM],
];

/** Ends with status 42 where the kernel takes a call of a 32-bit program; nothing but machine code (int 0x80). */
const CODE_OF_32_BITS = [0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80];

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-calls-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const hasPerl = (await findTools(['perl'], STANDARD_PATH)).size > 0;

for (const kind of ['bubblewrap', 'pid-namespace'] as const) {
  const sandbox = await sandboxHere(kind);
  const isFiltered = sandbox?.guarantees.calls === true && hasPerl;
  if (!isFiltered) console.warn(`SKIPPED: system calls in the sandbox "${kind}": ${sandbox?.description ?? 'none'}`);

  (isFiltered ? describe : describe.skip)(`a run in the sandbox "${kind}"`, () => {
    const outputOf = async (script: string, files: Readonly<Record<string, Buffer>> = {}): Promise<string> => {
      for (const [name, content] of Object.entries(files)) await writeFile(join(base, name), content, { mode: 0o755 });
      await rm(join(base, 'runs'), { recursive: true, force: true });
      const command = await startSandboxed(sandbox as Sandbox, base, {
        script,
        shown: Object.keys(files).map((name) => ({ from: join(base, name), at: `/run/${name}` })),
      });
      await command.finished;
      return command.text('stdout') + command.text('stderr');
    };

    it('gets from the kernel what the rules say', async () => {
      const { arch } = process;
      const lines = CALLS.map(([name, args]) => {
        const number = isSeccompArchitecture(arch) ? callNumber(name, arch) : undefined;
        return `$! = 0; syscall(${[number, ...args].join(', ')}); print $! + 0, "\\n";`;
      });
      const said = await outputOf(`perl -e '${lines.join(' ')}'`);
      const answers = said.trim().split('\n').map(Number);
      expect(CALLS.map((call, index) => [...call, answers[index]])).toEqual(CALLS.map((call) => [...call, call[2]]));
    });

    it('has nobody who is not filtered: not the first process, not what keeps the way to the network', async () => {
      const said = await outputOf('sleep 1 & cat /proc/[0-9]*/status | grep -E "^Seccomp:" | sort | uniq -c');
      expect(said).toMatch(/Seccomp:\s+2/);
      if (kind === 'bubblewrap') expect(said).not.toMatch(/Seccomp:\s+0/);
    });

    it('works with threads, processes and debuggers as before', async () => {
      const node =
        'const { Worker } = require("worker_threads"); const w = new Worker("require(`fs`).statSync(`/`)", ' +
        '{ eval: true }); w.on("exit", (code) => console.log("thread", code, ' +
        'require("child_process").execFileSync("echo", ["child"]).toString().trim(), ' +
        'Object.keys(require("os").networkInterfaces()).length))';
      expect(await outputOf(`${process.execPath} -e '${node}'`)).toMatch(/^thread 0 child [01]\n$/);
      expect(
        await outputOf(`perl -e '$! = 0; syscall(${process.arch === 'x64' ? 101 : 117}, 0, 0, 0, 0); print $!+0'`),
      ).toBe('0');
    });

    it('has no calls of 32-bit programs', async () => {
      if (process.arch !== 'x64') return console.warn('SKIPPED: this processor has none of them');
      const said = await outputOf('/run/old; echo "status $?"', { old: program64(CODE_OF_32_BITS) });
      expect(said).toMatch(/status (159|139)/); // SIGSYS; SIGSEGV where the kernel has no such calls at all
      expect(said).not.toContain('status 42');
    });
  });
}

/** A file that the kernel runs: one segment, its code behind the headers (ELF, 64 bits, x86-64). */
function program64(code: readonly number[]): Buffer {
  const [at, headers] = [0x40_00_00n, 120];
  const file = Buffer.alloc(headers + code.length);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  for (const [offset, value] of [
    [16, 2],
    [18, 62],
    [52, 64],
    [54, 56],
    [56, 1],
  ] as const)
    file.writeUInt16LE(value, offset);
  for (const [offset, value] of [
    [20, 1],
    [64, 1],
    [68, 5],
  ] as const)
    file.writeUInt32LE(value, offset);
  file.writeBigUInt64LE(at + BigInt(headers), 24);
  file.writeBigUInt64LE(64n, 32);
  for (const offset of [80, 88]) file.writeBigUInt64LE(at, offset);
  for (const offset of [96, 104]) file.writeBigUInt64LE(BigInt(file.length), offset);
  file.writeBigUInt64LE(0x1000n, 112);
  file.set(code, headers);
  return file;
}
