/**
 * The sandbox made by util-linux (unshare, mount, pivot_root, setpriv) where bubblewrap is missing. explanation: Coding
 * agents, Sandbox.
 */
import { withFilter, withOwnKeyring } from './sandboxes-filter.ts';
import { type Mount, viewOf } from './sandboxes-view.ts';
import {
  type Confinement,
  NOBODY_USER,
  type SandboxCandidate,
  type Tools,
  withoutNamespacePrivileges,
  withoutPrivileges,
} from './sandboxes.ts';

/** Bytes for the root, which only holds mount points and links. */
const ROOT_BYTES_MAX = 4 * 1_024 * 1_024;

/** Devices that programs expect and that lead nowhere. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/**
 * The ways to use namespaces by hand, best first; the last ones only end processes dependably. System calls are
 * filtered where perl is there to ask the kernel for it.
 */
export function namespaceCandidates(tools: Tools, asRoot: boolean): SandboxCandidate[] {
  const perl = tools.get('perl');
  const filtering = perl === undefined ? undefined : withFilter(perl);
  const filters = filtering === undefined ? [[]] : [filtering, []];
  return filters.flatMap((each) => waysOf(tools, asRoot, each));
}

function waysOf(tools: Tools, asRoot: boolean, filter: Words): SandboxCandidate[] {
  const [unshare, sh, setpriv, ip] = ['unshare', 'sh', 'setpriv', 'ip'].map((name) => tools.get(name));
  if (unshare === undefined || sh === undefined) return [];
  const full = ['--mount', '--ipc', '--uts'];
  const own = [...withOwnKeyring(tools.get('perl')), unshare];
  const candidates: SandboxCandidate[] = [];
  if (setpriv !== undefined && asRoot) {
    const drop = ({ workspace }: Confinement): Words => withoutPrivileges(setpriv, workspace.owner ?? NOBODY_USER);
    // Without it the command would outlive a killed service; with a user namespace the kernel forgets the setting.
    const start = [setpriv, '--pdeathsig=KILL', '--', ...own];
    const prefix = (confinement: Confinement): Words => [...drop(confinement), ...filter];
    candidates.push({
      ...confined('unshare, users of their own', start, full, { sh, ip }, prefix),
      owner: NOBODY_USER,
    });
  }
  if (setpriv !== undefined) {
    const spaces = ['--user', '--map-root-user', ...full];
    const prefix = (): Words => [...withoutNamespacePrivileges(setpriv), ...filter];
    candidates.push(confined('unshare, user namespace', own, spaces, { sh, ip }, prefix));
  }
  const inUserNamespace = ['--user', '--map-root-user'];
  return [...candidates, processesOnly(own, [], [sh, filter]), processesOnly(own, inUserNamespace, [sh, filter])];
}

type Words = readonly string[];

function confined(
  means: string,
  start: Words,
  spaces: Words,
  { sh, ip }: { sh: string; ip?: string },
  drop: (confinement: Confinement) => Words,
): SandboxCandidate {
  return {
    kind: 'pid-namespace',
    means,
    wrap: async (argv, confinement) => {
      const network = confinement.network === 'none' ? ['--net'] : [];
      // A new network has a loopback that is down; bubblewrap raises it, unshare does not.
      const loopback = ip === undefined || network.length === 0 ? [] : [`${quoted(ip)} link set lo up || :`];
      const script = [...loopback, ...rootScript(await viewOf(confinement), confinement), ...commandScript()].join(
        '\n',
      );
      return {
        argv: commandLine(start, [...spaces, ...network], [sh, '-c', script, 'sandbox', ...drop(confinement), ...argv]),
        wrapped: true,
      };
    },
  };
}

function processesOnly(start: Words, spaces: Words, [sh, filter]: [sh: string, filter: Words]): SandboxCandidate {
  return {
    kind: 'pid-namespace',
    means: spaces.length === 0 ? 'unshare, processes only' : 'unshare, user namespace, processes only',
    wrap: async (argv, { workspace }) => {
      const script = ['set -e', REPORT_CHILD, `cd ${quoted(workspace.workspace)}`, ...commandScript()].join('\n');
      return { argv: commandLine(start, spaces, [sh, '-c', script, 'sandbox', ...filter, ...argv]), wrapped: true };
    },
  };
}

function commandLine(
  start: readonly string[],
  spaces: readonly string[],
  inside: readonly string[],
): [string, ...string[]] {
  const [program = 'unshare', ...rest] = start;
  return [program, ...rest, '--pid', '--fork', '--kill-child=KILL', ...spaces, '--', ...inside];
}

/** Tells the pid that this first process has outside; /proc is still the outer one. */
const REPORT_CHILD = 'read -r outer_pid rest < /proc/self/stat; printf \'{"child-pid": %s}\\n\' "$outer_pid" >&3';

/** Builds the view below the run's mount point and makes it the root; the old root is gone afterwards. */
function rootScript(view: readonly Mount[], { workspace }: Confinement): string[] {
  const root = workspace.mountPoint;
  return [
    'set -e',
    // Whatever the service's own mask is: the run's user must be able to pass through the folders above its own.
    'umask 022',
    REPORT_CHILD,
    `mount -t tmpfs -o mode=0755,size=${ROOT_BYTES_MAX},nosuid,nodev root ${quoted(root)}`,
    ...view.flatMap((mount) => stepsOf(mount, root)),
    `mkdir ${quoted(`${root}/.outside`)}`,
    `cd ${quoted(root)}`,
    'pivot_root . .outside',
    'cd /',
    'umount -l /.outside',
    'rmdir /.outside',
    'mount -o remount,bind,ro,nosuid,nodev /',
    `cd ${quoted(workspace.workspace)}`,
  ];
}

function stepsOf(mount: Mount, root: string): string[] {
  const at = quoted(root + mount.at);
  switch (mount.kind) {
    case 'folder':
      return [`mkdir -p ${at}`];
    case 'bind':
      return [
        mount.folder ? `mkdir -p ${at}` : `[ -e ${at} ] || : > ${at}`,
        `mount --rbind ${quoted(mount.from)} ${at}`,
        remounted(at, mount.writable),
      ];
    case 'link':
      return [`ln -s ${quoted(mount.to)} ${at}`];
    case 'tmpfs':
      return [`mkdir -p ${at}`, `mount -t tmpfs -o mode=${mount.mode},size=${mount.bytesMax},nosuid,nodev tmpfs ${at}`];
    case 'processes':
      return [`mkdir -p ${at}`, `mount -t proc -o nosuid,nodev,noexec proc ${at}`];
    case 'devices':
      return deviceSteps(root + mount.at);
    case 'seal':
      // The root itself is sealed when the old one has been taken out of it.
      return mount.at === '/' ? [] : [`mount -o remount,bind,ro,nosuid ${at}`];
  }
}

/** A bind takes its restrictions by a second step, which must repeat those that the original has. */
function remounted(at: string, writable: boolean): string {
  const options = `remount,bind,${writable ? 'rw' : 'ro'},nosuid,nodev`;
  return `mount -o ${options} ${at} 2>/dev/null || mount -o ${options},noexec ${at}`;
}

function deviceSteps(folder: string): string[] {
  const links: [string, string][] = [
    ['fd', ''],
    ['stdin', '/0'],
    ['stdout', '/1'],
    ['stderr', '/2'],
  ];
  return [
    `mkdir -p ${quoted(folder)}`,
    `mount -t tmpfs -o mode=0755,size=${ROOT_BYTES_MAX},nosuid dev ${quoted(folder)}`,
    ...DEVICES.map(
      (name) => `: > ${quoted(`${folder}/${name}`)}; mount --bind /dev/${name} ${quoted(`${folder}/${name}`)}`,
    ),
    ...links.map(([name, end]) => `ln -s /proc/self/fd${end} ${quoted(`${folder}/${name}`)}`),
  ];
}

/**
 * Runs the command as a child: the first process of a namespace is deaf to signals nobody handles, and has orphans to
 * count.
 */
function commandScript(): string[] {
  return [
    'set +e',
    'unset OLDPWD',
    'printf \'{"built": 1}\\n\' >&3',
    'exec 4<&0 </dev/null',
    '"$@" <&4 3>&- 4<&- &',
    'exec 4<&-',
    'wait $!',
    'code=$?',
    'printf \'{"exit-code": %s}\\n\' "$code" >&3',
    'exit "$code"',
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
