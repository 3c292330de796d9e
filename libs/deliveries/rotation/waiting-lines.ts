/**
 * Who is called next of those that are paused. Each stands in one line, each line but the costly one is first in its
 * turn, and whoever waits for an answer stands in none.
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

/** Orders in which the lines are called: each comes again after so many rounds. */
export const LINE_ORDERS = 4;

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
  /** Paused, and in no line before they are answered. */
  readonly answering = new Set<Item>();
  /** Paused or not: those of whom nobody knows yet whether they have something to say, as they came. */
  readonly newcomers = new Set<Item>();
  readonly lines = [this.goingOn, this.waiting, this.costly];

  /** Whether it was there, a newcomer or not. */
  delete(item: Item): boolean {
    const wasNew = this.newcomers.delete(item);
    return this.answering.delete(item) || this.lines.some((line) => line.delete(item)) || wasNew;
  }

  /** Whoever has been answered goes on. Of many that may have been some are asked, the others the next time. */
  release(isAnswering: (item: Item) => boolean): void {
    const { answering } = this;
    const asked = answering.size > ASKED_MAX ? [...answering].slice(0, ASKED_MAX) : answering;
    for (const item of asked) {
      const isLeft = isAnswering(item);
      if (isLeft && asked === answering) continue;
      answering.delete(item);
      if (isLeft) answering.add(item);
      else this.goingOn.addLast(item);
    }
  }

  /**
   * `max` at most of all lines but the costly one, in the order in which they are to be called; which line is first is
   * by turns. Of the others some begin to wait.
   */
  take(turn: number, max: number, isRead: (item: Item) => boolean): Call<Item>[] {
    const isWaitingFirst = turn % 2 === 1 && turn % 3 !== 0;
    const unread = [...this.newcomers].filter((item) => !isRead(item));
    const going = { line: this.goingOn, items: this.goingOn.take(GOING_ON_MAX) };
    const newest = { line: undefined, items: unread.splice(-NEWEST_MAX).reverse() };
    const waiting = { line: this.waiting, items: this.waiting.take(isWaitingFirst ? WAITING_FIRST_MAX : WAITING_MAX) };
    const oldest = unread.slice(0, OLDEST_MAX);
    for (const item of oldest) this.newcomers.delete(item);
    for (const item of [...oldest, ...this.goingOn.take(this.goingOn.size)]) this.waiting.addLast(item);
    const [one, other] = turn % 2 === 0 ? [newest, waiting] : [waiting, newest];
    const lines = turn % 3 === 0 ? [going, one, other] : [one, going, other];
    const calls: Call<Item>[] = [];
    for (const { line, items } of lines) {
      const called = items.splice(0, max - calls.length);
      calls.push(...called.map((item) => ({ item, line })));
      line?.addFirst(items);
    }
    return calls;
  }

  /** All of them, wherever they stand. */
  takeAll(isRead: (item: Item) => boolean): Item[] {
    const unread = [...this.newcomers].filter((item) => !isRead(item));
    const answering = [...this.answering];
    this.newcomers.clear();
    this.answering.clear();
    return [...this.lines.flatMap((line) => line.take(line.size)), ...answering, ...unread];
  }
}
