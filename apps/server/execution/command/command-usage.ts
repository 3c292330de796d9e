/** What one execution takes of disk and memory, looked at every few seconds, and its end when that is too much. contract 10. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryBytes, type ProcessIdentity, type TreeSearch } from './process-tree.ts';
import { findTools } from '../../process/program.ts';
import { STANDARD_PATH } from '../sandbox/sandboxes.ts';
import { bytesBelow } from '../workspace/workspaces-size.ts';

/** The most that one execution may take; absent: as much as there is. */
export interface UsageLimits {
  /** Bytes on disk of the run's folders: workspace, home and temporary files. */
  diskBytesMax?: number;
  /** Bytes of memory of all its processes together, as far as they are its own. */
  memoryBytesMax?: number;
  /** Milliseconds between two looks. */
  lookMs?: number;
}

export interface UsageParts {
  limits: UsageLimits;
  /** The run's folder. */
  folder: string;
  root: ProcessIdentity;
  tree: () => TreeSearch;
  /** Called at most once, with words for the run's owner. */
  onOver: (message: string) => void;
}

/** Milliseconds between two looks: a run fills less than a disk in them, and the kernel ends it first when memory runs out. */
const LOOK_MS = 2_000;
/** A look that takes long is repeated the more rarely: a run with many files must not keep the machine busy. */
const REST_FACTOR = 10;
/** Milliseconds after which it is repeated all the same: a disk fills in less than a minute. */
const REST_MS_MAX = 10_000;
/** Milliseconds until a look at the disk is given up, and not counted. */
const DISK_LOOK_MS_MAX = 60_000;

const MIB = 1_024 ** 2;

/** Watches until it is told to stop. */
export function watchUsage(parts: UsageParts): { stop(): void } {
  const over = new AbortController();
  const { folder, root, tree, onOver } = parts;
  const { diskBytesMax, memoryBytesMax, lookMs = LOOK_MS } = parts.limits;
  const tell = (message: string): void => {
    if (over.signal.aborted) return;
    over.abort();
    onOver(message);
  };
  const follow = async (what: string, max: number, look: () => Promise<number | undefined>): Promise<void> => {
    while (!over.signal.aborted) {
      const began = performance.now();
      const bytes = (await look().catch(() => undefined)) ?? 0;
      if (bytes > max) return tell(`${what}: ${Math.ceil(bytes / MIB)} MiB, and ${Math.floor(max / MIB)} are allowed`);
      const restMs = Math.max(lookMs, Math.min(REST_MS_MAX, (performance.now() - began) * REST_FACTOR));
      await sleep(restMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
    }
  };
  if (diskBytesMax !== undefined)
    void follow('the run took too much of the disk', diskBytesMax, () => diskBytes(folder, over.signal));
  if (memoryBytesMax !== undefined)
    void follow('the run took too much memory', memoryBytesMax, () => memoryBytes(root, tree(), memoryBytesMax));
  return { stop: () => over.abort() };
}

/** Bytes on disk below a folder. By a program of the system where there is one: it walks a million files without stopping the service. */
async function diskBytes(folder: string, over: AbortSignal): Promise<number | undefined> {
  const tools = await findTools(['du', 'nice'], STANDARD_PATH);
  const [du, nice] = [tools.get('du'), tools.get('nice')];
  if (du === undefined || nice === undefined) return bytesBelow(folder);
  return new Promise((resolve) => {
    const options = { timeout: DISK_LOOK_MS_MAX, killSignal: 'SIGKILL' as const, cwd: '/', env: {}, signal: over };
    // Files that vanish meanwhile make it complain and change nothing.
    execFile(nice, ['-n', '19', du, '-skx', folder], options, (_error, stdout) => {
      const kib = /^\d+/.exec(stdout)?.[0];
      resolve(kib === undefined ? undefined : Number(kib) * 1_024);
    });
  });
}
