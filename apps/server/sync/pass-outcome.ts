/** From how a pass ended to what is written down of it: condition, conditions, events, record. contract 4 (status, syncs), 9. */
import {
  conditionAfter,
  conditionsOf,
  eventsOf,
  failuresAfter,
  nextConditions,
  previousConditions,
  PROBLEMS_RECORDED_MAX,
  rewriteAfter,
  factoryStateOf,
  type PassEnd,
  type Rebinding,
} from '#reconcile';
import type { PassOutcome, PassRecord } from '../store/factories/passes.ts';
import type { Factory } from '../store/factories/factory-rows.ts';

/** A pass that is over. */
export interface EndedPass extends PassEnd {
  /** The tip may be used: it was judged. */
  accepted: boolean;
  /** Revision that the branch held before, where its history was rewritten. */
  rewrittenFrom?: string;
  triggers: readonly string[];
  webhooksWithoutSecret: readonly string[];
}

/** Everything that the end of a pass leaves behind. */
export function outcomeOf(factory: Factory, pass: EndedPass, newId: () => string): PassOutcome {
  const { ending, accepted, brought, filesLeftAlone } = pass;
  const condition = conditionAfter(factory, pass);
  const rewrite = rewriteAfter(factory, brought);
  const after = {
    ...factory,
    condition,
    rewrite: rewrite === undefined ? factory.rewrite : (rewrite ?? undefined),
    generationHandled: factory.generationRequested,
  };
  const found = conditionsOf(factoryStateOf(after, pass.webhooksWithoutSecret));
  const kept = nextConditions(previousConditions(factory), found, pass.finishedAtMs);
  const events = eventsOf({
    before: factory.conditions,
    reasonBefore: factory.condition.reason,
    after: found,
    ending,
    accepted: brought !== undefined,
    superseded: brought?.superseded ?? 0,
  });
  const isNews =
    ending.rebound.length > 0 || ending.changes.length > 0 || condition.fingerprint !== factory.condition.fingerprint;
  return {
    generationHandled: factory.generationRequested,
    condition,
    conditions: JSON.stringify(kept) === JSON.stringify(factory.conditions) ? undefined : kept,
    failures: failuresAfter(factory, pass),
    revisionSeen: filesLeftAlone ? undefined : ending.revision,
    revisionAttempted: accepted ? ending.revision : undefined,
    brought,
    rewrite,
    events: events.map((event) => ({ id: newId(), ...event })),
    record: isNews ? toRecord(pass, newId()) : undefined,
  };
}

function toRecord(
  { ending, brought, rewrittenFrom, triggers, startedAtMs, finishedAtMs }: EndedPass,
  id: string,
): PassRecord {
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
  return {
    action: 'update',
    kind: 'webhook',
    slug,
    uid: webhookUid,
    path,
    changes: ['secretVersion'],
    secretName,
    secretVersion: version ?? null,
  };
}
