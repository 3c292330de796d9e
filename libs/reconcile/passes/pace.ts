/** Knows when the next pass is due, after success and after failure. contract §9. */

/** Spread of the interval, so that the factories of an installation do not ask their hosts in step. */
const INTERVAL_SPREAD = 0.05;
const RETRY_SPREAD = 0.1;
const RETRY_MS_MIN = 1_000;
/** Between two factories that follow a host which is back: a thousand have followed after half a minute. */
const FOLLOW_MS = 25;
const RETRY_MS_MAX = 300_000; // five minutes: a host that came back is noticed by then

/** Milliseconds until the next regular pass: the interval ± 5 %. `random01` is a fresh number in [0, 1). */
export function nextIntervalMs(intervalMs: number, random01: number): number {
  return spread(intervalMs, INTERVAL_SPREAD, random01);
}

/**
 * Milliseconds until the pass is tried again after `failures` (1, 2 …) failed ones in a row: 1 s doubling to 5 min, ±
 * 10 %.
 */
export function retryDelayMs(failures: number, random01: number): number {
  const doublings = Math.max(0, failures - 1);
  return spread(Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** doublings), RETRY_SPREAD, random01);
}

/** How long a git host has not answered. Times are of one monotonic clock, in milliseconds. */
export interface HostOutage {
  failures: number;
  failedAtMs: number;
  askAgainAtMs: number;
}

/** What a factory may do: ask its host, ask it as the one that finds out whether it is back, or leave it alone. */
export type HostVerdict = 'ask' | 'probe' | 'wait';

/** Input of the circuit-breaker decision. */
export interface HostQuestion {
  /** A half-open probe is in flight. */
  probing: boolean;
  /** People, or a push, want to know. */
  atOnce: boolean;
  /** It failed itself in this outage, or the last time while its host answered others. */
  failed: boolean;
  /** Repositories that failed in this outage, without those that fail while their host answers others. */
  distinctFailures: number;
  nowMs: number;
}

/**
 * Repositories that must have failed before the others believe that it is the host: one alone may be one that its host
 * cannot serve.
 */
const DISTINCT_FAILURES_MIN = 2;

/** Whether a factory may ask its host now. contract §9.1 (back-off per host) */
export function mayAskHost(
  outage: HostOutage | undefined,
  { probing, atOnce, failed, distinctFailures, nowMs }: HostQuestion,
): HostVerdict {
  if (outage === undefined || atOnce) return 'ask';
  if (probing) return 'wait';
  const isDoubtful = !failed && distinctFailures < DISTINCT_FAILURES_MIN;
  return isDoubtful || nowMs >= outage.askAgainAtMs ? 'probe' : 'wait';
}

/**
 * The outage after a host did not answer what it was asked at `askedAtMs`. Those that asked side by side are one
 * failure of the host.
 */
export function outageAfter(
  outage: HostOutage | undefined,
  { askedAtMs, nowMs, random01 }: { askedAtMs: number; nowMs: number; random01: number },
): HostOutage {
  if (outage !== undefined && askedAtMs <= outage.failedAtMs) return outage;
  const failures = (outage?.failures ?? 0) + 1;
  return { failures, failedAtMs: nowMs, askAgainAtMs: nowMs + retryDelayMs(failures, random01) };
}

/** Milliseconds until the next factory follows a host that is back: not all of them in one instant. */
export function followDelayMs(random01: number): number {
  return Math.round(2 * FOLLOW_MS * random01);
}

function spread(ms: number, share: number, random01: number): number {
  return Math.round(ms * (1 - share + 2 * share * random01));
}
