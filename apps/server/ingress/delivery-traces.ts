/** A span for each delivery that was decided, where traces are collected. contract §1.9 (Traces). */
import { Injectable } from '@nestjs/common';
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
