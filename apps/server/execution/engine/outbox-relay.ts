/** Tells the queue of runs that wait: at once of new ones, and again of those that nothing may stand for any more. The tables are its memory. reference: Engine. */
import type { Log } from '../../process/log.ts';
import type { Outbox, WaitingRun } from '../../store/runs/outbox.ts';
import type { RunQueue, Token } from './run-queue.ts';

/** What is untold because the queue was away is told this late at most. */
const LOOK_MS = 2_000;
/** Runs that are told with one command. */
const TOLD_AT_ONCE = 100;
/** What waits longer than this although it was told is told again: its token may have been lost, with its queue or with whoever had taken it. */
const AGAIN_MS = 15_000;

export interface OutboxRelayParts {
  outbox: Pick<Outbox, 'unpublished' | 'markPublished' | 'leftBehind' | 'isAnyWaiting'>;
  queue: Pick<RunQueue, 'add' | 'waiting' | 'close'>;
  log: Log;
  nowMs(): number;
}

export class OutboxRelay {
  private readonly parts: OutboxRelayParts;
  private timer: NodeJS.Timeout | undefined;
  private stopping: Promise<void> | undefined;
  private telling: Promise<void> | undefined;
  private again = false;
  private isStopped = false;
  private isQueueAway = false;
  private toldAgainAtMs = 0;

  constructor(parts: OutboxRelayParts) {
    this.parts = parts;
  }

  /** Begins to look for what is untold. Called once, in every process that makes runs or works on them. */
  start(): void {
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.look();
  }

  /** Something may wait since a moment ago. While the queue is away, the next look tries instead. */
  wake(): void {
    if (!this.isQueueAway) this.tell();
  }

  /** What has not been told is told, now and then also what has. */
  private look(): void {
    this.tell();
    const { nowMs } = this.parts;
    if (nowMs() - this.toldAgainAtMs < AGAIN_MS) return;
    this.toldAgainAtMs = nowMs();
    void this.attempt(() => this.tellAgain());
  }

  /** A run is over: it may wait again, or somebody may begin that waited for a bound or a group. Where tokens are left they say so themselves. */
  ended({ runId, epoch }: WaitingRun): void {
    if (this.isQueueAway || this.isStopped) return;
    this.tell();
    void this.attempt(async () => {
      const { queue, outbox } = this.parts;
      if ((await outbox.isAnyWaiting()) && (await queue.waiting()) === 0)
        await queue.add([{ id: `${runId}-${epoch}-over`, runId, epoch }]);
    });
  }

  /** The queue cannot be reached: runs begin later. */
  isAway(): boolean {
    return this.isQueueAway;
  }

  /** Tells what is still to be told, if anybody hears it, and leaves the queue. Never throws. */
  stop(): Promise<void> {
    return (this.stopping ??= this.end());
  }

  private async end(): Promise<void> {
    clearInterval(this.timer);
    if (!this.isQueueAway) this.tell();
    await this.telling;
    this.isStopped = true;
    await this.parts.queue.close();
  }

  private tell(): void {
    if (this.isStopped) return;
    this.again = true;
    this.telling ??= this.attempt(() => this.tellAll()).finally(() => {
      this.telling = undefined;
    });
  }

  private async tellAll(): Promise<void> {
    const { outbox, queue } = this.parts;
    while (this.again && !this.isStopped) {
      this.again = false;
      const runs = await outbox.unpublished(TOLD_AT_ONCE);
      if (runs.length === 0 && this.isQueueAway) await queue.waiting(); // is it back?
      if (runs.length === 0) return;
      // The queue first: who dies in between tells twice, and of two tokens with one ID there is one.
      await queue.add(runs.map(toToken));
      await outbox.markPublished(runs);
      this.again = true;
    }
  }

  /** No more than `TOLD_AT_ONCE` tokens come to lie there like this, whatever waits: each says no more than that something does. */
  private async tellAgain(): Promise<void> {
    const { outbox, queue, nowMs } = this.parts;
    if ((await queue.waiting()) >= TOLD_AT_ONCE) return;
    const runs = await outbox.leftBehind(AGAIN_MS, TOLD_AT_ONCE);
    const time = Math.floor(nowMs() / AGAIN_MS); // others tell the same at the same time
    if (runs.length > 0)
      await queue.add(runs.map((run) => ({ ...toToken(run), id: `${run.runId}-${run.epoch}-${time}` })));
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      if (this.isQueueAway) this.parts.log.info('the queue is told of runs again');
      this.isQueueAway = false;
    } catch (error) {
      if (!this.isQueueAway)
        this.parts.log.fault(
          'the queue could not be told of runs: they wait, and processes that have places find them by themselves',
          error,
        );
      this.isQueueAway = true;
    }
  }
}

function toToken({ runId, epoch }: WaitingRun): Token {
  return { id: `${runId}-${epoch}`, runId, epoch };
}
