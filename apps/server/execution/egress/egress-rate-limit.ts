/**
 * How fast one run may use its egress access: a flood of requests or bytes waits, so that the service has time for its
 * own work. contract §10.
 */
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two requests of one run, beyond the first few. */
const REQUEST_EVERY_MS = 5;
const REQUESTS_AT_ONCE = 100;

/**
 * Bytes of one run in a window, both directions together: 32 MiB a second, a tenth of what would keep one processor
 * busy.
 */
const WINDOW_BYTES_MAX = 3_355_443;
const WINDOW_MS = 100;

/** The pace of one run, shared by all of its connections. */
export class EgressRateLimit {
  private nextRequestMs = 0;
  private bytesLeft = WINDOW_BYTES_MAX;
  private waiting: (() => void)[] = [];
  private window: NodeJS.Timeout | undefined;

  /** Resolves when the next request may be judged, or the signal aborts. */
  async admit(gone: AbortSignal): Promise<void> {
    const nowMs = performance.now();
    this.nextRequestMs = Math.max(this.nextRequestMs, nowMs - REQUEST_EVERY_MS * REQUESTS_AT_ONCE) + REQUEST_EVERY_MS;
    const waitMs = this.nextRequestMs - nowMs;
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: gone }).catch(() => undefined);
  }

  /** A stream that passes bytes on at the run's pace. */
  throttle(): Transform {
    return new Transform({
      transform: (bytes: Buffer, _encoding, done) => this.spend(bytes.length, () => done(null, bytes)),
    });
  }

  /** Resolves when so many bytes may be passed on. */
  pace(bytes: number): Promise<void> {
    return new Promise((resolve) => this.spend(bytes, resolve));
  }

  private spend(bytes: number, pass: () => void): void {
    this.bytesLeft -= bytes;
    this.window ??= setTimeout(() => this.open(), WINDOW_MS).unref();
    if (this.bytesLeft >= 0) pass();
    else this.waiting.push(pass);
  }

  private open(): void {
    this.window = undefined;
    this.bytesLeft = WINDOW_BYTES_MAX;
    const released = this.waiting;
    this.waiting = [];
    for (const pass of released) pass();
  }
}
