/**
 * All are read until they take too long at once; then a few, each in its turn. contract §5.11 (Connections without a
 * key).
 */
import { ReadRotation } from './read-rotation.ts';

interface World {
  rotation: ReadRotation<number>;
  /** Items that are not paused. */
  read(): number[];
  /** Those that were paused, and not read again. */
  paused: Set<number>;
}

function world(items: number): World {
  const paused = new Set<number>();
  const rotation = new ReadRotation<number>({
    pause: (item) => void paused.add(item),
    resume: (item) => void paused.delete(item),
    stepMax: 4,
  });
  const all = Array.from({ length: items }, (_, index) => index);
  for (const item of all) rotation.add(item);
  return { rotation, paused, read: () => all.filter((item) => !paused.has(item)) };
}

/** After reads of half a millisecond each, until there were more than one round may take. */
function paced(items = 10): World {
  const place = world(items);
  for (let count = 0; !place.rotation.paced; count += 1) place.rotation.noteRead(count, count * 0.5);
  place.rotation.endRound();
  return place;
}

describe('before there is too much', () => {
  it.each([
    { reads: 15, eachMs: 10, why: 'few reads that took long: something else did' },
    { reads: 300, eachMs: 0.02, why: 'many reads that took no time' },
  ])('all are read: $reads reads of $eachMs ms: $why', ({ reads, eachMs }) => {
    const { rotation, read } = world(10);
    for (let index = 0; index < reads; index += 1)
      expect(rotation.noteRead(index % 10, index * eachMs)).toBe(index === 0);
    rotation.endRound();
    expect([read().length, rotation.paced, rotation.waitingCount]).toEqual([10, false, 0]);
  });
});

describe('a round that takes too long', () => {
  it('ends the reading of all, who are read again a few at a time, whoever waited longest first', () => {
    const { rotation, read } = paced();
    expect(read()).toEqual([]);
    rotation.advance(20);
    expect(read()).toEqual([0, 1, 2, 3]);
    rotation.advance(22);
    rotation.advance(24);
    expect([read().length, rotation.waitingCount, rotation.paced]).toEqual([10, 0, true]);
  });

  it('is forgotten after half a minute of calm', () => {
    const { rotation, read } = paced(30);
    rotation.advance(29_000);
    expect([rotation.paced, read().length]).toEqual([true, 4]);
    rotation.advance(30_100);
    expect([rotation.paced, read().length]).toEqual([false, 30]);
  });
});

describe('while rounds are short', () => {
  it('a newcomer is read at once', () => {
    const { rotation, paused } = paced();
    rotation.add(10);
    expect([rotation.waitingCount, paused.has(10)]).toEqual([10, false]);
    rotation.noteRead(10, 100);
    expect(paused.has(10)).toBe(false);
  });

  it('who goes on to send is read on, beside those that wait', () => {
    const { rotation, read } = paced();
    rotation.advance(20);
    rotation.noteRead(1, 100);
    rotation.noteRead(0, 101); // a millisecond is over: 2 and 3 are held, and 1 and 0 behind them
    rotation.endRound();
    expect(read()).toEqual([0, 1, 4, 5]);
  });

  it('nobody else is read in a round that took a millisecond, newcomers neither; then the newest first', () => {
    const { rotation, read } = paced();
    rotation.advance(20);
    rotation.advance(22);
    rotation.noteRead(0, 100);
    rotation.noteRead(1, 101); // all are held
    rotation.remove(9);
    rotation.add(9);
    rotation.advance(102);
    expect(read()).toEqual([]);
    rotation.endRound();
    expect(read()).toEqual([1, 8, 9]); // two of those that were held, and the one that waited
    expect(rotation.waitingCount).toBe(7);
  });

  it.each([
    { item: 3, was: 'read', paused: false },
    { item: 7, was: 'waiting', paused: true },
  ])('one that was $was leaves, and says so', ({ item, paused }) => {
    const { rotation } = paced();
    rotation.advance(20);
    expect(rotation.remove(item)).toBe(paused);
    expect(rotation.waitingCount).toBe(paused ? 5 : 6);
  });

  it('one that was held until the next round leaves for good', () => {
    const { rotation, read } = paced(5);
    rotation.advance(20);
    rotation.noteRead(0, 100);
    rotation.noteRead(1, 101);
    expect(rotation.remove(2)).toBe(true);
    rotation.endRound();
    expect(read()).not.toContain(2); // it is for whoever removed it to resume it
  });
});
