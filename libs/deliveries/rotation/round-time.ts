/** What the reads of a round may take while they are paced: more where they kept nobody waiting for a while. */

/** Of short rounds a twentieth of a second at the least, in which whoever sends thirty in a second comes again. */
const QUIET_ROUNDS_MIN = 16;

export class RoundTime {
  private readonly pacedMsMax: number;
  private readonly aloneMsMax: number;
  /** Rounds since somebody else was read, or a costly one called. */
  private quietRounds = 0;

  constructor({ pacedMsMax, aloneMsMax }: { pacedMsMax: number; aloneMsMax: number }) {
    this.pacedMsMax = pacedMsMax;
    this.aloneMsMax = aloneMsMax;
  }

  /** Milliseconds. */
  get msMax(): number {
    return this.quietRounds < QUIET_ROUNDS_MIN ? this.pacedMsMax : this.aloneMsMax;
  }

  /** Rounds are short for a while. */
  shorten(): void {
    this.quietRounds = 0;
  }

  endRound(): void {
    this.quietRounds += 1;
  }
}
