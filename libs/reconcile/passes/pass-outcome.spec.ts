/** What a pass leaves behind: the record only where it is news, the conditions only where they changed. */
import {
  applied,
  blockedByGrowth,
  blockedByGuard,
  faulted,
  passOutcome,
  unreadable,
  type EndedPass,
  type FactoryStateFacts,
  type PassEnding,
} from '../index.ts';

const FACTORY: FactoryStateFacts = {
  source: { kind: 'git' },
  suspended: false,
  syncPolicy: {},
  generationRequested: 3,
  generationHandled: 2,
  condition: { ending: 'none', sinceMs: 0, checkedMs: 0 },
  conditions: {},
  failures: 2,
};

const SECRET = { webhookUid: 'wh_1', slug: 'orders', path: 'webhooks/orders.yaml', secretName: 'orders' };

function pass(ending: PassEnding, more: Partial<EndedPass> = {}): EndedPass {
  return {
    ending,
    accepted: true,
    filesLeftAlone: false,
    tipSeen: true,
    secretsAway: false,
    startedAtMs: 1_000,
    finishedAtMs: 1_250,
    triggers: ['interval'],
    webhooksWithoutSecret: [],
    ...more,
  };
}

function newIds(): () => string {
  let count = 0;
  return () => `id-${(count += 1)}`;
}

/** The factory as this outcome leaves it. */
function after(factory: FactoryStateFacts, ended: EndedPass): FactoryStateFacts {
  const { condition, conditions, failures, generationHandled } = passOutcome(factory, ended, newIds());
  return { ...factory, condition, conditions: conditions ?? factory.conditions, failures, generationHandled };
}

const APPLIED = { ...applied('main@sha1:abc', [], []), rebound: [] } as PassEnding;

describe('the outcome of a pass', () => {
  it('handles what was asked for until now, and ends a row of failures', () => {
    const outcome = passOutcome(FACTORY, pass(APPLIED), newIds());
    expect(outcome).toMatchObject({ generationHandled: 3, failures: 0, revisionSeen: 'main@sha1:abc' });
    expect(outcome.record).toMatchObject({ ending: 'applied', triggers: ['interval'], timings: { total_ms: 250 } });
  });

  it('is no news when nothing has changed since the pass before', () => {
    const outcome = passOutcome(after(FACTORY, pass(APPLIED)), pass(APPLIED), newIds());
    expect([outcome.record, outcome.conditions, outcome.events]).toEqual([undefined, undefined, []]);
  });

  it('is news when a secret has moved; the record names it and its version', () => {
    const ending = { ...APPLIED, rebound: [{ ...SECRET, version: 4 }] };
    const { record } = passOutcome(after(FACTORY, pass(APPLIED)), pass(ending), newIds());
    expect(record?.changes).toEqual([
      expect.objectContaining({ uid: 'wh_1', changes: ['secretVersion'], secretName: 'orders', secretVersion: 4 }),
    ]);
  });

  it('says nothing of revisions where nobody looked at the files', () => {
    const outcome = passOutcome(FACTORY, pass(APPLIED, { filesLeftAlone: true, accepted: false }), newIds());
    expect([outcome.revisionSeen, outcome.revisionAttempted]).toEqual([undefined, undefined]);
  });

  it('does not call a tip attempted that may not be used', () => {
    const outcome = passOutcome(FACTORY, pass(APPLIED, { accepted: false }), newIds());
    expect([outcome.revisionSeen, outcome.revisionAttempted]).toEqual(['main@sha1:abc', undefined]);
  });

  it.each([
    ['deletions', blockedByGuard('r', [], { digest: 'd', deletions: [], message: 'm' }), undefined],
    ['growth', blockedByGrowth('r', [], { digest: 'd', held: [], message: 'm' }), true],
  ])('leaves %s held while the source cannot be read, until a tree is judged', (_what, ending, heldForGrowth) => {
    const held = after(FACTORY, pass(ending));
    const away = after(held, pass(unreadable({ reason: 'unreachable', message: 'm' }), { accepted: false }));
    for (const { condition } of [held, away, after(away, pass(faulted('m'), { accepted: false }))])
      expect([condition.heldDigest, condition.heldForGrowth]).toEqual(['d', heldForGrowth]);
    const { condition } = after(away, pass(APPLIED));
    expect([condition.heldDigest, condition.heldForGrowth]).toEqual([undefined, undefined]);
  });

  it('ends a rewriting when a tip descends from it', () => {
    const rewrite = { from: 'main@sha1:old', to: 'main@sha1:new', atMs: 1 };
    const brought = { commits: ['abc'], lost: [], isReset: false, forgetsOthers: false, superseded: 2 };
    const outcome = passOutcome({ ...FACTORY, rewrite }, pass(APPLIED, { delta: brought }), newIds());
    expect(outcome.rewrite).toBeNull();
    expect(outcome.record?.superseded).toBe(2);
  });
});
