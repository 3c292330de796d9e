/**
 * Many items to a transaction: what arrives while one commits goes into the next, and so does what the rounds of the
 * event loop bring behind each other, or what comes until the next one is due; and several of them side by side, one
 * for all items of a key.
 */

/** Bounds of one transaction: past these the commit itself takes longer than the waiting it saves. */
const ITEMS_MAX = 256;
const BYTES_MAX = 8 * 1_048_576;

/**
 * A transaction waits so long at most, and one round of the event loop, while every round brings more items for it: it
 * costs about as much for ten of them as for one.
 */
const GATHERING_MS_MAX = 4;

/**
 * Under load a transaction begins so long behind the end of the one before, unless `apartMs` says otherwise: the
 * synchronization alone takes as much of the processor as some items do.
 */
const APART_MS = 2;
/** By how much a transaction has to become larger for which it was put off. */
const WORTH_WAITING = 1.25;
/** Transactions that are not put off behind one that was in vain: a probe in so many costs each a small part of it. */
const UNPACED = 32;

/**
 * Who waits for what becomes of an item, and is notified once, in the round of the event loop in which it was committed
 * or, of many, in one of the next: tens of thousands of items a second need no promise each. Throws nothing.
 */
export interface CommitWaiter<Out> {
  committed(result: Out): void;
  failed(error: unknown): void;
}

interface Waiting<In, Out> {
  item: In;
  waiter: CommitWaiter<Out>;
}

/** Items that are not committed together: of those of one key an earlier one goes first nevertheless. */
export interface Grouping<In> {
  kindOf(item: In): unknown;
  keyOf(item: In): string;
}

/** Notified in one round of the event loop: what comes back on their answers is read before the next ones are. */
const NOTIFIED_MAX = 64;

/**
 * Who waits for a transaction is notified of its outcome: of a large one some in each round of the event loop, so that
 * their answers hold up nobody else's request. decision 200.
 */
class CommitNotifications {
  /** Of the last transaction. */
  private count = 0;
  private next = 0;
  private notifyAt: ((at: number) => void) | undefined;
  private readonly onEmpty: () => void;

  /** `onEmpty`: called when the last one was notified. */
  constructor(onEmpty: () => void) {
    this.onEmpty = onEmpty;
  }

  get isEmpty(): boolean {
    return this.next >= this.count;
  }

  /** So many of one transaction, in order, the first of them at once. To be called when it is empty. */
  add(count: number, notifyAt: (at: number) => void): void {
    [this.count, this.next, this.notifyAt] = [count, 0, notifyAt];
    this.notifySome();
  }

  private notifySome(): void {
    const end = Math.min(this.next + NOTIFIED_MAX, this.count);
    for (; this.next < end; this.next += 1) this.notifyAt?.(this.next);
    if (!this.isEmpty) return void setImmediate(() => this.notifySome());
    this.notifyAt = undefined; // nor what it holds
    this.onEmpty();
  }
}

/** What a group commit has to know of its items. */
export interface GroupCommitOptions<In, Out> {
  commit(items: In[]): Promise<Out[]>;
  /** Of no weight, if not said. */
  bytesOf?(item: In): number;
  /** Tells a fault of the database, which no item can escape, from one that a single item may have caused. */
  concernsAll(error: unknown): boolean;
  /** All are committed together, if not said. */
  grouping?: Grouping<In> | undefined;
  /** Milliseconds between transactions under load. */
  apartMs?: number;
}

const NO_BYTES = (): number => 0;

/**
 * Collects items while they come in one round of the event loop after the other, and hands them to `commit` together,
 * under load about `apartMs` apart. An item that comes alone behind another that did waits for no other, nor do those
 * that came while another commit ran; bytes end a batch, and no gathering. One commit runs at a time.
 * When a commit of several items fails, each is tried alone, so that one bad item fails by itself (unless the database
 * itself is at fault).
 */
export class GroupCommit<In, Out> {
  private waiting: Waiting<In, Out>[] = [];
  private scheduled = false;
  /** When the last transaction ended, by the monotonic clock. */
  private endedAtMs = -Infinity;
  /** How many items it had. */
  private lastCount = 0;
  /** How many of the next transactions are not put off. */
  private unpaced = 0;
  /** While a transaction is put off. */
  private putOff: NodeJS.Timeout | undefined;
  private readonly notifications = new CommitNotifications(() => this.endIfDrained());
  private readonly whenDrained: (() => void)[] = [];
  private readonly options: GroupCommitOptions<In, Out>;

  constructor(options: GroupCommitOptions<In, Out>) {
    this.options = options;
  }

  add(item: In): Promise<Out> {
    return new Promise((resolve, reject) => this.enqueue(item, { committed: resolve, failed: reject }));
  }

  /** The same for who needs no promise. */
  enqueue(item: In, waiter: CommitWaiter<Out>): void {
    this.waiting.push({ item, waiter });
    if (this.putOff !== undefined && this.waiting.length >= ITEMS_MAX) this.flushPutOff();
    this.schedule();
  }

  /** Resolved when nothing waits or is committed and all are notified. Puts nothing off that waits already. */
  drained(): Promise<void> {
    if (this.putOff !== undefined) this.flushPutOff();
    return this.isDrained ? Promise.resolve() : new Promise((resolve) => this.whenDrained.push(resolve));
  }

  private get isDrained(): boolean {
    return !this.scheduled && this.notifications.isEmpty;
  }

  private schedule(): void {
    if (this.scheduled || this.waiting.length === 0) return;
    this.scheduled = true;
    this.gather(this.waiting.length, performance.now());
  }

  /** `lastLength`: how many waited a round of the event loop ago. */
  private gather(lastLength: number, sinceMs: number): void {
    const wasNotifying = !this.notifications.isEmpty;
    setImmediate(() => {
      const { length } = this.waiting;
      if (wasNotifying) return this.gather(length, performance.now()); // who is answered may send on
      if (length > lastLength && length < ITEMS_MAX && performance.now() - sinceMs < GATHERING_MS_MAX)
        this.gather(length, sinceMs);
      else this.pace(length);
    });
  }

  /** Begins the transaction, or puts it off until it is due, where it is likely that this brings more items. */
  private pace(length: number): void {
    const { apartMs = APART_MS } = this.options;
    const leftMs = this.endedAtMs + apartMs - performance.now();
    if (leftMs <= 0 || length >= ITEMS_MAX || (length === 1 && this.lastCount <= 1)) return void this.flush();
    if (this.unpaced > 0) {
      this.unpaced -= 1;
      return void this.flush();
    }
    const whenDue = (): void => {
      if (this.waiting.length < length * WORTH_WAITING) this.unpaced = UNPACED; // senders wait for their answers
      this.flushPutOff();
    };
    this.putOff = setTimeout(whenDue, Math.min(leftMs, apartMs));
  }

  private flushPutOff(): void {
    clearTimeout(this.putOff);
    this.putOff = undefined;
    void this.flush();
  }

  private async flush(): Promise<void> {
    const batch = this.take();
    try {
      await this.commitOrSplit(batch);
    } finally {
      this.endedAtMs = performance.now();
      this.lastCount = batch.length;
      if (this.waiting.length > 0) this.flushBehindNotifications();
      else this.end();
    }
  }

  /** What came during a transaction has waited already. */
  private flushBehindNotifications(): void {
    setImmediate(() => (this.notifications.isEmpty ? void this.flush() : this.flushBehindNotifications()));
  }

  private end(): void {
    this.scheduled = false;
    this.endIfDrained();
  }

  private endIfDrained(): void {
    if (this.isDrained) for (const resolve of this.whenDrained.splice(0)) resolve();
  }

  private async commitOrSplit(batch: Waiting<In, Out>[]): Promise<void> {
    let results: Out[];
    try {
      results = await this.options.commit(batch.map(({ item }) => item));
    } catch (error) {
      if (batch.length === 1 || this.options.concernsAll(error))
        return this.notifications.add(batch.length, (at) => batch[at]?.waiter.failed(error));
      for (const one of batch) await this.commitOrSplit([one]);
      return;
    }
    this.notifications.add(batch.length, (at) => batch[at]?.waiter.committed(results[at] as Out));
  }

  private take(): Waiting<In, Out>[] {
    const batch = this.takeFirst();
    const { grouping } = this.options;
    if (grouping === undefined) return batch;
    const { kindOf, keyOf } = grouping;
    const kinds = batch.map(({ item }) => kindOf(item));
    if (kinds.every((kind) => kind === kinds[0])) return batch;
    const passedOver = new Set<string>();
    const isNow = batch.map(({ item }, at) => {
      const key = keyOf(item);
      if (kinds[at] === kinds[0] && !passedOver.has(key)) return true;
      passedOver.add(key);
      return false;
    });
    this.waiting.unshift(...batch.filter((_, at) => isNow[at] !== true));
    return batch.filter((_, at) => isNow[at]);
  }

  /** As many as go into one transaction, whatever they are. */
  private takeFirst(): Waiting<In, Out>[] {
    const { bytesOf = NO_BYTES } = this.options;
    let bytes = 0;
    let count = 0;
    while (count < this.waiting.length && count < ITEMS_MAX && (count === 0 || bytes < BYTES_MAX)) {
      bytes += bytesOf((this.waiting[count] as Waiting<In, Out>).item);
      count += 1;
    }
    return this.waiting.splice(0, count);
  }
}

/** As many group commits as are given, one for all items of a key. */
export class ShardedGroupCommit<In, Out> {
  private readonly shards: readonly GroupCommit<In, Out>[];
  private readonly keyOf: (item: In) => string;

  constructor(count: number, keyOf: (item: In) => string, create: () => GroupCommit<In, Out>) {
    this.shards = Array.from({ length: count }, create);
    this.keyOf = keyOf;
  }

  add(item: In): Promise<Out> {
    return this.shardOf(item).add(item);
  }

  /** The same for who needs no promise. */
  enqueue(item: In, waiter: CommitWaiter<Out>): void {
    this.shardOf(item).enqueue(item, waiter);
  }

  private shardOf(item: In): GroupCommit<In, Out> {
    return this.shards[shardOf(this.keyOf(item), this.shards.length)] as GroupCommit<In, Out>;
  }
}

/** Characters of a key that are hashed: the last ones of a random identifier are as good as all. */
const HASHED_CHARACTERS = 6;
function shardOf(key: string, count: number): number {
  let sum = 0;
  for (let at = Math.max(0, key.length - HASHED_CHARACTERS); at < key.length; at += 1)
    sum = sum * 31 + key.charCodeAt(at);
  return sum % count;
}
