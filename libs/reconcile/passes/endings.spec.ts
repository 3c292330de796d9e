/** How passes end, and which ends tell people something new. */
import type { Problem } from '#definitions';
import {
  applied,
  blockedByGuard,
  blockedByProblems,
  faulted,
  fingerprint,
  PROBLEMS_RECORDED_MAX,
  unreadable,
  type PassEnding,
} from './endings.ts';

const problem = (more: Partial<Problem> = {}): Problem =>
  ({
    path: 'webhooks/a.yaml',
    line: 1,
    column: 1,
    endLine: 1,
    endColumn: 2,
    rule: 'wrong-value',
    severity: 'error',
    message: 'm',
    ...more,
  }) as Problem;
const deletion = {
  action: 'delete',
  kind: 'webhook',
  slug: 'a',
  uid: 'wh_a',
  path: 'webhooks/a.yaml',
  changes: [],
} as const;

describe('an ending', () => {
  it.each([
    { ending: applied('r', [], []), kind: 'applied', reason: undefined, why: 'the tree is what serves' },
    {
      ending: blockedByProblems('r', [problem()]),
      kind: 'blocked',
      reason: 'definitions-invalid',
      why: 'people must mend files',
    },
    {
      ending: blockedByGuard('r', [], { digest: 'd', deletions: [{ ...deletion, changes: [] }], message: 'm' }),
      kind: 'blocked',
      reason: 'prune-held',
      why: 'people must approve',
    },
    {
      ending: unreadable({ reason: 'unreachable', message: 'm' }),
      kind: 'failed',
      reason: 'unreachable',
      why: 'tried again',
    },
    { ending: faulted('m'), kind: 'failed', reason: 'internal', why: 'tried again' },
  ])('is $kind ($reason): $why', ({ ending, kind, reason }) =>
    expect([ending.kind, ending.reason]).toEqual([kind, reason]),
  );

  it('counts errors, not warnings, and says so in the singular and the plural', () => {
    expect(blockedByProblems('r', [problem(), problem({ severity: 'warning' })]).message).toMatch(/^1 problem in/);
    expect(blockedByProblems('r', [problem(), problem()]).message).toMatch(/^2 problems in/);
  });

  it('that could not read names no revision', () =>
    expect(unreadable({ reason: 'timeout', message: 'm' }).revision).toBeUndefined());
});

describe('the fingerprint', () => {
  it('is made of the problems that are recorded', () => {
    const recorded = Array.from({ length: PROBLEMS_RECORDED_MAX }, (_, line) => problem({ line }));
    expect(fingerprint(blockedByProblems('r', [...recorded, problem()]))).toBe(
      fingerprint(blockedByProblems('r', recorded)),
    );
  });

  const base = blockedByProblems('r', [problem()]);
  it.each([
    { other: base, same: true, why: 'the same end again' },
    { other: { ...base, message: 'other words' }, same: true, why: 'the summary is made of the rest' },
    {
      other: { ...base, rebound: [{ webhookUid: 'w', slug: 'a', path: 'p', secretName: 's' }] },
      same: true,
      why: 'rotations are recorded for themselves',
    },
    { other: blockedByProblems('r2', [problem()]), same: false, why: 'another commit' },
    { other: blockedByProblems('r', [problem({ line: 2 })]), same: false, why: 'the problem stands elsewhere' },
    { other: blockedByProblems('r', [problem(), problem({ column: 9 })]), same: false, why: 'one more problem' },
    { other: blockedByProblems('r', [problem({ message: 'n' })]), same: false, why: 'another message' },
    { other: { ...base, digest: 'd' }, same: false, why: 'something to approve' },
    { other: { ...base, kind: 'failed' as const }, same: false, why: 'another end' },
  ] satisfies { other: PassEnding; same: boolean; why: string }[])('same: $same ($why)', ({ other, same }) =>
    expect(fingerprint(other) === fingerprint(base)).toBe(same),
  );
});
