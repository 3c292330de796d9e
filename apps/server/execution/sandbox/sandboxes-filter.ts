/**
 * The filter of system calls of this machine's processor, how it is put on where no bubblewrap is, and how the
 * service's keyring is left. contract §10.2.
 */
import { callNumber, isSeccompArchitecture, seccompProgram, toFilterBytes } from '#isolation';

/** Undefined: there is none for this processor. */
export function filterOfCalls(architecture: string = process.arch): Uint8Array | undefined {
  return isSeccompArchitecture(architecture) ? toFilterBytes(seccompProgram(architecture)) : undefined;
}

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
  return [perl, '-e', SCRIPT, '--', String(callNumber('prctl', architecture)), Buffer.from(filter).toString('hex')];
}

/** KEYCTL_JOIN_SESSION_KEYRING (1) without a name; a kernel without keyrings has nothing to leave. */
const KEYRING_SCRIPT = 'syscall(shift(@ARGV) + 0, 1, 0); exec { $ARGV[0] } @ARGV or exit 127;';

/**
 * Command prefix that leaves the keyring of the service's session for a new one with nothing in it; none where it
 * cannot be.
 */
export function withOwnKeyring(perl: string | undefined, architecture: string = process.arch): string[] {
  return perl === undefined || !isSeccompArchitecture(architecture)
    ? []
    : [perl, '-e', KEYRING_SCRIPT, '--', String(callNumber('keyctl', architecture))];
}
