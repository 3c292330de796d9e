/**
 * Looks for a text in everything that a run's sandbox has: words, variables and memory of its processes, and its files;
 * from outside, as root.
 */
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processesOf } from './run-processes.ts';

/** Where a text was found. */
export interface CanarySearch {
  processes: number;
  /** Bytes of memory that were read. */
  memoryBytes: number;
  files: number;
  /** Places that hold it. */
  found: string[];
}

/** Bytes that are read at once. */
const PIECE_BYTES = 4 * 1_024 ** 2;

/** `folder`: of the run, below the data folder. */
export async function searchRun(runId: string, folder: string, canary: string): Promise<CanarySearch> {
  const result: CanarySearch = { processes: 0, memoryBytes: 0, files: 0, found: [] };
  for (const { pid } of await processesOf(runId)) {
    result.processes += 1;
    for (const file of ['environ', 'cmdline'])
      if (await holds(`/proc/${pid}/${file}`, canary)) result.found.push(`${file} of ${pid}`);
    await searchMemory(pid, canary, result);
  }
  for (const file of await filesBelow(folder)) {
    result.files += 1;
    if (await holds(file, canary)) result.found.push(file.slice(folder.length + 1));
  }
  return result;
}

async function holds(file: string, canary: string): Promise<boolean> {
  return (await readFile(file).catch(() => Buffer.alloc(0))).includes(canary);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const PAGE_BYTES = 4_096;
/** Bytes of one page in the kernel's list, and the bits that say that it is in memory or was put aside. */
const ENTRY_BYTES = 8;
const PRESENT = 0xc0;

/** Whether any of it was ever written: some programs reserve a hundred times what they have. */
async function isThere(pid: number, at: number, bytes: number): Promise<boolean> {
  const pages = await open(`/proc/${pid}/pagemap`, 'r').catch(() => undefined);
  if (pages === undefined) return true;
  try {
    const entries = Buffer.alloc(Math.ceil(bytes / PAGE_BYTES) * ENTRY_BYTES);
    await pages.read(entries, 0, entries.length, (at / PAGE_BYTES) * ENTRY_BYTES);
    for (let index = ENTRY_BYTES - 1; index < entries.length; index += ENTRY_BYTES)
      if (((entries[index] ?? 0) & PRESENT) !== 0) return true;
    return false;
  } finally {
    await pages.close();
  }
}

/** Everything that a process can write to; what it only reads of files is in the files. */
async function searchMemory(pid: number, canary: string, result: CanarySearch): Promise<void> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '');
  const memory = await open(`/proc/${pid}/mem`, 'r').catch(() => undefined);
  if (memory === undefined) return;
  try {
    for (const line of maps.split('\n')) {
      const [, from = '0', to = '0', rights = '', name = ''] =
        /^(\w+)-(\w+) (\S+) \S+ \S+ \S+\s*(.*)$/.exec(line) ?? [];
      if (!rights.startsWith('rw') || name.startsWith('[v')) continue;
      // Addresses of a process are numbers that JavaScript holds exactly.
      const end = Number(`0x${to}`);
      const piece = Buffer.alloc(PIECE_BYTES + canary.length);
      for (let at = Number(`0x${from}`); at < end; at += PIECE_BYTES) {
        const wanted = Math.min(piece.length, end - at);
        if (!(await isThere(pid, at, wanted))) continue;
        const { bytesRead } = await memory.read(piece, 0, wanted, at).catch(() => ({ bytesRead: 0 }));
        result.memoryBytes += bytesRead;
        if (piece.subarray(0, bytesRead).includes(canary)) result.found.push(`memory of ${pid} ${name}`.trim());
      }
    }
  } finally {
    await memory.close();
  }
}
