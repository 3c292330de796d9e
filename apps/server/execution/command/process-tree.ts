/**
 * Which process is which, across restarts and reuse of process ids, and how a whole tree of them is ended. contract
 * §3.9 (Cancel).
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Names one process for good: a pid alone is given out again, and start times count from the boot. */
export interface ProcessHandle {
  pid: number;
  /** Clock ticks between boot and start, as `/proc/<pid>/stat` has them. */
  startTime: string;
  bootId: string;
  /** Which numbering of processes the pid belongs to: containers of one machine share its boot. Absent: as ours. */
  pidSpace?: string;
}

/** What else belongs to a tree, in addition to the descendants of its root. */
export interface TreeSearch {
  /** Further known members, for example the first process of a namespace. */
  also?: readonly ProcessHandle[];
  /** Every process with this mark in its environment belongs to the tree, however it detached itself. */
  mark?: RunMark;
}

/** What the environment of a run's processes says (MILLWRIGHT_RUN_ID, MILLWRIGHT_EXECUTION_EPOCH). */
export interface RunMark {
  runId: string;
  /** Only this execution: a supervisor that lost its lease must not end the one that took over. */
  epoch?: number;
}

interface Entry {
  pid: number;
  parent: number;
  group: number;
  session: number;
  startTime: string;
  /** Still able to run; a zombie is only waiting to be counted. */
  alive: boolean;
}

/** Milliseconds between two checks of a tree that is being killed. */
const KILL_POLL_MS = 20;

/**
 * Who the process with this pid is (also one that ended and was not waited for); undefined when there is none, or no
 * `/proc`.
 */
export function processIdentity(pid: number): ProcessHandle | undefined {
  const entry = statOf(pid);
  return entry === undefined ? undefined : { pid, startTime: entry.startTime, bootId: bootId(), pidSpace: pidSpace() };
}

/** Whether exactly this process (not another one with its pid) is still running. */
export function isAlive(identity: ProcessHandle): boolean {
  const entry = statOf(identity.pid);
  return entry?.alive === true && entry.startTime === identity.startTime && bootId() === identity.bootId;
}

function statOf(pid: number): Entry | undefined {
  try {
    return parsed(pid, readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Ends what an earlier life of the service left running of a run, never what only inherited the pid. Without an
 * identity (nobody came to store it), or with that of another machine, only what carries the run's mark here. Answers
 * how many were killed.
 */
export async function killLeftover(
  identity: ProcessHandle | undefined,
  runId?: string,
  epoch?: number,
): Promise<number> {
  const mark = runId === undefined ? undefined : { runId, epoch };
  // Elsewhere, and before a reboot, the numbers mean other processes.
  const isOurs = identity?.bootId === bootId() && (identity.pidSpace ?? pidSpace()) === pidSpace();
  if (identity !== undefined && isOurs) return killTree(identity, { mark });
  return mark === undefined ? 0 : killTree(NO_ROOT, { mark });
}

/** No process has this number, and none belongs to a group of it. */
const NO_ROOT: ProcessHandle = { pid: -1, startTime: '', bootId: '' };

/**
 * Kills a process and everything that came from it, and resolves when all of it is gone. Answers how many processes
 * were killed.
 */
export async function killTree(root: ProcessHandle, search: TreeSearch = {}): Promise<number> {
  const known = new Map([root, ...(search.also ?? [])].map((identity) => [identity.pid, identity.startTime]));
  const killed = new Set<string>();
  for (;;) {
    const alive = (await members(root, known, search.mark)).filter((entry) => entry.alive);
    if (alive.length === 0) return killed.size;
    for (const entry of alive) {
      known.set(entry.pid, entry.startTime);
      if (kill(entry, 'SIGKILL')) killed.add(`${entry.pid}@${entry.startTime}`);
    }
    await sleep(KILL_POLL_MS);
  }
}

/**
 * Asks a tree to end (SIGTERM). With `wrapped` the root and the first processes of namespaces are left out:
 * these only hold the sandbox together, and their end would be a kill without grace for everything inside.
 * Answers how many processes were asked.
 */
export async function terminateTree(root: ProcessHandle, search: TreeSearch & { wrapped: boolean }): Promise<number> {
  const known = new Map([root, ...(search.also ?? [])].map((identity) => [identity.pid, identity.startTime]));
  let asked = 0;
  for (const entry of await members(root, known, search.mark)) {
    if (search.wrapped && (entry.pid === root.pid || (await isNamespaceInit(entry.pid)))) continue;
    if (entry.alive && kill(entry, 'SIGTERM')) asked += 1;
  }
  return asked;
}

/** IDs of the processes of a tree that run now. */
export async function livingPids(root: ProcessHandle, search: TreeSearch): Promise<number[]> {
  const known = new Map([root, ...(search.also ?? [])].map((identity) => [identity.pid, identity.startTime]));
  return (await members(root, known, search.mark)).filter((entry) => entry.alive).map(({ pid }) => pid);
}

/**
 * Bytes of memory that only these processes have: stacks and heaps, and `held`, the shared memory that is theirs
 * whether it is mapped or not. Where the sum is over `enough`, pages that several of them share are counted once, which
 * takes longer to find out.
 */
export async function memoryBytes(pids: readonly number[], held: number, enough: number): Promise<number> {
  const rough = await Promise.all(pids.map((pid) => kibibytes(pid, 'status', ['RssAnon'])));
  // What of `held` could not be seen (another user's mappings) is in this; what could is in both, and counts once.
  const shared = total(await Promise.all(pids.map((pid) => kibibytes(pid, 'status', ['RssShmem']))));
  const sum = total(rough) + Math.max(held, shared);
  if (sum <= enough) return sum;
  // Not readable for every process: those count as they were.
  const exact = await Promise.all(pids.map((pid) => kibibytes(pid, 'smaps_rollup', ['Pss_Anon'])));
  const exactShared = total(await Promise.all(pids.map((pid) => kibibytes(pid, 'smaps_rollup', ['Pss_Shmem']))));
  return total(exact.map((kib, index) => kib ?? rough[index])) + Math.max(held, exactShared);
}

function total(kibibytesOfEach: readonly (number | undefined)[]): number {
  return kibibytesOfEach.reduce<number>((sum, kib) => sum + (kib ?? 0) * 1_024, 0);
}

async function kibibytes(
  pid: number,
  file: 'status' | 'smaps_rollup',
  names: readonly string[],
): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const found = names.map((name) => new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(text)?.[1]);
  return found.every((kib) => kib !== undefined) ? found.reduce((sum, kib) => sum + Number(kib), 0) : undefined;
}

/** Every process of the tree, descendants before their ancestors. */
async function members(root: ProcessHandle, known: ReadonlyMap<number, string>, mark?: RunMark): Promise<Entry[]> {
  const entries = await allProcesses();
  const found = new Map<number, Entry>();
  const add = (entry: Entry): void => void found.set(entry.pid, entry);
  const rootReused = entries.some((entry) => entry.pid === root.pid && entry.startTime !== root.startTime);
  for (const entry of entries) {
    if (known.get(entry.pid) === entry.startTime) add(entry);
    // A group or session keeps its number reserved while it has members.
    if (!rootReused && (entry.group === root.pid || entry.session === root.pid)) add(entry);
  }
  for (const entry of mark === undefined ? [] : await marked(entries, mark)) add(entry);
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const entry of entries) if (found.has(entry.parent)) add(entry);
  }
  found.delete(process.pid);
  return [...found.values()].reverse();
}

async function marked(entries: readonly Entry[], { runId, epoch }: RunMark): Promise<Entry[]> {
  const wanted = [
    `MILLWRIGHT_RUN_ID=${runId}`,
    ...(epoch === undefined ? [] : [`MILLWRIGHT_EXECUTION_EPOCH=${epoch}`]),
  ];
  const checks = entries.map(async (entry) => {
    const environment = entry.alive ? await readFile(`/proc/${entry.pid}/environ`, 'latin1').catch(() => '') : '';
    return wanted.every((variable) => `\0${environment}`.includes(`\0${variable}\0`));
  });
  const results = await Promise.all(checks);
  return entries.filter((_, index) => results[index]);
}

async function allProcesses(): Promise<Entry[]> {
  const names = await readdir('/proc').catch(() => []);
  const entries = names
    .filter((name) => /^\d+$/.test(name))
    .map(async (name) => {
      const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
      return parsed(Number(name), text);
    });
  return (await Promise.all(entries)).filter((entry) => entry !== undefined);
}

/**
 * `pid (name) state ppid pgrp session … starttime`; the name may hold blanks and brackets, so fields count from its
 * last bracket.
 */
function parsed(pid: number, stat: string): Entry | undefined {
  const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startTime = rest[15];
  if (state === undefined || startTime === undefined) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime,
    alive: !/[ZXx]/.test(state),
  };
}

function kill(entry: Entry, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  // Checked again directly before: meanwhile the pid may have gone to somebody else.
  if (statOf(entry.pid)?.startTime !== entry.startTime) return false;
  try {
    return process.kill(entry.pid, signal);
  } catch {
    return false;
  }
}

async function isNamespaceInit(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return /^NSpid:.*\t1$/m.test(status) && !/^NSpid:\t1$/m.test(status);
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

function pidSpace(): string {
  return readlinkSync('/proc/self/ns/pid');
}
