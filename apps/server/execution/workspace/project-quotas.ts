/** Project quotas of the data folder's file system: found at the start, set for each run. contract §10.2. */
import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { promisify } from 'node:util';
import {
  callNumber,
  isSeccompArchitecture,
  projectIdOf,
  quotaCommands,
  quotaPlaceOf,
  type ProjectQuotaTools,
  type QuotaPlace,
} from '#isolation';
import { findTools, STANDARD_PATH } from '../../process/program.ts';

/** Milliseconds until a command that sets a quota is given up. */
const COMMAND_MS_MAX = 10_000;

const execute = promisify(execFile);

/** Whether quotas can be set for folders here, or why not, for people. */
export async function findProjectQuotas(folder: string): Promise<QuotaPlace> {
  const mountinfo = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const place = quotaPlaceOf(mountinfo, await realpath(folder).catch(() => folder));
  if (!place.ok) return place;
  if (process.getuid?.() !== 0) return { ok: false, reason: 'only a service that is root can set project quotas' };
  return (await toolsHere()) === undefined ? { ok: false, reason: 'chattr or perl is missing' } : place;
}

/** What the file system enforces, and what not and why, in one sentence. */
export function describeQuotas(place: QuotaPlace): string {
  return place.ok
    ? `disk is enforced by a project quota per run (${place.fileSystem})`
    : `no project quota per run (${place.reason}): disk is looked at every 2 s, NOT ENFORCED by the file system`;
}

/** Bounds what a run's folder takes; `bytesMax` undefined: no more. Throws where the file system refuses. */
export async function setProjectQuota(
  { device }: Extract<QuotaPlace, { ok: true }>,
  { runId, folder, bytesMax }: { runId: string; folder: string; bytesMax: number | undefined },
): Promise<void> {
  const tools = await toolsHere();
  if (tools === undefined) throw new Error('chattr or perl is missing');
  const quota = { device, folder, projectId: projectIdOf(runId), bytesMax };
  for (const [program = '', ...words] of quotaCommands(quota, tools))
    await execute(program, words, { timeout: COMMAND_MS_MAX, killSignal: 'SIGKILL', cwd: '/', env: {} });
}

async function toolsHere(): Promise<ProjectQuotaTools | undefined> {
  const tools = await findTools(['chattr', 'perl'], STANDARD_PATH);
  const [chattr, perl] = [tools.get('chattr'), tools.get('perl')];
  const quotactl = isSeccompArchitecture(process.arch) ? callNumber('quotactl', process.arch) : undefined;
  return chattr === undefined || perl === undefined || quotactl === undefined ? undefined : { chattr, perl, quotactl };
}
