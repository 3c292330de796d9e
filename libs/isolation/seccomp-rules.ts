/** Which arguments a system call may have inside a sandbox, and what is answered otherwise. contract §10.2. */

/**
 * One look at an argument, numbered from 0; `equals`, `not`: of its low 32 bits, as the kernel reads such arguments.
 */
export type ArgumentTest =
  | { argument: number; mask?: number; equals: number }
  | { argument: number; not: number }
  /** Of all 64 bits. */
  | { argument: number; atMost: number };

export interface CallRule {
  call: string;
  /** Allowed where all tests of one of these hold. */
  allow: readonly (readonly ArgumentTest[])[];
  /** Error number that the caller gets instead. */
  otherwise: number;
}

/** Error numbers of Linux, the same on both architectures. */
export const ERRNO = { EPERM: 1, EINVAL: 22, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];
const NETLINK_ROUTE = 0;

/** New namespaces of mounts, cgroups, host names, IPC, users, processes and network. */
const CLONE_NAMESPACES = 0x7e_02_00_00;
/** Of time: only `unshare` takes it; for `clone` these bits are a signal. */
const CLONE_NEWTIME = 0x80;

/** Put characters into a terminal, as if they had been typed there. */
const [TIOCSTI, TIOCLINUX] = [0x54_12, 0x54_1c];

/**
 * Give a file to another project, or take it out of the one that it would inherit (FS_IOC_FSSETXATTR, FS_IOC_SETFLAGS
 * and its form of 32 bits): a run would leave its quota of disk by it.
 */
const PROJECT_REQUESTS = [0x40_1c_58_20, 0x40_08_66_02, 0x40_04_66_02];

/**
 * Linux, Linux on 32 bits, an old version's name, both, without random addresses (debuggers and thread sanitizers ask
 * for it), and only asking.
 */
const PERSONALITIES = [0, 0x8, 0x2_00_00, 0x2_00_08, 0x4_00_00, 0xff_ff_ff_ff];

/**
 * Bytes of one segment of System V shared memory. A segment that nobody has mapped is in no process's memory: with the
 * kernel's 4,096 segments this is what a run can put aside unseen (256 MiB). PostgreSQL needs 56 bytes.
 */
export const SHARED_SEGMENT_BYTES_MAX = 64 * 1_024;

export const CALL_RULES: readonly CallRule[] = [
  {
    call: 'socket',
    allow: [
      ...[AF_UNIX, AF_INET, AF_INET6].map((equals) => [{ argument: 0, equals }]),
      [
        { argument: 0, equals: AF_NETLINK },
        { argument: 2, equals: NETLINK_ROUTE },
      ],
    ],
    otherwise: ERRNO.EAFNOSUPPORT,
  },
  { call: 'socketpair', allow: [[{ argument: 0, equals: AF_UNIX }]], otherwise: ERRNO.EAFNOSUPPORT },
  { call: 'clone', allow: [[{ argument: 0, mask: CLONE_NAMESPACES, equals: 0 }]], otherwise: ERRNO.EPERM },
  // Its flags lie in memory, where no filter can read them; without it libraries take `clone`.
  { call: 'clone3', allow: [], otherwise: ERRNO.ENOSYS },
  {
    call: 'unshare',
    allow: [[{ argument: 0, mask: CLONE_NAMESPACES | CLONE_NEWTIME, equals: 0 }]],
    otherwise: ERRNO.EPERM,
  },
  {
    call: 'ioctl',
    allow: [[TIOCSTI, TIOCLINUX, ...PROJECT_REQUESTS].map((not) => ({ argument: 1, not }))],
    otherwise: ERRNO.EPERM,
  },
  { call: 'personality', allow: PERSONALITIES.map((equals) => [{ argument: 0, equals }]), otherwise: ERRNO.EPERM },
  { call: 'shmget', allow: [[{ argument: 1, atMost: SHARED_SEGMENT_BYTES_MAX }]], otherwise: ERRNO.EINVAL },
];
