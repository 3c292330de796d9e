/** Waiting for a run, by asking for it again and again. */
import { startTimer, type Clock } from '../../clock.ts';
import { MillwrightError, UserAbortError, WaitEndedError, WaitTimeoutError, type APIError } from '../../errors.ts';
import { pause } from '../../exchange.ts';
import type { RunItem, RunState } from '../../models.ts';
import { isLoss, Outage, OUTAGE_MS_MAX } from '../../outages.ts';
import { readMs, readSpan } from '../../requests.ts';

/** States that a run leaves only by a follow-up. */
export const ENDS: readonly RunState[] = ['SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED'];
const STATES: readonly string[] = Object.keys({
  QUEUED: true,
  CLAIMED: true,
  PENDING: true,
  INPROGRESS: true,
  BLOCKED: true,
  SUCCEEDED: true,
  FAILED: true,
  ERROR: true,
  CANCELLED: true,
} satisfies Record<RunState, true>);

const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 5_000;
/** What the last look is given at least, so that a wait that is over has seen how the run stands. */
const LOOK_MS_MIN = 1_000;
/** Each pause is so many times the one before. */
const PAUSE_GROWTH = 1.5;

/** Asks for the run once, until the signal ends it. */
type Looking = (signal: AbortSignal | undefined) => PromiseLike<RunItem>;

/** What to wait for, and how long. */
export interface RunWaitParams {
  /** States that end the wait. Default: SUCCEEDED, FAILED, ERROR, CANCELLED. */
  until?: RunState | readonly RunState[] | undefined;
  /** Milliseconds to wait at most; null, as when nothing is said: no limit. */
  timeout?: number | null | undefined;
  /**
   * Milliseconds between two looks. Default: 500 at first, each half as long again as the one before, at most 5,000.
   */
  pollInterval?: number | undefined;
}

/** What ends a wait before its time. */
export interface WaitLimits {
  signal?: AbortSignal | undefined;
  /** Milliseconds that a service which is away is waited for; null: no limit. Default 60,000. */
  reconnectTimeout?: number | null | undefined;
}

/**
 * Asks until the run is in one of the states, at once for the first time, and again when the service was away. Throws
 * WaitTimeoutError with the run as it was seen last, WaitEndedError with a run that has ended otherwise,
 * MillwrightError for states and times that are none, UserAbortError, and what asking throws.
 */
export async function waitForRun(
  retrieve: Looking,
  clock: Clock,
  { until = ENDS, timeout, pollInterval }: RunWaitParams,
  { signal, reconnectTimeout }: WaitLimits = {},
): Promise<RunItem> {
  const deadline = clock.nowMs() + (readSpan('timeout', timeout) ?? Number.POSITIVE_INFINITY);
  const fixed = readSpan('pollInterval', pollInterval);
  const outageMsMax = readMs('reconnectTimeout', reconnectTimeout, OUTAGE_MS_MAX);
  const states = readStates(until);
  let run: RunItem | undefined;
  let outage: Outage | undefined;
  for (let ms = PAUSE_MS_MIN; ;) {
    const seen = await look(retrieve, clock, deadline, run, signal);
    let pauseMs: number;
    if (seen instanceof Error) {
      outage ??= new Outage(clock, outageMsMax);
      pauseMs = deadline > clock.nowMs() ? outage.nextPauseMs(seen) : 0;
    } else {
      outage = undefined;
      run = seen;
      if (states.includes(run.state)) return run;
      if (ENDS.includes(run.state))
        throw new WaitEndedError(`the run has ended as ${run.state}, and will not become ${states.join(' or ')}`, run);
      pauseMs = fixed ?? ms;
      ms = Math.min(ms * PAUSE_GROWTH, PAUSE_MS_MAX);
    }
    const left = deadline - clock.nowMs();
    if (left <= 0) throw tooLong(run);
    await pause(clock, Math.min(pauseMs, left), signal);
  }
}

function readStates(until: RunState | readonly RunState[]): readonly string[] {
  const states: readonly string[] = [until].flat();
  if (states.length > 0 && states.every((state) => STATES.includes(state))) return states;
  throw new MillwrightError(`until must be one or more of ${STATES.join(', ')}`);
}

/**
 * One look, which ends with the wait: a service that does not answer makes it no longer. Answers how the service was
 * lost, if it was.
 */
async function look(
  retrieve: Looking,
  clock: Clock,
  deadline: number,
  last: RunItem | undefined,
  signal: AbortSignal | undefined,
): Promise<RunItem | APIError> {
  const ending = new AbortController();
  const onAbort = (): void => ending.abort(signal?.reason);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const cancel = startTimer(clock, Math.max(deadline - clock.nowMs(), LOOK_MS_MIN), () => ending.abort());
  try {
    return await retrieve(ending.signal);
  } catch (error) {
    if (isLoss(error)) return error;
    if (error instanceof UserAbortError && signal?.aborted !== true) throw tooLong(last);
    throw error;
  } finally {
    cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}

function tooLong(run: RunItem | undefined): WaitTimeoutError<RunItem> {
  return new WaitTimeoutError<RunItem>(
    run === undefined ? 'the run was not seen in time' : `the run is ${run.state}; it was not waited for any longer`,
    run,
  );
}
