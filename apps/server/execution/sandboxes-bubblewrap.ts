/** The sandbox made by bubblewrap: own files, processes, network; the best one where it works. reference: agent protocol, Sandbox. */
import { viewOf } from './sandboxes-view.ts';
import type { Mount } from './sandboxes-view.ts';
import { NOBODY } from './sandboxes.ts';
import type { Confinement, SandboxCandidate, Tools, WrappedCommand } from './sandboxes.ts';
import { withoutPrivileges } from './sandboxes-privileges.ts';

/** The first version with `--size` for memory file systems; before it a run could fill the machine's memory through /tmp. */
const VERSION_MIN = [0, 7];

/** What must be left to give up being root; the program that gives it up drops these too. */
const CAPABILITIES_TO_CHANGE_USER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP', 'CAP_DAC_READ_SEARCH'];

/** The ways to use bubblewrap here, best first. `version` is what `bwrap --version` printed. */
export function bubblewrapCandidates(tools: Tools, version: string, asRoot: boolean): SandboxCandidate[] {
  const bwrap = tools.get('bwrap');
  if (bwrap === undefined || !isRecent(version)) return [];
  const means = version.trim();
  const inUserNamespace = candidate(bwrap, `${means}, user namespace`, ['--unshare-user'], []);
  const setpriv = tools.get('setpriv');
  if (!asRoot || setpriv === undefined) return [inUserNamespace];
  const capabilities = ['--cap-drop', 'ALL', ...CAPABILITIES_TO_CHANGE_USER.flatMap((name) => ['--cap-add', name])];
  const asNobody = candidate(bwrap, `${means}, user ${NOBODY.uid}`, capabilities, withoutPrivileges(setpriv, NOBODY));
  return [{ ...asNobody, owner: NOBODY }, inUserNamespace];
}

function candidate(bwrap: string, means: string, privileges: readonly string[], prefix: readonly string[]): SandboxCandidate {
  const wrap: SandboxCandidate['wrap'] = async (argv, confinement): Promise<WrappedCommand> => {
    const view = (await viewOf(argv, confinement)).flatMap(optionsOf);
    const inside = ['--chdir', confinement.workspace.workspace, '--', ...prefix, ...argv];
    return { argv: [bwrap, ...isolation(confinement), ...privileges, ...view, ...inside], wrapped: true };
  };
  return { kind: 'bubblewrap', means, wrap };
}

function isolation({ network }: Confinement): string[] {
  const spaces = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  // A new session: no way back to a terminal of the service. Dying with the parent: kill -9 of the service ends its runs.
  return ['--die-with-parent', '--new-session', '--json-status-fd', '3', ...spaces, ...(network === 'none' ? ['--unshare-net'] : [])];
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

function isRecent(version: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  const [leastMajor = 0, leastMinor = 0] = VERSION_MIN;
  return Number(major) > leastMajor || (Number(major) === leastMajor && Number(minor) >= leastMinor);
}
