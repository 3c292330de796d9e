/** What senders are answered, counted by status: a figure, and now and then a line about what was refused. */
import { Injectable } from '@nestjs/common';
import { Log } from '../process/log.ts';
import { Metrics } from '../process/metrics.ts';

/** A flood of refusals is a line each time, not one for each request. */
const REPORT_MS = 10_000;
const ACCEPTED = 202;
/** Beyond every status. */
const STATUSES = 600;

@Injectable()
export class IngressAnswers {
  private readonly counts: number[] = Array.from({ length: STATUSES }, () => 0);
  private reported: readonly number[] = [...this.counts];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: Log,
    metrics: Metrics,
  ) {
    const help = 'Requests of senders by the status of their answer; 0: nobody was left to answer.';
    metrics.counter('millwright_ingress_requests_total', help, 'status', () => this.byStatus());
  }

  /** `status` 0: the sender has gone. */
  count(status: number): void {
    this.counts[status] = (this.counts[status] ?? 0) + 1;
    if (status !== ACCEPTED) this.timer ??= setTimeout(() => this.report(), REPORT_MS).unref();
  }

  private byStatus(): Map<string, number> {
    return new Map(this.counts.flatMap((count, status) => (count === 0 ? [] : [[String(status), count] as const])));
  }

  private report(): void {
    const { counts, reported } = this;
    const refused = counts.flatMap((count, status) => {
      const since = count - (reported[status] ?? 0);
      return since === 0 || status === ACCEPTED ? [] : [[`status_${status}`, since] as const];
    });
    this.log.info('deliveries refused', { seconds: REPORT_MS / 1_000, ...Object.fromEntries(refused) });
    [this.reported, this.timer] = [[...counts], undefined];
  }
}
