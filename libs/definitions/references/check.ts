/** What one run of the reference checks knows and collects. */
import { addProblem, noProblems, problemAt, TREE_PROBLEMS_MAX, type FoundProblems } from '../rules/problems.ts';
import { labelOf } from '#contracts';
import { classifyPath } from '../definition-paths.ts';
import { ruleOf } from '../rules/rules.ts';
import { secretNameDoubt } from '../secrets/secret-values.ts';
import { didYouMean } from '../suggest.ts';
import { FILE_START } from '../yaml/source-text.ts';
import type { KnownFacts, Range, Reading } from '../types.ts';
import type { RuleId } from '../rules/rules.ts';

export interface Check {
  reading: Reading;
  known: KnownFacts;
  problems: FoundProblems;
  /** Paths of files with errors of their own. */
  broken: ReadonlySet<string>;
  /** Paths of files that do not apply. Grows while files are checked. */
  held: Set<string>;
  /** Slug → path of every webhook file of the tree, broken ones too. */
  webhookPaths: ReadonlyMap<string, string>;
  /** Where a definition belongs → where it lies instead, so that nothing reads it. */
  misplaced: ReadonlyMap<string, string>;
  /** UID → slug of the tree's webhooks; empty when UIDs cannot be predicted. */
  treeUids: ReadonlyMap<string, string>;
  /** How many more unknown names are compared with all that are known. */
  suggestionsLeft: number;
}

/** Comparing a name with thousands takes milliseconds: a hostile tree has as many names as there is room for. */
const SUGGESTIONS_MAX = 100;

/** `; did you mean "x"?`, or nothing; nothing either behind the first unknown names of a tree. */
export function suggestAmong(check: Check, word: string, candidates: () => Iterable<string>): string {
  if (check.suggestionsLeft === 0) return '';
  check.suggestionsLeft -= 1;
  return didYouMean(word, candidates());
}

/** Starts a check: files with errors of their own are held from the beginning. */
export function beginCheck(reading: Reading, known: KnownFacts): Check {
  const webhookPaths = new Map(reading.definitions.webhooks.map(({ name, path }) => [name, path]));
  for (const path of reading.brokenPaths) {
    const slug = /^webhooks\/([^/]+)\.yaml$/.exec(path)?.[1];
    if (slug !== undefined) webhookPaths.set(slug, path);
  }
  const { webhookUidOf } = known;
  const treeUids =
    webhookUidOf === undefined ? [] : [...webhookPaths.keys()].map((slug) => [webhookUidOf(slug), slug] as const);
  return {
    reading,
    known,
    problems: noProblems(),
    broken: new Set(reading.brokenPaths),
    held: new Set(reading.brokenPaths),
    webhookPaths,
    misplaced: misplacedFiles(reading.brokenPaths),
    treeUids: new Map(treeUids),
    suggestionsLeft: SUGGESTIONS_MAX,
  };
}

function misplacedFiles(brokenPaths: readonly string[]): Map<string, string> {
  return new Map(
    brokenPaths.flatMap((path) => {
      const place = classifyPath(path);
      const meant = place.kind === 'misplaced' || place.kind === 'nearby' ? place.meant : undefined;
      return meant === undefined ? [] : [[meant, path] as const];
    }),
  );
}

/** Whether a file that lies where nothing is read from is what is missing at a path: then a problem says so. */
export function holdWithMisplaced(check: Check, path: string, pointer: string, named: NamedReference): boolean {
  const other = check.misplaced.get(named.file);
  if (other === undefined) return false;
  const message = `${named.what} is not read: ${other} should be ${named.file}; this file is held with it`;
  reportHeld(check, path, pointer, message);
  return true;
}

/** What a file refers to: in words, and the file that declares it. */
export interface NamedReference {
  what: string;
  file: string;
}

/** Reports a broken reference at a value of a file; a rule of severity error holds the file. */
export function report(check: Check, path: string, pointer: string, rule: RuleId, message: string): void {
  addProblem(check.problems, problemAt(path, positionOf(check, path, pointer), rule, message), TREE_PROBLEMS_MAX);
  if (ruleOf(rule).severity === 'error') check.held.add(path);
}

/** Holds a file because `other`, which it refers to, is held. */
export function holdWith(check: Check, path: string, pointer: string, what: string, other: string): void {
  reportHeld(check, path, pointer, `${what} has errors of its own (${other}); this file is held with it`);
}

/** A file with errors of its own is held because of those. */
function reportHeld(check: Check, path: string, pointer: string, message: string): void {
  if (!check.broken.has(path)) report(check, path, pointer, 'held-reference', message);
}

/**
 * Reports a name of a secret that looks like a value, unless there is one of that name. Answers how the name may be
 * spoken of from then on: not at all, where it was told of for sure.
 */
export function checkSecretName(
  check: Check,
  { path, pointer, name, isKnown }: { path: string; pointer: string; name: string; isKnown: boolean },
): string | undefined {
  const doubt = isKnown ? undefined : secretNameDoubt(labelOf(pointer), name);
  if (doubt === undefined) return JSON.stringify(name);
  report(check, path, pointer, ...doubt);
  return doubt[0] === 'secret-value' ? undefined : 'of this name';
}

/** Whether a value is written in the file, rather than a default. */
export function isWritten(check: Check, path: string, pointer: string): boolean {
  return check.reading.positions.get(path)?.plainText(pointer) !== undefined;
}

/** Whether a part of the file is wrong by itself, as was told: it is none that could be concluded from. */
export function isFaulty(check: Check, path: string, pointer: string): boolean {
  return check.reading.faults.get(path)?.cover(pointer) === true;
}

function positionOf(check: Check, path: string, pointer: string): Range {
  return check.reading.positions.get(path)?.value(pointer) ?? FILE_START;
}
