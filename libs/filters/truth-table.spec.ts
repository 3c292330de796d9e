/**
 * The truth table of contract §7. Filters and payloads are JSON texts, so that `__proto__` arrives as it does from the
 * wire.
 */
import { compileFilter, type CompiledFilter, type FilterVerdict, type JsonValue } from './index.ts';

const PASSES = 'passes';

/** filter, payload, `passes` or the failing pointer and operator, why */
type Row = [filter: string, payload: string, expected: string, why: string];

const EVERYTHING: Row[] = [
  ['{}', '{}', PASSES, 'no condition: every object'],
  ['{}', '{"a":1}', PASSES, 'no condition: every object, whatever it holds'],
  ['{}', '[]', PASSES, 'no condition also takes the empty array'],
  ['{}', '[1]', PASSES, 'no condition also takes an array without objects'],
  ['{}', '"x"', PASSES, 'no condition also takes a string'],
  ['{}', '0', PASSES, 'no condition also takes a falsy number'],
  ['{}', 'false', PASSES, 'no condition also takes false'],
  ['{}', 'null', PASSES, 'no condition also takes null'],
];

const IN: Row[] = [
  ['{"a":["x"]}', '{"a":"x"}', PASSES, 'a bare array is in'],
  ['{"a":{"in":["x"]}}', '{"a":"x"}', PASSES, 'in is the same as a bare array'],
  ['{"a":["x"]}', '{"a":"y"}', '/a in', 'another string'],
  ['{"a":["x","y"]}', '{"a":"y"}', PASSES, 'any item will do'],
  ['{"a":["x"]}', '{}', '/a in', 'a missing field equals nothing'],
  ['{"a":["x"]}', '{"A":"x"}', '/a in', 'names are exact'],
  ['{"a":["x"]}', '{"a":"X"}', '/a in', 'strings are exact, not case-folded'],
  ['{"a":["x"]}', '{"a":"x "}', '/a in', 'strings are exact, not trimmed'],
  ['{"a":["é"]}', '{"a":"e\\u0301"}', '/a in', 'strings are exact, not normalised'],
  ['{"a":["\\ud800"]}', '{"a":"\\ud800"}', PASSES, 'a lone surrogate is a string like any other'],
  ['{"a":[""]}', '{"a":""}', PASSES, 'the empty string is a value'],
  ['{"a":["x.*"]}', '{"a":"xyz"}', '/a in', 'no regular expressions'],
  ['{"a":[1]}', '{"a":1}', PASSES, 'numbers'],
  ['{"a":[1]}', '{"a":1.0}', PASSES, 'numbers by value: 1 = 1.0'],
  ['{"a":[100]}', '{"a":1e2}', PASSES, 'numbers by value: 100 = 1e2'],
  ['{"a":[0]}', '{"a":-0}', PASSES, 'numbers by value: 0 = -0'],
  ['{"a":[-0]}', '{"a":0}', PASSES, 'numbers by value, the other way round'],
  ['{"a":[0.5]}', '{"a":5e-1}', PASSES, 'fractions by value'],
  ['{"a":[1]}', '{"a":"1"}', '/a in', 'a string is no number'],
  ['{"a":["1"]}', '{"a":1}', '/a in', 'a number is no string'],
  ['{"a":[1]}', '{"a":true}', '/a in', 'true is not 1'],
  ['{"a":[0]}', '{"a":false}', '/a in', 'false is not 0'],
  ['{"a":[true]}', '{"a":true}', PASSES, 'booleans'],
  ['{"a":["true"]}', '{"a":true}', '/a in', 'a boolean is no string'],
  ['{"a":[null]}', '{"a":null}', PASSES, 'null can be listed'],
  ['{"a":[null]}', '{}', '/a in', 'missing is not null'],
  ['{"a":[false]}', '{}', '/a in', 'missing is not false'],
  ['{"a":["null"]}', '{"a":null}', '/a in', 'null is no string'],
  ['{"a":[9007199254740991]}', '{"a":9007199254740991}', PASSES, 'the largest exact integer'],
  ['{"a":[9007199254740991]}', '{"a":9007199254740993}', '/a in', 'a rounded neighbour is another number'],
  ['{"a":[1]}', '{"a":1e999}', '/a in', 'a number beyond doubles equals nothing'],
  ['{"a":["x"]}', '{"a":["x"]}', PASSES, 'an array with an equal element'],
  ['{"a":["x"]}', '{"a":["y","x"]}', PASSES, 'any element will do'],
  ['{"a":["x"]}', '{"a":["y"]}', '/a in', 'an array without an equal element'],
  ['{"a":["x"]}', '{"a":[]}', '/a in', 'an empty array has no element'],
  ['{"a":["x"]}', '{"a":[["x"]]}', '/a in', 'direct elements only'],
  ['{"a":["x"]}', '{"a":[{"x":"x"}]}', '/a in', 'an object element equals no scalar'],
  ['{"a":[null]}', '{"a":[null]}', PASSES, 'null as an element'],
  ['{"a":["x"]}', '{"a":{"x":"x"}}', '/a in', 'an object equals no scalar'],
  ['{"a":["[object Object]"]}', '{"a":{}}', '/a in', 'nothing is converted to a string'],
  ['{"a":["x,y"]}', '{"a":["x","y"]}', '/a in', 'an array is not joined'],
  ['{"a":[]}', '{"a":"x"}', '/a in', 'an empty list never matches'],
  ['{"a":[]}', '{"a":[]}', '/a in', 'an empty list never matches, not even an empty array'],
  ['{"a":["x","x"]}', '{"a":"x"}', PASSES, 'a repeated item is harmless'],
];

const NOT_IN: Row[] = [
  ['{"a":{"not_in":["x"]}}', '{"a":"y"}', PASSES, 'another value'],
  ['{"a":{"not_in":["x"]}}', '{"a":"x"}', '/a not_in', 'a listed value'],
  ['{"a":{"not_in":["x"]}}', '{}', PASSES, 'a missing field is not listed'],
  ['{"a":{"not_in":[null]}}', '{}', PASSES, 'missing is not null'],
  ['{"a":{"not_in":[null]}}', '{"a":null}', '/a not_in', 'null is listed'],
  ['{"a":{"not_in":["x"]}}', '{"a":null}', PASSES, 'null is not listed'],
  ['{"a":{"not_in":["x"]}}', '{"a":{}}', PASSES, 'an object is not listed'],
  ['{"a":{"not_in":["x"]}}', '{"a":{"x":"x"}}', PASSES, 'an object is not searched'],
  ['{"a":{"not_in":["x"]}}', '{"a":[]}', PASSES, 'an empty array has no listed element'],
  ['{"a":{"not_in":["x"]}}', '{"a":["y","z"]}', PASSES, 'an array without a listed element'],
  ['{"a":{"not_in":["x"]}}', '{"a":["y","x"]}', '/a not_in', 'one listed element is enough'],
  ['{"a":{"not_in":["x"]}}', '{"a":[["x"]]}', PASSES, 'direct elements only'],
  ['{"a":{"not_in":[1]}}', '{"a":"1"}', PASSES, 'a string is no number'],
  ['{"a":{"not_in":[1]}}', '{"a":1.0}', '/a not_in', 'numbers by value'],
  ['{"a":{"not_in":[]}}', '{"a":"x"}', PASSES, 'an empty list always matches'],
  ['{"a":{"not_in":[]}}', '{}', PASSES, 'an empty list always matches, also a missing field'],
  ['{"a":{"not_in":["x"]}}', '[]', ' nested', 'the root must be an object, or hold one'],
];

const EXISTS: Row[] = [
  ['{"a":{"exists":true}}', '{"a":1}', PASSES, 'present'],
  ['{"a":{"exists":true}}', '{"a":null}', PASSES, 'null exists'],
  ['{"a":{"exists":true}}', '{"a":false}', PASSES, 'false exists'],
  ['{"a":{"exists":true}}', '{"a":[]}', PASSES, 'an empty array exists'],
  ['{"a":{"exists":true}}', '{}', '/a exists', 'missing'],
  ['{"a":{"exists":false}}', '{}', PASSES, 'missing as asked'],
  ['{"a":{"exists":false}}', '{"a":null}', '/a exists', 'null is not missing'],
  ['{"a":{"exists":false}}', '{"a":1}', '/a exists', 'present against the wish'],
];

const ANDED: Row[] = [
  ['{"a":["x"],"b":["y"]}', '{"a":"x","b":"y"}', PASSES, 'every key holds'],
  ['{"a":["x"],"b":["y"]}', '{"a":"x","b":"z"}', '/b in', 'the second key fails'],
  ['{"a":["x"],"b":["y"]}', '{"a":"z","b":"z"}', '/a in', 'the first failing key is named'],
  ['{"b":["y"],"a":["x"]}', '{"a":"z","b":"z"}', '/b in', 'first in the order of the filter, not of the alphabet'],
  ['{"a":{"in":["x"],"exists":true}}', '{"a":"x"}', PASSES, 'operators are ANDed'],
  ['{"a":{"in":["x"],"not_in":["y"]}}', '{"a":["x","y"]}', '/a not_in', 'in holds, not_in fails'],
  ['{"a":{"in":["x"],"not_in":["y"]}}', '{"a":["x"]}', PASSES, 'in and not_in hold'],
  ['{"a":{"not_in":["y"],"in":["x"]}}', '{"a":["y"]}', '/a not_in', 'the first failing operator as written'],
  ['{"a":{"in":["x"],"not_in":["y"]}}', '{"a":["y"]}', '/a in', 'the same, written the other way round'],
  ['{"a":{"exists":true,"not_in":["x"]}}', '{}', '/a exists', 'not_in alone would take a missing field'],
  ['{"a":{"exists":false,"not_in":["x"]}}', '{}', PASSES, 'missing satisfies both'],
  ['{"a":{"exists":false,"in":[]}}', '{}', '/a in', 'an empty in never holds'],
];

const NESTED: Row[] = [
  ['{"a":{"b":["x"]}}', '{"a":{"b":"x"}}', PASSES, 'a field of a field'],
  ['{"a":{"b":["x"]}}', '{"a":{"b":"y"}}', '/a/b in', 'the inner field is named'],
  ['{"a":{"b":["x"]}}', '{"a":{}}', '/a/b in', 'the inner field is missing'],
  ['{"a":{"b":["x"]}}', '{}', '/a nested', 'the outer field is missing'],
  ['{"a":{"b":{"exists":false}}}', '{}', '/a nested', 'a missing field fails, whatever is asked inside'],
  ['{"a":{"b":{"not_in":["x"]}}}', '{}', '/a nested', 'a missing field fails, also before not_in'],
  ['{"a":{"b":{"not_in":["x"]}}}', '{"a":{}}', PASSES, 'the outer field is there, the inner one is not listed'],
  ['{"a":{"b":{"exists":false}}}', '{"a":{}}', PASSES, 'the inner field is missing as asked'],
  ['{"a":{"b":["x"]}}', '{"a":null}', '/a nested', 'null is no object'],
  ['{"a":{"b":["x"]}}', '{"a":"b"}', '/a nested', 'a string is no object'],
  ['{"a":{"length":[1]}}', '{"a":"b"}', '/a nested', 'a string has no fields'],
  ['{"a":{"length":[1]}}', '{"a":["b"]}', '/a nested', 'an array has no field length'],
  ['{"a":{"0":["b"]}}', '{"a":["b"]}', '/a nested', 'an index is no field'],
  ['{"a":{"b":["x"]}}', '{"a":[{"b":"x"}]}', PASSES, 'an element that satisfies'],
  ['{"a":{"b":["x"]}}', '{"a":[1,null,"b",{"b":"y"},{"b":"x"}]}', PASSES, 'one element among others'],
  ['{"a":{"b":["x"]}}', '{"a":[{"b":"y"}]}', '/a nested', 'no element satisfies: the array is named, not an element'],
  ['{"a":{"b":["x"]}}', '{"a":[]}', '/a nested', 'an empty array has no element'],
  ['{"a":{"b":{"exists":false}}}', '{"a":[1]}', '/a nested', 'a scalar element is no object without b'],
  ['{"a":{"b":["x"]}}', '{"a":[[{"b":"x"}]]}', '/a nested', 'direct elements only'],
  ['{"a":{"b":["x"],"c":["y"]}}', '{"a":[{"b":"x","c":"y"}]}', PASSES, 'one element satisfies all of it'],
  ['{"a":{"b":["x"],"c":["y"]}}', '{"a":[{"b":"x"},{"c":"y"}]}', '/a nested', 'two elements between them do not'],
  ['{"a":{"b":{"c":["x"]}}}', '{"a":[{"b":[{"c":"x"}]}]}', PASSES, 'arrays on two levels'],
  [
    '{"a":{"b":{"c":["x"]}}}',
    '{"a":{"b":[{"c":"y"}]}}',
    '/a/b nested',
    'the inner array is named when the way to it was plain',
  ],
  ['{"a":{"b":{"c":["x"]}}}', '{"a":{"b":{"c":["y","x"]}}}', PASSES, 'an array of scalars at the end'],
];

const ROOT: Row[] = [
  ['{"a":["x"]}', '[{"a":"x"}]', PASSES, 'an array at the root: one element satisfies'],
  ['{"a":["x"]}', '[1,{"a":"y"},{"a":"x"}]', PASSES, 'one element among others'],
  ['{"a":["x"]}', '[{"a":"y"}]', ' nested', 'no element satisfies'],
  ['{"a":["x"],"b":["y"]}', '[{"a":"x"},{"b":"y"}]', ' nested', 'one element must satisfy all of it'],
  ['{"a":["x"]}', '[[{"a":"x"}]]', ' nested', 'direct elements only'],
  ['{"a":["x"]}', '[]', ' nested', 'the empty array fails any condition'],
  ['{"a":{"exists":false}}', '[]', ' nested', 'the empty array fails even a wish for absence'],
  ['{"a":["x"]}', '"x"', ' nested', 'a scalar fails any condition'],
  ['{"a":{"exists":false}}', 'null', ' nested', 'null fails any condition'],
  ['{"a":{"not_in":["x"]}}', '7', ' nested', 'a number fails any condition'],
  ['{"a":{"not_in":[]}}', '7', ' nested', 'always holds for objects, not for scalars'],
];

const NAMES: Row[] = [
  ['{"a.b":["x"]}', '{"a.b":"x"}', PASSES, 'a dot is part of the name'],
  ['{"a.b":["x"]}', '{"a":{"b":"x"}}', '/a.b in', 'a dot is no path'],
  ['{"a/b":["x"]}', '{}', '/a~1b in', 'a slash is escaped in the pointer'],
  ['{"a~b":{"c":["x"]}}', '{"a~b":{}}', '/a~0b/c in', 'a tilde is escaped in the pointer'],
  ['{"":["x"]}', '{"":"x"}', PASSES, 'the empty name is a name'],
  ['{"":["x"]}', '{}', '/ in', 'and has a pointer of its own'],
  ['{"in":["x"]}', '{"in":"x"}', PASSES, 'root keys are field names: in'],
  ['{"not_in":["x"]}', '{}', '/not_in in', 'root keys are field names: not_in'],
  ['{"exists":{"exists":true}}', '{"exists":1}', PASSES, 'root keys are field names: exists'],
  ['{"in":{"in":["x"]}}', '{"in":"x"}', PASSES, 'at the root: the field in and its operator'],
  ['{"a":{"in":{"in":["x"]}}}', '{"a":{"in":"x"}}', PASSES, 'a nested field called in, addressed one level deeper'],
  ['{"a":{"in":{"in":["x"]}}}', '{"a":"x"}', '/a nested', 'and not the operator'],
  ['{"a":{"exists":["x"]}}', '{"a":{"exists":"x"}}', PASSES, 'exists with an array is no operator but a field'],
  [
    '{"a":{"in":{"b":["x"]},"c":["y"]}}',
    '{"a":{"in":{"b":"x"},"c":"y"}}',
    PASSES,
    'a field called in beside another field',
  ],
  ['{"a":{"exists":{"exists":false}}}', '{"a":{}}', PASSES, 'a field called exists that is missing as asked'],
  ['{"__proto__":["x"]}', '{"__proto__":"x"}', PASSES, '__proto__ is a name like any other'],
  ['{"__proto__":["x"]}', '{}', '/__proto__ in', 'and nothing is inherited'],
  ['{"__proto__":{"exists":true}}', '{}', '/__proto__ exists', 'the prototype is not present'],
  ['{"__proto__":{"a":["x"]}}', '{"__proto__":{"a":"x"}}', PASSES, 'nested below __proto__'],
  ['{"a":["x"]}', '{"__proto__":{"a":"x"}}', '/a in', 'a payload cannot lend a field through __proto__'],
  ['{"constructor":{"exists":false}}', '{}', PASSES, 'own properties only'],
  ['{"constructor":{"name":["Object"]}}', '{}', '/constructor nested', 'nothing inherited can be looked into'],
  ['{"constructor":["x"]}', '{"constructor":"x"}', PASSES, 'constructor is a name like any other'],
  ['{"toString":{"exists":true}}', '{}', '/toString exists', 'inherited methods are not fields'],
  [
    '{"hasOwnProperty":["x"]}',
    '{"hasOwnProperty":"x"}',
    PASSES,
    'a payload may shadow what an implementation might call',
  ],
  ['{"length":{"exists":true}}', '[]', ' nested', 'an array at the root has no fields of its own'],
  ['{"a":["x"]}', '{"a":"y","a":"x"}', PASSES, 'of duplicate keys the last counts, as JSON.parse has it'],
];

const SECTIONS: Record<string, Row[]> = {
  'no condition': EVERYTHING,
  in: IN,
  not_in: NOT_IN,
  exists: EXISTS,
  'several conditions': ANDED,
  'nested fields': NESTED,
  'the root': ROOT,
  'field names': NAMES,
};

describe.each(Object.entries(SECTIONS))('payload filter: %s', (_section, rows) => {
  it.each(rows)('%s on %s: %s (%s)', (filterText, payloadText, expected) => {
    const filter = compiled(filterText);
    const payload = JSON.parse(payloadText) as JsonValue;
    expect(saying(filter, payload)).toBe(expected);
    expect(filter.matches(payload)).toBe(expected === PASSES);
    expect(inSteps(filter, payload)).toEqual(filter.explain(payload));
  });
});

it('covers the table at depth', () => {
  expect(Object.values(SECTIONS).flat().length).toBeGreaterThanOrEqual(80);
});

function compiled(filterText: string): CompiledFilter {
  const compilation = compileFilter(JSON.parse(filterText));
  if (!compilation.ok)
    throw new Error(compilation.problems.map((problem) => `${problem.pointer} ${problem.rule}`).join('; '));
  return compilation.filter;
}

function inSteps(filter: CompiledFilter, payload: JsonValue): FilterVerdict {
  const steps = filter.explainInSteps(payload);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function saying(filter: CompiledFilter, payload: JsonValue): string {
  const verdict = filter.explain(payload);
  return verdict.passed ? PASSES : `${verdict.failedPointer} ${verdict.operator}`;
}
