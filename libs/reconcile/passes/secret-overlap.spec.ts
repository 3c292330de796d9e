import { describe, expect, it } from '@jest/globals';
import { overlappedBinding, type SecretBinding } from './secret-overlap.ts';

const NOW = 1_000_000;
const bound = (version: number | null, previousVersion: number | null = null, until: number | null = null) => ({
  secretId: 's',
  version,
  previousVersion,
  previousUntilMs: until,
});
const next = (version: number | null, secretId = 's') => ({ secretId, version });

describe('the binding of a webhook', () => {
  it.each<
    [
      why: string,
      before: SecretBinding | undefined,
      to: ReturnType<typeof next>,
      minutes: number | undefined,
      after: object,
    ]
  >([
    ['has no overlap unless it is asked for', bound(1), next(2), undefined, bound(2)],
    ['keeps the value of before for the overlap', bound(1), next(2), 10, bound(2, 1, NOW + 600_000)],
    ['skips values that it never had', bound(1), next(4), 10, bound(4, 1, NOW + 600_000)],
    ['keeps one value of before, not two', bound(2, 1, NOW + 5), next(3), 10, bound(3, 2, NOW + 600_000)],
    ['begins without one', undefined, next(1), 10, bound(1)],
    ['has none of a secret without a value', bound(null), next(1), 10, bound(1)],
    ['has none where the value is gone', bound(1), next(null), 10, bound(null)],
    ['has none of another secret', bound(1), next(2, 't'), 10, { ...bound(2), secretId: 't' }],
    ['goes on while nothing moves', bound(2, 1, NOW + 5), next(2), 10, bound(2, 1, NOW + 5)],
    ['is over at its end', bound(2, 1, NOW), next(2), 10, bound(2)],
    ['ends when the overlap is taken away', bound(2, 1, NOW + 5), next(2), undefined, bound(2)],
    ['ends earlier with a shorter overlap', bound(2, 1, NOW + 600_000), next(2), 1, bound(2, 1, NOW + 60_000)],
    ['ends no later with a longer one', bound(2, 1, NOW + 60_000), next(2), 99, bound(2, 1, NOW + 60_000)],
  ])('%s', (_why, before, to, overlapMinutes, after) => {
    expect(overlappedBinding(before, to, { overlapMinutes, nowMs: NOW })).toEqual(after);
  });
});
