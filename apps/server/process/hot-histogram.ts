/**
 * A histogram for what happens tens of thousands of times a second: observing adds to numbers, and nobody looks up
 * labels until somebody asks for the figures.
 */
import type { Exemplar, HistogramReading } from './metrics.ts';

export class HotHistogram {
  private readonly bounds: readonly number[];
  private readonly counts: number[];
  private readonly exemplars: (Exemplar | undefined)[];
  private sum = 0;
  private total = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
    this.exemplars = this.counts.map(() => undefined);
  }

  get count(): number {
    return this.total;
  }

  observe(value: number, traceId?: string): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    (counts[at] as number)++;
    this.sum += value;
    this.total += 1;
    if (traceId !== undefined) this.exemplars[at] = { traceId, value, atMs: Date.now() };
  }

  read(labels: Readonly<Record<string, string>>): HistogramReading {
    const { bounds, counts, exemplars, sum, total } = this;
    return { labels, bounds, counts, exemplars, sum, count: total };
  }
}
