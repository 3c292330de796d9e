/** How many runs wait in each factory, known closely enough to refuse deliveries before the queue grows without bound. contract 5 (503). */

/** A count older than this is taken again. */
const COUNT_VALID_MS = 1_000;

interface Count {
  waiting: number;
  countedAtMs: number;
}

export class WaitingRuns {
  private readonly counts = new Map<string, Count>();
  private readonly max: number;
  private readonly count: (factoryUid: string, max: number) => Promise<number>;
  private readonly monotonicMs: () => number;

  constructor(max: number, count: (factoryUid: string, max: number) => Promise<number>, monotonicMs: () => number) {
    this.max = max;
    this.count = count;
    this.monotonicMs = monotonicMs;
  }

  /** Whether the factory's queue is full. Counts at most once a second and factory; between counts adds what was accepted here. */
  async isFull(factoryUid: string): Promise<boolean> {
    const known = this.counts.get(factoryUid);
    if (known !== undefined && this.monotonicMs() - known.countedAtMs <= COUNT_VALID_MS) return known.waiting >= this.max;
    const fresh = { waiting: known?.waiting ?? 0, countedAtMs: this.monotonicMs() };
    this.counts.set(factoryUid, fresh); // others that ask meanwhile use the old count
    fresh.waiting = await this.count(factoryUid, this.max);
    return fresh.waiting >= this.max;
  }

  added(factoryUid: string, runs: number): void {
    const known = this.counts.get(factoryUid);
    if (known !== undefined) known.waiting += runs;
  }
}
