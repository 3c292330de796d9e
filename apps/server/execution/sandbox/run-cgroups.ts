/**
 * A control group for each command of a run, where the service has a part of the tree to itself: bounds that nothing
 * outruns, and an end that nobody escapes. contract §10.2.
 */
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the kernel enforces for each run here. */
export interface CgroupControl {
  memory: boolean;
  processes: boolean;
}

export interface CgroupLimits {
  memoryBytesMax?: number;
  processesMax: number;
}

/** The group of one command. */
export interface RunCgroup {
  /** The command line that starts another one in the group. */
  enter(argv: readonly string[]): [string, ...string[]];
  /** Whether the kernel ended something in it because of its bound. */
  isOutOfMemory(): Promise<boolean>;
  /** Ends all that is in it, and removes it. Never rejects. */
  close(): Promise<void>;
}

/** Whether there can be groups, and where; or why not, for people. */
export type CgroupPlace =
  | { ok: true; folder: string; own: string; control: CgroupControl; isRoot: boolean }
  | { ok: false; reason: string };

/** The part of the tree in which the service itself is: a group with children may hold no processes. */
const SERVICE_GROUP = 'service';

/** Milliseconds between two attempts to remove a group whose processes are ending. */
const REMOVE_AGAIN_MS = 20;
/** Attempts to remove it: what the kernel has killed is gone within them. */
const REMOVE_ATTEMPTS = 100;

/** Where groups of runs could be made. Changes nothing. `proc`, for tests: what /proc/self and /proc are. */
export async function findCgroups(proc = '/proc'): Promise<CgroupPlace> {
  const refused = (reason: string): CgroupPlace => ({ ok: false, reason });
  const mounts = await textOf(join(proc, 'self/mountinfo'));
  const mount = mounts.split('\n').find((line) => / - cgroup2 /.test(line));
  const path = /^0::(\/.*)$/m.exec(await textOf(join(proc, 'self/cgroup')))?.[1];
  if (mount === undefined || path === undefined) return refused('no cgroup v2 is mounted here');
  const own = join(mount.split(' ')[4] ?? '', path);
  const folder = basename(own) === SERVICE_GROUP ? dirname(own) : own;
  if (!(await isWritable(folder))) return refused(`${folder} cannot be written (systemd: Delegate=yes)`);
  const isRoot = (await textOf(join(folder, 'cgroup.type'))) === '';
  if (!isRoot && !(await isOurs(folder, proc)))
    return refused(`processes of others are in ${folder}: give the service a group of its own`);
  const controllers = (await textOf(join(folder, 'cgroup.controllers'))).split(/\s+/);
  const control = { memory: controllers.includes('memory'), processes: controllers.includes('pids') };
  return { ok: true, folder, own, control, isRoot };
}

/** What is enforced by groups, and what is not and why, in one sentence. */
export function describeCgroups(place: CgroupPlace): string {
  const watched = 'is looked at every 2 s, NOT ENFORCED by the kernel';
  if (!place.ok) return `no cgroup per run (${place.reason}): memory ${watched}`;
  if (place.control.memory) return 'memory is enforced by a cgroup per run';
  return `a cgroup per run ends all of it, but has no memory controller (cgroup v1 has it?): memory ${watched}`;
}

export class RunCgroups {
  private readonly folder: string;
  private readonly control: CgroupControl;
  private count = 0;

  private constructor(folder: string, control: CgroupControl) {
    this.folder = folder;
    this.control = control;
  }

  /** Makes the place ready: the service moves into a group of its own. Undefined: there cannot be groups here. */
  static async open(place: CgroupPlace): Promise<RunCgroups | undefined> {
    if (!place.ok) return undefined;
    const { folder, own, control, isRoot } = place;
    if (!isRoot && own === folder) {
      const service = join(folder, SERVICE_GROUP);
      await mkdir(service, { recursive: true });
      for (const pid of await processesOf(folder)) await put(join(service, 'cgroup.procs'), String(pid));
    }
    const wanted = [...(control.memory ? ['+memory'] : []), ...(control.processes ? ['+pids'] : [])].join(' ');
    if (wanted !== '') await put(join(folder, 'cgroup.subtree_control'), wanted);
    const enabled = (await textOf(join(folder, 'cgroup.subtree_control'))).split(/[\s+]+/);
    return new RunCgroups(folder, { memory: enabled.includes('memory'), processes: enabled.includes('pids') });
  }

  /** A group for the next command of a run. */
  async create(name: string, { memoryBytesMax, processesMax }: CgroupLimits): Promise<RunCgroup> {
    const group = join(this.folder, `run-${process.pid}-${(this.count += 1)}-${name}`);
    await mkdir(group);
    if (this.control.processes) await put(join(group, 'pids.max'), String(processesMax));
    if (this.control.memory && memoryBytesMax !== undefined) {
      await put(join(group, 'memory.max'), String(memoryBytesMax));
      // Where there is swap, a run would take that; and of a run that took too much nothing is left over.
      await put(join(group, 'memory.swap.max'), '0');
      await put(join(group, 'memory.oom.group'), '1');
    }
    return {
      enter: (argv) => ['/bin/sh', '-c', 'echo 0 > "$0" && exec "$@"', join(group, 'cgroup.procs'), ...argv],
      isOutOfMemory: async () => /^oom_kill [1-9]/m.test(await textOf(join(group, 'memory.events'))),
      close: () => closeGroup(group),
    };
  }
}

async function closeGroup(group: string): Promise<void> {
  for (let attempt = 0; attempt < REMOVE_ATTEMPTS; attempt += 1) {
    await put(join(group, 'cgroup.kill'), '1');
    const isGone = await rmdir(group).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    if (isGone) return;
    await sleep(REMOVE_AGAIN_MS);
  }
}

/** The service's own processes: itself, what it started, and the first one of a container. */
async function isOurs(folder: string, proc: string): Promise<boolean> {
  const pids = await processesOf(folder);
  const parents = new Map<number, number>();
  for (const pid of pids) parents.set(pid, await parentOf(pid, proc));
  const isOwn = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined; at = parents.get(at)) if (at === process.pid) return true;
    return pid === 1;
  };
  return pids.every(isOwn);
}

async function parentOf(pid: number, proc: string): Promise<number> {
  const stat = await textOf(join(proc, String(pid), 'stat'));
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

async function processesOf(folder: string): Promise<number[]> {
  return (await textOf(join(folder, 'cgroup.procs'))).split('\n').filter(Boolean).map(Number);
}

/** A file of the kernel; one that is not there, or does not take the value, is left alone. */
async function put(file: string, value: string): Promise<void> {
  await writeFile(file, value).catch(() => undefined);
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

async function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    async () => (await readdir(folder)).includes('cgroup.subtree_control'),
    () => false,
  );
}
