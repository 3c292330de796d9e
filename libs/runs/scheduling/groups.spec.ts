/** Which runs take turns, and who gives way. contract §8.3 (concurrency). */
import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '#filters';
import { contestedGroups, groupOf, admitRuns, valueAt, type Concurrency } from './groups.ts';

const OWNER = { factoryUid: 'fac_1', automationUid: 'auto_1' };
const group = (concurrency: Concurrency | undefined, payload?: JsonValue, owner = OWNER): string | undefined =>
  groupOf(concurrency, owner, payload);
const parsed = (text: string): JsonValue => JSON.parse(text) as JsonValue;

describe('the group of a run', () => {
  it('is none without concurrency, the automation without a group, and a name for the whole factory', () => {
    const other = { factoryUid: 'fac_1', automationUid: 'auto_2' };
    expect(group(undefined)).toBeUndefined();
    expect(group({ whenBusy: 'skip' })).toBe(group({}));
    expect(group({})).not.toBe(group({}, undefined, other));
    expect(group({ group: 'deploy' })).toBe(group({ group: 'deploy' }, undefined, other));
    expect(group({ group: 'deploy' })).not.toBe(
      group({ group: 'deploy' }, undefined, { ...OWNER, factoryUid: 'fac_2' }),
    );
    expect(group({ group: 'deploy' })).not.toBe(group({ group: 'Deploy' }));
  });

  it.each<{ why: string; one: string; other: string; same: boolean }>([
    { why: 'the same text', one: '{"id":"a"}', other: '{"id":"a","more":1}', same: true },
    { why: 'another text', one: '{"id":"a"}', other: '{"id":"b"}', same: false },
    { why: 'a number is no text', one: '{"id":1}', other: '{"id":"1"}', same: false },
    { why: 'numbers by value', one: '{"id":1}', other: '{"id":1.0e0}', same: true },
    { why: 'zero without a sign', one: '{"id":0}', other: '{"id":-0}', same: true },
    { why: 'null is not infinite', one: '{"id":null}', other: '{"id":1e999}', same: false },
    { why: 'null is no text', one: '{"id":null}', other: '{"id":"null"}', same: false },
    { why: 'false is no text', one: '{"id":false}', other: '{"id":"false"}', same: false },
    { why: 'lone surrogates stay apart', one: '{"id":"\\ud800"}', other: '{"id":"\\ud801"}', same: false },
  ])('by a pointer: $why', ({ one, other, same }) => {
    const [first, second] = [group({ group: '/id' }, parsed(one)), group({ group: '/id' }, parsed(other))];
    expect(typeof first).toBe('string');
    expect(first === second).toBe(same);
  });

  it.each(['{}', '{"id":{}}', '{"id":[1]}', '[]', '"id"', 'null', '{"ID":1}'])(
    'by a pointer to nothing or to no scalar is none: %s',
    (body) => {
      expect(group({ group: '/id' }, parsed(body))).toBeUndefined();
    },
  );

  it('by a pointer is one automation’s, one pointer’s, and none without a payload', () => {
    expect(group({ group: '/id' }, { id: 1 })).not.toBe(
      group({ group: '/id' }, { id: 1 }, { ...OWNER, automationUid: 'auto_2' }),
    );
    expect(group({ group: '/id' }, { id: 1, no: 1 })).not.toBe(group({ group: '/no' }, { id: 1, no: 1 }));
    expect(group({ group: '/id' })).toBeUndefined();
  });

  it('is short and tells nothing of the payload, however long the value', () => {
    const key = group({ group: '/secret' }, { secret: 'hunter2'.repeat(30_000) }) ?? '';
    expect(key.length).toBeLessThan(120);
    expect(key).not.toContain('hunter2');
  });
});

describe('a pointer', () => {
  // RFC 6901, section 5, and what it leaves to us.
  const document = parsed('{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3," ":7,"m~n":8,"__proto__":{"x":9}}');
  it.each<[string, unknown]>([
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/ ', 7],
    ['/m~0n', 8],
    ['/__proto__/x', 9],
    ['/foo/2', undefined],
    ['/foo/-', undefined],
    ['/foo/00', undefined],
    ['/foo/length', undefined],
    ['/foo/1e0', undefined],
    ['/toString', undefined],
    ['/constructor/name', undefined],
    ['/foo/0/length', undefined],
    ['/a/b', undefined],
    ['/foo/0/0', undefined],
  ])('%s', (pointer, value) => {
    expect(valueAt(document, pointer)).toEqual(value);
  });

  it('walks a hostile depth', () => {
    expect(valueAt(parsed(`${'['.repeat(50_000)}${']'.repeat(50_000)}`), '/0/0/0/9')).toBeUndefined();
  });
});

describe('turns', () => {
  const run = (runId: string, whenBusy?: 'queue' | 'skip' | 'replace', concurrencyGroup: string | undefined = 'g') => ({
    runId,
    whenBusy,
    concurrencyGroup,
  });
  const decided = (runs: ReturnType<typeof run>[], open: string[] = []) => {
    const { made, busy, replaced } = admitRuns(
      runs,
      new Map([
        ['g', open],
        ['h', []],
      ]),
    );
    return {
      made: made.map(({ runId }) => runId).join(' '),
      busy: busy.map(({ runId }) => runId).join(' '),
      replaced: replaced.join(' '),
    };
  };

  it.each([
    { why: 'skip starts in a free group', runs: [run('a', 'skip')], open: [], made: 'a', busy: '', replaced: '' },
    {
      why: 'skip starts nothing while one is open',
      runs: [run('a', 'skip')],
      open: ['o'],
      made: '',
      busy: 'a',
      replaced: '',
    },
    {
      why: 'two of one batch count each other',
      runs: [run('a', 'skip'), run('b', 'skip')],
      open: [],
      made: 'a',
      busy: 'b',
      replaced: '',
    },
    {
      why: 'another group is another matter',
      runs: [run('a', 'skip'), run('b', 'skip', 'h')],
      open: [],
      made: 'a b',
      busy: '',
      replaced: '',
    },
    {
      why: 'queue always waits, and keeps skip out',
      runs: [run('a', 'queue'), run('b', 'skip')],
      open: [],
      made: 'a',
      busy: 'b',
      replaced: '',
    },
    { why: 'queue is what nobody said', runs: [run('a'), run('b')], open: ['o'], made: 'a b', busy: '', replaced: '' },
    {
      why: 'replace ends all that is open',
      runs: [run('a', 'replace')],
      open: ['o', 'p'],
      made: 'a',
      busy: '',
      replaced: 'o p',
    },
    {
      why: 'the last of a batch replaces the others',
      runs: [run('a', 'replace'), run('b', 'replace')],
      open: ['o'],
      made: 'a b',
      busy: '',
      replaced: 'o a',
    },
    {
      why: 'without a group nobody gives way',
      runs: [
        { runId: 'a', whenBusy: 'skip' as const, concurrencyGroup: undefined },
        { runId: 'b', whenBusy: 'replace' as const, concurrencyGroup: undefined },
      ],
      open: ['o'],
      made: 'a b',
      busy: '',
      replaced: '',
    },
  ])('$why', ({ runs, open, made, busy, replaced }) => {
    expect(decided(runs as ReturnType<typeof run>[], open)).toEqual({ made, busy, replaced });
  });

  it('cost nothing where runs only wait', () => {
    expect(
      contestedGroups([
        run('a', 'queue'),
        run('b'),
        { runId: 'c', whenBusy: 'skip' },
        run('d', 'skip', 'z'),
        run('e', 'replace', 'y'),
        run('f', 'skip', 'z'),
      ]),
    ).toEqual(['y', 'z']);
  });
});
