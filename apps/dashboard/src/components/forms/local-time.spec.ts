/** Times go into the browser's own inputs and come back as the same. */
import { fromLocal, toLocal } from './local-time.ts';

describe('toLocal and fromLocal', () => {
  it('are each the other back, to the minute, in whatever zone', () => {
    for (const at of ['2030-01-31T09:30:00.000Z', '2030-07-31T23:59:00.000Z', '2028-02-29T00:00:00.000Z'])
      expect(fromLocal(toLocal(at))).toBe(at);
  });

  it('say nothing of what is no time', () =>
    expect([toLocal(null), toLocal(''), toLocal('soon'), fromLocal(''), fromLocal('soon')]).toEqual([
      '',
      '',
      '',
      undefined,
      undefined,
    ]));
});
