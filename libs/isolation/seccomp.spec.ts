/** The filter of system calls, interpreted from its bytes as the kernel does: every call, on both architectures. */
import { runFilter } from '../../test/support/bpf-interpreter.ts';
import {
  ALLOWED_CALLS,
  CALL_RULES,
  callNumber,
  CONDITIONAL_CALLS,
  ERRNO,
  REFUSED_CALLS,
  seccompProgram,
  toFilterBytes,
  type SeccompArchitecture,
} from './index.ts';

const ALLOW = 0x7f_ff_00_00;
const KILL_PROCESS = 0x80_00_00_00;
const refusal = (errno: number): number => 0x00_05_00_00 + errno;

/** As the kernel's headers have them. */
const AUDIT = { x64: 0xc0_00_00_3e, arm64: 0xc0_00_00_b7, i386: 0x40_00_00_03, arm: 0x40_00_00_28 };
const ARCHITECTURES = ['x64', 'arm64'] as const;

/** FS_IOC_FSSETXATTR and FS_IOC_SETFLAGS. */
const OF_PROJECTS = [0x40_1c_58_20, 0x40_08_66_02, 0x40_04_66_02];

/** Some numbers by heart: a table that is shifted by one would be right in itself. */
const KNOWN = {
  x64: { read: 0, socket: 41, clone: 56, ptrace: 101, keyctl: 250, unshare: 272, bpf: 321, io_uring_setup: 425 },
  arm64: { read: 63, socket: 198, clone: 220, ptrace: 117, keyctl: 219, unshare: 97, bpf: 280, io_uring_setup: 425 },
};

describe.each(ARCHITECTURES)('the filter of system calls on %s', (architecture: SeccompArchitecture) => {
  const filter = toFilterBytes(seccompProgram(architecture));
  const decide = (number: number, ...given: (number | bigint)[]): number =>
    runFilter(filter, { number, architecture: AUDIT[architecture], arguments: given.map((value) => BigInt(value)) });
  const call = (name: string, ...given: (number | bigint)[]): number =>
    decide(callNumber(name, architecture) ?? Number.NaN, ...given);

  it('is a program that the kernel takes', () => {
    expect(filter.length % 8).toBe(0);
    expect(filter.length / 8).toBeLessThan(4_096);
  });

  it.each(Object.entries(KNOWN[architecture]))('knows %s as number %d', (name, number) => {
    expect(callNumber(name, architecture)).toBe(number);
  });

  it('answers every number there is as the lists say, and an unknown one as a kernel without it', () => {
    const names = new Map(
      [...ALLOWED_CALLS, ...REFUSED_CALLS].flatMap((name) => {
        const number = callNumber(name, architecture);
        return number === undefined ? [] : [[number, ALLOWED_CALLS.includes(name) ? ALLOW : refusal(ERRNO.EPERM)]];
      }),
    );
    const conditional = new Set(CONDITIONAL_CALLS.map((name) => callNumber(name, architecture)));
    for (let number = 0; number < 1_024; number += 1) {
      if (conditional.has(number)) continue;
      expect([number, decide(number)]).toEqual([number, names.get(number) ?? refusal(ERRNO.ENOSYS)]);
    }
    for (const number of [5_000, 0x3f_ff_ff_ff, 0x7f_ff_ff_ff, 0xff_ff_ff_ff])
      expect(decide(number)).toBe(refusal(ERRNO.ENOSYS));
  });

  it('has a rule for each call that is allowed with some arguments, and each call in one list', () => {
    expect(CALL_RULES.map((rule) => rule.call).sort()).toEqual([...CONDITIONAL_CALLS].sort());
    const all = [...ALLOWED_CALLS, ...CONDITIONAL_CALLS, ...REFUSED_CALLS];
    expect(new Set(all).size).toBe(all.length);
  });

  it.each(
    (
      'add_key request_key keyctl io_uring_setup io_uring_enter io_uring_register bpf perf_event_open userfaultfd ' +
      'kexec_load kexec_file_load init_module finit_module delete_module mount umount2 fsopen fsmount move_mount ' +
      'open_tree mount_setattr pivot_root chroot setns open_by_handle_at quotactl swapon swapoff reboot acct syslog ' +
      'pidfd_getfd memfd_secret fanotify_init settimeofday sethostname'
    ).split(' '),
  )('refuses %s', (name) => {
    expect(call(name)).toBe(refusal(ERRNO.EPERM));
  });

  it.each([
    { family: 1, protocol: 0, allowed: true, why: 'AF_UNIX' },
    { family: 2, protocol: 6, allowed: true, why: 'AF_INET' },
    { family: 10, protocol: 17, allowed: true, why: 'AF_INET6' },
    { family: 16, protocol: 0, allowed: true, why: 'routes, which getaddrinfo and interface lists ask for' },
    { family: 16, protocol: 9, allowed: false, why: 'audit' },
    { family: 16, protocol: 12, allowed: false, why: 'netfilter' },
    { family: 40, protocol: 0, allowed: false, why: 'AF_VSOCK: it knows no network namespace' },
    { family: 38, protocol: 0, allowed: false, why: 'AF_ALG' },
    { family: 17, protocol: 0, allowed: false, why: 'AF_PACKET' },
    { family: 0, protocol: 0, allowed: false, why: 'no family' },
  ])('gives a socket of $why: $allowed', ({ family, protocol, allowed }) => {
    const expected = allowed ? ALLOW : refusal(ERRNO.EAFNOSUPPORT);
    expect(call('socket', family, 1, protocol)).toBe(expected);
    // The kernel reads 32 bits of a register of 64: what stands above them changes nothing.
    expect(call('socket', (0xdeadn << 32n) | BigInt(family), 1, protocol)).toBe(expected);
    expect(call('socketpair', family, 1, protocol)).toBe(family === 1 ? ALLOW : refusal(ERRNO.EAFNOSUPPORT));
  });

  it.each([
    { flags: 0x11, allowed: true, why: 'a process' },
    { flags: 0x3d_0f_00, allowed: true, why: 'a thread' },
    { flags: 0x41_00 | 0x11, allowed: true, why: 'a process that waits (vfork)' },
    ...[0x2_00_00, 0x2_00_00_00, 0x4_00_00_00, 0x8_00_00_00, 0x10_00_00_00, 0x20_00_00_00, 0x40_00_00_00].map(
      (flags) => ({ flags, allowed: false, why: `a namespace (${flags.toString(16)})` }),
    ),
  ])('lets clone make $why: $allowed', ({ flags, allowed }) => {
    expect(call('clone', flags | 0x11)).toBe(allowed ? ALLOW : refusal(ERRNO.EPERM));
    expect(call('clone', (0xffn << 32n) | BigInt(flags | 0x11))).toBe(allowed ? ALLOW : refusal(ERRNO.EPERM));
  });

  it.each([
    { flags: 0x2_00 | 0x4_00 | 0x4_00_00, allowed: true, why: 'files, folder and semaphores of its own' },
    { flags: 0x10_00_00_00, allowed: false, why: 'a user namespace' },
    { flags: 0x2_00_00, allowed: false, why: 'a namespace of mounts' },
    { flags: 0x80, allowed: false, why: 'a namespace of time' },
    { flags: 0x2_00_00_00, allowed: false, why: 'a namespace of cgroups' },
  ])('lets unshare make $why: $allowed', ({ flags, allowed }) => {
    expect(call('unshare', flags)).toBe(allowed ? ALLOW : refusal(ERRNO.EPERM));
  });

  it('lets libraries fall back from clone3, whose flags no filter can read', () => {
    expect(call('clone3', 0, 88)).toBe(refusal(ERRNO.ENOSYS));
  });

  it('lets nothing be typed into a terminal and no file leave its project, whatever stands above 32 bits', () => {
    expect(call('ioctl', 0, 0x54_01)).toBe(ALLOW);
    for (const request of [0x54_12, 0x54_1c, ...OF_PROJECTS]) {
      expect(call('ioctl', 0, request)).toBe(refusal(ERRNO.EPERM));
      expect(call('ioctl', 0, (1n << 32n) | BigInt(request))).toBe(refusal(ERRNO.EPERM));
    }
  });

  it('lets a debugger take random addresses away, and nobody make data executable', () => {
    expect(call('personality', 0xff_ff_ff_ff)).toBe(ALLOW);
    expect(call('personality', 0x4_00_00)).toBe(ALLOW);
    expect(call('personality', 0x40_00_00)).toBe(refusal(ERRNO.EPERM));
    expect(call('ptrace', 0)).toBe(ALLOW);
  });

  it('bounds a shared segment by all of its 64 bits', () => {
    expect(call('shmget', 0, 65_536)).toBe(ALLOW);
    for (const size of [65_537n, 1n << 32n, 0xffff_ffff_ffff_ffffn])
      expect(call('shmget', 0, size)).toBe(refusal(ERRNO.EINVAL));
  });

  it('ends programs of every other architecture, whose numbers mean other calls', () => {
    for (const [name, other] of Object.entries(AUDIT)) {
      if (name === architecture) continue;
      for (const number of [0, 1, 41, 102, 198, 359])
        expect(runFilter(filter, { number, architecture: other })).toBe(KILL_PROCESS);
    }
  });
});

describe('the x32 ABI', () => {
  it('is not there, though it has the name of x86-64', () => {
    const filter = toFilterBytes(seccompProgram('x64'));
    for (const number of [0, 1, 39, 41, 512, 546])
      expect(runFilter(filter, { number: 0x40_00_00_00 + number, architecture: AUDIT.x64 })).toBe(
        refusal(ERRNO.ENOSYS),
      );
  });
});
