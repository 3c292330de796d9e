/** What the reads of a round may take while they are paced: more where they kept nobody waiting for a while. */

/** While others are read, too, milliseconds. */
const PACED_MS_MAX = 1;
/** As long as all are read: what a round takes by itself, to call, to pause and to wake, is shared by more. */
const ALONE_MS_MAX = 8;
/** Of short rounds a twentieth of a second at the least, in which whoever sends thirty in a second comes again. */
const QUIET_ROUNDS_MIN = 16;

export class RoundTime {
  /** Rounds since somebody else was read, or a costly one called. */
  private quietRounds = 0;

  /** Milliseconds. */
  get msMax(): number {
    return this.quietRounds < QUIET_ROUNDS_MIN ? PACED_MS_MAX : ALONE_MS_MAX;
  }

  /** Rounds are short for a while. */
  shorten(): void {
    this.quietRounds = 0;
  }

  endRound(): void {
    this.quietRounds += 1;
  }
}
