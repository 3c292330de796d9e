/** Which conditions follow from where a factory stands. contract §4.1 (status), §9. */
import { conditionsOf, nextConditions, knownOf, type ConditionType, type FactoryState } from '../index.ts';

const STANDING: FactoryState = {
  managed: true,
  suspended: false,
  generationRequested: 5,
  generationHandled: 5,
  ending: 'applied',
  errorCount: 0,
  verifies: false,
  verifiedNow: true,
  webhooksWithoutSecret: [],
  stored: {},
};
const HELD = `sha256:${'0'.repeat(64)}`;
const REWRITE = { from: 'main@sha1:1', to: 'main@sha1:2', atMs: 1 };
const UNREACHABLE = { ending: 'failed', reason: 'unreachable', message: 'the host cannot be reached' } as const;

/** `type=status(reason)` of the conditions that are not False. */
function standOut(standing: Partial<FactoryState>): string[] {
  return conditionsOf({ ...STANDING, ...standing })
    .filter(({ status }) => status !== 'False')
    .map(({ type, status, reason }) => `${type}=${status}(${reason})`);
}

function statusOf(type: ConditionType, standing: Partial<FactoryState>) {
  return conditionsOf({ ...STANDING, ...standing }).find((condition) => condition.type === type);
}

describe('conditionsOf', () => {
  it.each<[Partial<FactoryState>, string[], string]>([
    [{}, ['Ready=True(applied)'], 'all is well'],
    [
      { generationRequested: 6 },
      ['Ready=True(applied)', 'Reconciling=True(pass-requested)'],
      'what serves is still what the last pass saw',
    ],
    [{ suspended: true, generationRequested: 6 }, ['Ready=True(applied)'], 'nothing goes on while it is suspended'],
    [
      { ending: 'none', generationHandled: 0 },
      [
        'Ready=Unknown(no-pass-yet)',
        'Reconciling=True(pass-requested)',
        'FetchFailed=Unknown(no-pass-yet)',
        'DefinitionsInvalid=Unknown(no-pass-yet)',
        'PruneHeld=Unknown(no-pass-yet)',
        'HistoryRewritten=Unknown(no-pass-yet)',
      ],
      'nobody has looked yet',
    ],
    [
      { ...UNREACHABLE, webhooksWithoutSecret: ['orders'] },
      [
        'FetchFailed=True(unreachable)',
        'DefinitionsInvalid=Unknown(unreachable)',
        'PruneHeld=Unknown(unreachable)',
        'SecretsDegraded=True(secret-missing)',
        'HistoryRewritten=Unknown(unreachable)',
      ],
      'cannot read is not the same as valid; secrets are looked after all the same',
    ],
    [
      { ...UNREACHABLE, verifies: true, rewrite: REWRITE },
      [
        'FetchFailed=True(unreachable)',
        'SourceVerificationFailed=Unknown(unreachable)',
        'DefinitionsInvalid=Unknown(unreachable)',
        'PruneHeld=Unknown(unreachable)',
        'HistoryRewritten=True(history-rewritten)',
      ],
      'a tip that was not seen may be signed or not; what was rewritten stays so',
    ],
    [
      { verifies: true, ending: 'blocked', reason: 'source-unverified', message: 'm' },
      [
        'Stalled=True(source-unverified)',
        'SourceVerificationFailed=True(source-unverified)',
        'DefinitionsInvalid=Unknown(source-unverified)',
        'PruneHeld=Unknown(source-unverified)',
        'HistoryRewritten=Unknown(source-unverified)',
      ],
      'nobody looks into files that nobody vouches for, nor at how they came',
    ],
    [
      { ending: 'blocked', reason: 'history-rewritten', message: 'm', heldDigest: HELD },
      [
        'Stalled=True(history-rewritten)',
        'DefinitionsInvalid=Unknown(history-rewritten)',
        'PruneHeld=Unknown(history-rewritten)',
        'HistoryRewritten=True(history-rewritten)',
      ],
      'a held rewriting: its digest is none of deletions',
    ],
    [
      { verifies: true, verifiedNow: false },
      ['Ready=True(applied)', 'SourceVerificationFailed=Unknown(not-verified-yet)'],
      'the policy asks something that the last pass has not',
    ],
    [
      {
        verifies: true,
        verifiedNow: false,
        suspended: true,
        ending: 'blocked',
        reason: 'source-unverified',
        message: 'm',
      },
      [
        'Stalled=True(source-unverified)',
        'SourceVerificationFailed=Unknown(not-verified-yet)',
        'DefinitionsInvalid=Unknown(source-unverified)',
        'PruneHeld=Unknown(source-unverified)',
        'HistoryRewritten=Unknown(source-unverified)',
      ],
      'a key that was added may have signed what others did not',
    ],
    [
      { verifies: true, unread: { reason: 'unreachable', message: 'm' } },
      [
        'FetchFailed=True(unreachable)',
        'SourceVerificationFailed=Unknown(unreachable)',
        'HistoryRewritten=Unknown(unreachable)',
      ],
      'what waited applies; what the tip is, nobody knows',
    ],
    [
      { secretsAwaySinceMs: 0, webhooksWithoutSecret: ['orders'] },
      ['Ready=True(applied)', 'SecretsDegraded=True(secrets-unavailable)'],
      'what serves keeps its values',
    ],
    [
      { rewrite: REWRITE },
      ['Ready=True(applied)', 'HistoryRewritten=True(history-rewritten)'],
      'an accepted rewriting serves, and is told',
    ],
    [
      { ending: 'blocked', reason: 'outside-sync-window', message: 'm', errorCount: 1 },
      ['DefinitionsInvalid=True(definitions-invalid)'],
      'a closed window is no stall: it opens by itself',
    ],
    [
      { ending: 'failed', reason: 'internal', message: 'm' },
      [
        'FetchFailed=Unknown(internal)',
        'DefinitionsInvalid=Unknown(internal)',
        'PruneHeld=Unknown(internal)',
        'HistoryRewritten=Unknown(internal)',
      ],
      'a fault of ours says nothing of the host',
    ],
    [
      { ending: 'blocked', reason: 'definitions-invalid', message: 'm', errorCount: 2 },
      ['Stalled=True(definitions-invalid)', 'DefinitionsInvalid=True(definitions-invalid)'],
      'atomic, with errors',
    ],
    [
      { ending: 'blocked', reason: 'prune-held', message: 'm', heldDigest: HELD },
      ['Stalled=True(prune-held)', 'PruneHeld=True(prune-held)'],
      'atomic, deletions held',
    ],
    [
      { errorCount: 1 },
      ['DefinitionsInvalid=True(definitions-invalid)'],
      'perFile: the rest applies, nobody is stalled, and it is not what the files say',
    ],
    [{ heldDigest: HELD }, ['PruneHeld=True(prune-held)'], 'perFile, deletions held'],
    [
      { webhooksWithoutSecret: ['orders'] },
      ['Ready=True(applied)', 'SecretsDegraded=True(secret-missing)'],
      'what the files say serves; it refuses everybody',
    ],
    [
      { unattended: true, generationRequested: 6 },
      ['Ready=True(applied)', 'Reconciling=True(pass-requested)', 'Stalled=True(no-sync-process)'],
      'what was applied serves, what is asked for waits for a process that does it',
    ],
    [
      { unattended: true, ending: 'blocked', reason: 'prune-held', heldDigest: HELD },
      ['Stalled=True(no-sync-process)', 'PruneHeld=True(prune-held)'],
      'an approval would be seen by nobody',
    ],
    [{ unattended: true, managed: false }, ['Ready=True(dashboard)'], 'nobody has to make passes'],
    [
      { ...UNREACHABLE, managed: false, generationRequested: 9 },
      ['Ready=True(dashboard)'],
      'what a former repository left behind concerns nobody',
    ],
  ])('%j: %j (%s)', (standing, expected) => {
    expect(standOut(standing)).toEqual(expected);
  });

  it.each<[Partial<FactoryState>, string, string]>([
    [{}, 'applied', 'no obstacle'],
    [UNREACHABLE, 'unreachable', 'the reason of the ending'],
    [{ ending: 'blocked', reason: 'prune-held' }, 'prune-held', 'the same'],
    [{ errorCount: 1, heldDigest: HELD }, 'definitions-invalid', 'the first obstacle'],
    [
      { ending: 'blocked', reason: 'outside-sync-window' },
      'outside-sync-window',
      'not what the files say, until the window opens',
    ],
  ])('Ready of %j gives the reason %s (%s)', (standing, reason) => {
    expect(statusOf('Ready', standing)?.reason).toBe(reason);
  });

  it('has each of them, in order, and says of which generation', () => {
    expect(
      conditionsOf({ ...STANDING, generationRequested: 7 }).map(({ type, observedGeneration }) => [
        type,
        observedGeneration,
      ]),
    ).toEqual([
      ['Ready', 5],
      ['Reconciling', 7],
      ['Stalled', 5],
      ['FetchFailed', 5],
      ['SourceVerificationFailed', 5],
      ['DefinitionsInvalid', 5],
      ['PruneHeld', 5],
      ['SecretsDegraded', 5],
      ['HistoryRewritten', 5],
    ]);
  });

  it('gives each the time since when it has its own status, and none where that is not recorded', () => {
    const applied = nextConditions({}, conditionsOf(STANDING), 1_000);
    const away = nextConditions(applied, conditionsOf({ ...STANDING, ...UNREACHABLE, stored: applied }), 2_000);
    const sinceOf = (standing: Partial<FactoryState>) =>
      Object.fromEntries(conditionsOf({ ...STANDING, ...standing }).map(({ type, sinceMs }) => [type, sinceMs]));
    expect(sinceOf({ ...UNREACHABLE, message: 'other words', stored: away })).toMatchObject({
      Ready: 2_000,
      Stalled: 1_000,
      FetchFailed: 2_000,
      DefinitionsInvalid: 2_000,
      SecretsDegraded: 1_000,
    });
    expect(sinceOf({ stored: away })).toMatchObject({ Ready: undefined, Stalled: 1_000, FetchFailed: undefined });
  });

  it('remembers what was known last of what is Unknown now', () => {
    const invalid = { ending: 'blocked', reason: 'definitions-invalid', message: 'm', errorCount: 2 } as const;
    const before = nextConditions({}, conditionsOf({ ...STANDING, ...invalid }), 1_000);
    const away = nextConditions(before, conditionsOf({ ...STANDING, ...UNREACHABLE, stored: before }), 2_000);
    const longer = nextConditions(away, conditionsOf({ ...STANDING, ...UNREACHABLE, stored: away }), 3_000);
    expect(longer.DefinitionsInvalid).toMatchObject({ status: 'Unknown', sinceMs: 2_000 });
    expect(knownOf(longer.DefinitionsInvalid)).toEqual({ status: 'True', reason: 'definitions-invalid', message: 'm' });
  });

  it('has words for each', () => {
    for (const ending of ['applied', 'blocked', 'failed', 'none'] as const) {
      for (const { reason, message } of conditionsOf({ ...STANDING, ending }))
        expect([reason, message]).not.toContain('');
    }
    expect(statusOf('SecretsDegraded', { webhooksWithoutSecret: ['a', 'b'] })?.message).toContain('a, b');
    expect(statusOf('SecretsDegraded', { secretsAwaySinceMs: 0, webhooksWithoutSecret: ['a', 'b'] })?.message).toMatch(
      /the last values are kept, since 1970-01-01T00:00:00.000Z; .*a, b/,
    );
    expect(statusOf('PruneHeld', { heldDigest: HELD })?.message).toContain(HELD);
  });
});
