/**
 * Bodies of senders without a key that have begun to come: what they hold together is bounded, and shown. contract
 * §5.11 (Bodies).
 */
import { AddressBodyBudget, type AddressBodyBudgetOptions, type UnfinishedBody } from '#deliveries';
import type { Metrics } from '../process/metrics.ts';

/** Seconds after which there is likely to be room. */
export const BODY_RETRY_AFTER_SECONDS = 5;

/** A body that can be told that there is no room for it. */
export interface RefusableBody extends UnfinishedBody {
  refuse(): void;
}

export class UnfinishedBodies {
  private readonly budget: AddressBodyBudget<RefusableBody>;
  private readonly metrics: Metrics;

  constructor(metrics: Metrics, options: AddressBodyBudgetOptions = {}) {
    this.budget = new AddressBodyBudget(options);
    this.metrics = metrics;
    metrics.read('millwright_http_unfinished_body_bytes', () => [{ value: this.budget.bytes }]);
  }

  /** Counts so many more bytes of a body, and refuses those that there is no room for any more. */
  charge(body: RefusableBody, bytes: number): void {
    for (const refused of this.budget.charge(body, bytes)) {
      this.metrics.count('millwright_http_bodies_refused_total');
      refused.refuse();
    }
  }

  /** Counts a body no more. */
  release(body: RefusableBody): void {
    this.budget.release(body);
  }
}
