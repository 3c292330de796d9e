/** What senders are answered and how long that took: figures, and now and then a line about what was refused. */
import { Injectable } from '@nestjs/common';
import { HotHistogram } from '../process/hot-histogram.ts';
import { Log } from '../process/log.ts';
import { INGRESS_OUTCOMES, METRICS } from '../process/metric-table.ts';
import { Metrics, type HistogramReading, type MetricReading } from '../process/metrics.ts';

/** A flood of refusals is a line each time, not one for each request. */
const REPORT_MS = 10_000;
const ACCEPTED = 202;
const BUCKETS = METRICS.millwright_ingress_request_duration_seconds.buckets ?? [];

/** What is counted of an answer. */
interface CountedAnswer {
  readonly status: number;
  readonly outcome: string;
  /** Undefined: it is not traced. */
  readonly traceId?: string;
}

/** The sender has gone: nobody to answer. */
export const SENDER_GONE: CountedAnswer = { status: 0, outcome: 'sender_gone' };

/** All requests with one outcome. */
interface OutcomeCount {
  status: number;
  durations: HotHistogram;
  /** How many a line of the log has told of. */
  reported: number;
}

@Injectable()
export class IngressAnswers {
  /** A delivery costs a look into this map and a few additions. */
  private readonly byOutcome = new Map<string, OutcomeCount>(
    INGRESS_OUTCOMES.map((outcome) => [outcome, newCount()] as const),
  );
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: Log,
    metrics: Metrics,
  ) {
    metrics.read('millwright_ingress_requests_total', () => this.requests());
    metrics.read('millwright_ingress_request_duration_seconds', () => this.durations());
  }

  /** `startedAtMs`: monotonic time at which the request began. */
  count({ status, outcome, traceId }: CountedAnswer, startedAtMs: number): void {
    let count = this.byOutcome.get(outcome);
    if (count === undefined) this.byOutcome.set(outcome, (count = newCount()));
    count.status = status;
    count.durations.observe((performance.now() - startedAtMs) / 1_000, traceId);
    if (status !== ACCEPTED) this.timer ??= setTimeout(() => this.report(), REPORT_MS).unref();
  }

  private requests(): MetricReading[] {
    return [...this.byOutcome].map(([outcome, { durations }]) => ({ labels: { outcome }, value: durations.count }));
  }

  private durations(): HistogramReading[] {
    return [...this.byOutcome].map(([outcome, { durations }]) => durations.read({ outcome }));
  }

  private report(): void {
    const refused = new Map<number, number>();
    for (const count of this.byOutcome.values()) {
      const since = count.durations.count - count.reported;
      count.reported = count.durations.count;
      if (since > 0 && count.status !== ACCEPTED) refused.set(count.status, (refused.get(count.status) ?? 0) + since);
    }
    const members = [...refused].sort(([a], [b]) => a - b).map(([status, since]) => [`status_${status}`, since]);
    this.log.info('deliveries refused', { seconds: REPORT_MS / 1_000, ...Object.fromEntries(members) });
    this.timer = undefined;
  }
}

function newCount(): OutcomeCount {
  return { status: 0, durations: new HotHistogram(BUCKETS), reported: 0 };
}
