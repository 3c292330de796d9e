/**
 * Bounds of disk that the file system enforces (project quotas of ext4 and XFS): where there are any, which project a
 * run is, and by which commands it gets one. contract §10.2.
 */

/** The file system of a folder, as far as quotas go. */
export type QuotaPlace = { ok: true; device: string; fileSystem: string } | { ok: false; reason: string };

/** Those with project quotas that one way of asking serves. */
const WITH_PROJECTS = ['ext4', 'xfs', 'f2fs'];

/** IDs of projects from here on are ours; operators give out small ones. */
const PROJECT_FIRST = 1_000_000_000;
const PROJECTS = 1_000_000_000;

/** Reads `/proc/self/mountinfo` for the file system that holds a folder. */
export function quotaPlaceOf(mountinfo: string, folder: string): QuotaPlace {
  const mounts = mountinfo.split('\n').flatMap(toMount);
  const holding = mounts.filter(({ at }) => at === '/' || folder === at || folder.startsWith(`${at}/`));
  // The longest one, and of those at the same place the last: it lies on top.
  const mount = holding.reduce<Mount | undefined>(
    (best, one) => (best === undefined || one.at.length >= best.at.length ? one : best),
    undefined,
  );
  if (mount === undefined) return { ok: false, reason: 'its file system is not known' };
  const { at, fileSystem, device, options } = mount;
  if (!WITH_PROJECTS.includes(fileSystem)) return { ok: false, reason: `${fileSystem} at ${at} has no project quotas` };
  const isEnforced = options.includes('prjquota') || options.includes('pquota');
  return isEnforced && !options.includes('pqnoenforce')
    ? { ok: true, device, fileSystem }
    : { ok: false, reason: `${fileSystem} at ${at} is mounted without prjquota` };
}

interface Mount {
  at: string;
  fileSystem: string;
  device: string;
  options: readonly string[];
}

/** `id parent device root AT options … - FILE-SYSTEM DEVICE OPTIONS`, blanks as \040. */
function toMount(line: string): Mount[] {
  const [before = '', after = ''] = line.split(' - ');
  const [at, own] = [before.split(' ')[4], before.split(' ')[5] ?? ''];
  const [fileSystem, device, options = ''] = after.split(' ');
  if (at === undefined || fileSystem === undefined || device === undefined) return [];
  return [
    { at: unescaped(at), fileSystem, device: unescaped(device), options: [...own.split(','), ...options.split(',')] },
  ];
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 8)));
}

/** The project of a run: the last digits of its ID are random. */
export function projectIdOf(runId: string): number {
  return PROJECT_FIRST + (Number.parseInt(runId.replaceAll('-', '').slice(-8), 16) % PROJECTS);
}

export interface ProjectQuotaTools {
  chattr: string;
  perl: string;
  /** Number of quotactl(2) here. */
  quotactl: number;
}

export interface ProjectQuota {
  device: string;
  folder: string;
  projectId: number;
  /** Undefined: no bound any more. */
  bytesMax: number | undefined;
}

/**
 * Q_SETQUOTA of project quotas with a `struct if_dqblk` of which only the bound of blocks counts, in units of 1,024
 * bytes.
 */
const LIMIT_SCRIPT = [
  'my ($call, $device, $project, $kib) = @ARGV; $device .= "\\0";',
  'my $limits = pack "Q8 L x4", $kib, 0, 0, 0, 0, 0, 0, 0, 1;',
  'exit(syscall($call + 0, (0x800008 << 8) | 2, $device, $project + 0, $limits) == 0 ? 0 : 1);',
].join(' ');

/** Command lines, in order: what lies in the folder belongs to the project, and the project has its bound. */
export function quotaCommands(quota: ProjectQuota, { chattr, perl, quotactl }: ProjectQuotaTools): string[][] {
  const { device, folder, projectId, bytesMax } = quota;
  const kib = bytesMax === undefined ? 0 : Math.ceil(bytesMax / 1_024);
  const limit = [perl, '-e', LIMIT_SCRIPT, '--', String(quotactl), device, String(projectId), String(kib)];
  return bytesMax === undefined ? [limit] : [[chattr, '-R', '+P', '-p', String(projectId), folder], limit];
}
