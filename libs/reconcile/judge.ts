/** What is made of a tree: checked, planned and guarded against what is applied now. A pass applies it; a plan only shows it. contract 9. */
import { checkReferences, hasErrors, type CheckedDefinitions, type KnownFacts, type Reading } from '#definitions';
import { applied, blockedByGuard, blockedByProblems, type Ending } from './endings.ts';
import { guard } from './guard.ts';
import { plan, withoutDeletions } from './plan.ts';
import type { Actual, ObjectKind, Plan } from './types.ts';

/** What is known of a factory before its tree is judged. */
export interface Ground {
  factorySlug: string;
  /** Whether any revision was applied before: the first one applies whole or not at all. */
  appliedBefore: boolean;
  actual: Actual;
  known: KnownFacts;
  approvedDigests: ReadonlySet<string>;
  /** The UID that an object has or will have. */
  uidOf(kind: ObjectKind, slug: string): string;
}

export interface JudgedTree {
  revision: string;
  reading: Reading;
}

export interface Judgement {
  checked: CheckedDefinitions;
  /** What is to be applied, or would be once the held deletions are approved; these stand apart. Empty when problems block the revision. */
  planned: Plan;
  /** Whether that may be applied now. */
  applies: boolean;
  /** How a pass over this tree ends. */
  ending: Ending;
}

/** Decides on a tree: what of it applies, and what a pass over it ends with. Pure. */
export function judge({ revision, reading }: JudgedTree, { factorySlug, appliedBefore, actual, known, approvedDigests, uidOf }: Ground): Judgement {
  const checked = checkReferences(reading, known);
  const applyMode = appliedBefore ? (actual.factory?.applyMode ?? 'atomic') : 'atomic';
  if (applyMode === 'atomic' && hasErrors(checked.problems)) return { checked, planned: NO_CHANGE, applies: false, ending: blockedByProblems(revision, checked.problems) };
  const planned = plan(checked.definitions, actual, { heldPaths: checked.heldPaths, brokenPaths: reading.brokenPaths, applyMode, uidOf });
  const verdict = guard(planned, actual, { factorySlug, revision, approvedDigests });
  if (verdict.ok) return { checked, planned, applies: true, ending: applied(revision, planned.changes, checked.problems, planned.heldDeletions) };
  const rest = withoutDeletions(planned);
  if (applyMode === 'atomic') return { checked, planned: rest, applies: false, ending: blockedByGuard(revision, checked.problems, verdict) };
  return { checked, planned: rest, applies: true, ending: applied(revision, rest.changes, checked.problems, rest.heldDeletions, verdict.digest) };
}

const NO_CHANGE: Plan = { changes: [], heldDeletions: [] };
