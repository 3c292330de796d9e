/** Whether there is room for one more run: on the disk, in the queue of its factory, and at once. contract §5.8. */
import { Injectable, Optional } from '@nestjs/common';
import { Engine } from '../execution/engine/engine.ts';
import { RefusalError } from '../http/error-codes.ts';
import { DiskWatch } from '../process/disk-watch.ts';

/**
 * The counts are taken again after this time; in between what was accepted here is added, so that they err on the full
 * side.
 */
const COUNTED_FOR_MS = 2_000;
/** Counting a long queue takes long: it is done at most for this share of the time. */
const COUNTING_SHARE = 0.02;
/** What was counted ahead is good enough for so long from the first question on. */
const AHEAD_MS = 1_000;
/**
 * A queue with much room is not counted again for so long: what this process has added since is known. Runs that are
 * queued once more without anybody asking, as behind a follow-up, are noticed with the next count.
 */
const SURE_FOR_MS = 60_000;
/** The same where other processes add runs: each of them exceeds a bound by half of it at most until then. */
const SURE_AMONG_OTHERS_MS = 30_000;
/** Much room: so many runs fewer than half of what it takes. Short queues are counted in no time. */
const SURE_ROOM_MIN = 1_000;

/**
 * What was committed is added here within so long, some rounds of the event loop (decision 200): a count that has just
 * been taken may have it already.
 */
const ADDED_WITHIN_MS = 500;

export interface QueueBounds {
  /** Runs that may wait in each factory. */
  max: number;
  /** Whether other processes may add some: none do on SQLite. */
  isShared: boolean;
}

export class QueueCounts {
  /** Undefined before the first count. */
  private counts: Map<string, number> | undefined;
  /** Added while a count is taken, which may have been too early for it. */
  private addedMeanwhile = new Map<string, number>();
  /** Of the last count, what it may have in it twice. */
  private doubtful = new Map<string, number>();
  /** What is added until then may be in it, too. */
  private doubtfulUntilMs = Number.NEGATIVE_INFINITY;
  private counting: Promise<void> | undefined;
  private countAgainAtMs = Number.NEGATIVE_INFINITY;
  /** When the count was begun that the counts are of. */
  private countedAtMs = Number.NEGATIVE_INFINITY;
  /** The counts are from before this process could add anything, and others may have; until it counts itself. */
  private isAhead = false;
  private readonly bounds: QueueBounds;
  private readonly count: () => Promise<Map<string, number>>;
  private readonly monotonicMs: () => number;

  constructor(bounds: QueueBounds, count: () => Promise<Map<string, number>>, monotonicMs: () => number) {
    this.bounds = bounds;
    this.count = count;
    this.monotonicMs = monotonicMs;
  }

  /**
   * Whether the factory's queue is full. A count that is due is waited for by nobody whose queue has room by the one
   * before: only where there is none yet, or to find a full one empty.
   */
  isFull(factoryUid: string): boolean | Promise<boolean> {
    const nowMs = this.monotonicMs();
    if (this.isAhead) this.countAgainAtMs = Math.min(this.countAgainAtMs, nowMs + AHEAD_MS);
    const waiting = this.waitingOf(factoryUid);
    if (!this.isDue(waiting, nowMs)) return this.isFullBy(waiting, factoryUid);
    const counting = this.refresh();
    if (this.counts === undefined || waiting >= this.bounds.max)
      return counting.then(() => this.isFullBy(this.waitingOf(factoryUid), factoryUid));
    counting.catch(() => undefined); // the next one who asks counts again
    return false;
  }

  /** By the last count, and what was added behind it. */
  private waitingOf(factoryUid: string): number {
    return this.counts?.get(factoryUid) ?? 0;
  }

  private isDue(waiting: number, nowMs: number): boolean {
    if (this.counts === undefined) return true;
    const { max, isShared } = this.bounds;
    // A queue that was full may have been emptied long since.
    if (this.isAhead && waiting >= max) return true;
    const isSure = !this.isAhead && waiting + SURE_ROOM_MIN <= max / 2;
    const sureUntilMs = this.countedAtMs + (isShared ? SURE_AMONG_OTHERS_MS : SURE_FOR_MS);
    return nowMs >= (isSure ? Math.max(this.countAgainAtMs, sureUntilMs) : this.countAgainAtMs);
  }

  /** One that is full only if what was added while it was counted is not in the count is counted again. */
  private isFullBy(waiting: number, factoryUid: string): boolean | Promise<boolean> {
    const { max } = this.bounds;
    if (waiting < max) return false;
    return waiting - (this.doubtful.get(factoryUid) ?? 0) >= max || this.countedAgain(factoryUid);
  }

  private async countedAgain(factoryUid: string): Promise<boolean> {
    await this.refresh();
    return this.waitingOf(factoryUid) >= this.bounds.max;
  }

  /** Counts beside another process that takes deliveries, so that the first ones here wait for nothing. */
  async prepare(): Promise<void> {
    await this.refresh();
    [this.isAhead, this.countAgainAtMs] = [true, Number.POSITIVE_INFINITY];
  }

  added(factoryUid: string, runs: number): void {
    if (this.counts !== undefined) add(this.counts, factoryUid, runs);
    if (this.counting !== undefined) add(this.addedMeanwhile, factoryUid, runs);
    if (this.monotonicMs() < this.doubtfulUntilMs) add(this.doubtful, factoryUid, runs);
  }

  /** One count at a time, which all who ask meanwhile wait for. */
  private refresh(): Promise<void> {
    this.counting ??= this.recount().finally(() => (this.counting = undefined));
    return this.counting;
  }

  private async recount(): Promise<void> {
    const startedAtMs = this.monotonicMs();
    this.countAgainAtMs = startedAtMs + COUNTED_FOR_MS; // others that ask meanwhile use the old counts
    this.addedMeanwhile = new Map();
    const counts = await this.count();
    [this.isAhead, this.countedAtMs] = [false, startedAtMs];
    this.doubtful = this.addedMeanwhile;
    this.addedMeanwhile = new Map();
    for (const [factoryUid, runs] of this.doubtful) add(counts, factoryUid, runs);
    this.counts = counts;
    const endedAtMs = this.monotonicMs();
    this.doubtfulUntilMs = endedAtMs + ADDED_WITHIN_MS;
    this.countAgainAtMs = startedAtMs + Math.max(COUNTED_FOR_MS, (endedAtMs - startedAtMs) / COUNTING_SHARE);
  }
}

function add(counts: Map<string, number>, factoryUid: string, runs: number): void {
  counts.set(factoryUid, (counts.get(factoryUid) ?? 0) + runs);
}

/** Seconds after which a client may ask again when there is no room for more. */
const RETRY_AFTER_SECONDS = 5;

/** Key of the runs that belong to no factory, among the waiting ones. */
export const NO_FACTORY = '';

/** Where other processes do the work, nobody here knows of more than one free place. */
const PLACES_ELSEWHERE = 1;

@Injectable()
export class RunAdmission {
  constructor(
    private readonly waitingRuns: QueueCounts,
    private readonly disk: DiskWatch,
    @Optional() private readonly engine?: Engine,
  ) {}

  /** contract §5: the bound of the queue holds for everything that creates runs. Throws 503. */
  async refuseWithoutRoom(factoryUid: string | undefined): Promise<void> {
    this.refuseWithoutDisk();
    if (await this.waitingRuns.isFull(factoryUid ?? NO_FACTORY)) {
      throw new RefusalError('resource_unavailable', 'too many runs wait already', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  }

  /** Throws 503 while the disk is nearly full. */
  refuseWithoutDisk(): void {
    if (this.disk.isLow())
      throw new RefusalError('resource_unavailable', 'the disk of the service is nearly full', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
  }

  /** One more waits. */
  added(factoryUid: string | undefined): void {
    this.waitingRuns.added(factoryUid ?? NO_FACTORY, 1);
  }

  /** Runs that this server could start at once. */
  freeSlots(): number {
    return this.engine?.freeSlots() ?? PLACES_ELSEWHERE;
  }
}
