/**
 * How a payload filter in YAML is checked: by the filter engine itself, with its pointers turned into positions.
 * contract §7, §8.
 */
import { escapeSegment, labelOf } from '#contracts';
import type { JsonValue } from '#filters';
import { withFix } from './fixes/fixes.ts';
import { compiledWithReads } from './references/filter-reads.ts';
import { problemAt } from './rules/problems.ts';
import type { FilePositions, Problem } from './types.ts';

/** Problems and warnings of the filter that stands at `pointer` of a file. */
export function filterProblems(path: string, filter: JsonValue, pointer: string, positions: FilePositions): Problem[] {
  const compilation = compiledWithReads(filter);
  const found = compilation.ok ? compilation.warnings : [...compilation.warnings, ...compilation.problems];
  const problems = found.map((problem) => {
    const at = pointer + problem.pointer;
    const place = problem.isOfKey === true ? positions.key(at) : positions.value(at);
    return withFix(problemAt(path, place, problem.rule, `${labelOf(at)}: ${problem.message}`), problem.meant);
  });
  // A filter that is refused may be of any depth and size: its values are not worth a walk.
  return compilation.ok && isAnyAmbiguous(filter)
    ? [...problems, ...ambiguousValues(path, filter, pointer, positions)]
    : problems;
}

/** Whether a value could be one whose text has to be looked at; most filters have none. */
function isAnyAmbiguous(value: JsonValue): boolean {
  if (typeof value === 'string') return AMBIGUOUS_TEXT.test(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'number';
  return Object.values(value).some(isAnyAmbiguous);
}

/** Includes every text that `ambiguity` tells of. */
const AMBIGUOUS_TEXT = /^(?:y|n|yes|no|on|off)$|^[-+]?[0-9]/i;

function ambiguousValues(path: string, value: JsonValue, pointer: string, positions: FilePositions): Problem[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, item]) =>
      ambiguousValues(path, item, `${pointer}/${escapeSegment(key)}`, positions),
    );
  }
  const meaning = ambiguity(value, positions.plainText(pointer));
  return meaning === undefined ? [] : [problemAt(path, positions.value(pointer), 'yaml-ambiguous', meaning)];
}

/** What an unquoted scalar was read as, when other YAML versions or people read it differently. */
function ambiguity(value: JsonValue, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (typeof value === 'string' && /^(?:y|n|yes|no|on|off)$/i.test(text)) {
    return `${text} is read as the text ${JSON.stringify(text)}; quote it, or write true or false`;
  }
  if (typeof value === 'string' && /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9:.]+.*)?$/.test(text))
    return `${text} is read as text; quote it`;
  if (typeof value === 'string' && /^[-+]?[0-9][0-9_]*_[0-9_]*$/.test(text))
    return `${text} is read as text; quote it, or write the number without _`;
  if (typeof value === 'number' && /^[-+]?0[xo0-9]/.test(text))
    return `${text} is read as the number ${String(value)}; quote it if it is text`;
  return undefined;
}
