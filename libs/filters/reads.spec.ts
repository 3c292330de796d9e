/** No payload costs more looks than its filter says beforehand; the worst ones cost nearly as many. contract §7.3. */
import * as fc from 'fast-check';
import { BODY_BYTES_MAX } from '#deliveries';
import { examples } from '../../test/support/tier.ts';
import { compileFilter, type CompiledFilter, type JsonValue, PAYLOAD_BYTES_MAX } from './index.ts';

function compiledOf(filter: unknown): CompiledFilter {
  const compilation = compileFilter(filter);
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.problems));
  return compilation.filter;
}

function readsOf(filter: CompiledFilter, payload: JsonValue): number {
  let reads = 0;
  const steps = filter.explainInSteps(payload);
  for (let step = steps.next(); step.done !== true; step = steps.next()) reads += step.value;
  return reads;
}

const bytesOf = (payload: JsonValue): number => Buffer.byteLength(JSON.stringify(payload));

/** As many of an element as a delivery holds. */
function filled(element: JsonValue, wrap: (elements: JsonValue[]) => JsonValue = (elements) => elements): JsonValue {
  const count = Math.floor((BODY_BYTES_MAX - 20) / (bytesOf(element) + 1));
  return wrap(Array.from({ length: count }, () => element));
}

const NOT_IN = Object.fromEntries(Array.from({ length: 63 }, (_, index) => [`f${index}`, { not_in: [1] }]));

describe('the bound', () => {
  it('is for payloads as large as a delivery may be', () => {
    expect(PAYLOAD_BYTES_MAX).toBe(BODY_BYTES_MAX);
  });

  it.each<{ why: string; filter: unknown; payload: JsonValue; share: number }>([
    { why: 'empty elements', filter: { a: ['x'] }, payload: filled({}), share: 0.99 },
    {
      why: 'empty elements of a member',
      filter: { a: { b: ['x'] } },
      payload: filled({}, (a) => ({ a })),
      share: 0.8,
    },
    { why: 'what may be missing comes first', filter: { ...NOT_IN, z: ['x'] }, payload: filled({}), share: 0.99 },
    {
      why: 'two lists for the same values',
      filter: { a: { in: ['x'], not_in: ['y'] } },
      payload: filled(1, (a) => ({ a })),
      share: 0.3,
    },
    {
      why: 'an object inside each element',
      filter: { a: { ...NOT_IN, z: ['x'] } },
      payload: filled({ a: {} }),
      share: 0.3,
    },
    { why: 'no array at all', filter: { a: ['x'] }, payload: { a: 1 }, share: 0 },
  ])('holds for $why, and not by far', ({ filter, payload, share }) => {
    const compiled = compiledOf(filter);
    expect(readsOf(compiled, payload)).toBeLessThanOrEqual(compiled.readsMax(bytesOf(payload)));
    expect(readsOf(compiled, payload)).toBeGreaterThanOrEqual(share * compiled.readsMax(bytesOf(payload)));
  });

  it('is one look a byte of a filter that asks for fields to be there, however many', () => {
    const fields = ['action', 'repository', 'sender'].map((name) => [name, ['x']]);
    for (const count of [1, 2, 3])
      expect(compiledOf(Object.fromEntries(fields.slice(0, count))).readsMax(BODY_BYTES_MAX)).toBeLessThan(
        1.01 * BODY_BYTES_MAX,
      );
  });

  it('holds whatever filter and payload are made of, in long arrays and in none', () => {
    fc.assert(
      fc.property(FILTER, ELEMENT, fc.constantFrom(1, 3, 400), fc.boolean(), (filter, element, count, isInside) => {
        const compilation = compileFilter(filter);
        if (!compilation.ok) return;
        const elements = Array.from({ length: count }, () => element);
        for (const payload of [elements, element, isInside ? { a: elements } : { '': elements }] as JsonValue[])
          expect(readsOf(compilation.filter, payload)).toBeLessThanOrEqual(
            compilation.filter.readsMax(bytesOf(payload)),
          );
      }),
      { numRuns: examples(20_000), seed: 20_260_101 },
    );
  });

  it.each([undefined, {}])('of a filter that asks for nothing (%p) is one look', (filter) => {
    expect(compiledOf(filter).readsMax(BODY_BYTES_MAX)).toBe(1);
  });
});

const NAME = fc.constantFrom('', 'a', 'b', 'c', 'dd');
const VALUES = fc.subarray([0, 1, 'x', null], { minLength: 0 });
const { filter: FILTER } = fc.letrec<{ filter: JsonValue; field: JsonValue }>((tie) => ({
  filter: fc.dictionary(NAME, tie('field'), { minKeys: 1, maxKeys: 5 }),
  field: fc.oneof(
    { depthSize: 'small' },
    VALUES,
    fc.record({ not_in: VALUES }),
    fc.record({ exists: fc.boolean() }),
    fc.record({ in: fc.constant(['x']), not_in: fc.constant([1]), exists: fc.constant(true) }),
    tie('filter'),
  ) as fc.Arbitrary<JsonValue>,
}));
const { element: ELEMENT } = fc.letrec<{ element: JsonValue; member: JsonValue }>((tie) => ({
  element: fc.dictionary(NAME, tie('member'), { maxKeys: 5 }),
  member: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(1, 'x', 0),
    fc.constantFrom([], ['x'], [1, 1, 1], [{}], [{}, {}], [[]]),
    tie('element'),
  ) as fc.Arbitrary<JsonValue>,
}));
