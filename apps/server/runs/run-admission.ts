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

export class QueueCounts {
  private counts = new Map<string, number>();
  private countAgainAtMs = Number.NEGATIVE_INFINITY;
  private readonly max: number;
  private readonly count: () => Promise<Map<string, number>>;
  private readonly monotonicMs: () => number;

  constructor(max: number, count: () => Promise<Map<string, number>>, monotonicMs: () => number) {
    this.max = max;
    this.count = count;
    this.monotonicMs = monotonicMs;
  }

  /** Whether the factory's queue is full. To be waited for only when it has to be counted again. */
  isFull(factoryUid: string): boolean | Promise<boolean> {
    if (this.monotonicMs() < this.countAgainAtMs) return this.wasFull(factoryUid);
    return this.refresh().then(() => this.wasFull(factoryUid));
  }

  private wasFull(factoryUid: string): boolean {
    return (this.counts.get(factoryUid) ?? 0) >= this.max;
  }

  added(factoryUid: string, runs: number): void {
    this.counts.set(factoryUid, (this.counts.get(factoryUid) ?? 0) + runs);
  }

  private async refresh(): Promise<void> {
    const startedAtMs = this.monotonicMs();
    this.countAgainAtMs = startedAtMs + COUNTED_FOR_MS; // others that ask meanwhile use the old counts
    this.counts = await this.count();
    const tookMs = this.monotonicMs() - startedAtMs;
    this.countAgainAtMs = startedAtMs + Math.max(COUNTED_FOR_MS, tookMs / COUNTING_SHARE);
  }
}

/** Seconds after which a client may ask again when there is no room for more. */
const RETRY_AFTER_SECONDS = 5;

/** Key of the runs that belong to no factory, among the waiting ones. */
const NO_FACTORY = '';

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
