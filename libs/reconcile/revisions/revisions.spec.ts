/** Where a commit stands. contract §11.1 (wait). */
import { revisionId, revisionVerdict, type RevisionFacts, type SeenRevision } from '../index.ts';

const seen = (id: string, ordinal: number, more: Partial<SeenRevision> = {}): SeenRevision => ({
  id,
  ordinal,
  tip: 0,
  lost: 0,
  ...more,
});
const replica = (name: string, serving = true) => ({ name, seenAtMs: 1, serving });
// a came first, then b and c in one push.
const A = seen('a', 1, { tip: 1 });
const C = seen('c', 2, { tip: 2 });
const GROUND: RevisionFacts = {
  appliedId: 'c',
  applied: C,
  attemptedId: 'c',
  seenId: 'c',
  ending: 'applied',
  suspended: false,
  replicas: [replica('one')],
};
const verdict = (one: SeenRevision | string, ground: Partial<RevisionFacts> = {}) => {
  const [id, kept] = typeof one === 'string' ? [one, undefined] : [one.id, one];
  return revisionVerdict(id, kept, { ...GROUND, ...ground });
};
/** b and c are judged, a serves. */
const BLOCKED = {
  appliedId: 'a',
  applied: A,
  ending: 'blocked',
  reason: 'definitions-invalid',
  message: '2 problems',
} as const;

describe('a revision', () => {
  it.each<[string, SeenRevision | string, Partial<RevisionFacts>, string]>([
    ['is applied', C, {}, 'serving'],
    ['is applied and too old to be kept', 'c', { applied: undefined }, 'serving'],
    ['is held by what is applied', A, {}, 'serving'],
    ['came in between', seen('b', 2), {}, 'serving'],
    ['is not loaded by every replica', A, { replicas: [replica('one'), replica('two', false)] }, 'waiting'],
    ['is applied, and nobody was heard of', A, { replicas: [] }, 'waiting'],
    ['is blocked', C, BLOCKED, 'blocked'],
    ['came before one that is blocked', seen('b', 2), BLOCKED, 'superseded'],
    ['serves on while a later one is blocked', A, BLOCKED, 'serving'],
    ['waits for a window', C, { ...BLOCKED, reason: 'outside-sync-window' }, 'waiting'],
    ['waits because reconciling is suspended', C, { ...BLOCKED, suspended: true }, 'waiting'],
    ['failed inside the service', 'd', { ending: 'failed', reason: 'internal', message: 'm', seenId: 'd' }, 'failed'],
    ['was judged, and the host is away now', C, { ...BLOCKED, ending: 'failed', reason: 'unreachable' }, 'waiting'],
    [
      'is refused unseen',
      'd',
      { ending: 'blocked', reason: 'source-unverified', message: 'nobody signed it', seenId: 'd' },
      'blocked',
    ],
    [
      'was judged before one that is refused unseen',
      C,
      { ...BLOCKED, reason: 'source-unverified', seenId: 'd' },
      'superseded',
    ],
    ['was never seen', 'd', {}, 'unknown'],
    ['was lost', seen('x', 1, { lost: 2 }), {}, 'lost'],
    ['was lost, and still serves', A, { ...BLOCKED, applied: { ...A, lost: 2 } }, 'serving'],
    ['was lost with what still serves', seen('x', 1, { lost: 2 }), BLOCKED, 'serving'],
    ['was lost before what serves', seen('x', 1, { lost: 2 }), { applied: seen('c', 2, { tip: 3 }) }, 'lost'],
    ['came back after what serves', seen('x', 3), {}, 'superseded'],
    [
      'was pushed back to, while its descendant serves',
      seen('b', 2, { tip: 3 }),
      { attemptedId: 'b', seenId: 'b', ending: 'blocked' },
      'serving',
    ],
    [
      'is of a directory that is another by now',
      seen('sha256:x', 1, { tip: 1, lost: 2 }),
      { appliedId: 'sha256:y', applied: seen('sha256:y', 2, { tip: 2 }) },
      'superseded',
    ],
    [
      'is what a directory serves',
      'sha256:y',
      { appliedId: 'sha256:y', applied: seen('sha256:y', 2, { tip: 2 }) },
      'serving',
    ],
  ])('%s', (_what, one, ground, state) => {
    expect(verdict(one, ground).state).toBe(state);
  });

  it('tells what keeps it', () => {
    expect(verdict(A, { replicas: [replica('one'), replica('two', false)] }).message).toContain('two');
    expect(verdict(C, BLOCKED).message).toBe('2 problems');
    expect(verdict(seen('b', 2), BLOCKED).message).toContain('2 problems');
    expect(verdict('d', { ending: 'failed', message: 'the host is away' }).message).toContain('the host is away');
  });

  it('is kept under its commit', () => {
    expect(
      [`f/x@sha1:${'a'.repeat(40)}`, `main@sha256:${'b'.repeat(64)}`, `sha256:${'c'.repeat(64)}`, 'abc1234'].map(
        revisionId,
      ),
    ).toEqual(['a'.repeat(40), 'b'.repeat(64), `sha256:${'c'.repeat(64)}`, 'abc1234']);
  });
});
