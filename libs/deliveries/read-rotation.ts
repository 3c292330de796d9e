/**
 * Whose bytes are read of many senders that nobody knows yet. All are, until they take too long in one round of the
 * event loop: then all are paused, and read again a few at a time for as long as that stays short. contract §5.11
 * (Connections without a key).
 */

export interface ReadRotationOptions<Item> {
  pause(item: Item): void;
  resume(item: Item): void;
  /** What one round may take until they are paced, milliseconds. */
  roundMsMax?: number;
  /** What a round may take then, milliseconds. */
  pacedMsMax?: number;
  /** Items that are read again at once then. */
  stepMax?: number;
  /** Milliseconds without a round that took too long, after which they are paced no more. */
  calmMs?: number;
}

/** Some 300 refused requests, or 30 pieces of bodies. */
const ROUND_MS_MAX = 8;
/** A round that was long with fewer reads was so for another reason. */
const ROUND_READS_MIN = 16;
const PACED_MS_MAX = 1;
const STEP_MAX = 16;
const CALM_MS = 30_000;

/** The items of one process. */
export class ReadRotation<Item> {
  /** Not paused, in the order in which they came or were read again. */
  private readonly reading = new Set<Item>();
  /** Paused; the one that has waited for longest first. */
  private readonly waiting = new Set<Item>();
  /** Paused until the next round, because of what others had to say in this one; the newest last. */
  private readonly held = new Set<Item>();
  private readonly options: Required<ReadRotationOptions<Item>>;
  private pacedUntilMs = 0;
  private isPaced = false;
  /** This round has taken what it may. */
  private isSpent = false;
  private roundBeganMs: number | undefined;
  private reads = 0;

  constructor(options: ReadRotationOptions<Item>) {
    this.options = {
      roundMsMax: ROUND_MS_MAX,
      pacedMsMax: PACED_MS_MAX,
      stepMax: STEP_MAX,
      calmMs: CALM_MS,
      ...options,
    };
  }

  /** Whether rounds are short. */
  get paced(): boolean {
    return this.isPaced;
  }

  /** How many are paused. */
  get waitingCount(): number {
    return this.waiting.size;
  }

  /** A new item, which is being read. What has just come mostly has something to say at once. */
  add(item: Item): void {
    if (this.isSpent) this.hold(item);
    else this.reading.add(item);
  }

  /** The item is read from now on, or is no more. Whether it was paused: it is for the caller to resume it. */
  remove(item: Item): boolean {
    if (this.reading.delete(item)) return false;
    return this.waiting.delete(item) || this.held.delete(item);
  }

  /** Something of the item was read. Answers whether it began a round, whose end is to be told. */
  noteRead(item: Item, nowMs: number): boolean {
    const isFirst = this.roundBeganMs === undefined;
    this.roundBeganMs ??= nowMs;
    this.reads += 1;
    const tookMs = nowMs - this.roundBeganMs;
    if (this.isPaced) this.noteReadPaced(item, nowMs, tookMs);
    else if (tookMs > this.options.roundMsMax && this.reads >= ROUND_READS_MIN) this.beginPace(nowMs);
    return isFirst;
  }

  /** The round is over: the newest of those that it held are read again, and as many of those that wait. */
  endRound(): void {
    this.roundBeganMs = undefined;
    this.reads = 0;
    const wasSpent = this.isSpent;
    this.isSpent = false;
    const held = [...this.held];
    this.held.clear();
    const half = this.options.stepMax / 2;
    for (const item of held.splice(-half)) this.resume(item);
    if (this.isPaced && wasSpent) this.resumeWaiting(half);
    for (const item of held) this.waiting.add(item);
  }

  /** Some more are read, those that have waited for longest; all of them when there was calm. */
  advance(nowMs: number): void {
    if (this.isSpent) return;
    if (nowMs >= this.pacedUntilMs) this.isPaced = false;
    this.resumeWaiting(this.isPaced ? this.options.stepMax : this.waiting.size);
  }

  private resumeWaiting(count: number): void {
    let left = count;
    for (const item of this.waiting) {
      if (left-- <= 0) return;
      this.waiting.delete(item);
      this.resume(item);
    }
  }

  private noteReadPaced(item: Item, nowMs: number, tookMs: number): void {
    // Now it is the newest: a body that goes on to come is read on, and not silent because of us.
    if (this.reading.delete(item)) this.reading.add(item);
    if (tookMs < this.options.pacedMsMax || this.isSpent) return;
    this.isSpent = true;
    this.pacedUntilMs = nowMs + this.options.calmMs;
    for (const one of this.reading) this.hold(one);
    this.reading.clear();
  }

  private beginPace(nowMs: number): void {
    this.isPaced = true;
    this.pacedUntilMs = nowMs + this.options.calmMs;
    for (const item of this.reading) this.pause(item);
    this.reading.clear();
  }

  private hold(item: Item): void {
    this.held.add(item);
    this.options.pause(item);
  }

  private pause(item: Item): void {
    this.waiting.add(item);
    this.options.pause(item);
  }

  private resume(item: Item): void {
    this.reading.add(item);
    this.options.resume(item);
  }
}
