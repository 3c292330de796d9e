/** News of a forge, and who waits for it. contract §9.9 (Feedback in pull requests). */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FeedbackNews } from './feedback-loop.ts';

const NEVER = new Promise<void>(() => undefined);

describe('news of a forge', () => {
  it('ends the wait for work that it overtakes, at once where nobody has taken it', async () => {
    const news = new FeedbackNews();
    expect(await news.endsFirst(NEVER)).toBe(false);
    expect(news.take()).toBe(true);
    const waiting = news.endsFirst(NEVER);
    news.tell();
    expect(await waiting).toBe(false);
    news.take();
    expect(await news.endsFirst(Promise.resolve())).toBe(true);
  });

  it('that never comes costs nothing for each round that has waited for it', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heldBytes = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const news = new FeedbackNews();
    news.take();
    const rounds = 20_000;
    const before = heldBytes();
    for (let round = 0; round < rounds; round += 1) await news.endsFirst(Promise.resolve());
    expect((heldBytes() - before) / rounds).toBeLessThan(20);
    news.tell(); // it was there all the time
  });
});
