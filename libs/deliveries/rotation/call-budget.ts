/** How many a round calls: who is called and not reached was called in vain. */
import { CALLS_MAX, LINE_ORDERS } from './waiting-lines.ts';

/** A round calls so many times those that one of its kind reached before: where reads are shorter it reaches more. */
const CALLS_PER_REACHED = 1.5;
/** … and as many at least: where none of them has anything to say, more are called only later. */
const CALLS_MIN = 32;

/** By turns: where other lines are first, others are reached. */
export class CallBudget {
  private readonly max = Array.from({ length: LINE_ORDERS }, () => CALLS_MAX);

  /** So many at most. */
  of(turn: number): number {
    return this.max[turn] ?? CALLS_MAX;
  }

  /** A round was spent when it had reached so many. */
  lower(turn: number, reached: number): void {
    this.max[turn] = Math.min(Math.max(CALLS_MIN, Math.ceil(reached * CALLS_PER_REACHED)), CALLS_MAX);
  }

  /** All that were called had their chance, and the round is not spent. */
  raise(turn: number): void {
    this.max[turn] = Math.min(2 * this.of(turn), CALLS_MAX);
  }

  reset(): void {
    this.max.fill(CALLS_MAX);
  }
}
