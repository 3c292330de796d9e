/** Room for bodies: taken, given back once, refused to one key before it takes that of others. */
import { BODIES_BYTES_MAX, BODIES_BYTES_OF_KEY_MAX, BodyBudget } from './body.ts';
import { RefusalError } from './error-codes.ts';

describe('room for bodies', () => {
  const statusOf = (act: () => unknown): number => {
    try {
      act();
      return 200;
    } catch (error) {
      return (error as RefusalError).status;
    }
  };

  it('is refused to a key that holds too much, and given again when it gives back', () => {
    const budget = new BodyBudget();
    const giveBack = budget.take('a', BODIES_BYTES_OF_KEY_MAX);
    expect(statusOf(() => budget.take('a', 1))).toBe(429);
    expect(statusOf(() => budget.take('b', 1))).toBe(200);
    giveBack();
    giveBack(); // twice is once: else the next key would get more than there is
    expect(statusOf(() => budget.take('a', BODIES_BYTES_OF_KEY_MAX))).toBe(200);
    expect(statusOf(() => budget.take('a', 1))).toBe(429);
  });

  it('ends for everybody when all of it is taken', () => {
    const budget = new BodyBudget();
    for (let left = BODIES_BYTES_MAX; left > 0; left -= BODIES_BYTES_OF_KEY_MAX)
      budget.take(`key ${left}`, Math.min(left, BODIES_BYTES_OF_KEY_MAX));
    expect(statusOf(() => budget.take('one more', 1))).toBe(503);
  });
});
