/**
 * The vocabulary of payload filters: raw JSON in, a compiled filter or positioned refusals out. spec: Payload filter;
 * contract §7.
 */

export type JsonScalar = string | number | boolean | null;
export type JsonValue = JsonScalar | JsonValue[] | { [key: string]: JsonValue };

/** Rules that a filter can break; what each asks for stands in the registry of definitions. */
export type FilterRuleId =
  | 'filter-always'
  | 'filter-bare-scalar'
  | 'filter-empty-nested'
  | 'filter-exists-false-with-in'
  | 'filter-in-and-not-in'
  | 'filter-item-not-scalar'
  | 'filter-literal-path'
  | 'filter-literal-pattern'
  | 'filter-near-operator'
  | 'filter-never'
  | 'filter-not-object'
  | 'filter-number-inexact'
  | 'filter-operator-value'
  | 'filter-operators-mixed'
  | 'filter-too-deep'
  | 'filter-too-many-fields'
  | 'filter-too-many-values';

/** One thing wrong with (or doubtful about) a filter. `pointer` is a JSON pointer into the filter itself. */
export interface FilterProblem {
  pointer: string;
  rule: FilterRuleId;
  message: string;
  /** It is about the name of the member, not about its value. */
  isOfKey?: true;
  /** The one name that puts it right. */
  meant?: string;
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
  /** More looks than this no payload of so many bytes can take. */
  readsMax(payloadBytes: number): number;
}

export type FilterCompilation =
  | { ok: true; filter: CompiledFilter; warnings: FilterProblem[] }
  | { ok: false; problems: FilterProblem[]; warnings: FilterProblem[] };
