/** What passes tell: what is new, once. contract §9. */
import { blobOf, objectFormatOf } from '../blobs.ts';
import {
  applied,
  blockedByProblems,
  blockedByWindow,
  conditionsOf,
  eventsOf,
  faulted,
  nextConditions,
  unreadable,
  unverified,
  type PassEnding,
  type FactoryEvent,
  type StoredConditions,
  type FactoryState,
} from '../index.ts';
import type { Problem } from '#definitions';

const PROBLEM = {
  path: 'webhooks/a.yaml',
  line: 1,
  column: 1,
  endLine: 1,
  endColumn: 2,
  rule: 'wrong-value',
  severity: 'error',
  message: 'm',
} as Problem;
const created = {
  action: 'create',
  kind: 'webhook',
  slug: 'a',
  uid: 'wh_a',
  path: 'webhooks/a.yaml',
  changes: [] as string[],
} as const;
const away = (reason: string, message = 'm'): PassEnding => unreadable({ reason, message });
const invalid = (revision: string): PassEnding => blockedByProblems(revision, [PROBLEM]);

/** Passes of one factory, one after the other; answers what each tells. */
function story(
  ...passes: { ending: PassEnding; standing?: Partial<FactoryState>; accepted?: boolean; superseded?: number }[]
): string[][] {
  let kept: StoredConditions = {};
  let reasonBefore: string | undefined;
  return passes.map(({ ending, standing, accepted = false, superseded = 0 }) => {
    const { kind, reason, message, problems, digest } = ending;
    const after = conditionsOf({
      managed: true,
      suspended: false,
      generationRequested: 1,
      generationHandled: 1,
      ending: kind,
      reason,
      message,
      errorCount: problems.length,
      heldDigest: digest,
      verifies: true,
      verifiedNow: true,
      webhooksWithoutSecret: [],
      stored: kept,
      ...standing,
    });
    const told = eventsOf({ before: kept, reasonBefore, after, ending, accepted, superseded });
    kept = nextConditions(kept, after, 1);
    reasonBefore = reason;
    return told.map(wordsOf);
  });
}
const wordsOf = ({ type, reason, revision }: FactoryEvent): string =>
  `${type} ${reason}${revision === undefined ? '' : ` ${revision}`}`;

describe('a factory tells', () => {
  it('what applies, with what was passed over', () => {
    expect(
      story(
        { ending: applied('r1', [created], []), accepted: true },
        { ending: applied('r1', [], []) },
        { ending: applied('r2', [], []), accepted: true, superseded: 2 },
      ),
    ).toEqual([['Normal applied r1'], [], ['Normal applied r2']]);
    const [event] = eventsOf({
      before: {},
      after: [],
      ending: applied('r2', [created], []),
      accepted: true,
      superseded: 2,
    });
    expect(event?.message).toBe(
      'r2 applies: 1 created, 0 updated, 0 deleted; 2 commits before it never applied by themselves',
    );
  });

  it('a fault once, another fault anew, and its end', () => {
    expect(
      story(
        { ending: applied('r1', [], []) },
        { ending: away('unreachable') },
        { ending: away('unreachable', 'other words') },
        { ending: away('denied') },
        { ending: applied('r1', [], []) },
      ),
    ).toEqual([[], ['Warning unreachable'], [], ['Warning denied'], ['Normal fetch-recovered r1']]);
  });

  it('what is wrong with each revision, and nothing again because the host was away meanwhile', () => {
    expect(
      story(
        { ending: invalid('r1') },
        { ending: invalid('r1') },
        { ending: away('unreachable') },
        { ending: invalid('r1') },
        { ending: invalid('r2') },
        { ending: applied('r3', [], []), accepted: true },
      ),
    ).toEqual([
      ['Warning definitions-invalid r1'],
      [],
      ['Warning unreachable'],
      ['Normal fetch-recovered r1'],
      ['Warning definitions-invalid r2'],
      ['Normal definitions-valid r3', 'Normal applied r3'],
    ]);
  });

  it('refused commits, rewritten histories, held deletions, lost secrets and their ends', () => {
    const rewrite = { from: 'r0', to: 'r1', atMs: 1 };
    expect(
      story(
        { ending: unverified({ revision: 'r1', message: 'nobody signed r1' }) },
        { ending: applied('r1', [], [], [], 'sha256:d'), standing: { rewrite, webhooksWithoutSecret: ['a'] } },
        { ending: applied('r1', [], [], [], 'sha256:d'), standing: { rewrite, webhooksWithoutSecret: ['a', 'b'] } },
        { ending: applied('r2', [], []), standing: { webhooksWithoutSecret: [] } },
      ),
    ).toEqual([
      ['Warning source-unverified r1'],
      [
        'Normal source-verified r1',
        'Warning prune-held r1',
        'Warning secret-missing r1',
        'Warning history-rewritten r1',
      ],
      ['Warning secret-missing r1'],
      ['Normal prune-released r2', 'Normal secrets-usable r2', 'Normal history-continued r2'],
    ]);
  });

  it('a closed window and a fault of ours, once', () => {
    const waits = blockedByWindow(applied('r1', [created], []), { opensAtMs: 1 });
    expect(waits.changes).toEqual([]);
    expect(story({ ending: waits }, { ending: waits }, { ending: faulted('m') }, { ending: faulted('m') })).toEqual([
      ['Normal outside-sync-window r1'],
      [],
      ['Warning internal'],
      [],
    ]);
  });

  it('secrets that moved, by name and version', () => {
    const rebound = Array.from({ length: 12 }, (_, n) => ({
      webhookUid: `w${n}`,
      slug: `hook-${n}`,
      path: 'p',
      secretName: 's',
      ...(n === 0 ? {} : { version: n }),
    }));
    const [event] = eventsOf({
      before: {},
      after: [],
      ending: { ...applied('r', [], []), rebound },
      accepted: false,
      superseded: 0,
    });
    expect(event).toMatchObject({ type: 'Normal', reason: 'secrets-moved' });
    expect(event?.message).toMatch(/^hook-0 has no value of s, hook-1 has version 1 of s, .*, and 2 more$/);
  });
});

describe('a blob', () => {
  it('is what git calls the file', () => {
    expect(blobOf(Buffer.from(''), 'sha1')).toBe('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391');
    expect(blobOf(Buffer.from(''), 'sha256')).toBe('473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813');
    expect([
      objectFormatOf(`main@sha1:${'a'.repeat(40)}`),
      objectFormatOf(`main@sha256:${'a'.repeat(64)}`),
      objectFormatOf(`sha256:${'a'.repeat(64)}`),
    ]).toEqual(['sha1', 'sha256', 'sha1']);
  });

  it(
    'of a host that is away nothing more while something that waited applies meanwhile, and that it is back when ' +
      'it is',
    () => {
      const unread = { reason: 'unreachable', message: 'm' };
      expect(
        story(
          { ending: invalid('r1') },
          { ending: away('unreachable') },
          { ending: applied('r1', [created], []), standing: { unread } },
          { ending: away('unreachable') },
          { ending: applied('r1', [], []) },
        ),
      ).toEqual([
        ['Warning definitions-invalid r1'],
        ['Warning unreachable'],
        ['Normal definitions-valid r1', 'Normal applied r1'],
        [],
        ['Normal fetch-recovered r1'],
      ]);
    },
  );

  it('that secrets cannot be looked after, once, and when they can', () => {
    const calm = applied('r1', [], []);
    expect(
      story(
        { ending: calm, standing: { secretsAwaySinceMs: 1 } },
        { ending: calm, standing: { secretsAwaySinceMs: 1 } },
        { ending: calm },
      ),
    ).toEqual([['Warning secrets-unavailable r1'], [], ['Normal secrets-usable r1']]);
  });

  it('nothing of a signature that nobody has looked at', () => {
    expect(
      story(
        { ending: unverified({ message: 'm', revision: 'r1' }) },
        { ending: unverified({ message: 'm', revision: 'r1' }), standing: { verifiedNow: false } },
        { ending: applied('r2', [], []) },
      ),
    ).toEqual([['Warning source-unverified r1'], [], ['Normal source-verified r2']]);
  });
});
