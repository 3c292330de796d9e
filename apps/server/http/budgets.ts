/**
 * How much one API key may ask and one client address may fail. Counted in each process by itself: of several that
 * answer the API, each allows as much. contract §3.10 (429).
 */
import { addressKeyOf, drawRequest, FailureBudgets, type Draw, type FailureVerdict } from '#deliveries';

/** Keys whose requests are counted at once; the least recently used ones are forgotten first, and begin anew. */
const KEYS_MAX = 10_000;
/** Client addresses whose failures are remembered at most; the least recently failing are forgotten first. */
const ADDRESSES_MAX = 100_000;

/** What one address may ask of open operations without a key: an editor that saves every other second. */
export const OPEN_REQUESTS_PER_MINUTE = 30;

export interface Rates {
  /** Requests a minute and key; 0: not limited. */
  requestsPerMinute: number;
  /** Failed authentications a minute and client address; 0: not limited. */
  failuresPerMinute: number;
}

export class Budgets {
  private readonly rates: Rates;
  private readonly nowMs: () => number;
  private readonly fullAtMs = new Map<string, number>();
  private readonly failures: FailureBudgets;
  private readonly open = new FailureBudgets({ maxKeys: ADDRESSES_MAX, perMinute: OPEN_REQUESTS_PER_MINUTE });

  constructor(rates: Rates, nowMs: () => number) {
    this.rates = rates;
    this.nowMs = nowMs;
    this.failures = new FailureBudgets({ maxKeys: ADDRESSES_MAX, perMinute: rates.failuresPerMinute });
  }

  /** Takes one request of a key; undefined where requests are not limited. */
  spendRequest(keyId: string): (Draw & { limit: number }) | undefined {
    const { requestsPerMinute: limit } = this.rates;
    if (limit === 0) return undefined;
    const draw = drawRequest(this.fullAtMs.get(keyId), this.nowMs(), limit);
    this.fullAtMs.delete(keyId);
    this.fullAtMs.set(keyId, draw.fullAtMs);
    const [oldest] = this.fullAtMs.keys();
    if (this.fullAtMs.size > KEYS_MAX && oldest !== undefined) this.fullAtMs.delete(oldest);
    return { ...draw, limit };
  }

  /** Takes one request of an address that names no key; where it may ask no more, it takes none. */
  spendOpen(clientAddress: string): FailureVerdict {
    return this.open.spend(addressKeyOf(clientAddress), this.nowMs());
  }

  /** Counts a failed authentication. To be asked after a failure only: nobody's failures refuse a valid key. */
  spendFailure(clientAddress: string): FailureVerdict {
    if (this.rates.failuresPerMinute === 0) return { withinBudget: true };
    return this.failures.spend(addressKeyOf(clientAddress), this.nowMs());
  }
}
