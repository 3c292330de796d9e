/**
 * The engine `bullmq`: a queue tells processes on other machines that something waits. A lost queue delays runs and
 * loses none. explanation: Engine.
 */
import type { Log } from '../../process/log.ts';
import type { Outbox } from '../../store/runs/outbox.ts';
import type { Placement } from '../../store/runs/run-placement.ts';
import type { Dispatch, WorkerSlots } from './dispatch.ts';
import type { OutboxRelay } from './outbox-relay.ts';
import type { RunQueue, ReceivedToken } from './run-queue.ts';

/** What the queue does not tell of, because it is away or because others had the token, is found this late at most. */
const POLL_MS = 2_000;
/**
 * Requeue delays for a token this worker could not use, milliseconds, by how often it came; then the others' own polls
 * find what waits.
 */
const REQUEUE_DELAYS_MS = [100, 400, 1_600];
/** A token that came when no slot was free, or the tables could not be read. */
const BUSY_MS = 1_000;

export interface QueueDispatchDeps {
  queue: RunQueue;
  relay: OutboxRelay;
  outbox: Outbox;
  placement: Placement;
  log: Log;
}

export class QueueDispatch implements Dispatch {
  private readonly deps: QueueDispatchDeps;
  private slots: WorkerSlots | undefined;
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> | undefined;
  private again = false;
  private claims = 0;
  private claimed: (() => void) | undefined;
  /** Runs that were found without a token. */
  private found = 0;
  /** Runs that have no slot for a while, and their tokens all the same. */
  private waiting = 0;

  constructor(deps: QueueDispatchDeps) {
    this.deps = deps;
  }

  start(slots: WorkerSlots): void {
    if (slots.count === 0) return;
    this.slots = slots;
    this.timer = setInterval(() => this.poll(), POLL_MS);
    this.deps.queue.work(
      slots.count,
      (token) => this.serve(token),
      () => this.poll(),
    );
    this.poll();
  }

  wake(): void {
    this.deps.relay.wake();
  }

  ended(run: { runId: string; epoch: number }): void {
    this.deps.relay.ended(run);
  }

  parked(count: number): void {
    if (count === this.waiting) return;
    const isFreed = count > this.waiting;
    this.waiting = count;
    this.count(0);
    if (isFreed) this.poll();
  }

  async stop(): Promise<void> {
    this.slots = undefined;
    clearInterval(this.timer);
    this.deps.queue.stop();
    await this.polling;
    if (this.claims > 0) await new Promise<void>((resolve) => (this.claimed = resolve));
  }

  async close(): Promise<void> {
    await this.deps.relay.stop();
  }

  /** Works on one run for a token. */
  private async serve({ times }: ReceivedToken): Promise<number | undefined> {
    const { slots } = this;
    if (slots === undefined || slots.free() <= 0) return BUSY_MS;
    this.claims += 1;
    const runs = await this.claim(slots, 1).finally(() => {
      this.claims -= 1;
      if (this.claims === 0) this.claimed?.();
    });
    if (runs === undefined) return BUSY_MS;
    await Promise.all(runs);
    return runs.length > 0 ? undefined : await this.requeueDelayMs(times);
  }

  /** Delay before the token is requeued, if another worker could claim a waiting run. */
  private async requeueDelayMs(times: number): Promise<number | undefined> {
    const delayMs = REQUEUE_DELAYS_MS[times - 1];
    const { outbox, placement } = this.deps;
    return delayMs !== undefined && (await outbox.isAnyForOthers(placement).catch(() => true)) ? delayMs : undefined;
  }

  /** Takes what waits without a token. */
  private poll(): void {
    if (this.slots === undefined) return;
    this.again = true;
    this.polling ??= this.claimFree().finally(() => {
      this.polling = undefined;
    });
  }

  private async claimFree(): Promise<void> {
    while (this.again && this.slots !== undefined) {
      this.again = false;
      const free = this.slots.free();
      if (free <= 0) return;
      for (const run of (await this.claim(this.slots, free)) ?? []) this.follow(run);
    }
  }

  /** Runs claimed by polling reduce the queue consumer's concurrency. */
  private follow(run: Promise<void>): void {
    this.count(1);
    void run.finally(() => {
      this.count(-1);
      this.poll();
    });
  }

  private count(change: number): void {
    this.found += change;
    if (this.slots !== undefined) this.deps.queue.setConcurrency(this.slots.count - this.found + this.waiting);
  }

  private async claim(slots: WorkerSlots, count: number): Promise<Promise<void>[] | undefined> {
    try {
      return await slots.take(count);
    } catch (error) {
      this.deps.log.fault('run claim failed', error); // the next poll tries again
      return undefined;
    }
  }
}
