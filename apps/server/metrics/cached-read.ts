/** A value that is costly to read, and may be a little old. */

/** Of the time, what reading may take: a slow database is asked less often. */
const READING_SHARE = 0.02;

export class CachedRead<T> {
  private readonly everyMs: number;
  private readonly read: () => Promise<T>;
  private readonly monotonicMs: () => number;
  private latest: Promise<T> | undefined;
  private againAtMs = Number.NEGATIVE_INFINITY;

  constructor(everyMs: number, read: () => Promise<T>, monotonicMs = (): number => performance.now()) {
    [this.everyMs, this.read, this.monotonicMs] = [everyMs, read, monotonicMs];
  }

  /** One read is under way at most. What it throws is everybody's, and is tried again no sooner than a value. */
  get(): Promise<T> {
    const nowMs = this.monotonicMs();
    if (this.latest !== undefined && nowMs < this.againAtMs) return this.latest;
    this.againAtMs = Number.POSITIVE_INFINITY;
    const latest = (this.latest = this.read());
    const done = (): void => {
      const tookMs = this.monotonicMs() - nowMs;
      this.againAtMs = nowMs + Math.max(this.everyMs, tookMs / READING_SHARE);
    };
    latest.then(done, done);
    return latest;
  }
}
