/** What the figures of a process tell of the transactions that accept deliveries. contract §1.7. */
import { Injectable } from '@nestjs/common';
import { Metrics } from '../process/metrics.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';

@Injectable()
export class AcceptanceFigures {
  constructor(metrics: Metrics, deliveries: DeliveryStore) {
    deliveries.onBatch = (outcomes, tookMs) => {
      metrics.observe('millwright_acceptance_batch_deliveries', outcomes.length);
      metrics.observe('millwright_acceptance_batch_duration_seconds', tookMs / 1_000);
      const counts = new Map<string, number>();
      for (const { kind } of outcomes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      for (const [outcome, count] of counts) metrics.count('millwright_deliveries_total', { outcome }, count);
    };
  }
}
