/** Ways out of a sandbox, as an injected agent with knowledge of the code would try them, and how each is refused. */
import { callNumber, isSeccompArchitecture } from '#isolation';

/** What the attacker knows of the machine around it. */
export interface EscapeTarget {
  /** Data folder of the service: `secret`, and `runs/other/secret` of another run. */
  dataDir: string;
  /** Folder of the service's package. */
  installation: string;
  /** The service's process, its port on the loopback, and a socket of its own without a file. */
  pid: number;
  port: number;
  abstractSocket: string;
}

export interface EscapeCase {
  name: string;
  /** A script for the shell. It prints ESCAPED only where it came through. */
  tries(target: EscapeTarget): string;
  /** What is printed where it is refused. */
  refused: RegExp;
}

const number = (name: string): number =>
  isSeccompArchitecture(process.arch) ? (callNumber(name, process.arch) ?? -1) : -1;

/** Makes a call of the kernel by its number, and prints the error number, or ESCAPED. */
const call = (name: string, ...args: readonly (number | string)[]): string =>
  `perl -e '$! = 0; $r = syscall(${[number(name), ...args].join(', ')}); ` +
  `print $r >= 0 ? "ESCAPED $r" : "${name} refused " . ($! + 0), "\\n"'`;

/** Prints what came of a command. */
const unless = (command: string): string => `if (${command}) 2>&1; then echo ESCAPED; else echo refused; fi`;

const REFUSED = /^refused$/m;
const EPERM = /refused 1$/m;

/** Thirty of them. */
export const ESCAPE_CASES: readonly EscapeCase[] = [
  { name: 'read the data folder', tries: ({ dataDir }) => unless(`cat ${dataDir}/secret`), refused: REFUSED },
  {
    name: 'read the data folder through another root',
    tries: ({ dataDir }) => unless(`cat /proc/*/root${dataDir}/secret || cat /proc/*/cwd/../../../../secret`),
    refused: REFUSED,
  },
  {
    name: 'read the folder of another run',
    tries: ({ dataDir }) => unless(`cat ${dataDir}/runs/other/secret`),
    refused: REFUSED,
  },
  {
    name: 'read settings and repository of the installation',
    tries: ({ installation }) =>
      unless(`cd ${installation} && (cat .env || cat .git || cat .git/config || ls -d README.md)`),
    refused: REFUSED,
  },
  {
    name: 'read the passwords and homes of the machine',
    tries: () => unless('cat /etc/shadow || cat /root/.bashrc || ls /root /home'),
    refused: REFUSED,
  },
  {
    name: 'read variables of the service',
    tries: () => unless('grep -z -l CANARY_OF_THE_SERVICE /proc/[0-9]*/environ'),
    refused: REFUSED,
  },
  {
    name: 'use a descriptor that the service left open',
    tries: () =>
      `for fd in /proc/self/fd/*; do readlink $fd; done | grep -vE '^(pipe|socket):|/dev/null|^/proc/[0-9]+/fd$' ` +
      '&& echo ESCAPED || echo refused',
    refused: REFUSED,
  },
  {
    name: 'write programs of the machine',
    tries: () => unless('touch /usr/bin/made || touch /etc/made || touch /made'),
    refused: REFUSED,
  },
  {
    name: 'have the kernel start a program (core_pattern, modprobe)',
    tries: () =>
      `for file in kernel/core_pattern kernel/modprobe vm/drop_caches; do ` +
      'if (echo "|/tmp/x" > /proc/sys/$file) 2>/dev/null; then echo ESCAPED; fi; done; echo refused',
    refused: REFUSED,
  },
  { name: 'make the root writable again', tries: () => unless('mount -o remount,rw,bind /'), refused: REFUSED },
  { name: 'take away what covers a file', tries: () => unless('umount -l /proc/keys'), refused: REFUSED },
  { name: 'mount by the newer calls', tries: () => call('fsopen', '($t = "tmpfs")', 0), refused: EPERM },
  { name: 'change the root', tries: () => call('chroot', '($t = "/tmp")'), refused: EPERM },
  { name: 'make a user namespace', tries: () => call('unshare', 0x10_00_00_00), refused: EPERM },
  { name: 'make one with a new process', tries: () => call('clone', 0x10_02_00_11, 0, 0, 0, 0), refused: EPERM },
  { name: 'make one where no filter sees the flags', tries: () => call('clone3', 0, 88), refused: /refused 38$/m },
  {
    name: 'enter the namespaces of another process',
    tries: () =>
      `perl -e 'open F, "<", "/proc/1/ns/mnt" or print "hidden\\n"; $! = 0; ` +
      `$r = syscall(${number('setns')}, fileno(F) // 0, 0); print $r == 0 ? "ESCAPED" : "refused " . ($! + 0), "\\n"'`,
    refused: EPERM,
  },
  {
    name: 'open a file by its handle',
    tries: () => call('open_by_handle_at', -100, '($t = "\\0" x 64)', 0),
    refused: EPERM,
  },
  {
    name: 'reach the disk as a device',
    tries: () => unless('mknod "$TMPDIR/disk" b 8 0 || test -e /dev/vda -o -e /dev/sda -o -e /dev/mem -o -e /dev/kmsg'),
    refused: REFUSED,
  },
  {
    name: 'speak with the host of a virtual machine (AF_VSOCK)',
    tries: () => call('socket', 40, 1, 0),
    refused: /refused 97$/m,
  },
  { name: 'listen to the wire (AF_PACKET)', tries: () => call('socket', 17, 3, 768), refused: /refused 97$/m },
  {
    name: 'connect to the service',
    tries: ({ port }) =>
      `perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(PeerAddr => "127.0.0.1:${port}", Timeout => 3) ` +
      `? "ESCAPED" : "refused", "\\n"'`,
    refused: REFUSED,
  },
  {
    name: 'connect to a socket of the service without a file',
    tries: ({ abstractSocket }) =>
      `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); ` +
      `print connect(S, pack("S a*", AF_UNIX, "\\0${abstractSocket}")) ? "ESCAPED" : "refused", "\\n"'`,
    refused: REFUSED,
  },
  { name: 'give the network a way out', tries: () => unless('ip link add out type veth'), refused: REFUSED },
  {
    name: 'end or trace the service',
    tries: ({ pid }) => `${unless(`kill -9 ${pid}`)}; ${call('ptrace', 16, pid, 0, 0)}`,
    refused: /^refused$[\s\S]*ptrace refused 3$/m,
  },
  {
    name: 'become root by a set-user-id program',
    tries: () =>
      'cp /usr/bin/id "$TMPDIR/id" && chmod 6755 "$TMPDIR/id" && "$TMPDIR/id" | grep -o "euid=0"; ' +
      'su -c "echo ESCAPED" </dev/null 2>/dev/null; ' +
      'grep -c -E "NoNewPrivs:.1|Cap(Eff|Bnd|Prm|Amb):.0+$" /proc/self/status; echo refused',
    refused: /^5\nrefused$/m,
  },
  {
    name: 'ask the kernel’s keyrings',
    tries: () => [call('keyctl', 0, -3, 1), call('add_key', 0, 0, 0, 0, -3), unless('grep -q . /proc/keys')].join('; '),
    refused: /keyctl refused 1\nadd_key refused 1\n(grep: .*\n)?refused/,
  },
  {
    name: 'widen the kernel’s surface (io_uring, BPF, perf, userfaultfd)',
    tries: () =>
      [
        call('io_uring_setup', 8, 0),
        call('bpf', 0, 0, 0),
        call('perf_event_open', 0, 0, -1, -1, 0),
        call('userfaultfd', 1),
      ].join('; '),
    refused: /^(\w+ refused 1\n){4}$/,
  },
  {
    name: 'load a module or another kernel',
    tries: () =>
      [call('init_module', 0, 0, 0), call('finit_module', 0, 0, 0), call('kexec_load', 0, 0, 0, 0)].join('; '),
    refused: /^(\w+ refused 1\n){3}$/,
  },
  {
    name: 'type into a terminal, or pass through the machine’s control groups',
    tries: () => `${call('ioctl', 0, 0x54_12, '($t = "x")')}; ${unless('ls /sys/fs/cgroup/cgroup.procs')}`,
    refused: /ioctl refused 1\n[\s\S]*refused\n$/,
  },
];
