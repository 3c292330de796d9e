/** Which conditions follow from where a factory stands. contract 4 (status), 9. */
import { conditionsOf, type ConditionType, type Standing } from './index.ts';

const STANDING: Standing = { managed: true, suspended: false, generationRequested: 5, generationHandled: 5, ending: 'applied', errorCount: 0, sinceMs: 1_000, webhooksWithoutSecret: [] };
const HELD = `sha256:${'0'.repeat(64)}`;
const UNREACHABLE = { ending: 'failed', reason: 'unreachable', message: 'the host cannot be reached' } as const;

/** `type=status(reason)` of the conditions that are not False. */
function standOut(standing: Partial<Standing>): string[] {
  return conditionsOf({ ...STANDING, ...standing }).filter(({ status }) => status !== 'False').map(({ type, status, reason }) => `${type}=${status}(${reason})`);
}

function statusOf(type: ConditionType, standing: Partial<Standing>) {
  return conditionsOf({ ...STANDING, ...standing }).find((condition) => condition.type === type);
}

describe('conditionsOf', () => {
  it.each<[Partial<Standing>, string[], string]>([
    [{}, ['Ready=True(applied)'], 'all is well'],
    [{ generationRequested: 6 }, ['Ready=True(applied)', 'Reconciling=True(pass-requested)'], 'what serves is still what the last pass saw'],
    [{ suspended: true, generationRequested: 6 }, ['Ready=True(applied)'], 'nothing goes on while it is suspended'],
    [
      { ending: 'none', generationHandled: 0 },
      ['Ready=Unknown(no-pass-yet)', 'Reconciling=True(pass-requested)', 'FetchFailed=Unknown(no-pass-yet)', 'DefinitionsInvalid=Unknown(no-pass-yet)', 'PruneHeld=Unknown(no-pass-yet)'],
      'nobody has looked yet',
    ],
    [UNREACHABLE, ['FetchFailed=True(unreachable)', 'DefinitionsInvalid=Unknown(unreachable)', 'PruneHeld=Unknown(unreachable)'], 'cannot read is not the same as valid'],
    [
      { ending: 'failed', reason: 'internal', message: 'm' },
      ['FetchFailed=Unknown(internal)', 'DefinitionsInvalid=Unknown(internal)', 'PruneHeld=Unknown(internal)'],
      'a fault of ours says nothing of the host',
    ],
    [{ ending: 'blocked', reason: 'definitions-invalid', message: 'm', errorCount: 2 }, ['Stalled=True(definitions-invalid)', 'DefinitionsInvalid=True(definitions-invalid)'], 'atomic, with errors'],
    [{ ending: 'blocked', reason: 'prune-held', message: 'm', heldDigest: HELD }, ['Stalled=True(prune-held)', 'PruneHeld=True(prune-held)'], 'atomic, deletions held'],
    [{ errorCount: 1 }, ['DefinitionsInvalid=True(definitions-invalid)'], 'perFile: the rest applies, nobody is stalled, and it is not what the files say'],
    [{ heldDigest: HELD }, ['PruneHeld=True(prune-held)'], 'perFile, deletions held'],
    [{ webhooksWithoutSecret: ['orders'] }, ['Ready=True(applied)', 'SecretsDegraded=True(secret-missing)'], 'what the files say serves; it refuses everybody'],
    [{ ...UNREACHABLE, managed: false, generationRequested: 9 }, ['Ready=True(dashboard)'], 'what a former repository left behind concerns nobody'],
  ])('%j: %j (%s)', (standing, expected) => {
    expect(standOut(standing)).toEqual(expected);
  });

  it.each<[Partial<Standing>, string, string]>([
    [{}, 'applied', 'no obstacle'],
    [UNREACHABLE, 'unreachable', 'the reason of the ending'],
    [{ ending: 'blocked', reason: 'prune-held' }, 'prune-held', 'the same'],
    [{ errorCount: 1, heldDigest: HELD }, 'definitions-invalid', 'the first obstacle'],
  ])('Ready of %j gives the reason %s (%s)', (standing, reason) => {
    expect(statusOf('Ready', standing)?.reason).toBe(reason);
  });

  it('says since when only where that is recorded, and of which generation', () => {
    const conditions = conditionsOf({ ...STANDING, generationRequested: 7 });
    expect(conditions.map(({ type, sinceMs, observedGeneration }) => [type, sinceMs, observedGeneration])).toEqual([
      ['Ready', 1_000, 5], ['Reconciling', undefined, 7], ['Stalled', 1_000, 5], ['FetchFailed', 1_000, 5],
      ['DefinitionsInvalid', 1_000, 5], ['PruneHeld', 1_000, 5], ['SecretsDegraded', undefined, 5],
    ]);
  });

  it('has words for each', () => {
    for (const ending of ['applied', 'blocked', 'failed', 'none'] as const) {
      for (const { reason, message } of conditionsOf({ ...STANDING, ending })) expect([reason, message]).not.toContain('');
    }
    expect(statusOf('SecretsDegraded', { webhooksWithoutSecret: ['a', 'b'] })?.message).toContain('a, b');
    expect(statusOf('PruneHeld', { heldDigest: HELD })?.message).toContain(HELD);
  });
});
