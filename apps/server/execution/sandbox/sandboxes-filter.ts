/**
 * The filter of system calls of this machine's processor, and how it is put on where no bubblewrap is. contract §10.2.
 */
import { isSeccompArchitecture, seccompProgram, toFilterBytes, type SeccompArchitecture } from '#isolation';

/** Undefined: there is none for this processor. */
export function filterOfCalls(architecture: string = process.arch): Uint8Array | undefined {
  return isSeccompArchitecture(architecture) ? toFilterBytes(seccompProgram(architecture)) : undefined;
}

/** Number of prctl(2), by which perl, that has no name for it, calls it. */
const PRCTL: Readonly<Record<SeccompArchitecture, number>> = { x64: 157, arm64: 167 };

/**
 * PR_SET_NO_NEW_PRIVS (38), then PR_SET_SECCOMP (22) in the mode of filters (2) with a `struct sock_fprog`; what
 * follows starts under it, or not at all.
 */
const SCRIPT = [
  'my ($call, $hex) = (shift(@ARGV) + 0, shift @ARGV);',
  'my $filter = pack "H*", $hex;',
  'my $program = pack "S x6 P", length($filter) / 8, $filter;',
  'syscall($call, 38, 1, 0, 0, 0) == 0 and syscall($call, 22, 2, $program) == 0 or exit 126;',
  'exec { $ARGV[0] } @ARGV or exit 127;',
].join(' ');

/** Command prefix that puts the filter on; undefined: not on this processor. */
export function withFilter(perl: string, architecture: string = process.arch): string[] | undefined {
  const filter = filterOfCalls(architecture);
  if (filter === undefined || !isSeccompArchitecture(architecture)) return undefined;
  return [perl, '-e', SCRIPT, '--', String(PRCTL[architecture]), Buffer.from(filter).toString('hex')];
}
