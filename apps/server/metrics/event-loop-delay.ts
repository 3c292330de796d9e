/** How late timers run: what everything else in this process waits for, too. */
import { Injectable } from '@nestjs/common';
import { Metrics } from '../process/metrics.ts';

const SAMPLE_MS = 100;

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
