/**
 * What is made of a tree: checked, planned and guarded against what is applied now. A pass applies it; a plan only
 * shows it. contract §9.
 */
import { checkReferences, hasErrors, type CheckedDefinitions, type KnownFacts, type Reading } from '#definitions';
import {
  applied,
  blockedByGrowth,
  blockedByGuard,
  blockedByProblems,
  blockedByWindow,
  type PassEnding,
} from './passes/endings.ts';
import { guard } from './plan/guard.ts';
import { growthDigest, growthOf, growthWords, type CapabilityGrowth } from './plan/growth.ts';
import { isEmpty, plan, withoutDeletions } from './plan/plan.ts';
import type { Actual, GuardContext, HowApplied, ObjectKind, Plan } from './types.ts';
import type { Closure } from './revisions/windows.ts';

/** What is known of a factory before its tree is judged. */
export interface ReconcileInput {
  factorySlug: string;
  /** Whether any revision was applied before: the first one applies whole or not at all. */
  appliedBefore: boolean;
  /** The applied revision, where it is known how it was applied. */
  applied?: { revision: string; how: HowApplied };
  actual: Actual;
  known: KnownFacts;
  approvedDigests: ReadonlySet<string>;
  /** As in GuardContext: then no ending names a digest. */
  approvedElsewhere?: boolean;
  /** Set while the sync windows are closed: nothing that would change anything applies. */
  closed?: Closure;
  /** Whether what runs could do more waits for an approval. contract §9.8 (Growth). */
  holdsGrowth?: boolean;
  /** The UID that an object has or will have. */
  uidOf(kind: ObjectKind, slug: string): string;
}

export interface JudgedTree {
  revision: string;
  reading: Reading;
}

export interface Evaluation {
  checked: CheckedDefinitions;
  /** What runs could do more once it applies. */
  growth: readonly CapabilityGrowth[];
  /**
   * What is to be applied, or would be once the held deletions are approved; these stand apart. Empty when problems
   * block the revision.
   */
  planned: Plan;
  /** Whether that may be applied now. */
  applies: boolean;
  /** To be known when this revision is judged again after it was applied. */
  how: HowApplied;
  /** How a pass over this tree ends. */
  ending: PassEnding;
}

/** Decides on a tree: what of it applies, and what a pass over it ends with. Pure. */
export function judge(tree: JudgedTree, input: ReconcileInput): Evaluation {
  const judgement = heldForGrowth(tree, input, judgeContents(tree, input));
  const { applies, planned, ending } = judgement;
  if (!applies || input.closed === undefined || isEmpty(planned)) return judgement;
  return { ...judgement, applies: false, ending: blockedByWindow(ending, input.closed) };
}

/** The same judgement, unless runs could do more that nobody has approved. The revision waits as a whole. */
function heldForGrowth(
  { revision }: JudgedTree,
  { factorySlug, actual, holdsGrowth, approvedDigests, approvedElsewhere }: ReconcileInput,
  judgement: Judgement,
): Evaluation {
  const { checked, planned, applies } = judgement;
  const growth = growthOf(planned, checked.definitions, actual);
  const digest = growthDigest(growth, { factorySlug, revision });
  if (!applies || holdsGrowth !== true || growth.length === 0 || approvedDigests.has(digest))
    return { ...judgement, growth };
  const isHere = approvedElsewhere !== true;
  const message =
    `runs could do more with this revision: ${growthList(growth)}; take it back, or approve it` +
    (isHere ? `: ${digest}` : ' where the server holds it');
  const ending = blockedByGrowth(revision, checked.problems, {
    message,
    digest: isHere ? digest : undefined,
    held: planned.heldDeletions,
  });
  return { ...judgement, growth, applies: false, ending };
}

/** As many of what grows as one message names. */
const GROWTH_NAMED_MAX = 10;

function growthList(growth: readonly CapabilityGrowth[]): string {
  const more = growth.length - GROWTH_NAMED_MAX;
  const words = growth.slice(0, GROWTH_NAMED_MAX).map(growthWords).join('; ');
  return more > 0 ? `${words}; and ${more} more` : words;
}

type Judgement = Omit<Evaluation, 'growth'>;

function judgeContents({ revision, reading }: JudgedTree, input: ReconcileInput): Judgement {
  const { factorySlug, actual, approvedDigests, approvedElsewhere, uidOf } = input;
  const checked = checkReferences(reading, input.known);
  const before = input.applied?.revision === revision ? input.applied.how : undefined;
  const applyMode = input.appliedBefore ? (before?.applyMode ?? actual.factory?.applyMode ?? 'atomic') : 'atomic';
  if (applyMode === 'atomic' && hasErrors(checked.problems))
    return {
      checked,
      planned: NO_CHANGE,
      applies: false,
      how: { applyMode },
      ending: blockedByProblems(revision, checked.problems),
    };
  const planned = plan(checked.definitions, actual, {
    heldPaths: checked.heldPaths,
    brokenPaths: reading.brokenPaths,
    applyMode,
    uidOf,
  });
  const context = { factorySlug, revision, approvedDigests, approvedElsewhere, heldDigest: before?.heldDigest };
  const how = { applyMode, heldDigest: digestOfHeld(planned, actual, context), inPart: isInPart(checked, planned) };
  const verdict = guard(planned, actual, context);
  if (verdict.ok)
    return {
      checked,
      planned,
      applies: true,
      how,
      ending: applied(revision, planned.changes, checked.problems, planned.heldDeletions),
    };
  const rest = withoutDeletions(planned);
  const digest = approvedElsewhere === true ? undefined : verdict.digest;
  if (applyMode === 'atomic')
    return {
      checked,
      planned: rest,
      applies: false,
      how,
      ending: blockedByGuard(revision, checked.problems, { ...verdict, digest }),
    };
  return {
    checked,
    planned: rest,
    applies: true,
    how: { ...how, inPart: true },
    ending: applied(revision, rest.changes, checked.problems, rest.heldDeletions, digest),
  };
}

/** Whether something of the tree waits beside what needs an approval. */
function isInPart({ problems, heldPaths }: CheckedDefinitions, { heldDeletions }: Plan): boolean {
  return hasErrors(problems) || heldPaths.length > 0 || heldDeletions.length > 0;
}

/** Of deletions that need an approval, now or when nothing else holds them any more. */
function digestOfHeld({ changes, heldDeletions }: Plan, actual: Actual, context: GuardContext): string | undefined {
  const verdict = guard({ changes: [...changes, ...heldDeletions], heldDeletions: [] }, actual, context);
  return verdict.ok ? undefined : verdict.digest;
}

const NO_CHANGE: Plan = { changes: [], heldDeletions: [] };
