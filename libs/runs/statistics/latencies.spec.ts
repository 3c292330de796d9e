/** Percentiles against a plain sort. */
import * as fc from 'fast-check';
import { latencyFigures, readLatencies } from '../index.ts';
import { PROPERTY_SEED } from '../../../test/support/tier.ts';

fc.configureGlobal({ seed: PROPERTY_SEED });

/** Nearest rank, as textbooks have it. */
function plainly(values: readonly number[], percent: number): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.ceil((values.length * percent) / 100) - 1];
}

const latencies = fc.array(fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 2 ** 48 })), {
  maxLength: 120,
});

describe('latencyFigures', () => {
  it('are those of all lists together, however the values are divided', () => {
    fc.assert(
      fc.property(fc.array(latencies, { maxLength: 6 }), (lists) => {
        const all = lists.flat();
        const figures = latencyFigures(lists.map((list) => readLatencies(list.join(','))));
        expect(figures).toEqual({
          count: all.length,
          p50Ms: plainly(all, 50),
          p90Ms: plainly(all, 90),
          p99Ms: plainly(all, 99),
        });
      }),
    );
  });

  it.each([
    [[], { count: 0 }],
    [[0], { count: 1, p50Ms: 0, p90Ms: 0, p99Ms: 0 }],
    [[7, 3], { count: 2, p50Ms: 3, p90Ms: 7, p99Ms: 7 }],
    [Array.from({ length: 100 }, (_, n) => n + 1), { count: 100, p50Ms: 50, p90Ms: 90, p99Ms: 99 }],
  ])('of %j', (values, figures) => {
    expect(latencyFigures([readLatencies(values.join(','))])).toEqual(figures);
  });
});

describe('readLatencies', () => {
  it('reads what was joined, in order', () => {
    fc.assert(
      fc.property(latencies, (values) =>
        expect([...readLatencies(values.join(','))]).toEqual(values.toSorted((a, b) => a - b)),
      ),
    );
  });
});
