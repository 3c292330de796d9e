/** One question, one work; few at a time, and none forgotten by a failure. */
import { ResponseCache } from './response-cache.ts';

const BOUNDS = {
  ttlMs: 100,
  answers: 3,
  atOnce: 1,
  waiting: 3,
  waitingOfKey: 2,
  retryAfterSeconds: 5,
  what: 'statistics',
};
const US = { keyId: 'key_us' };

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when it is told to. */
function work(): { run: () => Promise<string>; end: (answer: string) => void; fail: () => void; times: () => number } {
  let times = 0;
  let end: (answer: string) => void = () => undefined;
  let fail: () => void = () => undefined;
  const run = (): Promise<string> => {
    times += 1;
    return new Promise((resolve, reject) => ([end, fail] = [resolve, () => reject(new Error('no'))]));
  };
  return { run, end: (answer) => end(answer), fail: () => fail(), times: () => times };
}

describe('KeptAnswers', () => {
  let nowMs: number;
  let answers: ResponseCache<string>;
  beforeEach(() => {
    nowMs = 0;
    answers = new ResponseCache(() => nowMs, BOUNDS);
  });

  it('work on a question once for all who ask, and for a while after', async () => {
    const one = work();
    const asked = [answers.of('a', US, one.run), answers.of('a', US, one.run)];
    one.end('x');
    expect(await Promise.all(asked)).toEqual(['x', 'x']);
    nowMs = 99;
    expect(await answers.of('a', US, one.run)).toBe('x');
    expect(one.times()).toBe(1);
    nowMs = 100;
    const again = answers.of('a', US, one.run);
    one.end('y');
    expect(await again).toBe('y');
  });

  it('an answer is kept from when it was found, however long that took', async () => {
    const one = work();
    const asked = answers.of('a', US, one.run);
    nowMs = 1_000;
    void answers.of('a', US, one.run);
    one.end('x');
    await asked;
    nowMs = 1_099;
    void answers.of('a', US, one.run);
    expect(one.times()).toBe(1);
  });

  it('a failure is not kept', async () => {
    const one = work();
    const failing = answers.of('a', US, one.run);
    one.fail();
    await expect(failing).rejects.toThrow('no');
    const again = answers.of('a', US, one.run);
    one.end('x');
    expect(await again).toBe('x');
  });

  it('works on few questions at a time, in the order they came, and refuses what would wait too long', async () => {
    const [one, two, three] = [work(), work(), work()];
    const asked = [answers.of('1', US, one.run), answers.of('2', US, two.run), answers.of('3', US, three.run)];
    await expect(answers.of('4', US, work().run)).rejects.toMatchObject({
      status: 429,
      retryable: true,
      retryAfterSeconds: 5,
    });
    const theirs = work();
    const askedByThem = answers.of('4', { keyId: 'key_them' }, theirs.run);
    await expect(answers.of('5', { keyId: 'key_third' }, work().run)).rejects.toMatchObject({
      status: 503,
      retryable: true,
    });
    // What was refused to one is not kept for the others, and what is worked on is everybody's.
    const shared = answers.of('2', { keyId: 'key_third' }, work().run);
    expect([one, two, three, theirs].map(({ times }) => times())).toEqual([1, 0, 0, 0]);
    one.end('x');
    await asked[0];
    await settled();
    expect([two, three, theirs].map(({ times }) => times())).toEqual([1, 0, 0]);
    two.fail();
    expect(await Promise.allSettled([asked[1], shared])).toMatchObject([
      { status: 'rejected' },
      { status: 'rejected' },
    ]);
    await settled();
    expect([three, theirs].map(({ times }) => times())).toEqual([0, 1]);
    theirs.end('y');
    expect(await askedByThem).toBe('y');
    await settled();
    three.end('z');
    expect(await asked[2]).toBe('z');
  });

  it('forgets the oldest where there are too many', async () => {
    const ask = (question: string): { asked: Promise<string>; times: () => number } => {
      const one = work();
      const asked = answers.of(question, US, one.run);
      one.end(question);
      return { asked, times: one.times };
    };
    for (const question of ['a', 'b', 'c', 'd']) await ask(question).asked;
    expect(ask('d').times()).toBe(0);
    const again = ask('a');
    expect(again.times()).toBe(1);
    await again.asked;
  });
});
