/**
 * What is reported of deliveries that were decided: a span for each where traces are collected, and figures of the
 * transactions. contract §1.7, §1.9 (Traces).
 */
import { Injectable } from '@nestjs/common';
import { HotHistogram } from '../process/hot-histogram.ts';
import { DELIVERY_OUTCOMES, METRICS } from '../process/metric-table.ts';
import { Metrics } from '../process/metrics.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { readTraceparent, spanIdOf, Traces } from '../process/traces.ts';
import { DeliveryAcceptor, type AcceptResult, type DeliveryTracing, type Incoming } from './delivery-acceptor.ts';

/** Nothing of these is in the log. */
const UNLOGGED: ReadonlySet<AcceptResult['kind']> = new Set(['stale', 'throttled', 'gone', 'full']);

@Injectable()
export class DeliveryTraces implements DeliveryTracing {
  constructor(
    private readonly traces: Traces,
    acceptor: DeliveryAcceptor,
  ) {
    if (traces.isOn) acceptor.tracing = this;
  }

  traceOf(entryId: string): string | undefined {
    return this.traces.traceOf(entryId);
  }

  record({ webhook, receivedAtMs, traceparent }: Incoming, entryId: string, { kind }: AcceptResult): void {
    if (UNLOGGED.has(kind)) return;
    const attributes = {
      entry_id: entryId,
      webhook_uid: webhook.uid,
      factory_uid: webhook.factory.uid,
      revision: webhook.factory.revision,
      outcome: kind,
    };
    const span = this.traces.begin(entryId, {
      name: 'delivery',
      isServer: true,
      spanId: spanIdOf(entryId),
      startMs: receivedAtMs,
      link: readTraceparent(traceparent),
      attributes,
    });
    span.end();
  }
}

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
