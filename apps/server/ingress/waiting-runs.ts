/** How many runs wait in each factory, known closely enough to refuse deliveries before the queue grows without bound. contract 5 (503). */

/** The counts are taken again after this time; in between what was accepted here is added, so that they err on the full side. */
const COUNTED_FOR_MS = 2_000;
/** Counting a long queue takes long: it is done at most for this share of the time. */
const COUNTING_SHARE = 0.02;

export class WaitingRuns {
  private counts = new Map<string, number>();
  private countAgainAtMs = Number.NEGATIVE_INFINITY;
  private readonly max: number;
  private readonly count: () => Promise<Map<string, number>>;
  private readonly monotonicMs: () => number;

  constructor(max: number, count: () => Promise<Map<string, number>>, monotonicMs: () => number) {
    this.max = max;
    this.count = count;
    this.monotonicMs = monotonicMs;
  }

  /** Whether the factory's queue is full. */
  async isFull(factoryUid: string): Promise<boolean> {
    if (this.monotonicMs() >= this.countAgainAtMs) await this.refresh();
    return (this.counts.get(factoryUid) ?? 0) >= this.max;
  }

  added(factoryUid: string, runs: number): void {
    this.counts.set(factoryUid, (this.counts.get(factoryUid) ?? 0) + runs);
  }

  private async refresh(): Promise<void> {
    const startedAtMs = this.monotonicMs();
    this.countAgainAtMs = startedAtMs + COUNTED_FOR_MS; // others that ask meanwhile use the old counts
    this.counts = await this.count();
    const tookMs = this.monotonicMs() - startedAtMs;
    this.countAgainAtMs = startedAtMs + Math.max(COUNTED_FOR_MS, tookMs / COUNTING_SHARE);
  }
}
