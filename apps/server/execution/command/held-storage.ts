/**
 * What processes hold that no folder shows: files without a name on disk, and memory that is a file without a name or
 * lies in a sandbox's memory file systems. contract §10.2.
 */
import { readdir, readFile, readlink, stat, statfs } from 'node:fs/promises';

/** Bytes. */
export interface HeldStorage {
  /** Regular files that were removed, or never had a name, and are open or mapped. */
  disk: number;
  /** Shared memory (memfd, anonymous, System V) and memory file systems, mapped or not. */
  memory: number;
}

/** Memory file systems that a sandbox gives a run; each is the run's own. */
const MEMORY_FOLDERS = ['/dev/shm', '/tmp'];

/** Magic number of memory file systems (statfs(2)). */
const TMPFS_MAGIC = 0x01_02_19_94;

/** Names that the kernel gives to files that are nothing but shared memory. */
const SHARED_MEMORY = /^\/(?:memfd:|dev\/zero \(deleted\)|SYSV[0-9a-f]{8}|anon_hugepage)/;
const DELETED = / \(deleted\)$/;

/** `st_blocks` counts in these, whatever the file system's are. */
const BLOCK_BYTES = 512;

/** Processes looked at in one go: each may hold thousands of files. */
const PROCESSES_AT_ONCE = 16;

/** Each file counts once, however many processes hold it. What cannot be read (another user's) is not counted. */
export async function heldStorage(pids: readonly number[]): Promise<HeldStorage> {
  const files = new Map<string, { bytes: number; isMemory: boolean }>();
  for (let at = 0; at < pids.length; at += PROCESSES_AT_ONCE)
    await Promise.all(pids.slice(at, at + PROCESSES_AT_ONCE).map((pid) => addFiles(pid, files)));
  const sum = (isMemory: boolean): number =>
    [...files.values()].reduce((total, file) => total + (file.isMemory === isMemory ? file.bytes : 0), 0);
  return { disk: sum(false), memory: sum(true) + (await memoryFolders(pids)) };
}

type Files = Map<string, { bytes: number; isMemory: boolean }>;

async function addFiles(pid: number, files: Files): Promise<void> {
  const numbers = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const mapped = await mappedFiles(pid);
  for (const path of [...numbers.map((number) => `/proc/${pid}/fd/${number}`), ...mapped]) {
    const name = await readlink(path).catch(() => '');
    const isShared = SHARED_MEMORY.test(name);
    if (!isShared && !DELETED.test(name)) continue;
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || !found.isFile()) continue;
    // A removed file of a memory file system counts there.
    if (!isShared && (await statfs(path).catch(() => undefined))?.type === TMPFS_MAGIC) continue;
    files.set(`${found.dev}:${found.ino}`, { bytes: found.blocks * BLOCK_BYTES, isMemory: isShared });
  }
}

/** Links to what a process has mapped and no name leads to; only root may follow them. */
async function mappedFiles(pid: number): Promise<string[]> {
  const maps = await readFile(`/proc/${pid}/maps`, 'latin1').catch(() => '');
  const links = maps.split('\n').flatMap((line) => {
    const [, from = '', to = '', name = ''] = /^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+ +(\/.*)$/.exec(line) ?? [];
    // `map_files` names addresses without the zeros that `maps` puts in front.
    return SHARED_MEMORY.test(name) || DELETED.test(name)
      ? [`/proc/${pid}/map_files/${trimmed(from)}-${trimmed(to)}`]
      : [];
  });
  return links;
}

function trimmed(address: string): string {
  return address.replace(/^0+(?=.)/, '');
}

/** Bytes used of the memory file systems that these processes see, each once. */
async function memoryFolders(pids: readonly number[]): Promise<number> {
  const found = new Map<number, number>();
  for (const pid of pids) {
    for (const folder of MEMORY_FOLDERS) {
      const path = `/proc/${pid}/root${folder}`;
      const device = (await stat(path).catch(() => undefined))?.dev;
      if (device === undefined || found.has(device)) continue;
      const used = await statfs(path).catch(() => undefined);
      if (used?.type === TMPFS_MAGIC) found.set(device, (used.blocks - used.bfree) * used.bsize);
    }
  }
  for (const device of await ownDevices()) found.delete(device);
  return [...found.values()].reduce((total, bytes) => total + bytes, 0);
}

/** The service's own are the machine's, of which a run without a sandbox has a part that nobody can tell. */
async function ownDevices(): Promise<number[]> {
  const own = await Promise.all(MEMORY_FOLDERS.map((folder) => stat(folder).catch(() => undefined)));
  return own.flatMap((found) => found?.dev ?? []);
}
