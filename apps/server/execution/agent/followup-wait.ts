/**
 * What an interrupted agent waits for: to be told how to go on, without a place, for as long as a question would wait.
 * contract §3.13 (Interrupt).
 */
import type { Task } from '../../store/runs/run-tasks.ts';
import type { ExecutionSlot } from '../engine/execution-slots.ts';

/** Milliseconds after which a store that told nothing is asked again. */
const LOOK_AGAIN_MS = 5_000;

export interface FollowupWaitDeps {
  /** The run is BLOCKED from now on; false: it is not ours, or is to be cancelled. */
  block(): Promise<boolean>;
  /** Nobody is waited for any more, and the run ends: it is INPROGRESS until then. */
  unblock(): Promise<void>;
  /** What came, for an agent that goes on with it. */
  take(): Promise<Task | undefined>;
  idleMinutes: number;
  slot: Pick<ExecutionSlot, 'park' | 'resume'>;
}

export class FollowupWait {
  private readonly deps: FollowupWaitDeps;
  private wake: (() => void) | undefined;
  private hasNews = false;

  constructor(deps: FollowupWaitDeps) {
    this.deps = deps;
  }

  /** Somebody may have said something. */
  poll(): void {
    this.hasNews = true;
    this.wake?.();
  }

  /** What the agent is told next; undefined: nobody said anything in time, or `over` was aborted. */
  async next(over: AbortSignal): Promise<Task | undefined> {
    const { block, unblock, take, idleMinutes, slot } = this.deps;
    const untilMs = performance.now() + idleMinutes * 60_000;
    if (idleMinutes === 0 || over.aborted || !(await block())) return undefined;
    slot.park();
    for (;;) {
      this.hasNews = false;
      const task = await take();
      if (task !== undefined) {
        await slot.resume(over);
        return task;
      }
      const leftMs = untilMs - performance.now();
      if (over.aborted) return undefined;
      if (leftMs <= 0) {
        await unblock();
        return undefined;
      }
      await this.news(over, Math.min(leftMs, LOOK_AGAIN_MS));
    }
  }

  private news(over: AbortSignal, ms: number): Promise<void> {
    if (this.hasNews) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        over.removeEventListener('abort', done);
        this.wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.wake = done;
      over.addEventListener('abort', done, { once: true });
    });
  }
}
