/**
 * From how a pass ended to what is written down of it: condition, conditions, events, record. contract §4.1, §9.
 */
import { conditionsOf, nextConditions, type StoredConditions } from './conditions.ts';
import { PROBLEMS_RECORDED_MAX } from './endings.ts';
import { eventsOf, type FactoryEvent } from './events.ts';
import {
  conditionAfter,
  factoryStateOf,
  failuresAfter,
  previousConditions,
  rewriteAfter,
  type FactoryStateFacts,
  type PassCondition,
  type PassEnd,
} from './factory-state.ts';
import type { DeltaCommits } from '../revisions/rewrites.ts';
import type { Rewrite } from '../revisions/sync-policy.ts';
import type { Rebinding } from '../types.ts';

/** One pass that was worth recording. Lists are JSON values of this lib's types, as they were when it was stored. */
export interface PassRecord {
  id: string;
  triggers: string[];
  startedAtMs: number;
  finishedAtMs: number;
  ending: 'applied' | 'blocked' | 'failed';
  reason?: string;
  message?: string;
  revision?: string;
  problems: unknown[];
  changes: unknown[];
  /** Deletions that wait for an approval. */
  held: unknown[];
  /** Digest that an approval must name. */
  digest?: string;
  /** Revision that the branch held before, where its history was found rewritten. */
  rewrittenFrom?: string;
  /** Commits that came between the revision before and this one. */
  superseded: number;
  timings: Record<string, number>;
}

/** What a pass leaves behind on the factory, recorded or not. */
export interface PassOutcome {
  generationHandled: number;
  condition: PassCondition;
  failures: number;
  /** Absent: as they were. */
  conditions?: StoredConditions;
  revisionSeen?: string;
  /** The tip, where it may be used. */
  revisionAttempted?: string;
  /** What that brought, where it was not the accepted one before. */
  delta?: DeltaCommits;
  /** Null: a tip descends from the last rewriting. Absent: as it was. */
  rewrite?: Rewrite | null;
  events?: readonly (FactoryEvent & { id: string })[];
  record?: PassRecord;
}

/** A pass that is over. */
export interface EndedPass extends PassEnd {
  /** The tip may be used: it was judged. */
  accepted: boolean;
  /** Revision that the branch held before, where its history was rewritten. */
  rewrittenFrom?: string;
  triggers: readonly string[];
  webhooksWithoutSecret: readonly string[];
}

/** Everything that the end of a pass leaves behind. `newId`: names its record and its events. */
export function passOutcome(factory: FactoryStateFacts, pass: EndedPass, newId: () => string): PassOutcome {
  const { ending, accepted, delta, filesLeftAlone } = pass;
  const condition = conditionAfter(factory, pass);
  const rewrite = rewriteAfter(factory, delta);
  const after = {
    ...factory,
    condition,
    rewrite: rewrite === undefined ? factory.rewrite : (rewrite ?? undefined),
    generationHandled: factory.generationRequested,
  };
  const found = conditionsOf(factoryStateOf(after, pass.webhooksWithoutSecret));
  const conditions = nextConditions(previousConditions(factory), found, pass.finishedAtMs);
  const events = eventsOf({
    before: factory.conditions,
    reasonBefore: factory.condition.reason,
    after: found,
    ending,
    accepted: delta !== undefined,
    superseded: delta?.superseded ?? 0,
  });
  const isNews =
    ending.rebound.length > 0 || ending.changes.length > 0 || condition.fingerprint !== factory.condition.fingerprint;
  return {
    generationHandled: factory.generationRequested,
    condition,
    conditions: JSON.stringify(conditions) === JSON.stringify(factory.conditions) ? undefined : conditions,
    failures: failuresAfter(factory, pass),
    revisionSeen: filesLeftAlone ? undefined : ending.revision,
    revisionAttempted: accepted ? ending.revision : undefined,
    delta,
    rewrite,
    events: events.map((event) => ({ id: newId(), ...event })),
    record: isNews ? toRecord(pass, newId()) : undefined,
  };
}

function toRecord(
  { ending, delta, rewrittenFrom, triggers, startedAtMs, finishedAtMs }: EndedPass,
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
    superseded: delta?.superseded ?? 0,
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
