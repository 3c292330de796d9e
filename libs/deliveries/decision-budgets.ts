/**
 * How much of the process's time the filters of one factory may take over a minute. contract §7.3 (looks).
 */
import { DECISION_READS_MAX } from '#filters';
import { RATE_WINDOW_MS } from './limits.ts';

/**
 * contract §7.3: looks a minute into deliveries whose filters cost much, of one factory: eight of the dearest
 * deliveries, 10 to 20 seconds of a core.
 */
export const FACTORY_READS_PER_MINUTE_MAX = 8 * DECISION_READS_MAX;

/** Buckets that refill evenly, one for each factory that has spent some of it. */
export class DecisionBudgets {
  private readonly fullAtMs = new Map<string, number>();
  private readonly perMinute: number;

  constructor(perMinute = FACTORY_READS_PER_MINUTE_MAX) {
    this.perMinute = perMinute;
  }

  /** Factories that are remembered. */
  get size(): number {
    return this.fullAtMs.size;
  }

  /** Whether a factory has spent all of it. A clock that went backwards by more than a minute spends nothing. */
  isSpent(factoryUid: string, nowMs: number): boolean {
    const aheadMs = (this.fullAtMs.get(factoryUid) ?? nowMs) - nowMs;
    return aheadMs >= RATE_WINDOW_MS && aheadMs < 3 * RATE_WINDOW_MS;
  }

  /** Takes what a decision has cost; it may be more than is left. */
  spend(factoryUid: string, reads: number, nowMs: number): void {
    for (const [uid, fullAtMs] of this.fullAtMs) if (fullAtMs <= nowMs) this.fullAtMs.delete(uid);
    const aheadMs = Math.max(0, (this.fullAtMs.get(factoryUid) ?? nowMs) - nowMs);
    const costMs = (reads / this.perMinute) * RATE_WINDOW_MS;
    this.fullAtMs.set(factoryUid, nowMs + Math.min(aheadMs + costMs, 2 * RATE_WINDOW_MS));
  }
}
