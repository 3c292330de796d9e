/** How many git processes run at once. */
import { semaphore } from './git-session.ts';

describe('semaphore', () => {
  it('lets no more in than it has places, in order, and none is lost to a failure', async () => {
    const gate = semaphore(2);
    const log: string[] = [];
    const ends: (() => void)[] = [];
    let inside = 0;
    const work = (name: string, fails = false): Promise<void> =>
      gate(async () => {
        inside += 1;
        expect(inside).toBeLessThanOrEqual(2);
        log.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        inside -= 1;
        if (fails) throw new Error(name);
      });
    const works = [work('a'), work('b', true), work('c'), work('d')];
    const settled = Promise.allSettled(works);
    while (log.length < 4 || ends.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      ends.shift()?.();
    }
    expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(log).toEqual(['a', 'b', 'c', 'd']);
    const after: string[] = [];
    await Promise.all([gate(async () => void after.push('x')), gate(async () => void after.push('y'))]);
    expect(after).toEqual(['x', 'y']);
  });
});
