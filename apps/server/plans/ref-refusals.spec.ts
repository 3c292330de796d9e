/** Which refusal each failure of reading a ref becomes. */
import { failure, type SourceFailureReason } from '../sync/sources/source.ts';
import { refRefusal, withoutRefs } from './ref-refusals.ts';

describe('a ref that could not be read is', () => {
  it.each<[SourceFailureReason, number, boolean]>([
    ['unreachable', 503, true],
    ['timeout', 503, true],
    ['disk', 503, true],
    ['corrupt', 503, true],
    ['unstable', 503, true],
    ['refused', 422, false],
    ['denied', 409, false],
    ['repository-missing', 409, false],
    ['branch-missing', 404, false],
    ['path-missing', 404, false],
    ['empty', 404, false],
  ])('%s: %i', (reason, status, retryable) => {
    const refusal = refRefusal(failure(reason, 'why it is so'));
    expect([refusal.status, refusal.retryable]).toEqual([status, retryable]);
    expect(refusal.message).toContain('why it is so');
    expect(refusal.retryAfterSeconds).toBe(status === 503 ? 15 : undefined);
  });

  it('unknown: 404; ambiguous: 400; of no repository: 422', () => {
    const missing = (kind: 'ref-unknown' | 'ref-ambiguous'): number =>
      refRefusal({ ok: false, reason: kind, message: 'm' }).status;
    expect([missing('ref-unknown'), missing('ref-ambiguous'), withoutRefs().status]).toEqual([404, 400, 422]);
  });
});
