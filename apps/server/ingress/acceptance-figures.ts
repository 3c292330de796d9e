/** What the figures of a process tell of the transactions that accept deliveries. contract §1.7. */
import { Injectable } from '@nestjs/common';
import { HotHistogram } from '../process/hot-histogram.ts';
import { DELIVERY_OUTCOMES, METRICS } from '../process/metric-table.ts';
import { Metrics } from '../process/metrics.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';

const SIZES = METRICS.millwright_acceptance_batch_deliveries.buckets ?? [];
const DURATIONS = METRICS.millwright_acceptance_batch_duration_seconds.buckets ?? [];

@Injectable()
export class AcceptanceFigures {
  constructor(metrics: Metrics, deliveries: DeliveryStore) {
    const [sizes, durations] = [new HotHistogram(SIZES), new HotHistogram(DURATIONS)];
    const counts = new Map<string, number>(DELIVERY_OUTCOMES.map((outcome) => [outcome, 0]));
    deliveries.onBatch = (outcomes, tookMs) => {
      sizes.observe(outcomes.length);
      durations.observe(tookMs / 1_000);
      for (const { kind } of outcomes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    };
    metrics.read('millwright_acceptance_batch_deliveries', () => [sizes.read({})]);
    metrics.read('millwright_acceptance_batch_duration_seconds', () => [durations.read({})]);
    metrics.read('millwright_deliveries_total', () =>
      [...counts].map(([outcome, value]) => ({ labels: { outcome }, value })),
    );
  }
}
