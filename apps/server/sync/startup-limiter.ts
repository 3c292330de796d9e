/**
 * How many first passes run at once: a service that starts with thousands of factories does not look at all of them in
 * one moment. contract §9.
 */

/** More would not be faster: git has 8 processes, and SQLite one writer. */
const AT_ONCE_MAX = 16;

export class StartupLimiter {
  private running = 0;
  /** Those that wait for a place, by the UID of their factory, in order. */
  private readonly waiting = new Map<string, (hasPlace: boolean) => void>();
  /** Those that have a place and wait for their time, by the UID of their factory. */
  private readonly early = new Map<string, () => void>();
  private apartMs = 0;
  private nextAtMs = 0;

  /** From now on they begin so far apart at least: deliveries come at their full rate already. */
  spread(apartMs: number): void {
    this.apartMs = apartMs;
  }

  /** Runs this when there is a place, or when somebody hurries it. */
  async run<T>(uid: string, pass: () => Promise<T>): Promise<T> {
    const hasPlace = await this.place(uid);
    try {
      // A pass may wait for nothing but a database that answers at once: between two of them deliveries have their
      // turn.
      await (hasPlace && this.apartMs > 0 ? this.ownTime(uid) : new Promise(setImmediate));
      return await pass();
    } finally {
      if (hasPlace) this.leave();
    }
  }

  /** Somebody waits for this factory: it goes on at once. */
  hurry(uid: string): void {
    const goOn = this.waiting.get(uid);
    this.waiting.delete(uid);
    goOn?.(false);
    this.early.get(uid)?.();
  }

  /** Nobody waits any more: the service stops. */
  hurryAll(): void {
    for (const uid of [...this.waiting.keys(), ...this.early.keys()]) this.hurry(uid);
  }

  private ownTime(uid: string): Promise<void> {
    const nowMs = performance.now();
    const atMs = Math.max(nowMs, this.nextAtMs);
    this.nextAtMs = atMs + this.apartMs;
    return new Promise((resolve) => {
      const begin = (): void => {
        clearTimeout(timer);
        this.early.delete(uid);
        resolve();
      };
      const timer = setTimeout(begin, atMs - nowMs);
      this.early.set(uid, begin);
    });
  }

  private async place(uid: string): Promise<boolean> {
    if (this.running >= AT_ONCE_MAX) return new Promise((resolve) => this.waiting.set(uid, resolve));
    this.running += 1;
    return true;
  }

  /** Hands the place on. */
  private leave(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.running -= 1;
      return;
    }
    const [uid, goOn] = next;
    this.waiting.delete(uid);
    goOn(true);
  }
}
