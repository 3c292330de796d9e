/**
 * Who tells a process that runs wait: its own polls of the tables, every second and when it knows of something (the
 * engine `embedded`), or a queue. What waits, and who gets it, the tables alone decide. explanation: Engine.
 */
import type { Log } from '../../process/log.ts';

/** Where a process works on runs: one run in each. */
export interface WorkerSlots {
  /** All there are; 0 where this process works on none. */
  readonly count: number;
  /** Those where nothing is worked on, and nothing is being claimed for. */
  free(): number;
  /**
   * Claims up to `count` waiting runs, in the tables' order and bounds, and works on them; answers for each when it is
   * over. Throws StoreError.
   */
  take(count: number): Promise<Promise<void>[]>;
}

/** One for each engine. */
export interface Dispatch {
  /** Begins to poll for what waits. Called once. */
  start(slots: WorkerSlots): void;
  /** Something may wait since a moment ago. */
  wake(): void;
  /** A run of this process is over: its slot is free, and others may begin that waited for a bound or a group. */
  ended(run: { runId: string; epoch: number }): void;
  /** So many runs of this process wait for people now, and have no slot meanwhile. */
  parked(count: number): void;
  /** Takes nothing more; resolves, without ever throwing, when nothing is being claimed. */
  stop(): Promise<void>;
  /** After `stop`, when the last run of this process is over. Never throws. */
  close(): Promise<void>;
}

/** Runs made by another process are found this late at most. */
const POLL_MS = 1_000;

export class TableDispatch implements Dispatch {
  private readonly log: Log;
  private slots: WorkerSlots | undefined;
  private timer: NodeJS.Timeout | undefined;
  private claiming: Promise<void> | undefined;
  private again = false;

  constructor(log: Log) {
    this.log = log;
  }

  start(slots: WorkerSlots): void {
    if (slots.count === 0) return;
    this.slots = slots;
    this.timer = setInterval(() => this.wake(), POLL_MS);
    this.wake();
  }

  wake(): void {
    const { slots } = this;
    if (slots === undefined) return;
    this.again = true;
    this.claiming ??= this.claimFree(slots).finally(() => {
      this.claiming = undefined;
    });
  }

  ended(): void {
    this.wake();
  }

  parked(): void {
    this.wake();
  }

  async stop(): Promise<void> {
    this.slots = undefined;
    clearInterval(this.timer);
    await this.claiming;
  }

  async close(): Promise<void> {}

  private async claimFree(slots: WorkerSlots): Promise<void> {
    while (this.again && this.slots !== undefined) {
      this.again = false;
      const free = slots.free();
      if (free <= 0) return;
      try {
        void Promise.all(await slots.take(free));
      } catch (error) {
        this.log.fault('run claim failed', error); // the next poll tries again
      }
    }
  }
}
