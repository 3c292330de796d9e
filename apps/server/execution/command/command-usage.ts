/**
 * What one execution takes of disk and memory, measured every few seconds, and its end when that is too much. contract
 * §10.
 */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { heldStorage } from './held-storage.ts';
import { livingPids, memoryBytes, type ProcessHandle, type TreeSearch } from './process-tree.ts';
import { findTools, STANDARD_PATH } from '../../process/program.ts';
import { bytesBelow } from '../workspace/folder-trees.ts';

/** The most that one execution may take; absent: as much as there is. */
export interface UsageLimits {
  /** Bytes on disk of the run's folders (workspace, home, temporary files), and of files that it removed and holds. */
  diskBytesMax?: number;
  /** Bytes of memory of all its processes together, as far as they are its own; shared memory and /tmp included. */
  memoryBytesMax?: number;
  /** Milliseconds between two measurements. */
  pollMs?: number;
}

export interface UsageWatchDeps {
  limits: UsageLimits;
  /** The run's folder. */
  folder: string;
  root: ProcessHandle;
  tree: () => TreeSearch;
  /** Called at most once, with a message for the run's owner. */
  onOver: (message: string) => void;
}

/**
 * Milliseconds between two measurements: a run fills less than a disk in them, and the kernel ends it first when memory
 * runs out.
 */
const POLL_MS = 2_000;
/** A measurement that takes long is repeated the more rarely: a run with many files must not keep the machine busy. */
const REST_FACTOR = 10;
/** Milliseconds after which it is repeated all the same: a disk fills in less than a minute. */
const REST_MS_MAX = 10_000;
/** Milliseconds until a measurement of the disk is given up, and not counted. */
const DU_MS_MAX = 60_000;

const MIB = 1_024 ** 2;

/** Watches from its construction until it is stopped. */
export class UsageWatch {
  private readonly deps: UsageWatchDeps;
  private readonly over = new AbortController();

  constructor(deps: UsageWatchDeps) {
    const { folder, root, tree } = deps;
    const { diskBytesMax, memoryBytesMax } = deps.limits;
    this.deps = deps;
    const pids = (): Promise<number[]> => livingPids(root, tree());
    if (diskBytesMax !== undefined)
      void this.follow('the run took too much of the disk', diskBytesMax, async () => {
        const [named, { disk }] = await Promise.all([diskBytes(folder, this.over.signal), pids().then(heldStorage)]);
        return named === undefined ? undefined : named + disk;
      });
    if (memoryBytesMax !== undefined)
      void this.follow('the run took too much memory', memoryBytesMax, async () => {
        const alive = await pids();
        return memoryBytes(alive, (await heldStorage(alive)).memory, memoryBytesMax);
      });
  }

  stop(): void {
    this.over.abort();
  }

  private async follow(what: string, max: number, measure: () => Promise<number | undefined>): Promise<void> {
    const { pollMs = POLL_MS } = this.deps.limits;
    while (!this.over.signal.aborted) {
      const began = performance.now();
      const bytes = (await measure().catch(() => undefined)) ?? 0;
      if (bytes > max)
        return this.report(`${what}: ${Math.ceil(bytes / MIB)} MiB, and ${Math.floor(max / MIB)} are allowed`);
      const restMs = Math.max(pollMs, Math.min(REST_MS_MAX, (performance.now() - began) * REST_FACTOR));
      await sleep(restMs, undefined, { signal: this.over.signal, ref: false }).catch(() => undefined);
    }
  }

  private report(message: string): void {
    if (this.over.signal.aborted) return;
    this.over.abort();
    this.deps.onOver(message);
  }
}

/**
 * Bytes on disk below a folder. By a program of the system where there is one: it visits a million files without
 * stopping the service.
 */
async function diskBytes(folder: string, over: AbortSignal): Promise<number | undefined> {
  const tools = await findTools(['du', 'nice'], STANDARD_PATH);
  const [du, nice] = [tools.get('du'), tools.get('nice')];
  if (du === undefined || nice === undefined) return bytesBelow(folder);
  return new Promise((resolve) => {
    const options = { timeout: DU_MS_MAX, killSignal: 'SIGKILL' as const, cwd: '/', env: {}, signal: over };
    // Files that vanish meanwhile make it complain and change nothing.
    execFile(nice, ['-n', '19', du, '-skx', folder], options, (_error, stdout) => {
      const kib = /^\d+/.exec(stdout)?.[0];
      resolve(kib === undefined ? undefined : Number(kib) * 1_024);
    });
  });
}
