/** What figures and traces tell of one pass: from what asks for it to what serves. contract §1.7, §1.9. */
import type { PassEnding } from '#reconcile';
import { NO_TRACES, type TraceSpan } from '../process/traces.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import type { PassContext } from './pass-context.ts';

/** Parts of a pass that take time. */
export type PassStage = 'fetch' | 'parse' | 'plan' | 'apply' | 'serve';

export class PassFigures {
  private readonly context: PassContext;
  private readonly askedAtMs: number;
  private readonly span: TraceSpan;

  /** `askedAtMs`: since when somebody asks for the pass, on the monotonic clock. */
  constructor(context: PassContext, factoryUid: string, askedAtMs: number) {
    const { traces = NO_TRACES } = context;
    this.context = context;
    this.askedAtMs = askedAtMs;
    this.span = traces.isOn
      ? traces.begin(context.newId(), { name: 'sync.pass', attributes: { factory_uid: factoryUid } })
      : traces.begin(undefined, { name: '' });
  }

  /** One part of the pass. */
  during<T>(stage: PassStage, work: () => Promise<T>): Promise<T> {
    return this.span.during(`sync.${stage}`, work);
  }

  /** What it brought is served here. */
  served(): void {
    const seconds = (performance.now() - this.askedAtMs) / 1_000;
    this.context.metrics.observe('millwright_sync_propagation_seconds', seconds, {}, this.span.traceId);
  }

  ended(factory: Factory, ending: PassEnding, seconds: number): void {
    const { kind, reason, revision, changes } = ending;
    const { traceId } = this.span;
    this.context.metrics.observe('millwright_sync_pass_duration_seconds', seconds, { ending: kind }, traceId);
    this.context.logEnd(factory, ending, { seconds, traceId });
    const attributes = { factory: factory.slug, ending: kind, reason, revision, changes: changes.length };
    this.span.end(attributes, kind === 'failed');
  }

  /** Nothing was recorded: another replica has the factory, or it is gone. */
  over(): void {
    this.span.end({ ending: 'none' });
  }

  leaseLost(): void {
    this.context.metrics.count('millwright_leases_lost_total', { kind: 'sync' });
  }
}
