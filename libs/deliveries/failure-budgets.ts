/**
 * How many failed authentications one client may cause at one webhook. spec: Authentication rule 5; contract §5.4.
 */
import { FAILURES_PER_MINUTE_MAX } from './limits.ts';
import { retryAfterSeconds, SlidingWindow } from './windows.ts';

export type FailureVerdict = { withinBudget: true } | { withinBudget: false; retryAfterSeconds: number };

export interface FailureBudgetOptions {
  /** Keys that are remembered at most. */
  maxKeys: number;
  /** Failures a minute and key; 20 where nothing is said. */
  perMinute?: number;
}

/**
 * The key of a budget. A webhook UID holds no space, so that keys of different pairs differ. `addressKey`: see
 * `addressKeyOf`.
 */
export function failureKey(webhookUid: string, addressKey: string): string {
  return `${webhookUid} ${addressKey}`;
}

const WITHIN_BUDGET: FailureVerdict = { withinBudget: true };

/** Failures of one key, between those that failed before and after it. */
class Budget {
  readonly key: string;
  readonly window: SlidingWindow;
  older: Budget = this;
  newer: Budget = this;

  constructor(key: string, perMinute: number) {
    this.key = key;
    this.window = new SlidingWindow(perMinute);
  }

  /** Takes its place between two others, or alone. */
  insertAfter(older: Budget): void {
    this.older = older;
    this.newer = older.newer;
    older.newer.older = this;
    older.newer = this;
  }

  remove(): void {
    this.older.newer = this.newer;
    this.newer.older = this.older;
  }
}

/**
 * The budgets of one process. Beyond `maxKeys` the key that failed least recently is forgotten, so that an attacker
 * with many addresses costs bounded memory. Their order is a linked list that is changed in place: a map whose keys are
 * deleted and set again keeps what was deleted in the chains that it searches, until each search takes microseconds.
 */
export class FailureBudgets {
  private readonly byKey = new Map<string, Budget>();
  private readonly maxKeys: number;
  private readonly perMinute: number;
  /** Stands before the least and behind the most recently failing. */
  private readonly ends: Budget;

  constructor({ maxKeys, perMinute = FAILURES_PER_MINUTE_MAX }: FailureBudgetOptions) {
    this.maxKeys = maxKeys;
    this.perMinute = perMinute;
    this.ends = new Budget('', 0);
  }

  get size(): number {
    return this.byKey.size;
  }

  /**
   * Records one failure of `key` at `nowMs` and says whether it is within the budget. A failure over the budget is not
   * recorded: the wait that was announced stays true. Ask only after a failure: a valid delivery is never refused
   * because of somebody's failures.
   */
  spend(key: string, nowMs: number): FailureVerdict {
    const waitMs = this.latest(key).window.acquire(nowMs);
    return waitMs === 0 ? WITHIN_BUDGET : { withinBudget: false, retryAfterSeconds: retryAfterSeconds(waitMs) };
  }

  /** The budget of a key, which is now the most recently failing one. */
  private latest(key: string): Budget {
    let budget = this.byKey.get(key);
    if (budget === undefined) {
      if (this.byKey.size >= this.maxKeys) this.forget(this.ends.newer);
      budget = new Budget(key, this.perMinute);
      this.byKey.set(key, budget);
    } else {
      if (budget === this.ends.older) return budget;
      budget.remove();
    }
    budget.insertAfter(this.ends.older);
    return budget;
  }

  private forget(oldest: Budget): void {
    oldest.remove();
    this.byKey.delete(oldest.key);
  }
}
