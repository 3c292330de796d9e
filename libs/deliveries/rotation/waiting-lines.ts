/**
 * Who is called next of those that are paused. Each stands in one line: some of three lines are called together, costly
 * ones one at a time, and those that wait for an answer only behind it.
 */
import { WaitingLine } from './waiting-line.ts';

/** Newcomers that are called in a round. */
const NEWEST_MAX = 16;
/** Of those that go on: about twice what one round reads. */
const GOING_ON_MAX = 48;
/** Of those that wait: most of them have nothing to say, and are soon found out. */
const WAITING_MAX = 64;
/** The same where they are first: of thousands each has its turn soon, and those that go on are called behind them. */
const WAITING_FIRST_MAX = 96;
/** Newcomers that begin to wait in a round, where more come than are called: nobody is the newest for ever. */
const OLDEST_MAX = 2;
/** Of whom it is asked whether they were answered, each time. */
const ASKED_MAX = 256;

/** In which order the lines are called, by turns: each is first in one of them at least. */
const ORDERS = [
  ['goingOn', 'newest', 'waiting'],
  ['waiting', 'goingOn', 'newest'],
  ['newest', 'goingOn', 'waiting'],
  ['goingOn', 'waiting', 'newest'],
] as const;

/** Each order comes again after so many rounds. */
export const LINE_ORDERS = ORDERS.length;

/** What all lines together give to a round. */
export const CALLS_MAX = NEWEST_MAX + GOING_ON_MAX + WAITING_MAX;

/** One that is to be read. */
export interface Call<Item> {
  item: Item;
  /** Where it stands again when it is missed; undefined: among the newcomers, as before. */
  line: WaitingLine<Item> | undefined;
}

/** The items of one process that are paused, and newcomers that are not. */
export class WaitingLines<Item> {
  /** Paused: read lately, and not for long. */
  readonly goingOn = new WaitingLine<Item>();
  readonly waiting = new WaitingLine<Item>();
  /** Paused: their last read was costly. */
  readonly costly = new WaitingLine<Item>();
  /** Paused: their answer is not given yet. */
  readonly answering = new WaitingLine<Item>();
  /** Paused or not: those of whom nobody knows yet whether they have something to say, as they came. */
  readonly newcomers = new Set<Item>();
  readonly all = [this.goingOn, this.waiting, this.costly, this.answering];

  /** Whether it was there, a newcomer or not. */
  delete(item: Item): boolean {
    const wasNew = this.newcomers.delete(item);
    return this.all.some((line) => line.delete(item)) || wasNew;
  }

  /** Whoever has been answered goes on. Of many that may have been some are asked, the others the next time. */
  release(isAnswering: (item: Item) => boolean): void {
    for (const item of this.answering.take(ASKED_MAX))
      (isAnswering(item) ? this.answering : this.goingOn).addLast(item);
  }

  /**
   * Some of three lines, `max` at most together, in the order in which they are to be called. Of the others some begin
   * to wait.
   */
  take(turn: number, max: number, isRead: (item: Item) => boolean): Call<Item>[] {
    const order = ORDERS[turn] ?? ORDERS[0];
    const unread = this.unread(isRead);
    const waitingMax = order[0] === 'waiting' ? WAITING_FIRST_MAX : WAITING_MAX;
    const lines = {
      goingOn: { line: this.goingOn, items: this.goingOn.take(GOING_ON_MAX) },
      newest: { line: undefined, items: unread.splice(-NEWEST_MAX).reverse() },
      waiting: { line: this.waiting, items: this.waiting.take(waitingMax) },
    };
    const oldest = unread.slice(0, OLDEST_MAX);
    for (const item of oldest) this.newcomers.delete(item);
    for (const item of [...oldest, ...this.goingOn.take(this.goingOn.size)]) this.waiting.addLast(item);
    const calls: Call<Item>[] = [];
    for (const { line, items } of order.map((name) => lines[name])) {
      const called = items.splice(0, max - calls.length);
      calls.push(...called.map((item) => ({ item, line })));
      line?.addFirst(items);
    }
    return calls;
  }

  /** All of them, wherever they stand. */
  takeAll(isRead: (item: Item) => boolean): Item[] {
    const unread = this.unread(isRead);
    this.newcomers.clear();
    return [...this.all.flatMap((line) => line.take(line.size)), ...unread];
  }

  /** Newcomers that are paused. */
  private unread(isRead: (item: Item) => boolean): Item[] {
    return [...this.newcomers].filter((item) => !isRead(item));
  }
}
