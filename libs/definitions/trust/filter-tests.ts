/** A payload filter as the single tests that all have to hold. contract §7.1 (Grammar). */
import type { JsonValue } from '#filters';

export interface FilterTest {
  path: readonly string[];
  /** What the field has to be one of. */
  values?: readonly JsonValue[];
  exists?: boolean;
}

const OPERATORS: ReadonlySet<string> = new Set(['in', 'not_in', 'exists']);

/** Of a filter without errors; whatever else is no test. */
export function filterTests(payload: JsonValue | undefined): FilterTest[] {
  return isMapping(payload) ? Object.entries(payload).flatMap(([name, value]) => testsOf([name], value)) : [];
}

function testsOf(path: readonly string[], value: JsonValue): FilterTest[] {
  if (Array.isArray(value)) return [{ path, values: value }];
  if (!isMapping(value)) return [];
  const keys = Object.keys(value);
  if (keys.length > 0 && keys.every((key) => OPERATORS.has(key))) {
    const { in: values, exists } = value as { in?: JsonValue[]; exists?: boolean };
    return [{ path, ...(Array.isArray(values) ? { values } : {}), ...(typeof exists === 'boolean' ? { exists } : {}) }];
  }
  return Object.entries(value).flatMap(([name, below]) => testsOf([...path, name], below));
}

function isMapping(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
