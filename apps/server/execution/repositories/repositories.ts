/**
 * Bare copies of the repositories that runs need: fetched by the service with what it may use, shown to sandboxes
 * read-only. contract §9.7 (Git), §10.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { discard, packCount, PACKS_MAX, sweep as sweepLeftOvers } from '../../sync/sources/git/git-cache.ts';
import { withSession, type GitSession, type SessionScope } from '../../sync/sources/git/git-session.ts';
import { SourceUnavailableError } from '../../sync/sources/source.ts';
import type { RepositoryAccess } from './repositories-access.ts';
import { Growth } from './repositories-growth.ts';
import {
  commitIn,
  fetchCopy,
  markUsed,
  pinnedAddresses,
  sessionScope,
  SLOW_HOST_SETTINGS,
  unreadableMessage,
  USED_MARK,
} from './repository-fetch.ts';
import { FetchLimiter, type FetchRequest } from './fetch-limiter.ts';
import { SetupError } from '../executor.ts';

/** Milliseconds after its last use that a copy stays: a project that rests over a holiday need not be fetched again. */
const UNUSED_MS_MAX = 14 * 86_400_000;

export interface RepositoriesDeps {
  config: Pick<
    Config,
    'dataDir' | 'gitCaFile' | 'gitKnownHostsFile' | 'searchPath' | 'setupTimeoutMs' | 'runDiskBytesMax'
  >;
  /** As it is now: what has just been removed counts. */
  isDiskLow(): boolean | Promise<boolean>;
  nowMs(): number;
}

/** A copy as it was at the last fetch, while somebody uses it. */
export interface RepositoryCopy {
  /** A bare repository that everybody may read who can get at it; no credential is in it. */
  folder: string;
  /** Commit of a branch or tag, of the default branch where none is named. Throws SetupError. */
  commitOf(branch: string | undefined): Promise<string>;
  /** Reads it without the network. */
  read<Result>(work: (session: GitSession) => Promise<Result>): Promise<Result>;
}

/** One fetch that any number of runs wait for. */
interface SharedFetch {
  done: Promise<string | undefined>;
  waiting: number;
  abort: AbortController;
  request: FetchRequest;
}

export class Repositories {
  private readonly deps: RepositoriesDeps;
  private readonly limiter = new FetchLimiter();
  /** Fetches that have not begun: whoever comes before they do shares them. */
  private readonly coming = new Map<string, SharedFetch>();
  private readonly latest = new Map<string, Promise<unknown>>();
  /** Who waits for a copy or reads it. */
  private readonly users = new Map<string, number>();
  private readonly readers = new Map<string, number>();
  private readonly growing = new Set<Growth>();
  private relieving: Promise<void> | undefined;

  constructor(deps: RepositoriesDeps) {
    this.deps = deps;
  }

  /** Brings the copy up to date and lets `work` use it. Throws SetupError; AbortError when the signal says so. */
  async use<Result>(
    access: RepositoryAccess,
    signal: AbortSignal | undefined,
    work: (copy: RepositoryCopy) => Promise<Result>,
  ): Promise<Result> {
    const key = keyOf(access);
    try {
      return await counted(this.users, key, async () => {
        const headBranch = await waitFor(this.sharedFetch(key, access), signal);
        return counted(this.readers, key, () => work(this.copy(key, access, headBranch)));
      });
    } catch (error) {
      if (error instanceof SourceUnavailableError) throw new SetupError(unreadableMessage(error, access));
      throw error;
    }
  }

  /** Removes copies that have not been used for long. */
  async sweep(): Promise<void> {
    for (const { key, usedMs } of await this.copies())
      if (this.deps.nowMs() - usedMs > UNUSED_MS_MAX) await this.discardUnused(key);
  }

  /** While the disk is nearly full: discards copies that nobody uses, then ends the fetches that take the most. */
  async relieve(): Promise<void> {
    await (this.relieving ??= this.makeRoom().finally(() => {
      this.relieving = undefined;
    }));
  }

  private async makeRoom(): Promise<void> {
    while (await this.isFullWithoutUnused()) {
      const [largest] = [...this.growing].sort((a, b) => b.bytes - a.bytes);
      if (largest === undefined) return;
      largest.end('disk-low');
      await largest.closed;
    }
  }

  /**
   * Whether the disk is nearly full even when what nobody uses is gone; the least recently used goes first, and no more
   * than is needed.
   */
  private async isFullWithoutUnused(): Promise<boolean> {
    if (!(await this.deps.isDiskLow())) return false;
    for (const { key } of await this.copies()) {
      if ((await this.discardUnused(key)) && !(await this.deps.isDiskLow())) return false;
    }
    return this.deps.isDiskLow();
  }

  /** The least recently used first. */
  private async copies(): Promise<{ key: string; usedMs: number }[]> {
    const keys = (await readdir(this.root()).catch((): string[] => [])).filter((name) => /^[0-9a-f]{64}$/.test(name));
    const found = await Promise.all(
      keys.map(async (key) => {
        const folder = join(this.root(), key);
        const used = await stat(join(folder, USED_MARK))
          .catch(() => stat(folder))
          .catch(() => undefined);
        return used === undefined ? [] : [{ key, usedMs: used.mtimeMs }];
      }),
    );
    return found.flat().sort((a, b) => a.usedMs - b.usedMs);
  }

  /** Whoever wants the copy meanwhile waits until it is gone. */
  private async discardUnused(key: string): Promise<boolean> {
    if (this.users.has(key) || this.latest.has(key)) return false;
    const gone = discard(join(this.root(), key));
    this.enqueue(key, gone);
    await gone;
    return true;
  }

  private root(): string {
    return join(this.deps.config.dataDir, 'repositories');
  }

  /** The next fetch of this copy; one at a time. */
  private sharedFetch(key: string, access: RepositoryAccess): SharedFetch {
    const coming = this.coming.get(key);
    if (coming !== undefined && !coming.abort.signal.aborted) {
      coming.request.factories.add(access.factoryUid);
      this.limiter.assign();
      return coming;
    }
    const abort = new AbortController();
    const request = { factories: new Set([access.factoryUid]), host: access.address.host };
    const before = this.latest.get(key) ?? Promise.resolve();
    const noMoreToJoin = (): unknown => this.coming.get(key) === shared && this.coming.delete(key);
    const begin = (): Promise<string | undefined> => {
      noMoreToJoin();
      return this.fetch(key, access, abort.signal);
    };
    const done = before.then(() => this.limiter.run(request, abort.signal, begin)).finally(noMoreToJoin);
    const shared: SharedFetch = { done, waiting: 0, abort, request };
    this.coming.set(key, shared);
    this.enqueue(key, done);
    return shared;
  }

  /** What is done next with this copy waits for `work`. */
  private enqueue(key: string, work: Promise<unknown>): void {
    const over = work.catch(() => undefined);
    this.latest.set(key, over);
    void over.then(() => this.latest.get(key) === over && this.latest.delete(key));
  }

  /** Answers the default branch. What could not be brought to its end leaves nothing half-done. */
  private async fetch(key: string, access: RepositoryAccess, signal: AbortSignal): Promise<string | undefined> {
    if (await this.isFullWithoutUnused())
      throw new SetupError(
        `the repository ${access.address.url} is not fetched now: the disk of the service is nearly full`,
      );
    const folder = join(this.root(), key);
    await mkdir(this.root(), { recursive: true, mode: 0o700 });
    const settings = [...SLOW_HOST_SETTINGS, ...(access.publicOnly ? await pinnedAddresses(access) : [])];
    const growth = this.growth(folder, this.deps.config.runDiskBytesMax);
    try {
      const headBranch = await fetchCopy({
        folder,
        access,
        settings,
        signals: [signal, growth.signal],
        scope: this.scope(folder, access),
        isBeingRead: () => this.readers.has(key),
      });
      await growth.measure(); // the last second counts, too
      if (await this.isFullWithoutUnused()) growth.end('disk-low');
      if (growth.why !== undefined) throw new SetupError(growth.message(access.address.url));
      await markUsed(folder, this.deps.nowMs());
      return headBranch;
    } catch (error) {
      await this.removeRest(key, growth.why !== undefined);
      throw growth.why === undefined ? error : new SetupError(growth.message(access.address.url));
    } finally {
      this.growing.delete(growth);
      growth.close();
      await this.tidy(folder, access, signal);
    }
  }

  private growth(folder: string, bytesMax: number | undefined): Growth {
    const onMeasured = (): void => void this.relieve().catch(() => undefined); // the engine's own check reports it
    const growth = new Growth({ folder, bytesMax, onMeasured });
    this.growing.add(growth);
    return growth;
  }

  /** Of a copy that was whole before, only what this fetch left of itself, unless all of it has to go. */
  private async removeRest(key: string, isAll: boolean): Promise<void> {
    const folder = join(this.root(), key);
    const wasWhole = await stat(join(folder, USED_MARK)).then(
      () => true,
      () => false,
    );
    await (this.readers.has(key) || (wasWhole && !isAll) ? sweepLeftOvers(folder) : discard(folder));
  }

  /** Of use, never needed; a reader keeps the packs that it has opened. For a while it takes the copy's size again. */
  private async tidy(folder: string, access: RepositoryAccess, signal: AbortSignal): Promise<void> {
    if ((await packCount(folder)) <= PACKS_MAX || (await this.deps.isDiskLow())) return;
    const growth = this.growth(folder, undefined);
    try {
      await withSession(this.scope(folder, access), undefined, [signal, growth.signal], (session) =>
        session.ask(folder, ['repack', '-a', '-d', '-q']),
      );
      if (growth.why !== undefined) await sweepLeftOvers(folder);
    } finally {
      this.growing.delete(growth);
      growth.close();
    }
  }

  private scope(folder: string, access: RepositoryAccess): SessionScope {
    return sessionScope(this.deps.config, this.root(), folder, access);
  }

  private copy(key: string, access: RepositoryAccess, headBranch: string | undefined): RepositoryCopy {
    const folder = join(this.root(), key);
    const read: RepositoryCopy['read'] = (work) => withSession(this.scope(folder, access), undefined, [], work);
    return {
      folder,
      read,
      commitOf: (branch) => read((session) => commitIn(session, folder, branch ?? headBranch, access.address.url)),
    };
  }
}

/** What was read with a credential is another copy than what anybody can read. */
function keyOf({ address, credential }: RepositoryAccess): string {
  return createHash('sha256')
    .update(JSON.stringify([address.url, credential?.identity ?? null]))
    .digest('hex');
}

/** Counts who is at something for as long as they are. */
async function counted<Result>(counts: Map<string, number>, key: string, work: () => Promise<Result>): Promise<Result> {
  counts.set(key, (counts.get(key) ?? 0) + 1);
  try {
    return await work();
  } finally {
    const left = (counts.get(key) ?? 1) - 1;
    if (left === 0) counts.delete(key);
    else counts.set(key, left);
  }
}

/** Waits with the others; the last one to go takes the fetch along. */
async function waitFor(shared: SharedFetch, signal: AbortSignal | undefined): Promise<string | undefined> {
  shared.waiting += 1;
  let leave = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(new DOMException('the run was ended', 'AbortError'));
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted === true) leave();
  });
  try {
    return await Promise.race([shared.done, left]);
  } finally {
    signal?.removeEventListener('abort', leave);
    shared.waiting -= 1;
    if (shared.waiting === 0) shared.abort.abort();
  }
}
