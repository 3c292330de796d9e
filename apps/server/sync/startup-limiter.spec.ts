/** Which first passes wait, and which do not. */
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { StartupLimiter } from './startup-limiter.ts';

/** Passes that go on until they are told to end. */
function begun(
  passes: StartupLimiter,
  count: number,
): { started: string[]; end(uid: string): void; all: Promise<unknown> } {
  const started: string[] = [];
  const endings = new Map<string, () => void>();
  const all = Array.from({ length: count }, (_, n) =>
    passes.run(`f${n}`, async () => {
      started.push(`f${n}`);
      await new Promise<void>((resolve) => endings.set(`f${n}`, resolve));
    }),
  );
  return { started, end: (uid) => endings.get(uid)?.(), all: Promise.all(all) };
}

/** Behind everything that waits for its turn. */
const settled = async () => {
  for (let n = 0; n < 3; n += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('first passes', () => {
  afterEach(() => void jest.useRealTimers());

  it('run 16 at a time, in order, and every one does', async () => {
    const { started, end, all } = begun(new StartupLimiter(), 40);
    for (let n = 0; n < 40; n += 1) {
      await settled();
      expect(started).toHaveLength(Math.min(40, 16 + n));
      end(`f${n}`);
    }
    await all;
    expect(started).toEqual(Array.from({ length: 40 }, (_, n) => `f${n}`));
  });

  it('begin apart where that is wanted, but those that somebody waits for', async () => {
    // A real timer may be a millisecond early.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const passes = new StartupLimiter();
    passes.spread(1_000);
    const { started, end, all } = begun(passes, 4);
    await settled();
    await jest.advanceTimersByTimeAsync(20);
    expect(started).toEqual(['f0']);
    passes.hurry('f2');
    await settled();
    expect(started).toEqual(['f0', 'f2']);
    await jest.advanceTimersByTimeAsync(979);
    expect(started).toEqual(['f0', 'f2']);
    await jest.advanceTimersByTimeAsync(1);
    await settled();
    expect(started).toEqual(['f0', 'f2', 'f1']);
    passes.hurryAll();
    await settled();
    expect(started).toHaveLength(4);
    for (const uid of started) end(uid);
    await all;
  });

  it('do not wait where somebody waits for them, and take nobody’s place', async () => {
    const passes = new StartupLimiter();
    const { started, end, all } = begun(passes, 20);
    await settled();
    passes.hurry('f19');
    passes.hurry('f3');
    await settled();
    expect(started.slice(16)).toEqual(['f19']);
    end('f19');
    await settled();
    expect(started).toHaveLength(17);
    passes.hurryAll();
    await settled();
    expect(started).toHaveLength(20);
    for (let n = 0; n < 20; n += 1) end(`f${n}`);
    await all;
    const next = begun(passes, 17);
    await settled();
    expect(next.started).toHaveLength(16);
    for (let n = 0; n < 17; n += 1) {
      next.end(`f${n}`);
      await settled();
    }
    await next.all;
  });

  it('leave the others their turn in between', async () => {
    const passes = new StartupLimiter();
    let done = 0;
    const all = Promise.all(Array.from({ length: 100 }, (_, n) => passes.run(`f${n}`, async () => void (done += 1))));
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toBeLessThan(100);
    await all;
    expect(done).toBe(100);
  });

  it('give their place back when they fail', async () => {
    const passes = new StartupLimiter();
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        expect(passes.run(`f${n}`, () => Promise.reject(new Error('no')))).rejects.toThrow('no'),
      ),
    );
  });
});
