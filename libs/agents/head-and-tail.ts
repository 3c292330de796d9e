/**
 * The beginning and the end of a sequence that is too long to be kept: the first items pass at once, of the rest the
 * latest are held back until the end. contract §3.1 (events).
 */

/** How much is kept at one side. */
export interface Allowance {
  items: number;
  bytes: number;
}

export interface HeadAndTailDeps<Item> {
  head: Allowance;
  tail: Allowance;
  bytesOf(item: Item): number;
  give(item: Item): void;
  /** Says something about what is held back or left out, in order with what is given. */
  say(text: string): void;
  /** The text for what is missing between beginning and end. */
  missing(leftOut: { items: number; bytes: number }): string;
  nowMs(): number;
}

/**
 * Milliseconds between two signs of life while items are held back; they become rarer, so that their number stays small
 * however long it takes.
 */
const SIGN_MS_MIN = 10_000;
const SIGN_SHARE = 1 / 50;

/** Items that are gone before the list is made shorter. */
const COMPACT_AFTER = 100;

/** One bounded sequence. */
export class HeadAndTail<Item> {
  private readonly deps: HeadAndTailDeps<Item>;
  private left: Allowance;
  private held: Held<Item> | undefined;

  constructor(deps: HeadAndTailDeps<Item>) {
    this.deps = deps;
    this.left = { ...deps.head };
  }

  add(item: Item): void {
    const bytes = this.deps.bytesOf(item);
    if (this.held === undefined && this.left.items > 0 && bytes <= this.left.bytes) {
      this.left = { items: this.left.items - 1, bytes: this.left.bytes - bytes };
      return this.deps.give(item);
    }
    this.hold((this.held ??= this.begin()), item);
  }

  /** Gives out what is held back; what comes then begins anew. */
  finish(): void {
    const { deps, held } = this;
    this.held = undefined;
    this.left = { ...deps.head };
    if (held === undefined) return;
    if (held.leftOut.items > 0) deps.say(deps.missing(held.leftOut));
    for (const item of held.items.slice(held.first)) deps.give(item);
  }

  private begin(): Held<Item> {
    const { say, nowMs } = this.deps;
    say(
      '… that is more than the log takes: the rest is held back, and its end follows when the agent or the ' +
        'command has ended …',
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
  }

  private hold(held: Held<Item>, item: Item): void {
    const { tail, bytesOf, say, nowMs } = this.deps;
    held.items.push(item);
    held.count += 1;
    held.bytes += bytesOf(item);
    const count = (): number => held.items.length - held.first;
    while (count() > 1 && (count() > tail.items || held.bytes > tail.bytes)) this.drop(held);
    if (nowMs() < held.signMs) return;
    held.signMs = nowMs() + Math.max(SIGN_MS_MIN, (nowMs() - held.sinceMs) * SIGN_SHARE);
    say(`… it goes on: ${held.count} more since then …`);
  }

  private drop(held: Held<Item>): void {
    const bytes = this.deps.bytesOf(held.items[held.first] as Item);
    held.bytes -= bytes;
    held.leftOut = { items: held.leftOut.items + 1, bytes: held.leftOut.bytes + bytes };
    held.first += 1;
    // Moved rarely: taking the first of a long list each time would cost its length.
    if (held.first < COMPACT_AFTER) return;
    held.items = held.items.slice(held.first);
    held.first = 0;
  }
}

/** The latest items; those before `first` are gone already. */
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
