/** A service that stays away for a while: whether it is asked again, and when. */
import type { Clock } from './clock.ts';
import { APIConnectionError, APIStatusError, type APIError } from './errors.ts';
import { isRetryable, reconnectPauseMs } from './retries.ts';

/** Milliseconds that a service is waited for, unless said otherwise. */
export const OUTAGE_MS_MAX = 60_000;

/** From the first loss on, until the service is heard again. */
export class Outage {
  readonly #clock: Clock;
  readonly #msMax: number;
  readonly #sinceMs: number;
  #losses = 0;

  /** `msMax`: milliseconds that it may last; Infinity: no limit. */
  constructor(clock: Clock, msMax: number) {
    this.#clock = clock;
    this.#msMax = msMax;
    this.#sinceMs = clock.nowMs();
  }

  /** Milliseconds until the service is to be asked again. Throws the loss when that would be too late. */
  nextPauseMs(loss: APIError): number {
    const ms = reconnectPauseMs(this.#losses, loss instanceof APIStatusError ? loss.headers : undefined, this.#clock);
    if (this.#clock.nowMs() + ms - this.#sinceMs > this.#msMax) throw loss;
    this.#losses += 1;
    return ms;
  }
}

/** Whether the service can be asked again. */
export function isLoss(error: unknown): error is APIError {
  return error instanceof APIConnectionError || (error instanceof APIStatusError && isRetryable(error.response, true));
}
