/**
 * Filters made of payloads: few and telling fields, always usable, always taking what they were made for. contract §7.
 */
import * as fc from 'fast-check';
import { compileFilter, FilterDraft, suggestFilter, type JsonValue } from './index.ts';
import { examples } from '../../test/support/tier.ts';

type JsonObject = { [name: string]: JsonValue };

const event = (
  type: string,
  more: JsonObject = {},
  n = Math.abs([...type].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 7)) % 100_000,
): JsonObject => ({
  id: `evt_${n}00${n}`,
  type,
  created: 1_700_000_000 + n,
  url: `https://example.com/${n}`,
  title: `Something happened, number ${n}, to somebody`,
  ...more,
});

/** takes, leaves, filter, why */
const TOLD_APART: [takes: JsonValue[], leaves: JsonValue[], filter: JsonObject, why: string][] = [
  [[event('push'), event('push', {}, 5)], [event('issue'), event('fork')], { type: ['push'] }, 'one telling field'],
  [[event('push'), event('fork')], [event('issue')], { type: ['fork', 'push'] }, 'two values, in order'],
  [
    [event('push', { branch: 'main' })],
    [event('push', { branch: 'other' }), event('issue', { branch: 'main' })],
    { type: ['push'], branch: ['main'] },
    'two fields where one is not enough',
  ],
  [
    [event('push', { branch: 'main', who: 'ann' })],
    [event('push', { branch: 'other', who: 'bob' })],
    { branch: ['main'] },
    'the telling one of two that would do',
  ],
  [
    [{ data: { object: { status: 'failed' } } }],
    [{ data: { object: { status: 'ok' } } }],
    { data: { object: { status: ['failed'] } } },
    'further down',
  ],
  [[{ a: { kind: 'x' }, kind: 'x' }], [{ a: { kind: 'y' }, kind: 'y' }], { kind: ['x'] }, 'nearer to the root'],
  [
    [{ eventType: 'x', details: 1 }],
    [{ eventType: 'y', details: 2 }],
    { eventType: ['x'] },
    'camelCase is telling too',
  ],
  [
    [
      { draft: true, n: 1 },
      { draft: true, n: 2 },
    ],
    [{ draft: false, n: 1 }],
    { draft: [true] },
    'a truth value',
  ],
  [[{ x: null }], [{ x: 'y' }], { x: [null] }, 'null'],
  [[{ code: 500 }, { code: 502 }], [{ code: 200 }], { code: [500, 502] }, 'small numbers, in order'],
  [[{ pull_request: { n: 1 } }], [{ issue: { n: 1 } }], { pull_request: { exists: true } }, 'presence'],
  [
    [{ action: 'opened', pull_request: { state: 'open' } }],
    [{ action: 'opened', issue: { state: 'open' } }],
    { pull_request: { exists: true } },
    'presence rather than what is inside',
  ],
  [
    [{ issue: { title: 'a b c d e' } }],
    [{ issue: { title: 'f g h i j', pull_request: {} } }],
    { issue: { pull_request: { exists: false } } },
    'absence',
  ],
  [
    [{ account: 'acct_1234567' }, { account: 'acct_1234567' }],
    [{ account: 'acct_7654321' }],
    { account: ['acct_1234567'] },
    'an ID, where several agree on it and nothing else helps',
  ],
  [[{ account: 'acct_1234567' }], [{ account: 'acct_7654321' }], {}, 'never the ID of a single one'],
  [[event('push', {}, 1), event('push', {}, 2)], [event('push', {}, 3)], {}, 'nothing tells them apart'],
  [[{ a: 1 }], [], {}, 'nothing is to be left'],
  [[], [{ a: 1 }], {}, 'nothing is to be taken'],
  [[1, { a: 'x' }], [{ a: 'y' }], {}, 'a payload that is no object'],
  [[[{ type: 'x' }]], [{ type: 'y' }], {}, 'a list: none of its elements speaks for all'],
  [[{ type: 'x' }], [[], 7, null, { type: ['y'] }, { type: { x: 1 } }], { type: ['x'] }, 'others of any kind'],
  [[{ type: 2 ** 60 }], [{ type: 1 }], {}, 'a number that has no exact value'],
  [[{ token: 'abc' }, { token: 'abc' }], [{ token: 'def' }], {}, 'what is confidential is copied nowhere'],
  [[{ type: 'x\u202ey' }], [{ type: 'z' }], {}, 'what cannot be read is not written'],
  [
    [JSON.parse('{"__proto__": "x"}') as JsonValue],
    [JSON.parse('{"__proto__": "y"}') as JsonValue],
    JSON.parse('{"__proto__": ["x"]}') as JsonObject,
    'a name of the language',
  ],
  [[{ constructor: 'x' }], [{}], { constructor: { exists: true } }, 'a name that every object inherits'],
  [[{ in: 'x' }], [{ in: 'y' }], { in: { in: ['x'] } }, 'a field called in'],
  [
    [{ a: { exists: true, in: 'x' } }],
    [{ a: { exists: false, in: 'x' } }, { a: { exists: true, in: 'y' } }],
    { a: { in: { in: ['x'] }, exists: { in: [true] } } },
    'fields called like operators, below another',
  ],
  [
    [{ a: { not_in: { exists: 'x' } } }],
    [{ a: { not_in: { exists: 'y' } } }],
    { a: { not_in: { exists: { in: ['x'] } } } },
    'and below each other',
  ],
  [
    [{ a: { not_in: { exists: 'x' } } }],
    [{ a: { not_in: { b: 'x' } } }],
    { a: { not_in: { exists: { exists: true } } } },
    'and their presence',
  ],
  [[{ 'a/b': { '~': 'x' } }], [{ 'a/b': { '~': 'y' } }], { 'a/b': { '~': ['x'] } }, 'names that pointers escape'],
];

describe('suggestFilter', () => {
  it.each(TOLD_APART)('%j but not %j: %j (%s)', (takes, leaves, filter) => {
    const made = suggestFilter(takes, leaves);
    expect(JSON.stringify(made)).toBe(JSON.stringify(filter));
    expectUsable(made, takes);
    if (JSON.stringify(filter) !== '{}') expect(leaves.filter((payload) => matches(made, payload))).toEqual([]);
  });

  it('answers the same again, and leaves the payloads alone', () => {
    const [takes, leaves] = [
      [event('a', { x: { y: 'z' } }), event('b')],
      [event('c'), event('d', { x: 1 })],
    ];
    const before = JSON.stringify([takes, leaves]);
    expect(suggestFilter(takes, leaves)).toEqual(suggestFilter(takes, leaves));
    expect(JSON.stringify([takes, leaves])).toBe(before);
  });

  it('survives hostile shapes', () => {
    const deep = (leaf: JsonValue): JsonValue =>
      Array.from({ length: 200 }).reduce<JsonValue>((inner) => ({ n: inner }), leaf);
    const wide = (value: string): JsonObject =>
      Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, value]));
    const hostile: [JsonValue, JsonValue][] = [
      [deep('x'), deep('y')],
      [wide('x'), wide('y')],
      [JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as JsonValue, { a: 1 }],
      [{ ['n'.repeat(100_000)]: 'x' }, {}],
      [{ type: 'x'.repeat(200_000) }, { type: 'y' }],
      [{ type: '\ud800' }, { type: 'y' }],
    ];
    for (const [take, leave] of hostile) {
      expectUsable(suggestFilter([take, take], [leave, leave]), [take]);
      expectUsable(suggestFilter([take, { type: 'a' }], [leave]), [take, { type: 'a' }]);
    }
    expect(suggestFilter([wide('x')], [wide('y')])).toEqual({ k0: ['x'] });
  });

  it('of any payloads can be used, takes all of them, and leaves those which it says', () => {
    let helped = 0;
    fc.assert(
      fc.property(
        fc.array(payload, { minLength: 1, maxLength: 5 }),
        fc.array(payload, { maxLength: 6 }),
        (takes, leaves) => {
          const draft = new FilterDraft();
          for (const each of takes) draft.take(each);
          for (const each of leaves) draft.leave(each);
          const { filter, leaves: surely } = draft.filter();
          expect(filter).toEqual(suggestFilter(takes, leaves));
          expectUsable(filter, takes);
          for (const index of surely) expect(matches(filter, leaves[index] as JsonValue)).toBe(false);
          helped += surely.length > 0 ? 1 : 0;
          expect(Object.keys(filter).length === 0).toBe(surely.length === 0);
        },
      ),
      { numRuns: examples(5_000), seed: 20_260_101 },
    );
    expect(helped).toBeGreaterThan(examples(1_000));
  });

  it('asks for no field without which it would leave as many', () => {
    fc.assert(
      fc.property(fc.array(flat, { minLength: 1, maxLength: 4 }), fc.array(flat, { maxLength: 8 }), (takes, leaves) => {
        const filter = suggestFilter(takes, leaves);
        const leftBy = (each: JsonObject): number => leaves.filter((other) => !matches(each, other)).length;
        for (const name of Object.keys(filter))
          expect(leftBy(Object.fromEntries(Object.entries(filter).filter(([other]) => other !== name)))).toBeLessThan(
            leftBy(filter),
          );
      }),
      { numRuns: examples(2_000), seed: 20_260_101 },
    );
  });

  it('takes what is to be taken first', () => {
    const draft = new FilterDraft();
    draft.take({});
    draft.leave({});
    expect(() => draft.take({})).toThrow('first');
  });
});

function expectUsable(filter: JsonObject, takes: readonly JsonValue[]): void {
  const compilation = compileFilter(JSON.parse(JSON.stringify(filter)));
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.problems));
  expect(compilation.warnings).toEqual([]);
  for (const each of takes) expect(compilation.filter.matches(each)).toBe(true);
}

function matches(filter: JsonObject, each: JsonValue): boolean {
  const compilation = compileFilter(filter);
  return compilation.ok && compilation.filter.matches(each);
}

// ---- generators ----

const name = fc.constantFrom(
  'type',
  'action',
  'id',
  'a',
  'in',
  'not_in',
  'exists',
  '__proto__',
  'constructor',
  'token',
  '',
);
const scalar = fc.constantFrom<JsonValue>(
  'x',
  'y',
  'opened',
  'evt_123456',
  'a longer text of many words',
  true,
  false,
  null,
  0,
  -0,
  1,
  500,
  1.5,
  12_345_678,
  1e300,
  '\u202e',
);
const objectOf = (value: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> =>
  fc
    .uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, maxLength: 5 })
    .map((pairs) => Object.fromEntries(pairs));
const { payload } = fc.letrec<{ payload: JsonValue }>((tie) => ({
  payload: fc.oneof(
    { maxDepth: 4 },
    { weight: 2, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('payload'), { maxLength: 3 }) },
    { weight: 6, arbitrary: objectOf(tie('payload')) },
  ),
}));
const flat = objectOf(scalar);
