/**
 * Turns at work that few may do at a time: a bounded number waits, and no API key keeps the others waiting for more
 * than one turn of its own at a time.
 */
import { RefusalError } from '../http/error-codes.ts';

export interface FairSemaphoreOptions {
  /** How many have their turn at the same time. */
  atOnce: number;
  /** How many wait for theirs: in all, and of one key. */
  waiting: number;
  waitingOfKey: number;
  /** Seconds after which one more is likely to find room. */
  retryAfterSeconds: number;
  /** What they take turns at, in words. */
  what: string;
}

/** Who asks. */
export interface Acquirer {
  /** ID of the API key. */
  keyId: string;
  /** Aborted once nobody waits for the answer. */
  signal?: AbortSignal;
}

export class FairSemaphore {
  private readonly bounds: FairSemaphoreOptions;
  /** Those who wait, by key; the key whose turn is next stands first. */
  private readonly lines = new Map<string, (() => void)[]>();
  private working = 0;

  constructor(bounds: FairSemaphoreOptions) {
    this.bounds = bounds;
  }

  /** How many wait. */
  get waiting(): number {
    return [...this.lines.values()].reduce((sum, line) => sum + line.length, 0);
  }

  /**
   * Acts in turn, at once where nobody is in the way. Throws, at once too, 429 where the key, and 503 where everybody
   * together has as many waiting as may. Rejects with the reason of the signal as soon as nobody waits, and then is in
   * nobody's way.
   */
  acquire<Result>(asker: Acquirer, act: () => Promise<Result>): Promise<Result> {
    asker.signal?.throwIfAborted();
    if (this.working < this.bounds.atOnce) {
      this.working += 1;
      return this.hold(act);
    }
    this.refuseBeyond(asker.keyId);
    return this.enqueue(asker).then(() => this.hold(act));
  }

  private async hold<Result>(act: () => Promise<Result>): Promise<Result> {
    try {
      return await act();
    } finally {
      const next = this.next();
      if (next === undefined) this.working -= 1;
      else next(); // takes our place
    }
  }

  private refuseBeyond(keyId: string): void {
    const { waiting, waitingOfKey, retryAfterSeconds, what } = this.bounds;
    if ((this.lines.get(keyId)?.length ?? 0) >= waitingOfKey)
      throw new RefusalError('resource_unavailable', `this API key asks for too many ${what} at the same time`, {
        status: 429,
        retryAfterSeconds,
      });
    if (this.waiting >= waiting)
      throw new RefusalError('resource_unavailable', `too many ${what} are asked for at the same time`, {
        retryAfterSeconds,
      });
  }

  /** Settles when the turn begins. */
  private enqueue({ keyId, signal }: Acquirer): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.put(
          keyId,
          (this.lines.get(keyId) ?? []).filter((other) => other !== begin),
        );
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.put(keyId, [...(this.lines.get(keyId) ?? []), begin]);
    });
  }

  private next(): (() => void) | undefined {
    for (const [keyId, [first, ...others]] of this.lines) {
      this.lines.delete(keyId);
      this.put(keyId, others); // behind all others
      return first;
    }
    return undefined;
  }

  private put(keyId: string, line: (() => void)[]): void {
    if (line.length === 0) this.lines.delete(keyId);
    else this.lines.set(keyId, line);
  }
}
