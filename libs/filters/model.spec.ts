/**
 * Compiled filters against a naive model of contract §7 that shares no code with them, on filters and payloads made to
 * meet.
 */
import * as fc from 'fast-check';
import { failureInSteps, STEP_READS_MAX } from './evaluate-in-steps.ts';
import { type CompiledFilter, compileFilter, type JsonScalar, type JsonValue } from './index.ts';
import { readRoot } from './read.ts';
import { examples } from '../../test/support/tier.ts';

type JsonObject = { [name: string]: JsonValue };

const RUNS = examples(20_000);
const SEED = 20_260_101; // fixed, so that the share of matches asserted below is a fact and not a chance
const NAMES = ['a', 'b', 'in', 'not_in', 'exists', '__proto__', 'constructor', 'a.b', 'x/y~z', ''];
const SCALARS: JsonScalar[] = [0, 1, -1, 0.5, '', '0', '1', 'x', 'y', 'true', 'null', true, false, null];

describe('compiled filters and the model', () => {
  it('agree on every filter and payload, and both answers are frequent', () => {
    let matched = 0;
    fc.assert(
      fc.property(filterAndPayload(), ([filter, payload]) => {
        const expected = model(filter, payload);
        matched += expected ? 1 : 0;
        const compiled = compiledOf(filter);
        expect(compiled.matches(payload)).toBe(expected);
        expect(compiled.explain(payload).passed).toBe(expected);
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect(matched / RUNS).toBeGreaterThan(0.35);
    expect(matched / RUNS).toBeLessThan(0.65);
  });

  it('blame a field that the filter has, with an operator that stands there', () => {
    fc.assert(
      fc.property(filterAndPayload(), ([filter, payload]) => {
        const verdict = compiledOf(filter).explain(payload);
        if (!verdict.passed) expect(conditionsOf(filter)).toContain(`${verdict.failedPointer} ${verdict.operator}`);
      }),
      { numRuns: examples(5_000), seed: SEED },
    );
  });

  it('blame the first failing field: the filter cut off before it matches, that field alone does not', () => {
    fc.assert(
      fc.property(filterAndPayload(), ([filter, payload]) => {
        if (!isObject(payload)) return;
        const verdict = compiledOf(filter).explain(payload);
        if (verdict.passed) return;
        const blamed = unescaped(verdict.failedPointer.split('/')[1] ?? '');
        const before = Object.entries(filter).slice(0, Object.keys(filter).indexOf(blamed));
        expect(model(Object.fromEntries(before), payload)).toBe(true);
        expect(model(Object.fromEntries([[blamed, filter[blamed] as JsonValue]]), payload)).toBe(false);
      }),
      { numRuns: examples(5_000), seed: SEED },
    );
  });

  it('give the same answer a second time and leave the payload alone', () => {
    fc.assert(
      fc.property(filterAndPayload(), ([filter, payload]) => {
        const before = JSON.stringify(payload);
        const compiled = compiledOf(filter);
        expect(compiled.explain(payload)).toEqual(compiled.explain(payload));
        expect(JSON.stringify(payload)).toBe(before);
      }),
      { numRuns: examples(1_000), seed: SEED },
    );
  });
});

describe('in steps', () => {
  it.each([1, 2, 5, STEP_READS_MAX])('of %i looks the verdict is that of the whole', (looksMax) => {
    let steps = 0;
    fc.assert(
      fc.property(filterAndPayload(), ([filter, payload]) => {
        const verdict = compiledOf(filter).explain(payload);
        const asked = stepsOf(
          failureInSteps(readRoot(filter, { problems: [], warnings: [], leafCount: 0 }), payload, looksMax),
        );
        if (Object.keys(filter).length > 0) expect(asked.answer ?? { passed: true }).toEqual(verdict);
        expect(stepsOf(compiledOf(filter).explainInSteps(payload)).answer).toEqual(verdict);
        steps += asked.looks.length;
      }),
      { numRuns: examples(2_000), seed: SEED },
    );
    if (looksMax === 1) expect(steps).toBeGreaterThan(examples(3_000));
  });

  const condition = { not_in: ['q'], exists: false };
  const wide = { ...Object.fromEntries(Array.from({ length: 63 }, (_, n) => [`k${n}`, condition])), z: ['x'] };
  it.each<[string, JsonObject, JsonValue, number]>([
    ['many fields over many elements', { a: wide }, { a: Array.from({ length: 20_000 }, () => ({})) }, 20_000 * 64 * 3],
    [
      'one field over many elements',
      { a: { z: ['x'] } },
      { a: Array.from({ length: 20_000 }, () => ({})) },
      20_000 * 2,
    ],
    [
      'objects in elements',
      { a: { z: { y: ['x'] } } },
      { a: Array.from({ length: 20_000 }, () => ({ z: {} })) },
      20_000 * 4,
    ],
    [
      'lists in elements',
      { a: { z: ['x'] } },
      { a: Array.from({ length: 200 }, () => ({ z: Array.from({ length: 100 }, () => 0) })) },
      20_000,
    ],
    ['elements that are no objects', { a: { z: ['x'] } }, { a: Array.from({ length: 20_000 }, (_, n) => n) }, 20_000],
    [
      'a long list of values',
      { a: { in: ['x'], exists: true } },
      { a: Array.from({ length: 20_000 }, (_, n) => n) },
      20_000,
    ],
    ['a root that is a list', wide, Array.from({ length: 20_000 }, () => ({})), 20_000 * 64 * 3],
  ])('of %s all are short, and all looks are counted', (_what, filter, payload, least) => {
    const { looks, answer } = stepsOf(compiledOf(filter).explainInSteps(payload));
    expect(answer).toEqual(compiledOf(filter).explain(payload));
    const sum = looks.reduce((all, each) => all + each, 0);
    expect(sum).toBeGreaterThan(least * 0.98);
    expect(sum).toBeLessThan(least * 3);
    // One element more than the measure, at most.
    expect(Math.max(...looks)).toBeLessThan(STEP_READS_MAX + 64 * 4 + 200);
    expect(looks.length).toBeGreaterThanOrEqual(Math.floor(sum / (STEP_READS_MAX + 456)));
  });
});

function stepsOf<Answer>(steps: Generator<number, Answer>): { looks: number[]; answer: Answer } {
  for (const looks: number[] = []; ;) {
    const step = steps.next();
    if (step.done === true) return { looks, answer: step.value };
    looks.push(step.value);
  }
}

describe('compileFilter is total', () => {
  it('answers any JSON value with a filter or with problems inside it, never by throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (raw) => {
        const compilation = compileFilter(raw);
        if (compilation.ok) return;
        expect(compilation.problems.length).toBeGreaterThan(0);
        for (const { pointer } of compilation.problems) expect(resolves(raw as JsonValue, pointer)).toBe(true);
      }),
      { numRuns: examples(3_000), seed: SEED },
    );
  });

  it('accepts a filter exactly when the model of the grammar does', () => {
    fc.assert(
      fc.property(anyFilterLike(), (raw) => {
        expect(compileFilter(raw).ok).toBe(isObject(raw) && Object.values(raw).every(readable));
      }),
      { numRuns: examples(10_000), seed: SEED },
    );
  });
});

// ---- the model: the sentences of contract §7, one by one, straight over the raw filter ----

function model(filter: JsonObject, payload: JsonValue): boolean {
  if (Object.keys(filter).length === 0) return true;
  return satisfiesNested(filter, payload);
}

function satisfiesNested(filter: JsonObject, value: JsonValue): boolean {
  const candidates = Array.isArray(value) ? value : [value];
  return candidates.filter(isObject).some((candidate) => {
    return Object.entries(filter).every(([name, condition]) => satisfiesField(condition, members(candidate).get(name)));
  });
}

function satisfiesField(condition: JsonValue, value: JsonValue | undefined): boolean {
  if (Array.isArray(condition)) return equalsOne(condition, value);
  if (!isObject(condition)) throw new Error('not a filter');
  if (!isOperatorObject(condition)) return value !== undefined && satisfiesNested(condition, value);
  return Object.entries(condition).every(([operator, operand]) => {
    if (operator === 'exists') return operand === (value !== undefined);
    return equalsOne(operand as JsonValue[], value) === (operator === 'in');
  });
}

function equalsOne(items: JsonValue[], value: JsonValue | undefined): boolean {
  if (value === undefined) return false;
  const candidates = Array.isArray(value) ? value : [value];
  // Strict equality is the contract's: same type, exact strings, numbers by value; two objects are never the same one.
  return candidates.some((candidate) => items.some((item) => item === candidate));
}

function isOperatorObject(condition: JsonObject): boolean {
  return Object.entries(condition).every(([name, operand]) => isOperator(name, operand));
}

function isOperator(name: string, operand: JsonValue): boolean {
  return name === 'exists'
    ? typeof operand === 'boolean'
    : (name === 'in' || name === 'not_in') && Array.isArray(operand);
}

/** The grammar of contract §7 without its size limits, which the generated filters stay below. */
function readable(condition: JsonValue): boolean {
  if (Array.isArray(condition)) return condition.every((item) => typeof item !== 'object' || item === null);
  if (!isObject(condition) || Object.keys(condition).length === 0) return false;
  const operators = Object.entries(condition).filter(([name, operand]) => isOperator(name, operand));
  if (operators.length === 0) return Object.values(condition).every(readable);
  if (operators.length < Object.keys(condition).length) return false;
  const operands = members(condition);
  const allowed = (operands.get('in') ?? []) as JsonValue[];
  const refused = (operands.get('not_in') ?? []) as JsonValue[];
  if (operands.get('exists') === false && allowed.length > 0) return false;
  return readable(allowed) && readable(refused) && !allowed.some((item) => refused.includes(item));
}

function members(object: JsonObject): Map<string, JsonValue> {
  return new Map(Object.entries(object));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every `pointer operator` that may be blamed. */
function conditionsOf(filter: JsonObject, pointer = ''): string[] {
  const below = Object.entries(filter).flatMap(([name, condition]) => {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (Array.isArray(condition)) return [`${at} in`];
    if (!isObject(condition)) return [];
    return isOperatorObject(condition)
      ? Object.keys(condition).map((operator) => `${at} ${operator}`)
      : conditionsOf(condition, at);
  });
  return [`${pointer} nested`, ...below];
}

function resolves(root: JsonValue, pointer: string): boolean {
  let value: JsonValue | undefined = root;
  for (const token of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, unescaped(token))) return false;
    value = (value as JsonObject)[unescaped(token)];
  }
  return true;
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

// ---- generators ----

const name = fc.constantFrom(...NAMES);
const scalar = fc.constantFrom(...SCALARS);

function objectOf(value: fc.Arbitrary<JsonValue>, minLength: number, maxLength: number): fc.Arbitrary<JsonObject> {
  const entries = fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, minLength, maxLength });
  return entries.map((pairs) => Object.fromEntries(pairs)); // fromEntries defines own members, `__proto__` too
}

const anyPayload: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    objectOf(tie('value'), 0, 4),
  ),
})).value;

/** Conditions that the grammar accepts: both lists are cut from one shuffled list and so share nothing. */
function leafCondition(): fc.Arbitrary<JsonValue> {
  const lists = fc.tuple(fc.shuffledSubarray(SCALARS, { minLength: 1 }), fc.nat(6), fc.nat(8), fc.boolean());
  return lists.chain(([shuffled, inLength, notInLength, exists]) => {
    const allowed = shuffled.slice(0, inLength);
    const refused = shuffled.slice(inLength, inLength + notInLength);
    const both = { not_in: refused, in: allowed };
    return fc.constantFrom<JsonValue>(allowed, { in: allowed }, { not_in: refused }, { exists }, both, {
      exists: true,
      not_in: refused,
    });
  });
}

function anyFilter(): fc.Arbitrary<JsonObject> {
  const { condition } = fc.letrec<{ condition: JsonValue }>((tie) => ({
    condition: fc.oneof(
      { maxDepth: 3 },
      { weight: 3, arbitrary: leafCondition() },
      { weight: 2, arbitrary: nestedOf(tie('condition')) },
    ),
  }));
  return objectOf(condition, 0, 3);
}

/** Nested objects of fields; ones that would read as operators or mix with them are not meant here and left out. */
function nestedOf(condition: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return objectOf(condition, 1, 3).filter((fields) =>
    Object.entries(fields).every(([key, operand]) => !isOperator(key, operand)),
  );
}

/** Filters that are nearly right, for the grammar itself. */
function anyFilterLike(): fc.Arbitrary<JsonValue> {
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      { weight: 1, arbitrary: scalar },
      { weight: 3, arbitrary: leafCondition() },
      { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 2 }) },
      { weight: 3, arbitrary: objectOf(tie('value'), 0, 3) },
    ),
  }));
  return fc.oneof({ weight: 1, arbitrary: value }, { weight: 4, arbitrary: objectOf(value, 0, 3) });
}

/** A filter with a payload that was built to satisfy it (when anything can), or with an unrelated or damaged one. */
function filterAndPayload(): fc.Arbitrary<[JsonObject, JsonValue]> {
  return anyFilter().chain((filter) => {
    const payload = fc.oneof(
      { weight: 5, arbitrary: witness(filter) },
      { weight: 2, arbitrary: damaged(witness(filter)) },
      { weight: 2, arbitrary: anyPayload },
    );
    return fc.tuple(fc.constant(filter), payload);
  });
}

function witness(filter: JsonObject): fc.Arbitrary<JsonValue> {
  const fields = Object.entries(filter).map(([key, condition]) =>
    memberFor(condition).map((member) => [key, member] as const),
  );
  const made = fc.tuple(objectOf(anyPayload, 0, 2), ...fields).map(([junk, ...pairs]) => {
    const kept = pairs.filter((pair): pair is readonly [string, JsonValue] => pair[1] !== undefined);
    const asked = new Set(Object.keys(filter));
    return Object.fromEntries([...Object.entries(junk).filter(([key]) => !asked.has(key)), ...kept]);
  });
  return fc.oneof({ weight: 4, arbitrary: made }, { weight: 1, arbitrary: hidden(made) });
}

/** A value for one field, undefined for a field left out. */
function memberFor(condition: JsonValue): fc.Arbitrary<JsonValue | undefined> {
  if (Array.isArray(condition)) return oneOf(condition);
  const asked = members(condition as JsonObject);
  if (!isOperatorObject(condition as JsonObject)) return witness(condition as JsonObject);
  if (asked.get('exists') === false) return fc.constant(undefined);
  if (asked.has('in')) return oneOf(asked.get('in') as JsonValue[]);
  const refused = (asked.get('not_in') ?? []) as JsonValue[];
  const free = fc.oneof(scalar, anyPayload).filter((value) => !equalsOne(refused, value));
  return asked.has('exists') ? free : fc.option(free, { nil: undefined });
}

function oneOf(items: JsonValue[]): fc.Arbitrary<JsonValue> {
  if (items.length === 0) return anyPayload;
  const item = fc.constantFrom(...items);
  return fc.oneof({ weight: 3, arbitrary: item }, { weight: 1, arbitrary: hidden(item) });
}

/** The value as one element of an array of others. */
function hidden(value: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  const others = fc.array(anyPayload, { maxLength: 2 });
  return fc.tuple(others, value, others).map(([before, it, after]) => [...before, it, ...after]);
}

/** The payload with one of its root members replaced, removed or wrapped. */
function damaged(payload: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return fc.tuple(payload, fc.nat(), fc.option(anyPayload, { nil: undefined })).map(([whole, index, replacement]) => {
    const entries = Object.entries(isObject(whole) ? whole : {});
    if (entries.length === 0) return replacement ?? [whole];
    const at = index % entries.length;
    const kept = entries.map(([key, member], i): [string, JsonValue | undefined] => [
      key,
      i === at ? replacement : member,
    ]);
    return Object.fromEntries(kept.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));
  });
}

function compiledOf(filter: JsonObject): CompiledFilter {
  const compilation = compileFilter(filter);
  if (!compilation.ok)
    throw new Error(compilation.problems.map((problem) => `${problem.pointer} ${problem.rule}`).join('; '));
  return compilation.filter;
}
