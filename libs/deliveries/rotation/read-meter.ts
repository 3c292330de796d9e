/**
 * What reads take. One read of a connection brings up to 64 KiB, of which each request and each piece of a body is
 * noted as it comes: in chunks of one byte it is ten thousand of them and 20 ms, which nobody can interrupt.
 */

/** A read that took long with fewer requests and pieces did so for another reason: of those there are 10 in 64 KiB. */
const COSTLY_NOTES_MIN = 16;
/** What a read takes at least that is called costly, milliseconds. */
const COSTLY_MS_MIN = 1;

/** A read that is over. */
export interface FinishedRead<Item> {
  item: Item;
  tookMs: number;
  endedAtMs: number;
  isCostly: boolean;
}

/** The reads of a round of the event loop, one after the other: only time within them counts. */
export class ReadMeter<Item> {
  /** Of the round, those that are over. */
  private finishedMs = 0;
  /** The one that is under way. */
  private item: Item | undefined;
  private beganAtMs = 0;
  /** When it ended, or the last one before, as far as is known. */
  private endMs = 0;
  private notes = 0;
  /** Its first request or piece is being dealt with, as far as is known. */
  private isBusy = false;

  /** What the reads of this round have taken. */
  get tookMs(): number {
    return this.finishedMs + this.endMs - this.beganAtMs;
  }

  /** When the last one ended, as far as is known. */
  get endedAtMs(): number {
    return this.endMs;
  }

  /** Whether the one that is under way is costly already. */
  get isCostly(): boolean {
    return this.notes >= COSTLY_NOTES_MIN && this.endMs - this.beganAtMs >= COSTLY_MS_MIN;
  }

  isOf(item: Item): boolean {
    return this.item === item;
  }

  begin(item: Item, nowMs: number): void {
    this.item = item;
    this.beganAtMs = nowMs;
    this.endMs = nowMs;
    this.isBusy = true;
  }

  /** Something more came. */
  note(nowMs: number): void {
    this.notes += 1;
    this.endMs = nowMs;
  }

  /** What came last has been dealt with. */
  extend(nowMs: number): void {
    if (this.item === undefined) return;
    this.endMs = nowMs;
    this.isBusy = false;
  }

  /** What is noted next, or now, is of another read. Answers the one that was under way. */
  end(nowMs?: number): FinishedRead<Item> | undefined {
    if (this.item === undefined) return undefined;
    if (this.isBusy && nowMs !== undefined) this.endMs = nowMs;
    const tookMs = this.endMs - this.beganAtMs;
    const read = { item: this.item, tookMs, endedAtMs: this.endMs, isCostly: this.isCostly };
    this.item = undefined;
    this.finishedMs += tookMs;
    this.beganAtMs = this.endMs;
    this.notes = 0;
    return read;
  }

  /** A new round. */
  reset(): void {
    this.end();
    this.finishedMs = 0;
  }
}
