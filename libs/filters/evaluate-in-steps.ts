/**
 * The evaluation of a filter with rests, for whoever must not hold others up: the rules of `evaluate.ts`, in the same
 * order. contract §7.
 */
import {
  type Failure,
  type Field,
  type FieldTest,
  firstFailure,
  holdsOneOf,
  isJsonObject,
  type JsonObject,
  memberOf,
  type NestedTest,
  type SetTest,
} from './evaluate.ts';
import type { JsonValue } from './types.ts';

/** Looks after which there is a rest: a tenth of a millisecond or two. */
export const STEP_READS_MAX = 4_096;

/** Looks at names, elements and values since the last rest. */
interface Pace {
  reads: number;
  readsMax: number;
}

/**
 * As `firstFailure`, of whose answer it never differs. Yields, at each rest and at the end, how many reads there were
 * since the last one.
 */
export function* failureInSteps(
  test: FieldTest,
  value: JsonValue,
  readsMax = STEP_READS_MAX,
): Generator<number, Failure | undefined> {
  const pace: Pace = { reads: 1, readsMax };
  const failure = yield* testFailure(test, value, pace);
  yield pace.reads;
  return failure;
}

function* testFailure(
  test: FieldTest,
  value: JsonValue | undefined,
  pace: Pace,
): Generator<number, Failure | undefined> {
  pace.reads += 2; // one that rests is dearer than a look
  if (test.operator === 'nested') return yield* nestedFailure(test, value, pace);
  if (test.operator !== 'exists' && Array.isArray(value)) return yield* setFailure(test, value, pace);
  return firstFailure(test, value);
}

function* nestedFailure(
  test: NestedTest,
  value: JsonValue | undefined,
  pace: Pace,
): Generator<number, Failure | undefined> {
  if (typeof value !== 'object' || value === null) return test.failure;
  if (!Array.isArray(value)) return yield* failingField(test.fields, value, pace);
  for (const element of value) {
    pace.reads += 1;
    if (pace.reads >= pace.readsMax) yield rest(pace);
    if (!isJsonObject(element)) continue;
    const plain = plainFailure(test.fields, element, pace);
    const failure = plain === 'nests' ? yield* failingField(test.fields, element, pace) : plain;
    if (failure === undefined) return undefined;
  }
  return test.failure;
}

/**
 * The same as `failingField` for what is judged in a moment, at a quarter of its price; `nests`: not for this object.
 */
function plainFailure(fields: readonly Field[], value: JsonObject, pace: Pace): Failure | 'nests' | undefined {
  for (const { name, tests } of fields) {
    const member = memberOf(value, name);
    pace.reads += 1 + tests.length;
    if (isEntered(member)) return 'nests';
    for (const test of tests) {
      const failure = firstFailure(test, member);
      if (failure !== undefined) return failure;
    }
  }
  return undefined;
}

function* failingField(
  fields: readonly Field[],
  value: JsonObject,
  pace: Pace,
): Generator<number, Failure | undefined> {
  for (const { name, tests } of fields) {
    const member = memberOf(value, name);
    pace.reads += 1 + tests.length;
    for (const test of tests) {
      const failure = isEntered(member) ? yield* testFailure(test, member, pace) : firstFailure(test, member);
      if (failure !== undefined) return failure;
    }
  }
  return undefined;
}

function isEntered(member: JsonValue | undefined): boolean {
  return typeof member === 'object' && member !== null;
}

function* setFailure(
  { operator, values, failure }: SetTest,
  value: JsonValue[],
  pace: Pace,
): Generator<number, Failure | undefined> {
  const [whereOne, whereNone] = operator === 'in' ? [undefined, failure] : [failure, undefined];
  for (let from = 0; from < value.length; from += pace.readsMax) {
    const some = value.slice(from, from + pace.readsMax);
    pace.reads += some.length;
    if (holdsOneOf(values, some)) return whereOne;
    if (pace.reads >= pace.readsMax) yield rest(pace);
  }
  return whereNone;
}

function rest(pace: Pace): number {
  const { reads } = pace;
  pace.reads = 0;
  return reads;
}
