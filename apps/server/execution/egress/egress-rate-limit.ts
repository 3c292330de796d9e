/** How fast one run may use its way out: a flood of requests or bytes waits, so that the service keeps to its own work. contract 10. */
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two requests of one run, beyond the first few. */
const REQUEST_EVERY_MS = 5;
const REQUESTS_AT_ONCE = 100;

/** Bytes of one run in a window, both directions together: 32 MiB a second, a tenth of what would keep one processor busy. */
const WINDOW_BYTES_MAX = 3_355_443;
const WINDOW_MS = 100;

export interface EgressRateLimit {
  /** Resolves when the next request may be looked at, or the signal aborts. */
  admit(gone: AbortSignal): Promise<void>;
  /** A stream that passes bytes on at the run's pace. */
  throttle(): Transform;
}

/** The pace of one run, shared by all of its connections. */
export function egressRateLimit(): EgressRateLimit {
  let nextRequestMs = 0;
  let bytesLeft = WINDOW_BYTES_MAX;
  let waiting: (() => void)[] = [];
  let window: NodeJS.Timeout | undefined;
  const open = (): void => {
    window = undefined;
    bytesLeft = WINDOW_BYTES_MAX;
    const released = waiting;
    waiting = [];
    for (const pass of released) pass();
  };
  const spend = (bytes: number, pass: () => void): void => {
    bytesLeft -= bytes;
    window ??= setTimeout(open, WINDOW_MS).unref();
    if (bytesLeft >= 0) pass();
    else waiting.push(pass);
  };
  return {
    admit: async (gone) => {
      const nowMs = performance.now();
      nextRequestMs = Math.max(nextRequestMs, nowMs - REQUEST_EVERY_MS * REQUESTS_AT_ONCE) + REQUEST_EVERY_MS;
      if (nextRequestMs > nowMs) await sleep(nextRequestMs - nowMs, undefined, { signal: gone }).catch(() => undefined);
    },
    throttle: () =>
      new Transform({ transform: (bytes: Buffer, _encoding, done) => spend(bytes.length, () => done(null, bytes)) }),
  };
}
