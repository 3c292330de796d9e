/** From how a pass ended to what is written down of it: condition, conditions, events, record. contract 4 (status, syncs), 9. */
import { createHash } from 'node:crypto';
import { conditionsOf, errorCountOf, eventsOf, fingerprint, keptAfter, PROBLEMS_RECORDED_MAX, type Brought, type Ending, type KeptConditions, type Rebinding, type Standing } from '#reconcile';
import type { Condition, Factory, PassOutcome, PassRecord } from '../store/factories.ts';

/** A pass that is over. */
export interface EndedPass {
  ending: Ending;
  /** The tip may be used: it was judged. */
  accepted: boolean;
  /** What it brought, where it was not accepted before. */
  brought?: Brought;
  /** Revision that the branch held before, where its history was rewritten. */
  rewrittenFrom?: string;
  /** Nobody looked at the files: the factory is suspended, or has none. */
  filesLeftAlone: boolean;
  triggers: readonly string[];
  startedAtMs: number;
  finishedAtMs: number;
  webhooksWithoutSecret: readonly string[];
}

/** Everything that the end of a pass leaves behind. */
export function outcomeOf(factory: Factory, pass: EndedPass, newId: () => string): PassOutcome {
  const { ending, accepted, brought, filesLeftAlone } = pass;
  const condition = conditionAfter(factory, pass);
  const rewrite = rewriteAfter(factory, brought);
  const after = { ...factory, condition, rewrite: rewrite === undefined ? factory.rewrite : (rewrite ?? undefined), generationHandled: factory.generationRequested };
  const found = conditionsOf(standingOf(after, pass.webhooksWithoutSecret));
  const kept = keptAfter(keptBefore(factory), found, pass.finishedAtMs);
  const events = eventsOf({ before: factory.conditions, reasonBefore: factory.condition.reason, after: found, ending, accepted: brought !== undefined, superseded: brought?.superseded ?? 0 });
  const isNews = ending.rebound.length > 0 || ending.changes.length > 0 || condition.fingerprint !== factory.condition.fingerprint;
  return {
    generationHandled: factory.generationRequested,
    condition,
    conditions: JSON.stringify(kept) === JSON.stringify(factory.conditions) ? undefined : kept,
    failures: filesLeftAlone ? factory.failures : failuresAfter(factory, ending),
    revisionSeen: filesLeftAlone ? undefined : ending.revision,
    revisionAttempted: accepted ? ending.revision : undefined,
    brought,
    rewrite,
    events: events.map((event) => ({ id: newId(), ...event })),
    record: isNews ? toRecord(pass, newId()) : undefined,
  };
}

/** Failed passes in a row. */
export function failuresAfter({ failures }: Factory, { kind }: Ending): number {
  return kind === 'failed' ? failures + 1 : 0;
}

/** Where a factory stands. `webhooksWithoutSecret`: slugs of the enabled ones. */
export function standingOf(factory: Factory, webhooksWithoutSecret: readonly string[]): Standing {
  const { source, suspended, generationRequested, generationHandled, conditions, rewrite, syncPolicy } = factory;
  const { ending, reason, message, heldDigest, errorCount = 0 } = factory.condition;
  return {
    managed: source.kind !== 'dashboard', suspended, generationRequested, generationHandled, ending, reason, message, errorCount, heldDigest,
    verifies: syncPolicy.verifyCommits !== undefined, rewrite, webhooksWithoutSecret, kept: conditions,
  };
}

function conditionAfter({ condition }: Factory, { ending, filesLeftAlone, finishedAtMs }: EndedPass): Condition {
  if (filesLeftAlone) return { ...condition, checkedMs: finishedAtMs };
  const print = createHash('sha256').update(fingerprint(ending)).digest('base64url');
  return {
    ending: ending.kind, reason: ending.reason, message: ending.message, errorCount: errorCountOf(ending.problems), heldDigest: ending.digest,
    checkedMs: finishedAtMs, fingerprint: print,
    sinceMs: print === condition.fingerprint ? condition.sinceMs : finishedAtMs,
  };
}

/** A pass that was asked for was under way until now: that it is over is new, whatever it found. */
function keptBefore({ conditions, generationRequested, generationHandled }: Factory): KeptConditions {
  return generationRequested > generationHandled ? { ...conditions, Reconciling: undefined } : conditions;
}

/** A tip that descends from a rewritten one ends the rewriting. */
function rewriteAfter({ rewrite }: Factory, brought: Brought | undefined): PassOutcome['rewrite'] {
  if (brought?.rewrite !== undefined) return brought.rewrite;
  return brought === undefined || rewrite === undefined ? undefined : null;
}

function toRecord({ ending, brought, rewrittenFrom, triggers, startedAtMs, finishedAtMs }: EndedPass, id: string): PassRecord {
  return {
    id,
    triggers: [...triggers],
    startedAtMs,
    finishedAtMs,
    ending: ending.kind,
    reason: ending.reason,
    message: ending.message,
    revision: ending.revision,
    problems: ending.problems.slice(0, PROBLEMS_RECORDED_MAX),
    changes: [...ending.rebound.map(toSecretChange), ...ending.changes],
    held: [...ending.held],
    digest: ending.digest,
    rewrittenFrom,
    superseded: brought?.superseded ?? 0,
    timings: { total_ms: finishedAtMs - startedAtMs },
  };
}

/** A secret that moved, as an entry of the history: name and version, never a value. */
function toSecretChange({ webhookUid, slug, path, secretName, version }: Rebinding): Record<string, unknown> {
  return { action: 'update', kind: 'webhook', slug, uid: webhookUid, path, changes: ['secretVersion'], secretName, secretVersion: version ?? null };
}
