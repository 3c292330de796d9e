/** What would keep a run away from this machine: tried, as the service tries it at its start. contract §10. */
import { readFileSync } from 'node:fs';
import { modelChoice } from '#agents';
import { confinementProblem, isConfining, type ConfinementRequest } from '#isolation';
import type { Config } from '../config/config.ts';
import { findTools, STANDARD_PATH } from '../process/program.ts';
import { missingGuarantees } from '../execution/executor.ts';
import { describeQuotas, findProjectQuotas } from '../execution/workspace/project-quotas.ts';
import { describeCgroups, findCgroups } from '../execution/sandbox/run-cgroups.ts';
import type { DoctorTarget } from './doctor.ts';
import { ok, problem, warning, type Remark } from './findings.ts';

/** Debian package of each program that a sandbox is built of. */
const PACKAGES: Readonly<Record<string, string>> = {
  bwrap: 'bubblewrap',
  unshare: 'util-linux',
  setpriv: 'util-linux',
  ip: 'iproute2',
};

/** Switches of the kernel that keep ordinary users from namespaces of their own, with the value that does. */
const SWITCHES: readonly (readonly [file: string, forbidding: string])[] = [
  ['/proc/sys/user/max_user_namespaces', '0'],
  ['/proc/sys/kernel/unprivileged_userns_clone', '0'],
  ['/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1'],
];

export async function sandbox({ config, sandbox: detected }: DoctorTarget): Promise<Remark[]> {
  if (process.platform !== 'linux')
    return [
      unconfined(
        'this system has none of the means that a sandbox is built of',
        config,
        NO_WALLS,
        'run the service on Linux',
      ),
    ];
  const found = await detected;
  const missing = missingGuarantees(found.guarantees);
  const [first, ...others] = await waysOut(config.searchPath);
  const wayOut = [
    first ??
      'run the service where containers may make namespaces (for Docker: --security-opt seccomp=unconfined, or ' +
        'a machine of its own)',
    ...others,
  ].join('; ');
  const bounds = [await boundsRemark(), await quotasRemark(config)];
  if (missing.length === 0) return [ok(found.description), ...bounds];
  if (isConfining(found.guarantees)) return [warning(found.description, wayOut), ...bounds];
  return [unconfined(found.description, config, found.guarantees, wayOut), ...bounds];
}

/** Which bounds of a run the kernel enforces. */
async function boundsRemark(): Promise<Remark> {
  const place = await findCgroups();
  const text = describeCgroups(place);
  return place.ok && place.control.memory ? ok(text) : warning(text, CGROUP_WAY_OUT);
}

async function quotasRemark({ dataDir }: Config): Promise<Remark> {
  const place = await findProjectQuotas(dataDir);
  return place.ok ? ok(describeQuotas(place)) : warning(describeQuotas(place), QUOTA_WAY_OUT);
}

const QUOTA_WAY_OUT = 'put the data folder on ext4 or XFS mounted with prjquota, or on a volume of its own';

const CGROUP_WAY_OUT =
  'give the service a part of cgroup v2 (systemd: Delegate=memory pids in its unit; a container: a writable cgroup ' +
  'namespace), or bound all of it with MemoryMax=';

const NO_WALLS = { processes: false, files: false, network: false };

/** A problem only where what runs get by default does not start; the demo model's commands are ours. contract §10. */
function unconfined(
  what: string,
  { allowUnsandboxed, runCommand, agentEnvironment }: Config,
  walls: ConfinementRequest['walls'],
  wayOut: string,
): Remark {
  if (allowUnsandboxed)
    return warning(`${what}; agents start all the same (MILLWRIGHT_ALLOW_UNSANDBOXED=true)`, wayOut);
  const isDemo =
    modelChoice(agentEnvironment).kind === 'demo' && agentEnvironment['MILLWRIGHT_AGENT_DEMO_STEPS'] !== 'true';
  const worker = runCommand !== undefined ? 'command' : isDemo ? 'ours' : 'agent';
  const isStuck = confinementProblem({ worker, tier: 'strict', walls, allowUnsandboxed }) !== undefined;
  const text = `${what}; agents that take commands do not start here`;
  const ways = `${wayOut}; or set MILLWRIGHT_ALLOW_UNSANDBOXED=true on a machine that holds nothing else`;
  return isStuck ? problem(text, ways) : warning(`${text}, the demo model and a command of yours do`, ways);
}

async function waysOut(searchPath: string | undefined): Promise<string[]> {
  const names = Object.keys(PACKAGES);
  const tools = await findTools(names, searchPath ?? STANDARD_PATH);
  const packages = [...new Set(names.filter((name) => !tools.has(name)).map((name) => PACKAGES[name]))];
  const closed = SWITCHES.filter(([file, forbidding]) => process.getuid?.() !== 0 && read(file) === forbidding).map(
    ([file]) => file,
  );
  return [
    ...(packages.length === 0
      ? []
      : [`install ${packages.join(' and ')} (Debian: apt-get install ${packages.join(' ')})`]),
    ...closed.map((file) => `allow user namespaces (${file.replace('/proc/sys/', '').replaceAll('/', '.')})`),
  ];
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined; // this kernel has no such switch
  }
}
