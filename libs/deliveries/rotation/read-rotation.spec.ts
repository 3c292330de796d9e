/**
 * All are read until they take too long at once; then a few in each round, by what their last read took. contract §5.11
 * (Connections without a key).
 */
import { ReadRotation } from './read-rotation.ts';

/** What a sender has for its reads, each of so many milliseconds and so many requests or pieces. */
interface Sender {
  reads: number;
  readMs: number;
  notes: number;
}

const CHEAP = { readMs: 0.1, notes: 1 };
/** 64 KiB in chunks of one byte. */
const COSTLY = { readMs: 20, notes: 200 };
/** The whole of a round. */
const FULL = { readMs: 1, notes: 1 };

/** An event loop: what the kernel has of those that are not paused is read in the order in which they were called. */
class World {
  nowMs = 0;
  /** Whom each read was of, and when it ended. */
  readonly log: { item: number; tookMs: number; round: number }[] = [];
  rounds = 0;
  readonly watched = new Set<number>();
  /** Who waits for an answer. */
  readonly answering = new Set<number>();
  calls = 0;
  private readonly senders = new Map<number, Sender>();
  readonly rotation = new ReadRotation<number>({
    pause: (item) => void this.watched.delete(item),
    resume: (item) => {
      this.calls += 1;
      this.watched.add(item);
    },
    isAnswering: (item) => this.answering.has(item),
  });

  add(item: number, sender: Sender): void {
    this.senders.set(item, { ...sender });
    this.watched.add(item);
    this.rotation.add(item);
  }

  /** It has something to say now. */
  say(item: number): void {
    const sender = this.senders.get(item);
    if (sender !== undefined) sender.reads += 1;
  }

  read(item: number, readMs: number, notes = 1): void {
    for (let note = 0; note < notes; note += 1)
      this.rotation.noteRead(item, this.nowMs + (note * readMs) / Math.max(1, notes - 1));
    this.nowMs += readMs;
    this.rotation.noteReadEnd(this.nowMs);
    this.log.push({ item, tookMs: readMs, round: this.rounds });
  }

  /** One round, as long as it takes. */
  round(): void {
    const beganMs = this.nowMs;
    for (const item of this.watched) {
      const sender = this.senders.get(item);
      if (!this.watched.has(item) || sender === undefined || sender.reads <= 0) continue;
      sender.reads -= 1;
      this.read(item, sender.readMs, sender.notes);
    }
    this.rotation.endRead();
    this.nowMs = Math.max(this.nowMs, beganMs + 3, this.rotation.restUntilMs);
    this.rotation.endRound(this.nowMs);
    this.rounds += 1;
    this.rotation.advance(this.nowMs);
  }

  until(isDone: () => boolean, roundsMax = 10_000): number {
    const before = this.rounds;
    while (!isDone() && this.rounds - before < roundsMax) this.round();
    return this.rounds - before;
  }

  readsOf(item: number): number {
    return this.log.filter((read) => read.item === item).length;
  }
}

/** One that is paced, with these senders, who wait in this order. */
function paced(senders: Sender[]): World {
  const world = new World();
  world.add(-1, { reads: 0, ...CHEAP });
  for (const [item, sender] of senders.entries()) world.add(item, sender);
  for (let count = 0; count < 20; count += 1) world.rotation.noteRead(-1, count);
  world.rotation.remove(-1);
  world.rotation.endRound(20);
  world.nowMs = 20;
  return world;
}

const many = (count: number, sender: Sender): Sender[] => Array.from({ length: count }, () => sender);
const ALWAYS = 1_000_000;

describe('before there is too much', () => {
  it.each([
    { reads: 15, eachMs: 10, why: 'few reads that took long: something else did' },
    { reads: 300, eachMs: 0.02, why: 'many reads that took no time' },
  ])('all are read: $reads reads of $eachMs ms: $why', ({ reads, eachMs }) => {
    const world = new World();
    for (let item = 0; item < 10; item += 1) world.add(item, { reads: 0, ...CHEAP });
    for (let index = 0; index < reads; index += 1)
      expect(world.rotation.noteRead(index % 10, index * eachMs)).toBe(index === 0);
    world.rotation.endRound(reads * eachMs);
    expect([world.watched.size, world.rotation.paced, world.rotation.waitingCount]).toEqual([10, false, 0]);
  });
});

describe('a round that takes too long', () => {
  it('ends the reading of all, who are called a few at a time, whoever waited longest first', () => {
    const world = paced(many(100, { reads: 0, ...CHEAP }));
    expect([...world.watched]).toEqual(Array.from({ length: 96 }, (_, item) => item));
    expect(world.rotation.waitingCount).toBe(4);
    world.until(() => world.rotation.waitingCount === 0);
    expect([world.watched.size, world.rotation.paced]).toEqual([100, true]);
  });

  it.each([0, 30])('is forgotten after half a minute of calm, with %i that wait', (waiting) => {
    const world = paced(many(10, { reads: 0, ...CHEAP }));
    for (let item = 10; item < 10 + waiting; item += 1) world.add(item, { reads: 0, ...CHEAP });
    world.read(0, 1);
    world.nowMs += 29_000;
    world.round();
    expect(world.rotation.paced).toBe(true);
    world.until(() => world.rotation.waitingCount === 0);
    world.nowMs += 1_100;
    world.rotation.noteRead(0, world.nowMs);
    world.rotation.endRound(world.nowMs);
    expect([world.rotation.paced, world.watched.size]).toEqual([false, 10 + waiting]);
  });

  it('is forgotten before the first read that comes after half a minute without any, however long that takes', () => {
    const world = paced(many(10, { reads: 0, ...CHEAP }));
    world.nowMs += 30_000;
    world.read(0, 5);
    expect([world.rotation.paced, world.watched.size]).toEqual([false, 10]);
  });
});

describe('a round, while they are paced', () => {
  it('is spent by a millisecond of reads, and all are paused until it is over, newcomers too', () => {
    const world = paced(many(20, { reads: 0, ...CHEAP }));
    world.read(0, 0.5);
    expect(world.watched.size).toBe(20);
    world.read(1, 0.5);
    world.add(20, { reads: 1, ...CHEAP });
    world.rotation.advance(world.nowMs);
    expect([world.watched.size, world.rotation.waitingCount]).toEqual([0, 21]);
    world.round();
    expect(world.watched.has(20)).toBe(true);
  });

  it('is not spent by what else the event loop does', () => {
    const world = paced(many(20, { reads: 0, ...CHEAP }));
    for (let count = 0; count < 10; count += 1) {
      world.read(count, 0.05);
      world.rotation.endRead();
      world.nowMs += 5;
    }
    expect(world.watched.size).toBe(20);
  });

  it('ends 2 ms behind what took long, and behind a costly read half of what that took', () => {
    const world = paced(many(20, { reads: 0, ...CHEAP }));
    world.read(0, 1);
    expect(world.rotation.restUntilMs).toBe(world.nowMs + 2);
    world.round();
    world.read(1, 20, 200);
    world.rotation.endRead();
    expect(world.rotation.restUntilMs).toBe(world.nowMs + 10);
  });

  it('those that it missed stand first again: where a read takes the round, they are read as they waited', () => {
    const world = paced(many(60, { reads: 1, ...FULL }));
    world.until(() => world.log.length === 60);
    expect(world.log.map(({ item }) => item)).toEqual(Array.from({ length: 60 }, (_, item) => item));
  });

  it('those that had nothing to say wait last', () => {
    const senders = many(60, { reads: 1, ...FULL });
    const world = paced([...many(3, { reads: 0, ...FULL }), ...senders]);
    world.round();
    for (let item = 0; item < 3; item += 1) world.add(item, { reads: 0, ...FULL });
    world.until(() => world.log.length === 60);
    expect(world.log.map(({ item }) => item)).toEqual(Array.from({ length: 60 }, (_, item) => item + 3));
  });

  it('the newest of those that have just come is read first, and the one that came first in the end', () => {
    const world = paced(many(1, { reads: 1, ...FULL }));
    world.rotation.noteRead(0, world.nowMs);
    world.rotation.noteReadEnd(world.nowMs + 1);
    for (let item = 1; item <= 200; item += 1) world.add(item, { reads: 1, ...FULL });
    world.until(() => world.readsOf(200) > 0, 4);
    expect(world.readsOf(200)).toBe(1);
    for (let item = 201; world.readsOf(1) === 0 && world.rounds < 100; item += 1) {
      world.round();
      world.add(item, { reads: 1, ...FULL }); // more and more come
    }
    expect(world.readsOf(1)).toBe(1);
  });
});

describe('whoever waits for an answer', () => {
  /** One that was read, waits for its answer, and is paused like all others. */
  function answering(): World {
    const world = paced(many(20, { reads: 0, ...CHEAP }));
    world.answering.add(0);
    world.read(0, 1);
    return world;
  }

  it('is not called before that is given, and goes on then', () => {
    const world = answering();
    for (let round = 0; round < 10; round += 1) {
      world.round();
      expect([world.watched.has(0), world.rotation.waitingCount >= 1]).toEqual([false, true]);
    }
    world.answering.delete(0);
    world.round();
    expect([world.watched.size, world.rotation.waitingCount]).toEqual([20, 0]);
  });

  it('is called when they are paced no more', () => {
    const world = answering();
    world.nowMs += 30_000;
    world.round();
    expect([world.rotation.paced, world.watched.size]).toEqual([false, 20]);
  });

  it('and was called as a costly one stands there still: its next read is not cheap because its answer is late', () => {
    const world = paced([...many(1, { reads: ALWAYS, ...COSTLY }), ...many(40, { reads: ALWAYS, ...CHEAP })]);
    world.until(() => world.readsOf(0) > 0);
    const from = world.nowMs;
    world.until(() => {
      // Its answer is late until the round behind the one in which it was called.
      if (world.watched.has(0) && !world.answering.delete(0)) world.answering.add(0);
      return world.nowMs > from + 20_000;
    });
    const costly = world.log.filter(({ item }) => item === 0).reduce((sum, { tookMs }) => sum + tookMs, 0);
    expect(costly / world.nowMs).toBeLessThanOrEqual(0.26);
  });

  it('is nobody whose turn the costly ones wait for', () => {
    const world = paced([...many(1, { reads: ALWAYS, ...COSTLY }), ...many(20, { reads: 1, ...CHEAP })]);
    for (let item = 1; item <= 20; item += 1) world.answering.add(item);
    world.until(() => world.log.length >= 30);
    const [reads, fromMs] = [world.readsOf(0), world.nowMs];
    world.until(() => world.nowMs > fromMs + 5_000);
    expect(((world.readsOf(0) - reads) * COSTLY.readMs) / 5_000).toBeGreaterThan(0.5);
  });

  it('is one of thousands, who are asked some at a time', () => {
    const world = paced(many(2_000, { reads: 1, ...CHEAP }));
    for (let item = 0; item < 2_000; item += 1) world.answering.add(item);
    world.until(() => {
      world.rotation.noteOther(); // short rounds, of which the last is spent as well
      return world.log.length === 2_000;
    });
    for (let item = 1_000; item < 2_000; item += 1) world.answering.delete(item);
    world.until(() => world.rotation.waitingCount <= 1_000, 100);
    expect([...world.watched].filter((item) => item < 1_000 && world.rotation.waitingCount < 1_000)).toEqual([]);
    expect(world.rotation.waitingCount).toBe(1_000);
    world.answering.clear();
    expect(world.until(() => world.rotation.waitingCount === 0)).toBeLessThan(200);
  });

  it('can leave meanwhile', () => {
    const world = answering();
    expect([world.rotation.remove(0), world.rotation.remove(0)]).toEqual([true, false]);
    world.answering.delete(0);
    world.until(() => world.rotation.waitingCount === 0);
    expect([world.watched.has(0), world.watched.size]).toEqual([false, 19]);
  });

  it('and was costly to read is called in its turn as such', () => {
    const world = answering();
    world.round();
    world.read(0, 5, 100); // came with what was read before
    world.answering.delete(0);
    expect(world.until(() => world.watched.has(0))).toBeLessThan(10);
  });
});

describe('how many are called', () => {
  it('is not many more than the last round reached, where all have something to say', () => {
    const world = paced(many(200, { reads: ALWAYS, ...CHEAP }));
    world.until(() => world.rounds >= 10);
    const [calls, reads] = [world.calls, world.log.length];
    world.until(() => world.rounds >= 110);
    expect((world.calls - calls) / (world.log.length - reads)).toBeLessThanOrEqual(3.5); // 32 a round, which reads 10
  });

  it('is as many as there may be, where nobody has', () => {
    const world = paced([...many(40, { reads: ALWAYS, ...FULL }), ...many(2_000, { reads: 0, ...CHEAP })]);
    world.until(() => world.rounds >= 10);
    for (let item = 0; item < 40; item += 1) {
      world.rotation.remove(item);
      world.watched.delete(item);
    }
    expect(world.until(() => world.rotation.waitingCount === 0)).toBeLessThan(60);
  });

  it('is enough for all of thousands that have nothing to say to have their turn within half a second', () => {
    const world = paced([...many(3_000, { reads: 0, ...CHEAP }), ...many(100, { reads: ALWAYS, ...CHEAP })]);
    world.until(() => world.rounds >= 100);
    const waits = Array.from({ length: 20 }, (_, index) => {
      const [item, fromMs] = [index * 150, world.nowMs];
      world.say(item);
      world.until(() => world.readsOf(item) > 0);
      return world.nowMs - fromMs;
    });
    expect(Math.max(...waits)).toBeLessThan(500);
  });

  it('leaves a turn to each line, however few they are', () => {
    const world = paced([...many(40, { reads: ALWAYS, ...FULL }), ...many(400, { reads: 1, ...FULL })]);
    world.until(() => world.log.length >= 4_000);
    const waited = Array.from({ length: 400 }, (_, index) => world.readsOf(40 + index));
    expect(Math.min(...waited)).toBe(1);
  });
});

describe('by what the last read took', () => {
  it('a body that goes on to come is read in every other round, beside a thousand that wait and come', () => {
    const world = paced([...many(1_000, { reads: 2, ...CHEAP })]);
    world.add(2_000, { reads: 100, ...CHEAP });
    const rounds = world.until(() => {
      world.add(3_000 + world.rounds, { reads: 2, ...CHEAP });
      return world.readsOf(2_000) === 40;
    });
    expect(rounds).toBeLessThanOrEqual(80);
  });

  it.each([1, 30, 1_000])('a new sender is read within 4 rounds, beside %i that are costly', (count) => {
    const world = paced(many(count, { reads: ALWAYS, ...COSTLY }));
    world.until(() => world.log.length >= count);
    for (let item = count; item < count + 50; item += 1) {
      world.add(item, { reads: 1, ...CHEAP });
      expect(world.until(() => world.readsOf(item) > 0)).toBeLessThanOrEqual(4);
    }
  });

  it('the costly ones get a fourth of the time at most, and each the same, beside others that always send', () => {
    const world = paced([...many(20, { reads: ALWAYS, ...COSTLY }), ...many(40, { reads: ALWAYS, ...CHEAP })]);
    world.until(() => Math.min(...world.log.slice(-100).map(({ item }) => item)) >= 0 && world.nowMs > 2_000);
    const [from, fromMs] = [world.log.length, world.nowMs];
    world.until(() => world.nowMs > fromMs + 20_000);
    const costly = world.log.slice(from).filter(({ item }) => item < 20);
    const share = costly.reduce((sum, { tookMs }) => sum + tookMs, 0) / (world.nowMs - fromMs);
    expect(share).toBeGreaterThan(0.15);
    expect(share).toBeLessThanOrEqual(0.26);
    const reads = Array.from(
      { length: 60 },
      (_, item) => world.log.slice(from).filter((read) => read.item === item).length,
    );
    expect(Math.max(...reads.slice(0, 20)) - Math.min(...reads.slice(0, 20))).toBeLessThanOrEqual(1);
    expect(Math.min(...reads.slice(20))).toBeGreaterThan(100);
  });

  it('costly ones have more than half of the time where nobody else waits', () => {
    const world = paced(many(8, { reads: ALWAYS, ...COSTLY }));
    world.until(() => world.rounds >= 200);
    const [from, fromMs] = [world.log.length, world.nowMs];
    world.until(() => world.rounds >= 400);
    expect((world.log.length - from) * COSTLY.readMs).toBeGreaterThan((world.nowMs - fromMs) / 2);
  });

  it('short costly reads leave three of four rounds to the others', () => {
    const world = paced([...many(5, { reads: ALWAYS, readMs: 1, notes: 50 }), { reads: ALWAYS, ...FULL }]);
    world.until(() => world.rounds >= 200);
    const costly = world.log.slice(-100).filter(({ item }) => item < 5).length;
    expect(costly).toBeGreaterThan(10);
    expect(costly).toBeLessThanOrEqual(26);
  });

  it('one whose read is short again goes on with the others', () => {
    const world = paced([{ reads: 2, ...COSTLY }]);
    world.until(() => world.readsOf(0) === 2);
    world.add(1, { reads: ALWAYS, ...FULL });
    world.rotation.remove(0);
    world.watched.delete(0);
    world.add(0, { reads: 0, ...CHEAP });
    expect(world.until(() => world.watched.has(0))).toBeLessThan(10);
  });

  it('a read that took long with few pieces is not costly: something else took the time', () => {
    const world = paced(many(2, { reads: 10, readMs: 30, notes: 10 }));
    expect(world.until(() => world.log.length === 20)).toBeLessThanOrEqual(21);
  });
});

describe('how much is read in a round', () => {
  /** Of each of so many rounds. */
  function readsOfNext(world: World, rounds: number): number[] {
    const from = world.rounds;
    world.until(() => world.rounds === from + rounds);
    return Array.from({ length: rounds }, (_, index) => world.log.filter(({ round }) => round === from + index).length);
  }
  const full = (): World => paced(many(200, { reads: ALWAYS, ...FULL }));
  const of = (count: number, rounds: number): number[] => Array.from({ length: rounds }, () => count);

  it('is a millisecond, and eight where nobody else was read for a while', () => {
    const world = full();
    expect(readsOfNext(world, 15)).toEqual(of(1, 15)); // one has been before
    expect(readsOfNext(world, 20)).toEqual(of(8, 20));
  });

  it.each<[why: string, happens: (world: World) => void]>([
    ['somebody else is read', ({ rotation }) => rotation.noteOther()],
    ['one is costly', (world) => world.read(0, COSTLY.readMs, COSTLY.notes)],
  ])('is a millisecond again when %s', (_why, happens) => {
    const world = full();
    readsOfNext(world, 20);
    happens(world);
    world.round();
    expect(readsOfNext(world, 12)).toEqual(of(1, 12));
    readsOfNext(world, 10);
    expect(readsOfNext(world, 4)).toEqual(of(8, 4));
  });

  it('is a millisecond while a costly one has a turn, though it has nothing to say', () => {
    const world = paced([...many(40, { reads: 1, ...COSTLY }), ...many(200, { reads: ALWAYS, ...FULL })]);
    world.until(() => world.log.filter(({ tookMs }) => tookMs === COSTLY.readMs).length === 40);
    readsOfNext(world, 100);
    expect(Math.max(...readsOfNext(world, 100))).toBe(1);
  });
});

describe('one that leaves', () => {
  it.each([
    { item: 3, was: 'read', paused: false },
    { item: 97, was: 'waiting', paused: true },
  ])('says whether it was paused: $was', ({ item, paused }) => {
    const { rotation } = paced(many(100, { reads: 0, ...CHEAP }));
    expect(rotation.remove(item)).toBe(paused);
    expect([rotation.remove(item), rotation.waitingCount]).toEqual([false, paused ? 3 : 4]);
  });

  it('is known although something came of it while it was paused', () => {
    const world = paced(many(5, { reads: 0, ...CHEAP }));
    world.read(0, 1);
    world.add(5, { reads: 0, ...CHEAP });
    world.rotation.noteRead(5, world.nowMs);
    expect([world.rotation.waitingCount, world.rotation.remove(5), world.rotation.waitingCount]).toEqual([6, true, 5]);
  });

  it('while the round is spent is not called any more', () => {
    const world = paced(many(5, { reads: 0, ...CHEAP }));
    world.read(0, 1);
    world.add(5, { reads: 0, ...CHEAP });
    for (const item of [0, 2, 5]) expect(world.rotation.remove(item)).toBe(true);
    world.round();
    expect([...world.watched].sort()).toEqual([1, 3, 4]); // it is for whoever removed it to resume it
  });
});
