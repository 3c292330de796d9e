/**
 * The vocabulary of payload filters: raw JSON in, a compiled filter or positioned refusals out. spec: Payload filter;
 * contract §7.
 */

export type JsonScalar = string | number | boolean | null;
export type JsonValue = JsonScalar | JsonValue[] | { [key: string]: JsonValue };

/** One thing wrong with (or doubtful about) a filter. `pointer` is a JSON pointer into the filter itself. */
export interface FilterProblem {
  pointer: string;
  /** kebab-case rule id, for example `filter-bare-scalar`. */
  rule: string;
  message: string;
}

export type FilterOperator = 'in' | 'not_in' | 'exists' | 'nested';

/** Why a payload satisfied a filter or not: the first failing key in document order of the filter, never a value. */
export type FilterVerdict = { passed: true } | { passed: false; failedPointer: string; operator: FilterOperator };

/** A filter ready to be evaluated: total, linear in payload and filter, free of side effects. */
export interface CompiledFilter {
  matches(payload: JsonValue): boolean;
  explain(payload: JsonValue): FilterVerdict;
  /**
   * The verdict of `explain`, in steps of some thousand looks into the payload at most. Yields how many looks each step
   * took.
   */
  explainInSteps(payload: JsonValue): Generator<number, FilterVerdict>;
}

export type FilterCompilation =
  | { ok: true; filter: CompiledFilter; warnings: FilterProblem[] }
  | { ok: false; problems: FilterProblem[] };
