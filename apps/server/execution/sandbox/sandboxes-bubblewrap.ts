/**
 * The sandbox made by bubblewrap: own files, processes, network; the best one where it works. explanation: Coding
 * agents, Sandbox.
 */
import { filterOfCalls, withOwnKeyring } from './sandboxes-filter.ts';
import { type Mount, viewOf } from './sandboxes-view.ts';
import {
  type Confinement,
  INPUT_DESCRIPTOR,
  NOBODY_USER,
  type SandboxCandidate,
  type Tools,
  withoutPrivileges,
  type WrappedCommand,
} from './sandboxes.ts';
import type { Owner } from '../workspace/workspaces.ts';

/**
 * The first version with `--size` for memory file systems; before it a run could fill the machine's memory through
 * /tmp.
 */
const VERSION_MIN = [0, 7];

/**
 * The first version that can forbid further user namespaces inside, through which most ways to become root of the
 * machine begin.
 */
const VERSION_SEALED = [0, 8];

/** What must be left to give up being root; the program that gives it up drops these too. */
const CAPABILITIES_TO_CHANGE_USER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP', 'CAP_DAC_READ_SEARCH'];

interface Bubblewrap {
  bwrap: string;
  /** What stands before it. */
  before: readonly string[];
  means: string;
  /** The filter of system calls, as the kernel takes it; absent: none. */
  filter: Uint8Array | undefined;
}

/**
 * The ways to use bubblewrap here, best first: with the filter of system calls, where this processor has one, then
 * without. `version` is what `bwrap --version` printed.
 */
export function bubblewrapCandidates(
  tools: Tools,
  version: string,
  asRoot: boolean,
  filter = filterOfCalls(),
): SandboxCandidate[] {
  const bwrap = tools.get('bwrap');
  if (bwrap === undefined || !isAtLeast(version, VERSION_MIN)) return [];
  const filters = filter === undefined ? [undefined] : [filter, undefined];
  const before = withOwnKeyring(tools.get('perl'));
  return filters.flatMap((each) => waysOf({ bwrap, before, means: version.trim(), filter: each }, tools, asRoot));
}

function waysOf(program: Bubblewrap, tools: Tools, asRoot: boolean): SandboxCandidate[] {
  const sealed = isAtLeast(program.means, VERSION_SEALED)
    ? [candidate(program, 'sealed user namespace', ['--unshare-user', '--disable-userns'], () => [])]
    : [];
  const inUserNamespace = [...sealed, candidate(program, 'user namespace', ['--unshare-user'], () => [])];
  const setpriv = tools.get('setpriv');
  if (!asRoot || setpriv === undefined) return inUserNamespace;
  const capabilities = ['--cap-drop', 'ALL', ...CAPABILITIES_TO_CHANGE_USER.flatMap((name) => ['--cap-add', name])];
  const asOther = candidate(program, 'users of their own', capabilities, (owner) => withoutPrivileges(setpriv, owner));
  return [{ ...asOther, owner: NOBODY_USER }, ...inUserNamespace];
}

function candidate(
  { bwrap, before, means, filter }: Bubblewrap,
  way: string,
  privileges: readonly string[],
  prefix: (owner: Owner) => readonly string[],
): SandboxCandidate {
  const filtering = filter === undefined ? [] : ['--seccomp', String(INPUT_DESCRIPTOR)];
  const wrap: SandboxCandidate['wrap'] = async (argv, confinement): Promise<WrappedCommand> => {
    const view = (await viewOf(confinement)).flatMap(optionsOf);
    const { workspace, owner = NOBODY_USER } = confinement.workspace;
    const inside = ['--chdir', workspace, '--', ...prefix(owner), ...argv];
    const line = [...isolation(confinement), ...filtering, ...privileges, ...view, ...inside];
    const [program = bwrap, ...words] = [...before, bwrap, ...line];
    return { argv: [program, ...words], wrapped: true, input: filter };
  };
  return { kind: 'bubblewrap', means: `${means}, ${way}`, wrap };
}

function isolation({ network }: Confinement): string[] {
  const spaces = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  // A new session: no way back to a terminal of the service. Dying with the parent: kill -9 of the service ends its
  // runs.
  return [
    '--die-with-parent',
    '--new-session',
    '--json-status-fd',
    '3',
    ...spaces,
    ...(network === 'none' ? ['--unshare-net'] : []),
  ];
}

function optionsOf(mount: Mount): string[] {
  switch (mount.kind) {
    case 'folder':
      return ['--perms', '0755', '--dir', mount.at];
    case 'bind':
      return [mount.writable ? '--bind' : '--ro-bind', mount.from, mount.at];
    case 'link':
      return ['--symlink', mount.to, mount.at];
    case 'tmpfs':
      return ['--perms', mount.mode, '--size', String(mount.bytesMax), '--tmpfs', mount.at];
    case 'processes':
      return ['--proc', mount.at];
    case 'devices':
      return ['--dev', mount.at];
    case 'seal':
      return ['--remount-ro', mount.at];
  }
}

function isAtLeast(version: string, [leastMajor = 0, leastMinor = 0]: readonly number[]): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) > leastMajor || (Number(major) === leastMajor && Number(minor) >= leastMinor);
}
