/** Who is called next of those that are paused: everybody stands in one line, and each line is first in its turn. */
import { WaitingLine } from './waiting-line.ts';

/** Newcomers that are called in a round. */
const NEWEST_MAX = 16;
/** Of those that go on. */
const GOING_ON_MAX = 48;
/** Of those that wait: most of them have nothing to say, and are soon found out. */
const WAITING_MAX = 64;
/** Newcomers that begin to wait in a round, where more come than are called: nobody is the newest for ever. */
const OLDEST_MAX = 2;

/** What all lines together give to a round. */
export const CALLS_MAX = NEWEST_MAX + GOING_ON_MAX + WAITING_MAX;

/** One that is to be read. */
export interface Call<Item> {
  item: Item;
  /** Where it stands again when it is missed; undefined: among the newcomers, as before. */
  line: WaitingLine<Item> | undefined;
}

/** The items of one process, but for those that are read. */
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
  readonly all = [this.goingOn, this.waiting, this.costly];

  /** Whether it was there, a newcomer or not. */
  delete(item: Item): boolean {
    const wasNew = this.newcomers.delete(item);
    return this.answering.delete(item) || this.all.some((line) => line.delete(item)) || wasNew;
  }

  /** Whoever has been answered goes on. */
  release(isAnswering: (item: Item) => boolean): void {
    for (const item of this.answering) {
      if (isAnswering(item)) continue;
      this.answering.delete(item);
      this.goingOn.addLast(item);
    }
  }

  /**
   * `max` at most of all lines but the costly one, in the order in which they are to be called; which line is first is
   * by turns. Of the others some begin to wait.
   */
  take(turn: number, max: number, isRead: (item: Item) => boolean): Call<Item>[] {
    const unread = [...this.newcomers].filter((item) => !isRead(item));
    const going = { line: this.goingOn, items: this.goingOn.take(GOING_ON_MAX) };
    const newest = { line: undefined, items: unread.splice(-NEWEST_MAX).reverse() };
    const waiting = { line: this.waiting, items: this.waiting.take(WAITING_MAX) };
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
    return [...this.all.flatMap((line) => line.take(line.size)), ...answering, ...unread];
  }
}
