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
  /** Places that hold each text. */
  found: Map<string, string[]>;
}

/** A text in the forms that it is looked for in. */
interface Canary {
  text: string;
  forms: readonly Buffer[];
}

/** Bytes that are read at once. */
const PIECE_BYTES = 4 * 1_024 ** 2;

/** `folder`: of the run, below the data folder. Texts are found in the forms that programs keep them in, too. */
export async function searchRun(runId: string, folder: string, texts: readonly string[]): Promise<CanarySearch> {
  const found = new Map(texts.map((text): [string, string[]] => [text, []]));
  const result: CanarySearch = { processes: 0, memoryBytes: 0, files: 0, found };
  const canaries = texts.map((text) => ({ text, forms: formsOf(text) }));
  for (const { pid } of await processesOf(runId)) {
    result.processes += 1;
    for (const file of ['environ', 'cmdline'])
      lookInto(await contentOf(`/proc/${pid}/${file}`), `${file} of ${pid}`, canaries, result);
    await searchMemory(pid, canaries, result);
  }
  for (const file of await filesBelow(folder)) {
    result.files += 1;
    lookInto(await contentOf(file), file.slice(folder.length + 1), canaries, result);
  }
  return result;
}

/** As it is, in two bytes a letter, in hexadecimal digits, and in base64 wherever it stands in what is encoded. */
function formsOf(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const encoded = [0, 1, 2].map((at) => {
    const padded = Buffer.concat([Buffer.alloc(at), bytes]).toString('base64');
    // The letters at both ends have bits of what stands beside it.
    return padded.slice(at === 0 ? 0 : at + 1, Math.floor(((at + bytes.length) * 8) / 6));
  });
  return [bytes, Buffer.from(text, 'utf16le'), ...[bytes.toString('hex'), ...encoded].map((form) => Buffer.from(form))];
}

function lookInto(bytes: Buffer, place: string, canaries: readonly Canary[], { found }: CanarySearch): void {
  for (const { text, forms } of canaries) if (forms.some((form) => bytes.includes(form))) found.get(text)?.push(place);
}

async function contentOf(file: string): Promise<Buffer> {
  return readFile(file).catch(() => Buffer.alloc(0));
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
async function searchMemory(pid: number, canaries: readonly Canary[], result: CanarySearch): Promise<void> {
  const overlap = Math.max(...canaries.flatMap(({ forms }) => forms.map(({ length }) => length)));
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
      const piece = Buffer.alloc(PIECE_BYTES + overlap);
      for (let at = Number(`0x${from}`); at < end; at += PIECE_BYTES) {
        const wanted = Math.min(piece.length, end - at);
        if (!(await isThere(pid, at, wanted))) continue;
        const { bytesRead } = await memory.read(piece, 0, wanted, at).catch(() => ({ bytesRead: 0 }));
        result.memoryBytes += bytesRead;
        lookInto(piece.subarray(0, bytesRead), `memory of ${pid} ${name}`.trim(), canaries, result);
      }
    }
  } finally {
    await memory.close();
  }
}
