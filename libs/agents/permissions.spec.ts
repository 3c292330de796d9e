/** Who rules on a request for permission, and which option a message names. */
import { optionMeant, permissionRuling, type PermissionOption, type PermissionSituation } from './index.ts';

const option = (
  kind: PermissionOption['kind'],
  optionId: string = kind,
  name = `Name of ${optionId}`,
): PermissionOption => ({ optionId, name, kind });
const ALL = (['reject_always', 'allow_always', 'allow_once', 'reject_once'] as const).map((kind) => option(kind));
const LASTING = [option('reject_always'), option('allow_always')];
const ONLY_YES = [option('allow_once')];

describe('a request for permission', () => {
  const rows: { options: PermissionOption[]; situation: Partial<PermissionSituation>; ruled: string; why: string }[] = [
    { options: ALL, situation: {}, ruled: 'allow_once', why: 'nobody watches, and there is a sandbox' },
    { options: LASTING, situation: {}, ruled: 'allow_always', why: 'the least that allows it' },
    { options: [option('reject_once')], situation: {}, ruled: 'none', why: 'nothing allows it' },
    { options: [], situation: {}, ruled: 'none', why: 'nothing is offered' },
    { options: ALL, situation: { interactive: true }, ruled: 'people', why: 'somebody watches' },
    { options: [], situation: { interactive: true }, ruled: 'none', why: 'there is nothing to choose from' },
    {
      options: ALL,
      situation: { interactive: true, idleMinutes: 0 },
      ruled: 'reject_once',
      why: 'nobody is waited for',
    },
    { options: ALL, situation: { tier: 'strict' }, ruled: 'reject_once', why: 'the strict tier' },
    {
      options: ALL,
      situation: { tier: 'strict', interactive: true },
      ruled: 'reject_once',
      why: 'the strict tier, whoever watches',
    },
    { options: LASTING, situation: { tier: 'strict' }, ruled: 'reject_always', why: 'the only refusal' },
    { options: ONLY_YES, situation: { tier: 'strict' }, ruled: 'none', why: 'a refusal that is not offered' },
  ];
  it.each(rows)('$ruled: $why', ({ options, situation, ruled }) => {
    const ruling = permissionRuling(options, {
      tier: 'standard',
      isConfined: true,
      interactive: false,
      idleMinutes: 10,
      ...situation,
    });
    expect(ruling.by === 'people' ? 'people' : (ruling.option?.kind ?? 'none')).toBe(ruled);
    if (ruling.by === 'policy')
      expect(ruling.text).toMatch(ruled.startsWith('allow') ? /^allowed/ : /^(refused|cancelled|not allowed)/);
  });
});

describe('what is allowed because nobody watches', () => {
  it.each([
    [true, 'it is in its sandbox'],
    [false, 'NO complete sandbox'],
  ])('says the truth of the sandbox: confined %p', (isConfined, said) => {
    expect(permissionRuling(ALL, { tier: 'standard', isConfined, interactive: false, idleMinutes: 10 })).toMatchObject({
      text: expect.stringContaining(said),
    });
  });
});

describe('a message to a run that waits for an answer', () => {
  const options = [
    option('allow_once', 'p-1', 'Run it'),
    option('allow_always', 'p-2', 'Run all of them'),
    option('reject_once', 'p-3', 'No, do not'),
    option('reject_always', 'P-3', 'Never'),
  ];
  const rows: [message: string, meant: string | undefined, why: string][] = [
    ['p-1', 'p-1', 'its ID'],
    [' p-2\n', 'p-2', 'its ID with space around it'],
    ['P-1', 'p-1', 'in other letters'],
    ['P-3', 'P-3', 'exactly that one'],
    ['run it', 'p-1', 'its name'],
    ['Run all of them.', 'p-2', 'its name as a sentence'],
    ['yes', 'p-1', 'yes'],
    ['ALLOW!', 'p-1', 'allow'],
    ['no', 'p-3', 'no'],
    ['Reject', 'p-3', 'reject'],
    ['yes, but not there', undefined, 'something else'],
    ['', undefined, 'nothing'],
    ['Run', undefined, 'half of a name'],
  ];
  it.each(rows)('%p means %p: %s', (message, meant) => {
    expect(optionMeant(message, options)?.optionId).toBe(meant);
  });

  it('cannot choose what is not offered', () => {
    expect([optionMeant('no', ONLY_YES), optionMeant('yes', [option('reject_once')])]).toEqual([undefined, undefined]);
  });
});
