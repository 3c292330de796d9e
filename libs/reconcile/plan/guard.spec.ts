/** Which plans are held for approval, and what an approval covers. contract §9.4 (Guard). */
import {
  type Actual,
  type AppliedObject,
  type Change,
  guard,
  type GuardContext,
  type ObjectKind,
  type Plan,
  planDigest,
} from '../index.ts';

const CONTEXT: GuardContext = { factorySlug: 'acme', revision: 'main@sha1:abc', approvedDigests: new Set() };

interface Counts {
  webhook?: number;
  automation?: number;
  environment?: number;
  skill?: number;
}

describe('guard', () => {
  it.each<[Counts, Counts, Counts, string | undefined, string]>([
    [{}, {}, {}, undefined, 'an empty factory and an empty plan'],
    [{}, {}, { webhook: 20 }, undefined, 'creating is never held'],
    [{ webhook: 5, automation: 5 }, {}, {}, undefined, 'nothing is deleted'],
    [{ webhook: 4 }, { webhook: 3 }, {}, undefined, 'three of a kind may always go, also above 30 %'],
    [{ webhook: 5 }, { webhook: 4 }, {}, '4 of 5 webhooks', 'four of five are too many'],
    [{ automation: 13 }, { automation: 4 }, {}, '4 of 13 automations', '30 % of 13 is 3.9'],
    [{ automation: 14 }, { automation: 4 }, {}, undefined, '30 % of 14 is 4.2'],
    [{ automation: 20 }, { automation: 6 }, {}, undefined, 'exactly 30 %'],
    [{ automation: 20 }, { automation: 7 }, {}, '7 of 20 automations', 'one more than 30 %'],
    [{ automation: 90 }, { automation: 27 }, {}, undefined, 'exactly 30 %, where fractions in binary are not'],
    [{ automation: 1000 }, { automation: 300 }, {}, undefined, 'exactly 30 % of many'],
    [{ automation: 1000 }, { automation: 301 }, {}, '301 of 1000 automations', 'one more'],
    [{ webhook: 10, automation: 10 }, { webhook: 3, automation: 3 }, {}, undefined, 'kinds are counted apart'],
    [
      { webhook: 4, automation: 4 },
      { webhook: 3, automation: 3 },
      {},
      '6 of 8 webhooks and automations (more than 3 and half)',
      'three of each are most of it',
    ],
    [{ webhook: 6, automation: 6 }, { webhook: 3, automation: 3 }, {}, undefined, 'exactly half of the whole'],
    [{ webhook: 4, automation: 1 }, { webhook: 3 }, {}, undefined, 'three of the whole may always go'],
    [
      { webhook: 5, automation: 5 },
      { webhook: 4, automation: 4 },
      {},
      'webhooks (more than 3 and 30 %); 4 of 5',
      'all reasons',
    ],
    [{ webhook: 1, automation: 2 }, { webhook: 1 }, {}, 'the last webhook (1 of 1)', 'the last webhook'],
    [{ webhook: 2, automation: 1 }, { automation: 1 }, {}, 'the last automation (1 of 1)', 'the last automation'],
    [
      { webhook: 3, automation: 2 },
      { webhook: 3 },
      {},
      'the last webhook (3 of 3)',
      'all of a kind, though three may go',
    ],
    [
      { webhook: 1, automation: 2 },
      { webhook: 1 },
      { webhook: 1 },
      undefined,
      'the only webhook renamed: one of the kind remains',
    ],
    [
      { webhook: 1, automation: 2 },
      { webhook: 1 },
      { automation: 1 },
      'the last webhook',
      'creating another kind does not help',
    ],
    [
      { webhook: 5, automation: 2 },
      { webhook: 4 },
      { webhook: 4 },
      '4 of 5 webhooks',
      'four renames count as four deletions',
    ],
    [
      { webhook: 1, automation: 1 },
      { webhook: 1, automation: 1 },
      {},
      'everything that is applied (2 objects)',
      'everything',
    ],
    [
      { webhook: 1, automation: 1 },
      { webhook: 1, automation: 1 },
      { webhook: 9, automation: 9 },
      'everything',
      'another tree instead',
    ],
    [
      { webhook: 1 },
      { webhook: 1 },
      { webhook: 1 },
      'everything',
      'the only object renamed: nothing that serves survives',
    ],
    [{ webhook: 2, skill: 1 }, { webhook: 2 }, { webhook: 2 }, 'everything', 'a skill that stays serves nobody'],
    [{ environment: 2, skill: 1 }, { environment: 2, skill: 1 }, {}, 'everything', 'also where nothing serves yet'],
    [{ environment: 2, skill: 1 }, { environment: 2 }, {}, undefined, 'environments by themselves are not guarded'],
    [{ webhook: 1, environment: 9, skill: 9 }, { environment: 9, skill: 9 }, {}, undefined, 'nor many of them'],
  ])('of %j delete %j and create %j: %p (%s)', (before, deleted, created, expected) => {
    const verdict = guard(planOf(deleted, created), actualOf(before), CONTEXT);
    expect(verdict.ok ? undefined : verdict.message).toEqual(
      expected === undefined ? undefined : expect.stringContaining(expected),
    );
  });

  it('does not count updates, and does not count held deletions', () => {
    const { changes } = planOf({ webhook: 5 }, {});
    expect(guard({ changes: [], heldDeletions: changes }, actualOf({ webhook: 5 }), CONTEXT).ok).toBe(true);
    const updates = changes.map((change): Change => ({ ...change, action: 'update' }));
    expect(guard({ changes: updates, heldDeletions: [] }, actualOf({ webhook: 5 }), CONTEXT).ok).toBe(true);
  });

  it('tells every deletion, the digest, and the way out', () => {
    const made = planOf({ webhook: 4, environment: 1 }, { skill: 1 });
    const verdict = guard(made, actualOf({ webhook: 5, environment: 2 }), CONTEXT);
    if (verdict.ok) throw new Error('let through');
    expect(verdict.reason).toBe('mass-deletion');
    expect(verdict.deletions).toEqual(made.changes.filter(({ action }) => action === 'delete'));
    expect(verdict.digest).toBe(planDigest(verdict.deletions, CONTEXT));
    expect(verdict.message).toContain(`approve the deletions: ${verdict.digest}`);
  });

  it.each<[Partial<GuardContext>, Counts, boolean, string]>([
    [{}, { webhook: 4 }, true, 'approved'],
    [{ revision: 'main@sha1:def' }, { webhook: 4 }, false, 'approved at another revision'],
    [{ factorySlug: 'other' }, { webhook: 4 }, false, 'approved for another factory'],
    [{}, { webhook: 5 }, false, 'approved for fewer deletions'],
    [{}, { webhook: 4, environment: 1 }, false, 'approved without the environment'],
  ])('an approval holds for what it names (%j, %j: %p, %s)', (context, deleted, expected) => {
    const approved = planDigest(planOf({ webhook: 4 }, {}).changes, CONTEXT);
    const asked = { ...CONTEXT, ...context, approvedDigests: new Set([approved]) };
    expect(guard(planOf(deleted, { webhook: 2 }), actualOf({ webhook: 6, environment: 1 }), asked).ok).toBe(expected);
  });
});

describe('planDigest', () => {
  const deletions: Change[] = [
    {
      action: 'delete',
      kind: 'automation',
      slug: 'triage',
      uid: 'auto_2',
      path: 'automations/triage/automation.md',
      changes: [],
    },
    { action: 'delete', kind: 'webhook', slug: 'orders', uid: 'wh_1', path: 'webhooks/orders.yaml', changes: [] },
  ];
  const digest = planDigest(deletions, CONTEXT);

  it('is the one of another implementation', () => {
    expect(digest).toBe('sha256:818d88f7447567aa71b7cb5b3a02b490d9093bdcd706836657d1552d0e1f9a76');
  });

  it('does not depend on the order of the deletions, and does not change it', () => {
    const reversed = deletions.toReversed();
    expect(planDigest(reversed, CONTEXT)).toBe(digest);
    expect(reversed.map(({ slug }) => slug)).toEqual(['orders', 'triage']);
  });

  it('cannot be shifted from one name into the next', () => {
    const shifted = [deletions[0], { ...deletions[1], slug: 'order', uid: 'swh_1' }] as Change[];
    expect(planDigest(shifted, CONTEXT)).not.toBe(digest);
    expect(planDigest(deletions, { factorySlug: 'acmem', revision: 'ain@sha1:abc' })).not.toBe(digest);
  });
});

const KINDS = ['environment', 'skill', 'webhook', 'automation'] as const;

function actualOf(counts: Counts): Actual {
  const objects = KINDS.flatMap((kind) => Array.from({ length: counts[kind] ?? 0 }, (_, i) => objectOf(kind, i)));
  return { factory: { applyMode: 'atomic' }, objects };
}

/** The guard looks at kind and UID only; definitions are not its business. */
function objectOf(kind: AppliedObject['kind'], i: number): AppliedObject {
  return { kind, slug: `${kind}-${i}`, uid: `${kind}:${i}`, path: '', definition: {} } as unknown as AppliedObject;
}

function planOf(deleted: Counts, created: Counts): Plan {
  const changes = (action: Change['action'], counts: Counts, from: number): Change[] =>
    KINDS.flatMap((kind) => Array.from({ length: counts[kind] ?? 0 }, (_, i) => changeOf(action, kind, from + i)));
  return { changes: [...changes('create', created, 5000), ...changes('delete', deleted, 0)], heldDeletions: [] };
}

function changeOf(action: Change['action'], kind: ObjectKind, i: number): Change {
  return { action, kind, slug: `${kind}-${i}`, uid: `${kind}:${i}`, path: '', changes: [] };
}
