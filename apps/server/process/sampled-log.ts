/** Log lines of what may happen thousands of times a second: so many are written, the others are counted. */
import { Injectable } from '@nestjs/common';
import { Clock } from './injection-tokens.ts';
import { Log, type LogMembers } from './log.ts';

/** Enough to follow a quiet installation line by line; 300 bytes each, it is a gigabyte in four days at the most. */
const LINES_PER_SECOND_MAX = 10;
const SECOND_MS = 1_000;

@Injectable()
export class SampledLog {
  private startedAtMs = Number.NEGATIVE_INFINITY;
  private written = 0;
  private omitted = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {}

  /** Writes a line, or counts it where enough were written in this second; `members` is asked only where it is. */
  info(message: string, members: () => LogMembers): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.startedAtMs >= SECOND_MS) [this.startedAtMs, this.written] = [nowMs, 0];
    if (this.written < LINES_PER_SECOND_MAX) {
      this.written += 1;
      this.log.info(message, members());
    } else {
      this.omitted += 1;
      this.timer ??= setTimeout(() => this.reportOmitted(), SECOND_MS).unref();
    }
  }

  private reportOmitted(): void {
    this.log.info('log lines omitted', { count: this.omitted });
    [this.omitted, this.timer] = [0, undefined];
  }
}
