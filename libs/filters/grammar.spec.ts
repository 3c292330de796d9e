/** What the grammar of payload filters refuses and warns of, and where. contract §7. */
import {
  compileFilter,
  DEPTH_MAX,
  LEAVES_MAX,
  MATCH_EVERYTHING,
  SET_VALUES_MAX,
  UNREADABLE_FILTER,
  type FilterProblem,
  type JsonValue,
} from './index.ts';

const SECRET = 'pa55-phrase'; // stands in every value; must appear in no message

/** filter, `pointer rule` of every problem, why */
const REFUSED: [filter: unknown, problems: string[], why: string][] = [
  [null, [' filter-not-object'], 'null is not "no filter"'],
  [[], [' filter-not-object'], 'an array'],
  [[SECRET], [' filter-not-object'], 'an array of values'],
  [SECRET, [' filter-not-object'], 'a string'],
  [1, [' filter-not-object'], 'a number'],
  [true, [' filter-not-object'], 'a boolean'],
  [new Date(0), [' filter-not-object'], 'an object that is no JSON'],
  [{ a: SECRET }, ['/a filter-bare-scalar'], 'a bare string'],
  [{ a: 1 }, ['/a filter-bare-scalar'], 'a bare number'],
  [{ a: false }, ['/a filter-bare-scalar'], 'a bare boolean'],
  [{ a: null }, ['/a filter-bare-scalar'], 'a bare null, as an empty YAML value reads'],
  [{ exists: true }, ['/exists filter-bare-scalar'], 'no operators at the root'],
  [{ a: { in: SECRET } }, ['/a/in filter-bare-scalar'], 'in with a bare scalar'],
  [{ a: { not_in: 1 } }, ['/a/not_in filter-bare-scalar'], 'not_in with a bare scalar'],
  [{ a: { exists: 'yes' } }, ['/a/exists filter-bare-scalar'], 'exists with something else than a boolean'],
  [{ a: { b: SECRET } }, ['/a/b filter-bare-scalar'], 'a bare scalar further down'],
  [{ a: {} }, ['/a filter-empty-nested'], 'an empty object'],
  [{ a: { b: {} } }, ['/a/b filter-empty-nested'], 'an empty object further down'],
  [{ a: { in: {} } }, ['/a/in filter-empty-nested'], 'a field called in with an empty object'],
  [{ a: { in: [1], b: [2] } }, ['/a filter-operators-mixed'], 'an operator beside a field'],
  [{ a: { exists: true, b: { in: [2] } } }, ['/a filter-operators-mixed'], 'exists beside a field'],
  [{ a: { in: [1], not_in: 2 } }, ['/a/not_in filter-operator-value'], 'an operator beside one of the wrong type'],
  [{ a: { in: [1], exists: [true] } }, ['/a/exists filter-operator-value'], 'exists does not take a list beside in'],
  [
    { a: { exists: true, in: { in: [1] } } },
    ['/a/in filter-operator-value'],
    'a field called in cannot stand beside an operator',
  ],
  [
    { a: { in: [1], exists: 'no', b: [2] } },
    ['/a/exists filter-operator-value', '/a filter-operators-mixed'],
    'both defects at once',
  ],
  [{ a: [[SECRET]] }, ['/a/0 filter-item-not-scalar'], 'an array as an item'],
  [{ a: { not_in: ['x', { b: SECRET }] } }, ['/a/not_in/1 filter-item-not-scalar'], 'an object as an item'],
  [
    { a: [new Date(0), undefined] },
    ['/a/0 filter-item-not-scalar', '/a/1 filter-item-not-scalar'],
    'items that are no JSON',
  ],
  [{ a: [10n] }, ['/a/0 filter-item-not-scalar'], 'a bigint is no JSON'],
  [{ a: undefined }, ['/a filter-bare-scalar'], 'a member without a value'],
  [{ a: new Date(0) }, ['/a filter-bare-scalar'], 'a date of a lenient YAML reader'],
  [{ a: new Map() }, ['/a filter-bare-scalar'], 'a map is not an empty object'],
  [{ a: [Number.POSITIVE_INFINITY] }, ['/a/0 filter-number-inexact'], 'infinite'],
  [{ a: { in: [Number.NEGATIVE_INFINITY] } }, ['/a/in/0 filter-number-inexact'], 'negatively infinite'],
  [{ a: [Number.NaN] }, ['/a/0 filter-number-inexact'], 'not a number, as YAML can say'],
  [{ a: [9007199254740992] }, ['/a/0 filter-number-inexact'], 'the first integer that has a neighbour in disguise'],
  [
    JSON.parse('{"a":{"not_in":[-12345678901234567890]}}'),
    ['/a/not_in/0 filter-number-inexact'],
    'an id too long for a double',
  ],
  [{ a: { in: [1, 'x'], not_in: ['y', 1] } }, ['/a/not_in/1 filter-in-and-not-in'], 'a value on both sides'],
  [{ a: { in: [0], not_in: [-0] } }, ['/a/not_in/0 filter-in-and-not-in'], 'a value on both sides, by value'],
  [{ a: { in: [null], not_in: [null] } }, ['/a/not_in/0 filter-in-and-not-in'], 'null on both sides'],
  [{ a: { exists: false, in: [1] } }, ['/a/exists filter-exists-false-with-in'], 'absent and equal to something'],
  [
    { a: { in: [1], exists: false } },
    ['/a/exists filter-exists-false-with-in'],
    'the same, written the other way round',
  ],
  [{ 'a/b': { '~c': 1 } }, ['/a~1b/~0c filter-bare-scalar'], 'the pointer is escaped'],
  [
    { a: 1, b: {}, c: [[]], d: { e: 2 } },
    ['/a filter-bare-scalar', '/b filter-empty-nested', '/c/0 filter-item-not-scalar', '/d/e filter-bare-scalar'],
    'every problem at once, in the order of the filter',
  ],
  [
    JSON.parse('{"__proto__": 1}'),
    ['/__proto__ filter-bare-scalar'],
    'a name of the language, as JSON.parse delivers it',
  ],
  [{ constructor: {} }, ['/constructor filter-empty-nested'], 'another name of the language'],
  [nest(DEPTH_MAX + 1), [`${'/n'.repeat(DEPTH_MAX)} filter-too-deep`], 'one level too deep'],
  [nest(5000), [`${'/n'.repeat(DEPTH_MAX)} filter-too-deep`], 'far too deep: not followed'],
  [cyclic(), [`${'/n'.repeat(DEPTH_MAX)} filter-too-deep`], 'a cycle ends at the depth limit'],
  [wide(LEAVES_MAX + 1), [`/f${LEAVES_MAX} filter-too-many-fields`], 'one field too many'],
  [wide(100_000), [`/f${LEAVES_MAX} filter-too-many-fields`], 'far too many: not followed'],
  [{ a: wide(40), b: wide(40) }, ['/b/f24 filter-too-many-fields'], 'leaves of all branches count together'],
  [{ a: values(SET_VALUES_MAX + 1) }, ['/a filter-too-many-values'], 'one value too many'],
  [{ a: { not_in: values(100_000) } }, ['/a/not_in filter-too-many-values'], 'far too many'],
  [{ a: Array.from({ length: 50 }, () => SECRET) }, ['/a filter-too-many-values'], 'repeated values count'],
];

describe('refused filters', () => {
  it.each(REFUSED)('%p: %p (%s)', (filter, expected) => {
    const compilation = compileFilter(filter);
    if (compilation.ok) throw new Error('compiled');
    expect(compilation.problems.map(({ pointer, rule }) => `${pointer} ${rule}`)).toEqual(expected);
    expect(JSON.stringify(compilation.problems)).not.toContain(SECRET);
  });

  it('bounds the number of problems, so that a hostile filter cannot multiply itself', () => {
    const hostile = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`f${i}`, Array.from({ length: 100 }, () => [])]),
    );
    const compilation = compileFilter(hostile);
    expect(compilation.ok ? [] : compilation.problems).toHaveLength((LEAVES_MAX + 1) * (SET_VALUES_MAX + 1) + 1);
  });

  it('survives random nonsense', () => {
    for (const nonsense of [Symbol('s'), () => 1, 10n, Object.create(null), new Proxy({}, {}), new Uint8Array(3)]) {
      expect(() => compileFilter(nonsense)).not.toThrow();
    }
  });
});

const MESSAGES: [filter: unknown, part: string, why: string][] = [
  [{ a: 'x' }, 'wrap it in [ ]', 'the way out of a bare scalar'],
  [{ a: { in: 'x' } }, 'the operator in takes an array; wrap it in [ ]', 'the same below an operator'],
  [{ a: { exists: 'x' } }, 'takes true or false', 'what exists takes'],
  [{ exists: true }, 'at the root exists is a field name', 'why an operator does not work there'],
  [{ a: { in: [1], b: [1] } }, '{"in": {"in": […]}}', 'how to address a field called like an operator'],
  [{ a: { in: [1], [`b${'c'.repeat(500)}`]: [1] } }, 'c…"', 'a long name is cut'],
  [{ a: {} }, '{"exists": true}', 'how to ask for presence'],
  [[], 'found array', 'what was found instead of an object'],
  [wide(65), '64', 'the limit is named'],
  [{ a: values(33) }, '33 values are listed, at most 32', 'found and allowed'],
  [nest(11), '10 levels', 'the limit is named'],
];

describe('messages', () => {
  it.each(MESSAGES)('%p says %p (%s)', (filter, part) => {
    const compilation = compileFilter(filter);
    expect(compilation.ok ? [] : compilation.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining(part),
    ]);
  });
});

const ALLOWED: [filter: unknown, warnings: string[], why: string][] = [
  [undefined, [], 'no filter'],
  [{}, [], 'an empty filter'],
  [nest(DEPTH_MAX), [], 'exactly as deep as allowed'],
  [nest(DEPTH_MAX, { in: ['x'] }), [], 'the operator object is no level of its own'],
  [wide(LEAVES_MAX), [], 'exactly as many fields as allowed'],
  [
    { a: { in: values(SET_VALUES_MAX), not_in: ['other'] } },
    [],
    'exactly as many values as allowed; each list counts by itself',
  ],
  [{ a: [0.1, -2.5e-300, 1.7976931348623157e308 / 2 ** 1000] }, [], 'finite fractions'],
  [{ a: [] }, ['/a filter-never'], 'an empty bare list'],
  [{ a: { in: [] } }, ['/a/in filter-never'], 'an empty in'],
  [{ a: { not_in: [] } }, ['/a/not_in filter-always'], 'an empty not_in'],
  [
    { a: { exists: false, in: [] } },
    ['/a/in filter-never'],
    'an empty in beside exists: false is warned of, not refused',
  ],
  [{ a: { exists: false, not_in: [1] } }, [], 'absent and not listed agree'],
  [
    { a: { in: [], not_in: [] }, b: { c: [] } },
    ['/a/in filter-never', '/a/not_in filter-always', '/b/c filter-never'],
    'every warning',
  ],
];

describe('allowed filters', () => {
  it.each(ALLOWED)('%p: warnings %p (%s)', (filter, expected) => {
    const compilation = compileFilter(filter);
    if (!compilation.ok) throw new Error(said(compilation.problems).join('; '));
    expect(said(compilation.warnings)).toEqual(expected);
  });
});

describe('payloads built to break an evaluator', () => {
  const deepArray = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as JsonValue;
  const deepObject = JSON.parse('{"n":'.repeat(100_000) + '1' + '}'.repeat(100_000)) as JsonValue;

  it.each<[JsonValue, JsonValue, boolean, string]>([
    [{ n: { n: { exists: true } } }, deepObject, true, 'nested 100,000 deep on the very path of the filter'],
    [nest(DEPTH_MAX) as JsonValue, deepObject, false, 'the deepest filter on it'],
    [{ n: ['x'] }, deepArray, false, 'arrays nested 100,000 deep'],
    [{ n: { n: ['x'] } }, { n: deepArray }, false, 'the same below a field'],
    [{ n: { not_in: ['x'] } }, { n: deepArray }, true, 'not_in looks at direct elements only'],
    [{ n: ['x'] }, { n: [...Array.from({ length: 100_000 }, () => 'y'), 'x'] }, true, 'a long array'],
    [{ n: { m: ['x'] } }, { n: Array.from({ length: 50_000 }, () => ({ m: 'y' })) }, false, 'a long array of objects'],
  ])('%# %s', (filter, payload, expected) => {
    const compilation = compileFilter(filter);
    if (!compilation.ok) throw new Error(said(compilation.problems).join('; '));
    expect(compilation.filter.matches(payload)).toBe(expected);
    expect(compilation.filter.explain(payload).passed).toBe(expected);
  });
});

describe('ready-made filters', () => {
  const payloads: JsonValue[] = [{}, { a: 1 }, [], [1], 'x', 0, false, null];

  it('everything, for automations without a filter', () => {
    expect(
      payloads.every((payload) => MATCH_EVERYTHING.matches(payload) && MATCH_EVERYTHING.explain(payload).passed),
    ).toBe(true);
  });

  it('nothing, for a stored filter that cannot be read', () => {
    expect(payloads.some((payload) => UNREADABLE_FILTER.matches(payload))).toBe(false);
    expect(UNREADABLE_FILTER.explain({})).toEqual({ passed: false, failedPointer: '', operator: 'nested' });
  });
});

it('is compiled once: a later change of the raw filter changes nothing', () => {
  const raw = { a: ['x'] };
  const compilation = compileFilter(raw);
  raw.a.push('y');
  expect(compilation.ok && compilation.filter.matches({ a: 'y' })).toBe(false);
});

function said(problems: readonly FilterProblem[]): string[] {
  return problems.map(({ pointer, rule }) => `${pointer} ${rule}`);
}

function nest(depth: number, leaf: unknown = ['x']): unknown {
  let nested = leaf;
  for (let level = 0; level < depth; level += 1) nested = { n: nested };
  return nested;
}

function cyclic(): unknown {
  const loop: Record<string, unknown> = {};
  loop['n'] = loop;
  return loop;
}

function wide(count: number): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, ['x']]));
}

function values(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `v${i}`);
}
