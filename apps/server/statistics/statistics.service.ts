/** Deliveries by outcome, runs by state and how soon they started, over time. contract §12.2 (Statistics). */
import { Injectable } from '@nestjs/common';
import type { DeliveryStatistics, RunStatistics } from '#contracts';
import { OUTCOMES, type OutcomeKind } from '#deliveries';
import { latencyFigures, RUN_STATES, timeBuckets, type LatencyFigures, type TimeBuckets } from '#runs';
import { visibleFactory } from '../http/access-guard.ts';
import { toTime, fromTime } from '../http/queries.ts';
import type { Access } from '../store/access/access.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { type DeliveryScope, type RunScope, StatisticsStore } from '../store/reports/statistics.ts';
import type { VisibleFactories } from '../store/runs/run-history.ts';
import { Clock } from '../process/injection-tokens.ts';
import { invalidMembers } from '../http/error-codes.ts';
import { ResponseCache } from './response-cache.ts';

/** A parsed query. */
export interface DeliveryStatisticsQuery extends SpanQuery {
  factory_uid?: string;
  webhook_uid?: string;
  buckets: number;
}

export interface RunStatisticsQuery extends DeliveryStatisticsQuery {
  automation_id?: string;
}

@Injectable()
export class StatisticsService {
  private readonly answers: ResponseCache<DeliveryStatistics | RunStatistics>;
  constructor(
    private readonly statistics: StatisticsStore,
    private readonly factories: FactoryStore,
    private readonly clock: Clock,
  ) {
    this.answers = new ResponseCache(() => clock.monotonicMs());
  }

  /**
   * Of a factory that the key may see, or 404; a webhook that is not among what is asked for has no deliveries there.
   */
  async deliveries(query: DeliveryStatisticsQuery, access: Access): Promise<DeliveryStatistics> {
    const buckets = this.bucketsOf(query);
    const scope: DeliveryScope = {
      factoryUids: await this.visible(query.factory_uid, access),
      webhookUid: query.webhook_uid,
    };
    return this.answers.of(JSON.stringify(['deliveries', scope, buckets]), { keyId: access.keyId }, () =>
      this.countDeliveries(scope, buckets),
    ) as Promise<DeliveryStatistics>;
  }

  /** The same for runs. */
  async runs(query: RunStatisticsQuery, access: Access): Promise<RunStatistics> {
    const buckets = this.bucketsOf(query);
    const scope: RunScope = {
      factoryUids: await this.visible(query.factory_uid, access),
      webhookUid: query.webhook_uid,
      automationUid: query.automation_id,
    };
    return this.answers.of(JSON.stringify(['runs', scope, buckets]), { keyId: access.keyId }, () =>
      this.countRuns(scope, buckets),
    ) as Promise<RunStatistics>;
  }

  private bucketsOf(query: DeliveryStatisticsQuery): TimeBuckets {
    const { sinceMs, untilMs } = spanOf(query, this.clock.nowMs());
    return timeBuckets(sinceMs, untilMs, query.buckets);
  }

  /** In one order, so that keys that see the same ask the same. */
  private async visible(factoryUid: string | undefined, access: Access): Promise<VisibleFactories> {
    if (factoryUid === undefined) return access.factories && [...new Set(access.factories)].sort();
    return [(await visibleFactory(this.factories, factoryUid, access)).uid];
  }

  private async countDeliveries(scope: DeliveryScope, buckets: TimeBuckets): Promise<DeliveryStatistics> {
    const { counts, truncated } = await this.statistics.deliveries(scope, buckets);
    const kinds = Object.keys(OUTCOMES) as OutcomeKind[];
    const tally = new Tally(
      buckets.count,
      kinds.map((kind) => OUTCOMES[kind]),
    );
    for (const { bucket, outcome, deliveries } of counts) tally.add(bucket, OUTCOMES[outcome], deliveries);
    return {
      ...edgesOf(buckets),
      buckets: beginsOf(buckets).map((from, at) => ({ from, outcomes: tally.of(at) })),
      totals: tally.total(),
      truncated,
    };
  }

  private async countRuns(scope: RunScope, buckets: TimeBuckets): Promise<RunStatistics> {
    const { counts, truncated } = await this.statistics.runs(scope, buckets);
    const tally = new Tally(buckets.count, RUN_STATES);
    const latencies = Array.from({ length: buckets.count }, (): Float64Array[] => []);
    for (const { bucket, state, runs, latencies: some } of counts) {
      tally.add(bucket, state, runs);
      latencies[bucket]?.push(some);
    }
    return {
      ...edgesOf(buckets),
      buckets: beginsOf(buckets).map((from, at) => ({
        from,
        states: tally.of(at),
        start_latency: toItem(latencyFigures(latencies[at] ?? [])),
      })),
      totals: tally.total(),
      start_latency: toItem(latencyFigures(latencies.flat())),
      truncated,
    };
  }
}

/**
 * How many there are of each word in each bucket, and in all. Words that have none are left out, the others come in one
 * order.
 */
class Tally {
  private readonly counts: Map<string, number>[];
  private readonly words: readonly string[];
  constructor(buckets: number, words: readonly string[]) {
    this.counts = Array.from({ length: buckets }, () => new Map<string, number>());
    this.words = words;
  }

  add(bucket: number, word: string, count: number): void {
    const counts = this.counts[bucket];
    counts?.set(word, (counts.get(word) ?? 0) + count);
  }

  of(bucket: number): Record<string, number> {
    return this.listed((word) => this.counts[bucket]?.get(word) ?? 0);
  }

  total(): Record<string, number> {
    return this.listed((word) => this.counts.reduce((sum, counts) => sum + (counts.get(word) ?? 0), 0));
  }

  private listed(countOf: (word: string) => number): Record<string, number> {
    return Object.fromEntries(
      this.words.map((word) => [word, countOf(word)] as const).filter(([, count]) => count > 0),
    );
  }
}

function edgesOf({
  fromMs,
  lengthMs,
  count,
}: TimeBuckets): Pick<DeliveryStatistics, 'since' | 'until' | 'bucket_seconds'> {
  return { since: toTime(fromMs), until: toTime(fromMs + count * lengthMs), bucket_seconds: lengthMs / 1_000 };
}

function beginsOf({ fromMs, lengthMs, count }: TimeBuckets): string[] {
  return Array.from({ length: count }, (_, at) => toTime(fromMs + at * lengthMs));
}

function toItem({ count, p50Ms, p90Ms, p99Ms }: LatencyFigures): RunStatistics['start_latency'] {
  return { count, p50_ms: p50Ms, p90_ms: p90Ms, p99_ms: p99Ms };
}

/** The span of a query, as it was sent. */
export interface SpanQuery {
  since?: string;
  until?: string;
}

const DAY_MS = 86_400_000;
/** As the operations say. */
const SPAN_DAYS_MAX = 31;
/** Years that four digits write, with room for the last bucket: 1970 to 9998. */
const LAST_MS = Date.UTC(9999, 0, 1);

/** [`sinceMs`, `untilMs`), not empty. Throws a 400 that names each wrong parameter. */
export function spanOf({ since, until }: SpanQuery, nowMs: number): { sinceMs: number; untilMs: number } {
  const untilMs = until === undefined ? nowMs : fromTime(until);
  const sinceMs = since === undefined ? Math.max(0, untilMs - DAY_MS) : fromTime(since);
  const outside = [
    ...(since !== undefined && !isWritable(sinceMs) ? ['since'] : []),
    ...(until !== undefined && !(isWritable(untilMs) && untilMs > 0) ? ['until'] : []),
  ];
  if (outside.length > 0)
    throw invalidMembers(
      outside.map((pointer) => ({ pointer, message: `${pointer} must be a time after 1970 and before 9999` })),
      'query parameters',
    );
  if (sinceMs >= untilMs)
    throw refused(
      until === undefined ? 'since must be before now, where until is not given' : 'since must be before until',
    );
  if (untilMs - sinceMs > SPAN_DAYS_MAX * DAY_MS)
    throw refused(
      `since must be at most ${SPAN_DAYS_MAX} days ` +
        `before ${until === undefined ? 'now, where until is not given' : 'until'}`,
    );
  return { sinceMs, untilMs };
}

/** Not for what is no time at all. */
function isWritable(ms: number): boolean {
  return ms >= 0 && ms <= LAST_MS;
}

function refused(message: string): Error {
  return invalidMembers([{ pointer: 'since', message }]);
}
