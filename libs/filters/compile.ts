/** Knows how raw filter JSON becomes a filter that can be asked about payloads. spec: Payload filter; contract §7. */
import { failureInSteps } from './evaluate-in-steps.ts';
import { firstFailure, type NestedTest } from './evaluate.ts';
import { isObject, kindOf } from './json.ts';
import { type Findings, readRoot } from './read.ts';
import { readsBound, readsWithin } from './reads.ts';
import type { CompiledFilter, FilterCompilation, FilterProblem, FilterVerdict } from './types.ts';

const PASSED: FilterVerdict = Object.freeze({ passed: true });
const UNREADABLE: FilterVerdict = Object.freeze({ passed: false, failedPointer: '', operator: 'nested' });

/** The filter of an automation that has none: every payload, also `[]` and scalars. contract §7. */
export const MATCH_EVERYTHING: CompiledFilter = constantFilter(PASSED);

/**
 * Stands for a stored filter that can no longer be read: no payload, so that a defect never starts runs. contract §7.
 */
export const UNREADABLE_FILTER: CompiledFilter = constantFilter(UNREADABLE);

/**
 * Compiles a payload filter, to be done once per filter and used for any number of payloads.
 *
 * Takes parsed JSON or YAML of any shape; undefined (no filter) and `{}` match everything. Never throws: what the
 * grammar or its limits refuse comes back as problems, all of them up to the field limit, each with a pointer into the
 * filter.
 *
 * The compiled filter is total and linear in the payload, however deep that nests; `matches` and `explain` are one
 * evaluation and cannot disagree, and `explainInSteps` is the same with rests. A failed verdict names the field
 * (pointer made of field names, without array indices) and the operator of the first failing key; `nested` means that
 * the value is missing, no object, or an array without a fitting element.
 */
export function compileFilter(filter: unknown): FilterCompilation {
  if (filter === undefined) return { ok: true, filter: MATCH_EVERYTHING, warnings: [] };
  if (!isObject(filter)) {
    const problem: FilterProblem = { pointer: '', rule: 'filter-not-object', message: notObjectMessage(filter) };
    return { ok: false, problems: [problem], warnings: [] };
  }
  const findings: Findings = { problems: [], warnings: [], leafCount: 0 };
  const root = readRoot(filter, findings);
  const { problems, warnings } = findings;
  if (problems.length > 0) return { ok: false, problems, warnings };
  return { ok: true, filter: root.fields.length === 0 ? MATCH_EVERYTHING : compiled(root), warnings };
}

function compiled(root: NestedTest): CompiledFilter {
  const bound = readsBound(root);
  return Object.freeze<CompiledFilter>({
    matches: (payload) => firstFailure(root, payload) === undefined,
    explain: (payload) => firstFailure(root, payload) ?? PASSED,
    *explainInSteps(payload) {
      return (yield* failureInSteps(root, payload)) ?? PASSED;
    },
    readsMax: (payloadBytes) => readsWithin(bound, payloadBytes),
  });
}

/** Says the same of every payload. */
function constantFilter(verdict: FilterVerdict): CompiledFilter {
  return Object.freeze<CompiledFilter>({
    matches: () => verdict.passed,
    explain: () => verdict,
    *explainInSteps() {
      yield 1;
      return verdict;
    },
    readsMax: () => 1,
  });
}

function notObjectMessage(filter: unknown): string {
  const kind = kindOf(filter);
  const found = kind === 'other' ? 'no JSON value' : kind;
  return `a payload filter is an object of field names, such as {"action": ["opened"]}; found ${found}`;
}
