/** The event loop of this process: how late it is, and long work that lets others in. */
import { setImmediate as nextTurn, setTimeout as rest } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Metrics } from './metrics.ts';

/** Longest work at a stretch, in milliseconds, but for the one step that is under way. */
const SLICE_MS = 15;

/** Long work in short stretches, so that deliveries wait no longer for it than a moment. */
export class EventLoopYielder {
  private readonly nowMs: () => number;
  private readonly sliceMs: number;
  private readonly restMs: number;
  private beganMs: number;

  /** `restMs`: how long others have the event loop for themselves between two slices; 0: for one turn of it. */
  constructor(nowMs: () => number = () => performance.now(), sliceMs = SLICE_MS, restMs = 0) {
    this.nowMs = nowMs;
    this.sliceMs = sliceMs;
    this.restMs = restMs;
    this.beganMs = nowMs();
  }

  isOver(): boolean {
    return this.nowMs() - this.beganMs >= this.sliceMs;
  }

  /** Lets other work in, and begins the next slice. */
  async yield(): Promise<void> {
    await (this.restMs === 0 ? nextTurn() : rest(this.restMs));
    this.beganMs = this.nowMs();
  }
}

const SAMPLE_MS = 100;

/** How late timers run: what everything else in this process waits for, too. */
@Injectable()
export class EventLoopDelay {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly metrics: Metrics) {}

  start(): void {
    let askedAtMs = performance.now();
    const sample = (): void => {
      const lateMs = Math.max(0, performance.now() - askedAtMs - SAMPLE_MS);
      this.metrics.observe('millwright_event_loop_delay_seconds', lateMs / 1_000);
      askedAtMs = performance.now();
      this.timer = setTimeout(sample, SAMPLE_MS).unref();
    };
    this.timer = setTimeout(sample, SAMPLE_MS).unref();
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
