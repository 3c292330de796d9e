/**
 * Trees of other refs of the repositories that factories follow, for plans: a few at a time, one reading for all who
 * ask for the same. contract §12.6 (Plan of a ref)
 */
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { TreeFile } from '#definitions';
import type { WantedRef } from '#reconcile';
import { FairSemaphore, type Acquirer } from '../filters/fair-semaphore.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { FactorySourceOpener } from '../sync/factory-sources.ts';
import type { RefMissing, Source, SourceFailure } from '../sync/sources/source.ts';

/** Readings at once: of the places that a host (6) and git (8) have, most stay with the syncs. */
const READINGS_AT_ONCE = 2;
/** Milliseconds of one reading, waiting for its places included: who asks has a request open. */
const READING_MS_MAX = 120_000;
/** Bytes of the trees that are kept: those of some hundred ordinary factories, or one of the largest. */
const STORED_BYTES_MAX = 64 * 1024 * 1024;
/** Trees that are read in one exchange with the host, where they are small; while that is unknown; and at least. */
const AHEAD = { max: 100, unknown: 20, min: 2 } as const;
/** Of an entry beside its contents: paths are short, and an empty tree is one, too. */
const ENTRY_BYTES = 1_024;

/** A tree and where it was found. */
export interface FoundTree {
  ok: true;
  /** Full name of the ref; undefined where a commit was asked for. */
  name?: string;
  commit: string;
  files: readonly TreeFile[];
}

/** What is being read, and for how many. */
interface Flight {
  reading: Promise<FoundTree | RefMissing | SourceFailure>;
  leaving: AbortController;
  askers: number;
}

@Injectable()
export class RefTrees {
  private readonly places = new FairSemaphore({
    atOnce: READINGS_AT_ONCE,
    waiting: 20,
    waitingOfKey: 3,
    retryAfterSeconds: 5,
    what: 'plans of refs',
  });
  private readonly flights = new Map<string, Flight>();
  /** The last reading of each factory: they have one folder. */
  private readonly turns = new Map<string, Promise<unknown>>();
  private readonly stored = new LRUCache<string, readonly TreeFile[]>({
    maxSize: STORED_BYTES_MAX,
    sizeCalculation: (files) => ENTRY_BYTES + files.reduce((sum, { content }) => sum + content.length + ENTRY_BYTES, 0),
  });

  constructor(private readonly sources: FactorySourceOpener) {}

  /**
   * Reads it, or joins who reads it already. The host is asked each time; only what a commit holds is kept. Throws 429
   * or 503 where too many ask, and the reason of the signal once nobody waits for the answer.
   */
  async read(
    factory: Factory,
    ref: WantedRef,
    asker: Required<Acquirer>,
  ): Promise<FoundTree | RefMissing | SourceFailure> {
    const key = keyOf(factory, ref.kind === 'commit' ? ref.commit : ref.text);
    const flight = this.flights.get(key) ?? this.depart(key, factory, ref, asker.keyId);
    flight.askers += 1;
    try {
      return await untilGone(flight.reading, asker.signal);
    } finally {
      flight.askers -= 1;
      if (flight.askers === 0) this.end(key, flight);
    }
  }

  /** The tree of a commit that was read lately. The host is not asked: the caller knows that it may be read. */
  atHand(factory: Factory, commit: string): FoundTree | undefined {
    const files = this.stored.get(keyOf(factory, commit));
    return files && { ok: true, commit, files };
  }

  /** Trees that can be read ahead and looked at before one pushes another out, going by those at hand. */
  get aheadMax(): number {
    const { size, calculatedSize } = this.stored;
    if (size === 0) return AHEAD.unknown;
    const fitting = Math.floor(STORED_BYTES_MAX / 2 / (calculatedSize / size));
    return Math.min(AHEAD.max, Math.max(AHEAD.min, fitting));
  }

  /**
   * Reads what is not at hand of these commits, in one exchange with the host. Where it does not give them out so,
   * nothing is at hand, and `read` says why. Throws as `read`.
   */
  async readAhead(factory: Factory, commits: readonly string[], { keyId, signal }: Required<Acquirer>): Promise<void> {
    const missing = [...new Set(commits)].filter((commit) => this.atHand(factory, commit) === undefined);
    if (missing.length === 0) return;
    await this.places.acquire({ keyId, signal }, () =>
      this.inTurn(factory.uid, () =>
        this.withSource(factory, signal, async (source, limited) => {
          const found = await source.atCommits?.(missing, limited);
          if (found?.ok !== true) return;
          for (const [commit, files] of found.trees) this.stored.set(keyOf(factory, commit), files);
        }),
      ),
    );
  }

  private depart(key: string, factory: Factory, ref: WantedRef, keyId: string): Flight {
    const leaving = new AbortController();
    const reading = this.places.acquire({ keyId, signal: leaving.signal }, () =>
      this.inTurn(factory.uid, () => this.readOnce(factory, ref, leaving.signal)),
    );
    reading.catch(() => undefined); // those who wait are told
    const flight = { reading, leaving, askers: 0 };
    this.flights.set(key, flight);
    return flight;
  }

  /** It is over, or nobody waits for it: who comes now begins anew. */
  private end(key: string, flight: Flight): void {
    if (this.flights.get(key) === flight) this.flights.delete(key);
    flight.leaving.abort();
  }

  private inTurn<Result>(uid: string, read: () => Promise<Result>): Promise<Result> {
    const turn = (this.turns.get(uid) ?? Promise.resolve()).then(read);
    const over = turn
      .catch(() => undefined)
      .then(() => {
        if (this.turns.get(uid) === over) this.turns.delete(uid);
      });
    this.turns.set(uid, over);
    return turn;
  }

  private readOnce(
    factory: Factory,
    ref: WantedRef,
    leaving: AbortSignal,
  ): Promise<FoundTree | RefMissing | SourceFailure> {
    return this.withSource(factory, leaving, async (source, signal) => {
      let known: readonly TreeFile[] | undefined;
      const isKnown = (commit: string): boolean => (known = this.stored.get(keyOf(factory, commit))) !== undefined;
      const reading = await source.atRef?.(ref, isKnown, signal);
      if (reading === undefined) throw new Error(`a source of the kind ${factory.source.kind} has no refs`);
      if (!reading.ok) return reading;
      const { name, commit, files = known ?? [] } = reading;
      this.stored.set(keyOf(factory, commit), files);
      return { ok: true, name, commit, files };
    });
  }

  /** One reading: begun only while somebody waits for it, bounded in time, closed whatever comes of it. */
  private async withSource<Result>(
    factory: Factory,
    leaving: AbortSignal,
    read: (source: Source, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    leaving.throwIfAborted();
    const source = this.sources.open(factory);
    try {
      return await read(source, AbortSignal.any([leaving, AbortSignal.timeout(READING_MS_MAX)]));
    } finally {
      await source.close();
    }
  }
}

/** Another source, another repository: nothing of the one is shown for the other. */
function keyOf({ uid, source }: Factory, what: string): string {
  return JSON.stringify([uid, source, what]);
}

/** What it settles with, or the reason of the signal as soon as that is aborted. */
function untilGone<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
