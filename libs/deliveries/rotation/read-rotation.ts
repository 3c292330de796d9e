/**
 * Whose bytes are read of many senders that nobody knows yet. All are, until they take too long in one round of the
 * event loop: then all are paused, and called a few at a time. contract §5.11 (Connections without a key).
 *
 * A round, while they are paced. Some of three lines are called, and whoever was called is read when something of it
 * comes: those that were read lately, so that a body that goes on to come is not silent because of us; those that have
 * just come, the newest first; those that wait, each in its turn, which newcomers join after a while.
 * Which line is called first changes from round to round. When the reads of the round have taken what they may, all are
 * paused until the next one: whoever was read goes on; who was called behind the last that was read was missed, and
 * stands where it stood; who was called before, and had nothing to say, waits last. Whose last read was costly stands
 * in a line of its own, of which one is called before all others in each fourth round, for a fourth of the time.
 * Five calls in vain take a sixth of what a refusal does: whoever waits for an answer is not called before it is given,
 * and a round calls not many more than the last one reached in which the same line was first.
 */
import { ReadMeter } from './read-meter.ts';
import { CallBudget } from './call-budget.ts';
import { RoundTime } from './round-time.ts';
import type { WaitingLine } from './waiting-line.ts';
import { LINE_ORDERS, WaitingLines } from './waiting-lines.ts';

export interface ReadRotationOptions<Item> {
  pause(item: Item): void;
  resume(item: Item): void;
  /** Whether its sender waits for an answer: all of its request was read. Nobody, if not said. */
  isAnswering?(item: Item): boolean;
}

/** What one round may take until they are paced, milliseconds: 300 refused requests, or 30 pieces of bodies. */
const ROUND_MS_MAX = 8;
/** A round that was long with fewer reads was so for another reason. */
const ROUND_READS_MIN = 16;
/** New connections are taken meanwhile, one in each round of the event loop; whoever has shown a key is answered. */
const REST_MS = 2;
/** Behind a costly read it is half of what that took, and not more than this. */
const REST_MS_MAX = 50;
/** Milliseconds without a round that took too long, after which they are paced no more. */
const CALM_MS = 30_000;
/** Who was called so long ago has been read if there was something to say, milliseconds. */
const CALLED_MS_MIN = 2;
/** Of so many rounds one begins with one whose last read was costly, and of as much time so much is theirs. */
const COSTLY_EVERY = 4;

/** An item that is not paused. */
interface Reading<Item> {
  /** When it came or was called, in the order of all that were. */
  call: number;
  /** Where it stands again when it was missed; undefined: among the newcomers, as before. */
  line: WaitingLine<Item> | undefined;
  /** The round in which something of it was read last. */
  round: number;
}

/** The items of one process. */
export class ReadRotation<Item> {
  private readonly reading = new Map<Item, Reading<Item>>();
  private readonly lines = new WaitingLines<Item>();
  private count = 0;
  private readonly meter = new ReadMeter<Item>();
  private readonly time = new RoundTime();
  private readonly options: Required<ReadRotationOptions<Item>>;
  private isPaced = false;
  private pacedUntilMs = 0;
  private round = 0;
  private roundBeganMs: number | undefined;
  private reads = 0;
  /** This round has taken what it may. */
  private isSpent = false;
  private restMs = REST_MS;
  private calls = 0;
  /** When some were called last. */
  private calledAtMs = -Infinity;
  /** Before those of this round. */
  private callsBefore = 0;
  private readonly budget = new CallBudget();
  /** The last call that was followed by a read: who was called before it, and is not read, has nothing to say. */
  private callReached = 0;
  /** Which line is called first. */
  private turn = 0;
  /** Whether the one that is being read was costly before. */
  private wasCostly = false;
  /** No costly one is called before, and in so many rounds more. */
  private costlyFromMs = 0;
  private roundsUntilCostly = 0;

  constructor(options: ReadRotationOptions<Item>) {
    this.options = { isAnswering: () => false, ...options };
  }

  /** Whether they are read a few at a time. */
  get paced(): boolean {
    return this.isPaced;
  }

  /** How many are paused: they wait to be read, or for their answer. */
  get waitingCount(): number {
    return this.count - this.reading.size;
  }

  /** Until when the end of the round is to be put off: nobody is read for a while behind what took long. */
  get restUntilMs(): number {
    return this.isSpent ? this.meter.endedAtMs + this.restMs : 0;
  }

  /** A new item, which is being read: what has just come mostly has something to say at once. */
  add(item: Item): void {
    this.count += 1;
    this.lines.newcomers.add(item);
    if (this.isSpent) this.options.pause(item);
    else this.beginReading(item, undefined);
  }

  /** The item is read from now on, or is no more. Whether it was paused: it is for the caller to resume it. */
  remove(item: Item): boolean {
    if (this.meter.isOf(item)) this.endRead();
    const wasPaused = !this.reading.delete(item);
    const isKnown = this.lines.delete(item) || !wasPaused;
    if (isKnown) this.count -= 1;
    return isKnown && wasPaused;
  }

  /** A request or a piece of one was read. Answers whether it began a round, whose end is to be told. */
  noteRead(item: Item, nowMs: number): boolean {
    const isFirst = this.roundBeganMs === undefined;
    if (isFirst && this.isPaced && nowMs >= this.pacedUntilMs) this.endPace();
    this.roundBeganMs ??= nowMs;
    this.reads += 1;
    if (this.isPaced) this.noteReadPaced(item, nowMs);
    else if (nowMs - this.roundBeganMs > ROUND_MS_MAX && this.reads >= ROUND_READS_MIN) this.beginPace(nowMs);
    return isFirst;
  }

  /** While they are paced: what was noted last has been dealt with, as far as it could be at once. */
  noteReadEnd(nowMs: number): void {
    this.meter.extend(nowMs);
    this.spendIfOver(nowMs);
  }

  /** While they are paced: what is noted next belongs to another read. */
  endRead(nowMs?: number): void {
    const read = this.meter.end(nowMs);
    if (read?.isCostly !== true) return;
    this.restMs = Math.min(Math.max(REST_MS, read.tookMs / 2), REST_MS_MAX);
    // What a newcomer took is not held against those that are known.
    if (this.wasCostly) this.costlyFromMs = read.endedAtMs + read.tookMs * (COSTLY_EVERY - 1);
  }

  /** Something was read of whoever is always read. */
  noteOther(): void {
    this.time.shorten();
  }

  /** The round is over. Where it was spent, some of each line are called. */
  endRound(nowMs: number): void {
    this.endRead();
    this.meter.reset();
    this.restMs = REST_MS;
    this.round += 1;
    this.time.endRound();
    this.roundBeganMs = undefined;
    this.reads = 0;
    this.callsBefore = this.calls;
    if (!this.isSpent) {
      if (this.isPaced && nowMs >= this.pacedUntilMs) this.endPace();
      return;
    }
    this.isSpent = false;
    this.lines.release(this.options.isAnswering);
    this.roundsUntilCostly -= 1;
    if (this.roundsUntilCostly < 0 && this.callCostly(nowMs)) this.roundsUntilCostly = COSTLY_EVERY - 1;
    else this.turn = (this.turn + 1) % LINE_ORDERS;
    this.callSome(nowMs);
  }

  /** Some more are called, where those of the round had a while to be read; all of them when there was calm. */
  advance(nowMs: number): void {
    if (this.isSpent) return;
    if (nowMs >= this.pacedUntilMs) return this.endPace();
    if (nowMs - this.calledAtMs < CALLED_MS_MIN) return;
    this.lines.release(this.options.isAnswering);
    this.budget.raise(this.turn);
    this.callSome(nowMs);
    this.callCostly(nowMs);
  }

  private noteReadPaced(item: Item, nowMs: number): void {
    if (!this.meter.isOf(item)) {
      this.endRead(nowMs);
      this.beginRead(item, nowMs);
    }
    this.meter.note(nowMs);
    if (this.meter.isCostly) this.makeCostly(item);
    this.spendIfOver(nowMs);
  }

  private beginRead(item: Item, nowMs: number): void {
    this.meter.begin(item, nowMs);
    const { newcomers, goingOn, costly } = this.lines;
    const wasNew = newcomers.delete(item);
    const reading = this.reading.get(item);
    this.wasCostly = reading?.line === costly;
    if (reading === undefined) {
      if (wasNew) goingOn.addLast(item); // it had been read before it was paused
      return;
    }
    this.callReached = Math.max(this.callReached, reading.call);
    reading.line = goingOn;
    reading.round = this.round;
  }

  /** The read that is under way takes long: its item is not read on before its turn. */
  private makeCostly(item: Item): void {
    const { costly } = this.lines;
    if (costly.has(item)) return;
    this.time.shorten();
    if (this.reading.delete(item)) this.options.pause(item);
    else if (!this.lines.delete(item)) return;
    costly.addLast(item);
  }

  private spendIfOver(nowMs: number): void {
    if (this.isSpent || !this.isPaced || this.meter.tookMs < this.time.msMax) return;
    this.isSpent = true;
    this.pacedUntilMs = nowMs + CALM_MS;
    if (this.callReached > this.callsBefore) this.budget.lower(this.turn, this.callReached - this.callsBefore);
    const { all, costly, goingOn } = this.lines;
    const missed = new Map<WaitingLine<Item> | undefined, Item[]>(all.map((line) => [line, []]));
    for (const [item, { call, line, round }] of this.reading) {
      if (line !== costly && this.options.isAnswering(item)) this.awaitAnswer(item);
      else if (round === this.round) goingOn.addLast(item);
      else if (call > this.callReached) missed.get(line)?.push(item);
      else this.passOver(item, line);
      this.options.pause(item);
    }
    for (const [line, items] of missed) line?.addFirst(items);
    this.reading.clear();
  }

  private awaitAnswer(item: Item): void {
    this.lines.newcomers.delete(item);
    this.lines.answering.addLast(item);
  }

  /** It could have been read and had nothing to say. */
  private passOver(item: Item, line: WaitingLine<Item> | undefined): void {
    const { newcomers, costly, waiting } = this.lines;
    newcomers.delete(item);
    (line === costly ? line : waiting).addLast(item);
  }

  /** Some of each line are called. */
  private callSome(nowMs: number): void {
    const calls = this.lines.take(this.turn, this.budget.of(this.turn), (item) => this.reading.has(item));
    if (calls.length > 0) this.calledAtMs = nowMs;
    for (const { item, line } of calls) this.call(item, line);
  }

  /** Whether there was one. */
  private callCostly(nowMs: number): boolean {
    // Where nobody else waits, the time is theirs.
    const { costly, answering } = this.lines;
    const isDue = nowMs >= this.costlyFromMs || this.waitingCount === costly.size + answering.size;
    const [item] = isDue ? costly.take(1) : [];
    if (item === undefined) return false;
    this.time.shorten(); // though it may have nothing to say: others of its kind wait for this turn
    this.call(item, costly);
    return true;
  }

  private beginPace(nowMs: number): void {
    this.isPaced = true;
    this.time.shorten(); // those before it took no time
    this.pacedUntilMs = nowMs + CALM_MS;
    this.callsBefore = this.calls;
    this.budget.reset();
    this.lines.newcomers.clear();
    for (const item of this.reading.keys()) {
      this.lines.waiting.addLast(item);
      this.options.pause(item);
    }
    this.reading.clear();
  }

  private endPace(): void {
    this.isPaced = false;
    for (const item of this.lines.takeAll((one) => this.reading.has(one))) this.call(item, this.lines.waiting);
  }

  private call(item: Item, line: WaitingLine<Item> | undefined): void {
    this.beginReading(item, line);
    this.options.resume(item);
  }

  private beginReading(item: Item, line: WaitingLine<Item> | undefined): void {
    this.calls += 1;
    this.reading.set(item, { call: this.calls, line, round: -1 });
  }
}
