/** Keeps the beginning and the end of more than can be kept: the first things are passed on at once, of the rest the latest are held back until the end. contract 3 (events). */

/** How much is kept at one side. */
export interface Allowance {
  items: number;
  bytes: number;
}

export interface HeadAndTailParts<Item> {
  head: Allowance;
  tail: Allowance;
  bytesOf(item: Item): number;
  give(item: Item): void;
  /** Says something about what is held back or left out, in order with what is given. */
  say(text: string): void;
  /** The words for what is missing between beginning and end. */
  missing(leftOut: { items: number; bytes: number }): string;
  nowMs(): number;
}

export interface HeadAndTail<Item> {
  add(item: Item): void;
  /** Gives out what is held back; what comes then begins anew. */
  finish(): void;
}

/** Milliseconds between two signs of life while things are held back; they become rarer, so that their number stays small however long it takes. */
const SIGN_MS_MIN = 10_000;
const SIGN_SHARE = 1 / 50;

/** Things that are gone before the list is made shorter. */
const COMPACT_AFTER = 100;

/** One bounded sequence. */
export function headAndTail<Item>(parts: HeadAndTailParts<Item>): HeadAndTail<Item> {
  const { give, say, bytesOf, nowMs } = parts;
  let left: Allowance = { ...parts.head };
  let held: Held<Item> | undefined;
  const begin = (): Held<Item> => {
    say(
      '… that is more than the log takes: the rest is held back, and its end follows when the agent or the command has ended …',
    );
    return {
      items: [],
      first: 0,
      bytes: 0,
      count: 0,
      leftOut: { items: 0, bytes: 0 },
      sinceMs: nowMs(),
      signMs: nowMs() + SIGN_MS_MIN,
    };
  };
  const hold = (tail: Held<Item>, item: Item): void => {
    tail.items.push(item);
    tail.count += 1;
    tail.bytes += bytesOf(item);
    while (
      tail.items.length - tail.first > 1 &&
      (tail.items.length - tail.first > parts.tail.items || tail.bytes > parts.tail.bytes)
    )
      drop(tail);
    if (nowMs() < tail.signMs) return;
    tail.signMs = nowMs() + Math.max(SIGN_MS_MIN, (nowMs() - tail.sinceMs) * SIGN_SHARE);
    say(`… it goes on: ${tail.count} more since then …`);
  };
  const drop = (tail: Held<Item>): void => {
    const bytes = bytesOf(tail.items[tail.first] as Item);
    tail.bytes -= bytes;
    tail.leftOut = { items: tail.leftOut.items + 1, bytes: tail.leftOut.bytes + bytes };
    tail.first += 1;
    // Moved rarely: taking the first of a long list each time would cost its length.
    if (tail.first < COMPACT_AFTER) return;
    tail.items = tail.items.slice(tail.first);
    tail.first = 0;
  };
  return {
    add: (item) => {
      const bytes = bytesOf(item);
      if (held === undefined && left.items > 0 && bytes <= left.bytes) {
        left = { items: left.items - 1, bytes: left.bytes - bytes };
        return give(item);
      }
      hold((held ??= begin()), item);
    },
    finish: () => {
      const tail = held;
      [held, left] = [undefined, { ...parts.head }];
      if (tail === undefined) return;
      if (tail.leftOut.items > 0) say(parts.missing(tail.leftOut));
      for (const item of tail.items.slice(tail.first)) give(item);
    },
  };
}

/** The latest things; those before `first` are gone already. */
interface Held<Item> {
  items: Item[];
  first: number;
  bytes: number;
  /** All that came since the beginning was full. */
  count: number;
  leftOut: { items: number; bytes: number };
  sinceMs: number;
  signMs: number;
}
