/**
 * Publishes runs that wait to the queue: new ones at once, and again those whose token may be lost. The tables are its
 * memory. explanation: Engine.
 */
import type { Log } from '../../process/log.ts';
import type { Outbox, WaitingRun } from '../../store/runs/outbox.ts';
import type { RunQueue, Token } from './run-queue.ts';

/** What was not published because the queue was away is published this late at most. */
const POLL_MS = 2_000;
/** Runs that are published with one command. */
const BATCH_MAX = 100;
/**
 * What waits longer than this although it was published is published again: its token may have been lost, with its
 * queue or with whoever had it.
 */
const AGAIN_MS = 15_000;

export interface OutboxRelayDeps {
  outbox: Pick<Outbox, 'unpublished' | 'markPublished' | 'leftBehind' | 'isAnyWaiting'>;
  queue: Pick<RunQueue, 'add' | 'waiting' | 'close'>;
  log: Log;
  nowMs(): number;
}

export class OutboxRelay {
  private readonly deps: OutboxRelayDeps;
  private timer: NodeJS.Timeout | undefined;
  private stopping: Promise<void> | undefined;
  private publishing: Promise<void> | undefined;
  private again = false;
  private isStopped = false;
  private isQueueAway = false;
  private republishedAtMs = 0;

  constructor(deps: OutboxRelayDeps) {
    this.deps = deps;
  }

  /** Begins to poll for what is not published. Called once, in every process that makes runs or works on them. */
  start(): void {
    this.timer = setInterval(() => this.poll(), POLL_MS);
    this.poll();
  }

  /** Something may wait since a moment ago. While the queue is away, the next poll tries instead. */
  wake(): void {
    if (!this.isQueueAway) this.publish();
  }

  /** Publishes what has not been published, now and then also what has. */
  private poll(): void {
    this.publish();
    const { nowMs } = this.deps;
    if (nowMs() - this.republishedAtMs < AGAIN_MS) return;
    this.republishedAtMs = nowMs();
    void this.attempt(() => this.republish());
  }

  /**
   * A run is over: it may wait again, or somebody may begin that waited for a bound or a group. Where tokens are left
   * they say so themselves.
   */
  ended({ runId, epoch }: WaitingRun): void {
    if (this.isQueueAway || this.isStopped) return;
    this.publish();
    void this.attempt(async () => {
      const { queue, outbox } = this.deps;
      if ((await outbox.isAnyWaiting()) && (await queue.waiting()) === 0)
        await queue.add([{ id: `${runId}-${epoch}-over`, runId, epoch }]);
    });
  }

  /** The queue cannot be reached: runs begin later. */
  isAway(): boolean {
    return this.isQueueAway;
  }

  /** Publishes what is still to be published, if the queue can be reached, and leaves it. Never throws. */
  stop(): Promise<void> {
    return (this.stopping ??= this.end());
  }

  private async end(): Promise<void> {
    clearInterval(this.timer);
    if (!this.isQueueAway) this.publish();
    await this.publishing;
    this.isStopped = true;
    await this.deps.queue.close();
  }

  private publish(): void {
    if (this.isStopped) return;
    this.again = true;
    this.publishing ??= this.attempt(() => this.publishAll()).finally(() => {
      this.publishing = undefined;
    });
  }

  private async publishAll(): Promise<void> {
    const { outbox, queue } = this.deps;
    while (this.again && !this.isStopped) {
      this.again = false;
      const runs = await outbox.unpublished(BATCH_MAX);
      if (runs.length === 0 && this.isQueueAway) await queue.waiting(); // is it back?
      if (runs.length === 0) return;
      // The queue first: who dies in between publishes twice, and of two tokens with one ID there is one.
      await queue.add(runs.map(toToken));
      await outbox.markPublished(runs);
      this.again = true;
    }
  }

  /**
   * No more than `BATCH_MAX` tokens come to lie there like this, whatever waits: each says no more than that something
   * does.
   */
  private async republish(): Promise<void> {
    const { outbox, queue, nowMs } = this.deps;
    if ((await queue.waiting()) >= BATCH_MAX) return;
    const runs = await outbox.leftBehind(AGAIN_MS, BATCH_MAX);
    const time = Math.floor(nowMs() / AGAIN_MS); // others publish the same at the same time
    if (runs.length > 0)
      await queue.add(runs.map((run) => ({ ...toToken(run), id: `${run.runId}-${run.epoch}-${time}` })));
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      if (this.isQueueAway) this.deps.log.info('run queue reconnected');
      this.isQueueAway = false;
    } catch (error) {
      if (!this.isQueueAway)
        this.deps.log.fault(
          'run queue publish failed: runs wait, and processes that have places find them by themselves',
          error,
        );
      this.isQueueAway = true;
    }
  }
}

function toToken({ runId, epoch }: WaitingRun): Token {
  return { id: `${runId}-${epoch}`, runId, epoch };
}
