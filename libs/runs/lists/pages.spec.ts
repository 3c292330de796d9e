/** A page ends at its number of runs or at its bytes, whichever comes first. */
import { PAGE_BYTES_MAX, runsOnPage } from '../index.ts';

describe('runsOnPage', () => {
  const half = PAGE_BYTES_MAX / 2;
  it.each([
    { sizes: [], limit: 10, count: 0, why: 'there is nothing' },
    { sizes: [1, 1, 1], limit: 10, count: 3, why: 'everything fits' },
    { sizes: [1, 1, 1], limit: 2, count: 2, why: 'two were asked for' },
    { sizes: [half, half, 0, 1], limit: 10, count: 3, why: 'the bound exactly still fits' },
    { sizes: [half, half + 1], limit: 10, count: 1, why: 'one byte more does not' },
    {
      sizes: [PAGE_BYTES_MAX * 2, 1],
      limit: 10,
      count: 1,
      why: 'the first always goes, or nobody would ever get past it',
    },
  ])('$count, because $why', ({ sizes, limit, count }) => {
    expect(runsOnPage(sizes, limit)).toBe(count);
  });
});
