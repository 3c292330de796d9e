/**
 * Knows what may stand in the value lists of `in` and `not_in`, and warns of lists that decide without looking.
 * contract §7.
 */
import { isScalar, kindOf, pointerTo } from './json.ts';
import { patternIn } from './literal-patterns.ts';
import type { FilterProblem, JsonScalar } from './types.ts';

/** Most values of one list: a longer one is a table that belongs to the run, not to the filter. */
export const SET_VALUES_MAX = 32;

/** Reads one value list; unusable items become problems at their own pointer, an empty list a warning. */
export function readSet(
  operator: 'in' | 'not_in',
  items: readonly unknown[],
  pointer: string,
  found: { problems: FilterProblem[]; warnings: FilterProblem[] },
): ReadonlySet<JsonScalar> {
  if (items.length === 0) found.warnings.push(emptySetWarning(operator, pointer));
  if (items.length > SET_VALUES_MAX) {
    const message =
      `${items.length} values are listed, at most ${SET_VALUES_MAX} ` +
      'are allowed; use not_in, or let the run decide';
    found.problems.push({ pointer, rule: 'filter-too-many-values', message });
  }
  // Bounds the number of problems; the list as a whole is refused already
  const examined = items.slice(0, SET_VALUES_MAX);
  examined.forEach((item, index) => {
    refuseItem(item, pointerTo(pointer, index), found.problems);
    warnOfPattern(item, pointerTo(pointer, index), found.warnings);
  });
  return new Set(examined.filter((item) => isScalar(item)));
}

/**
 * Whether a number is compared by its exact value. Integers beyond ±(2^53 − 1) are not: reading JSON rounds them to a
 * neighbour, in the filter and in the payload alike, so two different ids would be equal. Anything but a number is
 * exact.
 */
export function isExactNumber(value: JsonScalar): boolean {
  if (typeof value !== 'number') return true;
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}

function refuseItem(item: unknown, pointer: string, problems: FilterProblem[]): void {
  if (!isScalar(item)) {
    const kind = itemKind(item);
    const message = `found ${kind} in a list of values; only strings, numbers, true, false and null can be compared`;
    problems.push({ pointer, rule: 'filter-item-not-scalar', message });
    return;
  }
  if (isExactNumber(item)) return;
  const message =
    'this number has no exact value here (integers to ±9007199254740991, no infinities); filter on another field';
  problems.push({ pointer, rule: 'filter-number-inexact', message });
}

function warnOfPattern(item: unknown, pointer: string, warnings: FilterProblem[]): void {
  const sign = typeof item === 'string' ? patternIn(item) : undefined;
  if (sign === undefined) return;
  const message =
    `this looks like ${sign}, but listed values are compared letter by letter; list each value, exclude the others ` +
    'with not_in, or let the run decide';
  warnings.push({ pointer, rule: 'filter-literal-pattern', message });
}

function itemKind(item: unknown): string {
  const kind = kindOf(item);
  return kind === 'other' ? 'no JSON value' : `an ${kind}`;
}

function emptySetWarning(operator: 'in' | 'not_in', pointer: string): FilterProblem {
  if (operator === 'in')
    return { pointer, rule: 'filter-never', message: 'an empty in list never matches; list the allowed values' };
  return { pointer, rule: 'filter-always', message: 'an empty not_in list always matches; list values, or remove it' };
}
