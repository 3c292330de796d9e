/** Time and chance. Everything that waits goes through one clock, so that schedules can be tested exactly. */

export interface Clock {
  /** Milliseconds from any fixed point; never goes back. */
  nowMs(): number;
  /** Wall clock, milliseconds since 1970. */
  dateMs(): number;
  /** From 0 to below 1. */
  random(): number;
  /** Calls back once, after so many milliseconds; answers what cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** What timers take at most; more would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The clock of the runtime. */
export const SYSTEM_CLOCK: Clock = {
  nowMs: () => performance.now(),
  dateMs: () => Date.now(),
  random: () => Math.random(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, TIMER_MS_MAX));
    return () => clearTimeout(timer);
  },
};

/** A timer, or none for a time without end; answers what cancels it. */
export function startTimer(clock: Clock, ms: number, callback: () => void): () => void {
  return ms === Infinity ? () => undefined : clock.after(Math.max(0, ms), callback);
}
