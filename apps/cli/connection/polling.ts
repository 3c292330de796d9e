/** Polling with backoff and a timeout, for verbs that wait for the server. contract §11. */
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../command.ts';

/** A first clone of a large repository takes minutes; a timer notices a push within one. */
export const WAIT_SECONDS = 600;

/** Backoff between two polls. */
const POLL_MS_MIN = 100;
const POLL_MS_MAX = 2_000;

/** The value of `--timeout`, in milliseconds. */
export function readTimeout(text: string | undefined): number {
  if (text === undefined) return WAIT_SECONDS * 1_000;
  if (/^\d{1,5}$/.test(text) && Number(text) > 0) return Number(text) * 1_000;
  throw new UsageError('--timeout must be a whole number of seconds, 1 to 99999');
}

/** Polls until there is a result; undefined at the timeout. */
export async function pollUntil<T>(
  look: () => Promise<T | undefined>,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = POLL_MS_MIN; ; pauseMs = Math.min(POLL_MS_MAX, pauseMs * 1.5)) {
    const seen = await look();
    if (seen !== undefined || performance.now() > deadline) return seen;
    await sleep(Math.min(pauseMs, Math.max(1, deadline - performance.now() + 1)), undefined, { signal });
  }
}
