/** What the rules of trust look at, and how they say what they find. contract §8.5 (Trust). */
import { problemAt } from '../rules/problems.ts';
import type { RuleId } from '../rules/rules.ts';
import { FILE_START } from '../yaml/source-text.ts';
import type { Problem, Range, Reading, WrittenAutomation } from '../types.ts';
import type { AutomationCapabilities, DefinitionPlace } from './capabilities.ts';

export type TrustRuleId = Extract<RuleId, `trust-${string}`>;

/** An automation with what its runs can do. */
export interface ReviewedAutomation {
  automation: WrittenAutomation;
  capabilities: AutomationCapabilities;
}

export interface TrustReview {
  reading: Reading;
  automations: readonly ReviewedAutomation[];
  /** Of several triggers or automations that lead to the same defect of one file, the first is told of. */
  found: Map<string, Problem>;
}

/** Reports a defect at a place of a file. */
export function find(review: TrustReview, place: DefinitionPlace, rule: TrustRuleId, message: string): void {
  const range = review.reading.positions.get(place.path)?.value(place.pointer) ?? FILE_START;
  findAt(review, { path: place.path, range }, rule, message);
}

/** Reports a defect at a position of a file. */
export function findAt(
  review: TrustReview,
  { path, range }: { path: string; range: Range },
  rule: TrustRuleId,
  message: string,
): void {
  const key = `${path}:${range.line}:${range.column}:${rule}`;
  if (!review.found.has(key)) review.found.set(key, problemAt(path, range, rule, message));
}

/** Words of a list for people: three of it, and how many more. */
export function wordsOfList(words: readonly string[]): string {
  const shown = words.slice(0, LISTED_MAX).join(', ');
  return words.length > LISTED_MAX ? `${shown} and ${words.length - LISTED_MAX} more` : shown;
}

/** Names in a message: as many as one reads. */
const LISTED_MAX = 3;
