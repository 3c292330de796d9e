/** Knows which plans delete so much that a person has to agree first. contract §9.4 (Guard). */
import { createHash } from 'node:crypto';
import { compareTexts } from '../canonical.ts';
import { updateFramed } from '../framing.ts';
import type { Actual, Change, DeletionScope, GuardContext, GuardVerdict, Plan } from '../types.ts';

/** Deletions of one kind that never need approval by their number: a change that a reviewer sees at a glance. */
export const DELETIONS_FREE = 3;
/** Share of a kind, in per cent, that may go at once in a larger factory. */
export const DELETIONS_PERCENT_FREE = 30;
/** Share of webhooks and automations together, in per cent, that may go at once: some of each add up. */
export const ALL_PERCENT_FREE = 50;

/** Kinds whose loss stops deliveries or runs; environments and skills are guarded by the rule for everything only. */
const GUARDED_KINDS = ['webhook', 'automation'] as const;

/**
 * Refuses a plan that deletes, of the webhooks or of the automations, more than max(3, 30 %) of the applied ones, the
 * last one, of both together more than max(3, half), or everything, unless the digest of its deletions was approved.
 * contract §9.
 *
 * A rename counts as a deletion. It is not the last of its kind when the same plan creates another of that kind.
 * Everything means that no applied webhook and no applied automation survives (in a factory without any: no object at
 * all), whatever the plan creates instead: this is what a wrong branch or path looks like. Held deletions are not
 * deletions.
 *
 * A refusal carries all deletions of the plan and their digest. What it holds back is the caller's: `atomic` the whole
 * revision, `perFile` the deletions (`withoutDeletions`).
 */
export function guard(plan: Plan, actual: Actual, context: GuardContext): GuardVerdict {
  const deletions = plan.changes.filter((change) => change.action === 'delete');
  const digest = planDigest(deletions, context);
  const reasons = reasonsAgainst(plan, actual);
  if (reasons.length === 0 && digest === context.heldDigest)
    reasons.push(`what was held when the rest of it applied (${deletions.length} objects)`);
  if (reasons.length === 0 || context.approvedDigests.has(digest)) return { ok: true };
  const how = context.approvedElsewhere === true ? ' where the server holds them' : `: ${digest}`;
  const wayOut = `bring the files back, or approve the deletions${how}`;
  const message = `this revision would delete ${reasons.join('; ')}; ${wayOut}`;
  return { ok: false, reason: 'mass-deletion', digest, deletions, message };
}

/**
 * `sha256:` and the hex digest of factory, revision and deletions: what an approval names. Independent of the order of
 * the deletions; other changes of the plan have no part in it. contract §9.
 */
export function planDigest(deletions: readonly Change[], { factorySlug, revision }: DeletionScope): string {
  const lines = deletions.map(({ kind, slug, uid }) => [kind, slug, uid]);
  lines.sort((a, b) => compareTexts(a.join('\n'), b.join('\n')));
  const hash = updateFramed(createHash('sha256'), ['millwright deletions 1', factorySlug, revision, ...lines.flat()]);
  return `sha256:${hash.digest('hex')}`;
}

/**
 * The same for a rewritten history: factory, the revision that was accepted last and the one that does not descend from
 * it.
 */
export function rewriteDigest({ factorySlug, from, to }: { factorySlug: string; from: string; to: string }): string {
  return `sha256:${updateFramed(createHash('sha256'), ['millwright rewrite 1', factorySlug, from, to]).digest('hex')}`;
}

function reasonsAgainst(plan: Plan, actual: Actual): string[] {
  if (deletesEverything(plan, actual)) return [`everything that is applied (${countOf(plan, 'delete')} objects)`];
  const ofKinds = GUARDED_KINDS.flatMap((kind) => {
    const before = actual.objects.filter((object) => object.kind === kind).length;
    const deleted = countOf(plan, 'delete', kind);
    if (deleted === 0) return [];
    if (before - deleted + countOf(plan, 'create', kind) === 0) return [`the last ${kind} (${deleted} of ${before})`];
    const tooMany = deleted > DELETIONS_FREE && deleted * 100 > before * DELETIONS_PERCENT_FREE;
    return tooMany
      ? [`${deleted} of ${before} ${kind}s (more than ${DELETIONS_FREE} and ${DELETIONS_PERCENT_FREE} %)`]
      : [];
  });
  return ofKinds.length > 0 ? ofKinds : reasonsOfAll(plan, actual);
}

/** Some of each kind, none too many by itself. */
function reasonsOfAll(plan: Plan, actual: Actual): string[] {
  const before = actual.objects.filter(({ kind }) => isGuarded(kind)).length;
  const deleted = plan.changes.filter(({ action, kind }) => action === 'delete' && isGuarded(kind)).length;
  return deleted > DELETIONS_FREE && deleted * 100 > before * ALL_PERCENT_FREE
    ? [`${deleted} of ${before} webhooks and automations (more than ${DELETIONS_FREE} and half)`]
    : [];
}

function deletesEverything(plan: Plan, actual: Actual): boolean {
  const serving = actual.objects.filter((object) => isGuarded(object.kind));
  const precious = serving.length > 0 ? serving : actual.objects;
  const deleted = new Set(plan.changes.filter((change) => change.action === 'delete').map((change) => change.uid));
  return precious.length > 0 && precious.every((object) => deleted.has(object.uid));
}

function isGuarded(kind: string): boolean {
  return GUARDED_KINDS.some((guarded) => guarded === kind);
}

function countOf(plan: Plan, action: Change['action'], kind?: Change['kind']): number {
  return plan.changes.filter((change) => change.action === action && (kind === undefined || change.kind === kind))
    .length;
}
