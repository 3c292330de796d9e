/** What a database has grown by, whatever its deferred tables lack at the moment. */
import { describe, expect, it } from '@jest/globals';
import { growthOf } from './database-usage.ts';

describe('growthOf', () => {
  it('counts what a table came to lack as if it were filled', () => {
    const before = { bytes: 1_000, lacking: [{ rows: 10, rowBytes: 90 }] };
    expect(growthOf(before, { bytes: 5_000, lacking: [{ rows: 30, rowBytes: 100 }] })).toBe(6_000);
  });

  it('does not count what it lacked before and has now', () => {
    const before = { bytes: 1_000, lacking: [{ rows: 30, rowBytes: 0 }] };
    expect(growthOf(before, { bytes: 5_000, lacking: [{ rows: 10, rowBytes: 100 }] })).toBe(2_000);
  });

  it('is the difference of their bytes where all tables are filled at once', () => {
    expect(growthOf({ bytes: 1_000, lacking: [] }, { bytes: 5_000, lacking: [] })).toBe(4_000);
  });
});
