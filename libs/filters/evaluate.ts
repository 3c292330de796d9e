/**
 * Knows whether a payload satisfies the tests of a filter, and which test failed first. spec: Payload filter; contract
 * §7.
 */
import type { FilterVerdict, JsonScalar, JsonValue } from './types.ts';

const { hasOwn } = Object;

/** A failing verdict, made once per test when the filter is read, so that evaluating allocates nothing. */
export type Failure = Readonly<Extract<FilterVerdict, { passed: false }>>;

/**
 * One test of one field's value. Sets compare as the contract's equality does: same type, strings exact, numbers by
 * value.
 */
export type FieldTest = SetTest | { operator: 'exists'; expected: boolean; failure: Failure } | NestedTest;

/** The value, or an element of it, must be one of these; or none may be. */
export interface SetTest {
  operator: 'in' | 'not_in';
  values: ReadonlySet<JsonScalar>;
  failure: Failure;
}

/** The value must be an object that passes every field, or an array one element of which is. */
export interface NestedTest {
  operator: 'nested';
  fields: readonly Field[];
  failure: Failure;
}

export type JsonObject = { [name: string]: JsonValue };

/** Everything a filter asks of the member called `name`, in the order in which it was written. */
export interface Field {
  name: string;
  tests: readonly FieldTest[];
}

/**
 * The failure of the first test, in the order of the filter, that `value` does not pass; undefined when it passes. A
 * missing member is passed as undefined.
 *
 * Recursion follows the filter, whose depth is bounded, and never the payload: arrays are entered one level only.
 * Every value of the payload is looked at by at most one field of the filter, so the work is linear in the payload.
 */
export function firstFailure(test: FieldTest, value: JsonValue | undefined): Failure | undefined {
  switch (test.operator) {
    case 'in':
      return holdsOneOf(test.values, value) ? undefined : test.failure;
    case 'not_in':
      return holdsOneOf(test.values, value) ? test.failure : undefined;
    case 'exists':
      return (value !== undefined) === test.expected ? undefined : test.failure;
    case 'nested':
      return nestedFailure(test, value);
  }
}

function nestedFailure(test: NestedTest, value: JsonValue | undefined): Failure | undefined {
  if (typeof value !== 'object' || value === null) return test.failure;
  if (!Array.isArray(value)) return firstFailingField(test.fields, value);
  // No single field can be blamed for an array: each element may fail for a reason of its own.
  return value.some((element) => isJsonObject(element) && firstFailingField(test.fields, element) === undefined)
    ? undefined
    : test.failure;
}

function firstFailingField(fields: readonly Field[], value: JsonObject): Failure | undefined {
  for (const { name, tests } of fields) {
    const member = memberOf(value, name);
    for (const test of tests) {
      const failure = firstFailure(test, member);
      if (failure !== undefined) return failure;
    }
  }
  return undefined;
}

/** Own members only: `constructor` or `__proto__` in a filter must not find what every object inherits. */
export function memberOf(value: JsonObject, name: string): JsonValue | undefined {
  return hasOwn(value, name) ? value[name] : undefined;
}

export function holdsOneOf(values: ReadonlySet<JsonScalar>, value: JsonValue | undefined): boolean {
  if (value === undefined) return false;
  if (Array.isArray(value)) return value.some((element) => isMember(values, element));
  return isMember(values, value);
}

/** Objects and arrays are never members: a set of scalars compares them by identity. */
function isMember(values: ReadonlySet<JsonScalar>, value: JsonValue): boolean {
  return values.has(value as JsonScalar);
}

export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
