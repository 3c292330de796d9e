/**
 * The sandbox made by bubblewrap: own files, processes, network; the best one where it works. explanation: Coding
 * agents, Sandbox.
 */
import { type Mount, viewOf } from './sandboxes-view.ts';
import {
  type Confinement,
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

/** The ways to use bubblewrap here, best first. `version` is what `bwrap --version` printed. */
export function bubblewrapCandidates(tools: Tools, version: string, asRoot: boolean): SandboxCandidate[] {
  const bwrap = tools.get('bwrap');
  if (bwrap === undefined || !isAtLeast(version, VERSION_MIN)) return [];
  const means = version.trim();
  const sealed = isAtLeast(version, VERSION_SEALED)
    ? [candidate(bwrap, `${means}, sealed user namespace`, ['--unshare-user', '--disable-userns'], () => [])]
    : [];
  const inUserNamespace = [...sealed, candidate(bwrap, `${means}, user namespace`, ['--unshare-user'], () => [])];
  const setpriv = tools.get('setpriv');
  if (!asRoot || setpriv === undefined) return inUserNamespace;
  const capabilities = ['--cap-drop', 'ALL', ...CAPABILITIES_TO_CHANGE_USER.flatMap((name) => ['--cap-add', name])];
  const asOther = candidate(bwrap, `${means}, users of their own`, capabilities, (owner) =>
    withoutPrivileges(setpriv, owner),
  );
  return [{ ...asOther, owner: NOBODY_USER }, ...inUserNamespace];
}

function candidate(
  bwrap: string,
  means: string,
  privileges: readonly string[],
  prefix: (owner: Owner) => readonly string[],
): SandboxCandidate {
  const wrap: SandboxCandidate['wrap'] = async (argv, confinement): Promise<WrappedCommand> => {
    const view = (await viewOf(confinement)).flatMap(optionsOf);
    const { workspace, owner = NOBODY_USER } = confinement.workspace;
    const inside = ['--chdir', workspace, '--', ...prefix(owner), ...argv];
    return { argv: [bwrap, ...isolation(confinement), ...privileges, ...view, ...inside], wrapped: true };
  };
  return { kind: 'bubblewrap', means, wrap };
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
