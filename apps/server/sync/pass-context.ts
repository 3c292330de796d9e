/** What a pass works with, and what it answers its loop. contract §9. */
import type { PassEnding } from '#reconcile';
import type { Metrics } from '../process/metrics.ts';
import type { Traces } from '../process/traces.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import type { ReconcileInputDeps } from './reconcile-input.ts';

/** What else is known of a pass that has ended. */
export interface PassFacts {
  seconds: number;
  /** Undefined: it is not traced. */
  traceId: string | undefined;
}

export interface PassContext extends ReconcileInputDeps {
  owner: string;
  metrics: Metrics;
  /** Undefined: nothing is traced. */
  traces?: Traces;
  /** Makes what was committed the serving state of this process. */
  publish(): Promise<void>;
  nowMs(): number;
  newId(): string;
  /** Says how a pass ended. */
  logEnd(factory: Factory, ending: PassEnding, facts: PassFacts): void;
  /** A fault worth an operator's look; never holds file contents. */
  report(fault: unknown, factorySlug: string): void;
}

/** What the loop needs to know to go on. */
export interface PassResult {
  ending: PassEnding;
  generationHandled: number;
  /** Set when the pass should be tried again before the interval is over. */
  retryInMs?: number;
  /** Set when a sync window opens that something waits for. */
  opensInMs?: number;
}

/**
 * Whether the source of this pass is still the one that is stored, policy included; and what is done when it is not.
 */
export interface SourceCheck {
  isCurrent(factory: Factory): boolean;
  outdated(factory: Factory): void;
}
