/** How a defect becomes a problem: rule, severity, code, position, and the order people read them in. */
import { ruleOf, type RuleId } from './rules.ts';
import type { Problem, Range } from '../types.ts';

/** Problems listed of one file: enough for any person; a hostile file breaks rules once per character. */
export const FILE_PROBLEMS_MAX = 20;

/** Problems listed of one tree, for the same reason: 2,000 files may all be hostile. */
export const TREE_PROBLEMS_MAX = 1000;

/** UTF-16 units of a message: what a file says is repeated in it, and a name may have 200 KiB. */
export const PROBLEM_MESSAGE_MAX = 1_000;

/** A problem of a registered rule at a position of a file. A message that is too long ends in an ellipsis. */
export function problemAt(path: string, range: Range, rule: RuleId, message: string): Problem {
  const { code, severity } = ruleOf(rule);
  return { path, ...range, severity, rule, code, message: shortened(message) };
}

function shortened(message: string): string {
  if (message.length <= PROBLEM_MESSAGE_MAX) return message;
  const kept = message.slice(0, PROBLEM_MESSAGE_MAX - 1);
  return `${kept.replace(/[\uD800-\uDBFF]$/, '')}…`; // no half of a character
}

/** Rules that follow from another problem: of two at one place, theirs is told second. */
const CONSEQUENCES: ReadonlySet<string> = new Set<RuleId>(['missing-key', 'secret-known', 'held-reference']);

/**
 * Sorted by path, line, column, then rule and message, without repetitions; never changes its argument. What follows
 * from a problem is behind it: a file that is only held comes after all that are wrong themselves. contract §8.4.
 */
export function sortedProblems(problems: readonly Problem[]): Problem[] {
  const sorted = [...problems].sort(inReadingOrder);
  return sorted.filter((problem, index) => index === 0 || inReadingOrder(sorted[index - 1] as Problem, problem) !== 0);
}

/** Whether any problem keeps its file from applying. */
export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some((problem) => problem.severity === 'error');
}

/**
 * At most `max` problems and one entry more, which says that further ones are not listed. That entry is an error if
 * any of those is, so that a cut list keeps the same files from applying. Cutting again changes nothing.
 */
export function firstProblems(problems: readonly Problem[], max: number): Problem[] {
  if (problems.length <= max) return [...problems];
  const rest = problems.slice(max);
  const [first] = rest;
  const representative = rest.find(({ severity }) => severity === 'error') ?? first;
  return [...problems.slice(0, max), ...(representative === undefined ? [] : [furtherProblems(representative)])];
}

/** The entry that stands for a problem and all that follow it. */
export function furtherProblems(problem: Problem): Problem {
  return { ...problem, message: 'further problems are not listed' };
}

/**
 * Problems as they are found, so bounded that the first `max` of either severity, and the fact that there are more, are
 * kept.
 */
export interface FoundProblems {
  listed: Problem[];
  errors: number;
  warnings: number;
}

/** Nothing found yet. */
export function noProblems(): FoundProblems {
  return { listed: [], errors: 0, warnings: 0 };
}

/** Adds a problem unless more than `max` of its severity are listed. */
export function addProblem(found: FoundProblems, problem: Problem, max: number): void {
  const before = problem.severity === 'error' ? found.errors : found.warnings;
  if (problem.severity === 'error') found.errors += 1;
  else found.warnings += 1;
  if (before <= max) found.listed.push(problem);
}

/** Compares by code units, so that the order is the same on every machine. */
export function byCodeUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function inReadingOrder(left: Problem, right: Problem): number {
  return (
    Number(left.rule === 'held-reference') - Number(right.rule === 'held-reference') ||
    byCodeUnits(left.path, right.path) ||
    left.line - right.line ||
    left.column - right.column ||
    Number(CONSEQUENCES.has(left.rule)) - Number(CONSEQUENCES.has(right.rule)) ||
    byCodeUnits(left.rule, right.rule) ||
    byCodeUnits(left.message, right.message)
  );
}
