/** How a defect becomes a problem: rule, severity, code, position, and the order people read them in. */
import { ruleOf } from './rules.ts';
import type { Problem, Range } from './types.ts';

/** A problem of a registered rule at a position of a file. */
export function problemAt(path: string, range: Range, rule: string, message: string): Problem {
  const { code, severity } = ruleOf(rule);
  return { path, ...range, severity, rule, code, message };
}

/** Sorted by path, line, column, then rule and message, without repetitions; never changes its argument. */
export function sortedProblems(problems: readonly Problem[]): Problem[] {
  const sorted = [...problems].sort(inReadingOrder);
  return sorted.filter((problem, index) => index === 0 || inReadingOrder(sorted[index - 1] as Problem, problem) !== 0);
}

/** Whether any problem keeps its file from applying. */
export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'error');
}

/** Compares by code units, so that the order is the same on every machine. */
export function byCodeUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function inReadingOrder(left: Problem, right: Problem): number {
  return (
    byCodeUnits(left.path, right.path) ||
    left.line - right.line ||
    left.column - right.column ||
    byCodeUnits(left.rule, right.rule) ||
    byCodeUnits(left.message, right.message)
  );
}
