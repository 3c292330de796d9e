/** Who has to wait: few, each key as long as the others, and nobody who has left. */
import { RefusalError } from '../http/error-codes.ts';
import { FairSemaphore, type Acquirer } from './fair-semaphore.ts';

const BOUNDS = { atOnce: 1, waiting: 4, waitingOfKey: 2, retryAfterSeconds: 7, what: 'things' };
const of = (keyId: string, signal?: AbortSignal): Acquirer => ({ keyId, signal });

/** Work that is over when it is told to, in the order in which it began. */
function work(): { begun: string[]; act: (name: string) => () => Promise<string>; end: () => Promise<void> } {
  const [begun, ends]: [string[], (() => void)[]] = [[], []];
  const act = (name: string) => (): Promise<string> => {
    begun.push(name);
    return new Promise((resolve) => ends.push(() => resolve(name)));
  };
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, act, end };
}

function refusalOf(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

it('begins at once where nobody is in the way, and a failure gives its turn on', async () => {
  const [turns, { begun, act, end }] = [new FairSemaphore(BOUNDS), work()];
  await expect(turns.acquire(of('a'), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const first = turns.acquire(of('a'), act('a1'));
  expect(begun).toEqual(['a1']);
  await end();
  expect(await first).toBe('a1');
});

it('refuses a key of which as many wait as may, and everybody where all places are taken', async () => {
  const [turns, { begun, act, end }] = [new FairSemaphore(BOUNDS), work()];
  const asked = ['a', 'a', 'a', 'b', 'b'].map((keyId, at) => turns.acquire(of(keyId), act(`${keyId}${at}`)));
  expect(refusalOf(() => turns.acquire(of('a'), act('a')))).toBeInstanceOf(RefusalError);
  expect(refusalOf(() => turns.acquire(of('a'), act('a')))).toMatchObject({
    status: 429,
    code: 'resource_unavailable',
    retryable: true,
    retryAfterSeconds: 7,
  });
  expect(refusalOf(() => turns.acquire(of('c'), act('c')))).toMatchObject({
    status: 503,
    code: 'resource_unavailable',
    retryable: true,
    retryAfterSeconds: 7,
  });
  expect(turns.waiting).toBe(4);
  for (let count = 0; count < 5; count += 1) await end();
  expect((await Promise.all(asked)).sort()).toEqual([...begun].sort());
  expect(turns.waiting).toBe(0);
});

it('keys that wait take turns, and each its own in order', async () => {
  const [turns, { begun, act, end }] = [new FairSemaphore({ ...BOUNDS, waiting: 9, waitingOfKey: 5 }), work()];
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) void turns.acquire(of(name.slice(0, 1)), act(name));
  for (let count = 0; count < 7; count += 1) await end();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

it('who leaves is told so at once, never begins, and gives the place to another', async () => {
  const [turns, { begun, act, end }] = [new FairSemaphore(BOUNDS), work()];
  const left = new AbortController();
  const first = turns.acquire(of('a'), act('a1'));
  const leaving = turns.acquire(of('a', left.signal), act('a2'));
  const last = turns.acquire(of('a'), act('a3'));
  left.abort(new Error('left'));
  await expect(leaving).rejects.toThrow('left');
  expect(turns.waiting).toBe(1);
  const another = turns.acquire(of('a'), act('a4'));
  for (let count = 0; count < 3; count += 1) await end();
  expect(await Promise.all([first, last, another])).toEqual(['a1', 'a3', 'a4']);
  expect(begun).toEqual(['a1', 'a3', 'a4']);
  expect(refusalOf(() => turns.acquire(of('a', left.signal), act('a5')))).toEqual(new Error('left'));
});

it('who leaves after the turn has begun is not in the way of the next', async () => {
  const [turns, { begun, act, end }] = [new FairSemaphore(BOUNDS), work()];
  const left = new AbortController();
  void turns.acquire(of('a'), act('a1'));
  const second = turns.acquire(of('a', left.signal), act('a2'));
  const third = turns.acquire(of('a'), act('a3'));
  await end();
  left.abort(new Error('left'));
  await end();
  await end();
  expect(await Promise.all([second, third])).toEqual(['a2', 'a3']);
  expect(begun).toEqual(['a1', 'a2', 'a3']);
});

it('as many as may work at the same time', async () => {
  const [turns, { begun, act, end }] = [new FairSemaphore({ ...BOUNDS, atOnce: 2 }), work()];
  for (const name of ['a1', 'b1', 'a2', 'b2']) void turns.acquire(of(name.slice(0, 1)), act(name));
  expect(begun).toEqual(['a1', 'b1']);
  await end();
  expect(begun).toEqual(['a1', 'b1', 'a2']);
});
