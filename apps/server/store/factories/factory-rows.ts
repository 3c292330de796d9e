/** Factories as values of this program: out of a row, into one, and what goes with a deleted one. contract §4. */
import type { FactoryDefinition } from '#definitions';
import type { HowApplied, PassCondition, Rewrite, StoredConditions, SyncPolicy, SourceSettings } from '#reconcile';
import { bumpServing, tickServingClock } from '../serving/serving.ts';
import { deleteSecretsOf } from '../secrets/secret-changes.ts';
import { deleteFilesOfFactory } from '../definitions/resource-files.ts';
import { deleteScheduledAgents } from '../definitions/scheduled-agents.ts';
import { change, databaseNow, row, type Transaction } from '../database/transactions.ts';
import { audit, type ChangedBy } from '../access/audit.ts';
import { PRINCIPAL } from '../access/access.entities.ts';
import { FACTORY, type FactoryRow } from './factory.entities.ts';
import { forgetFeedback } from './feedback-rows.ts';
import { forgetRevisions } from './revisions.ts';
import { insertInto } from '../database/table.ts';
import { materializeFactory } from '../runs/waiting-runs.ts';

/** Whether a source has commits, of which a sync policy may ask something. */
export type HasCommits = (source: SourceSettings) => boolean;
/** Where a factory stands, as its last pass left it. */
export type FactoryCondition = PassCondition;

export interface Factory {
  uid: string;
  slug: string;
  name: string;
  description: string;
  source: SourceSettings;
  syncPolicy: SyncPolicy;
  /** The rewriting that was accepted last, while no tip has descended from it. */
  rewrite?: Rewrite;
  /** How the applied revision was applied. */
  howApplied?: HowApplied;
  serviceAccountUid: string;
  suspended: boolean;
  servingVersion: number;
  generationRequested: number;
  generationHandled: number;
  /** Advertised last, whether it may be used or not. */
  revisionSeen?: string;
  /** Judged last: verified, and descending from the one before or accepted all the same. */
  revisionAttempted?: string;
  revisionApplied?: string;
  condition: FactoryCondition;
  conditions: StoredConditions;
  failures: number;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface NewFactory {
  uid: string;
  slug: string;
  name: string;
  description: string;
  source: SourceSettings;
  /** Asks nothing, if not said. */
  syncPolicy?: SyncPolicy;
  serviceAccountUid: string;
}

/** See FactoryStore.remove. */
export function* deleteFactory(uid: string, by: ChangedBy | undefined): Transaction<boolean> {
  const nowMs = yield* databaseNow();
  const found = yield* row<{ slug: string }>(
    'UPDATE factory SET deleted_at = ?, fence = fence + 1, lease_until = 0, updated_at = ? WHERE uid = ? ' +
      'AND deleted_at IS NULL RETURNING slug',
    nowMs,
    nowMs,
    uid,
  );
  if (found === undefined) return false;
  yield* bumpServing(uid);
  for (const table of ['webhook', 'automation', 'resource']) {
    yield* change(`UPDATE ${table} SET deleted_at = ? WHERE factory_uid = ? AND deleted_at IS NULL`, nowMs, uid);
  }
  yield* materializeFactory(uid);
  yield* change(
    "UPDATE run SET state = 'CANCELLED', status_message = 'the factory was deleted', cancel_requested_at = ?, " +
      "finished_at = ?, updated_at = ? WHERE factory_uid = ? AND state = 'QUEUED'",
    nowMs,
    nowMs,
    nowMs,
    uid,
  );
  yield* deleteFilesOfFactory(uid);
  yield* deleteSecretsOf(uid);
  yield* forgetRevisions(uid);
  yield* forgetFeedback(uid);
  yield* deleteScheduledAgents(uid);
  yield* change('DELETE FROM factory_event WHERE factory_uid = ?', uid);
  yield* change('DELETE FROM approval WHERE factory_uid = ?', uid);
  yield* audit(by, { action: 'factory.delete', subject: uid, factoryUid: uid, details: { slug: found.slug } });
  return true;
}

/** Definition of a factory whose file has said nothing. */
export const EMPTY_DEFINITION = JSON.stringify({ applyMode: 'atomic' } satisfies FactoryDefinition);

/** A factory out of its row. */
export function toFactory(found: FactoryRow): Factory {
  return {
    uid: found.uid,
    slug: found.slug,
    name: found.name,
    description: found.description,
    source: JSON.parse(found.source) as SourceSettings,
    syncPolicy: JSON.parse(found.sync_policy) as SyncPolicy,
    rewrite: found.rewrite === null ? undefined : (JSON.parse(found.rewrite) as Rewrite),
    howApplied: found.how_applied === null ? undefined : (JSON.parse(found.how_applied) as HowApplied),
    serviceAccountUid: found.service_account_uid,
    suspended: found.suspended === 1,
    servingVersion: found.serving_version,
    generationRequested: found.generation_requested,
    generationHandled: found.generation_handled,
    revisionSeen: found.revision_seen ?? undefined,
    revisionAttempted: found.revision_attempted ?? undefined,
    revisionApplied: found.revision_applied ?? undefined,
    condition: JSON.parse(found.condition) as FactoryCondition,
    conditions: JSON.parse(found.conditions) as StoredConditions,
    failures: found.failures,
    createdAtMs: found.created_at,
    updatedAtMs: found.updated_at,
  };
}

/** Makes a factory and its service account; false when the slug is taken. */
export function* insertFactory(factory: NewFactory): Transaction<boolean> {
  const nowMs = yield* databaseNow();
  if (yield* row('SELECT 1 AS taken FROM factory WHERE slug = ? AND deleted_at IS NULL', factory.slug)) return false;
  const principal = {
    uid: factory.serviceAccountUid,
    kind: 'service_account',
    display_name: `factory ${factory.slug}`,
    created_at: nowMs,
  };
  yield* insertInto(PRINCIPAL, [principal], { ignoreConflicts: true });
  const version = yield* tickServingClock();
  const condition = JSON.stringify({ ending: 'none', sinceMs: nowMs, checkedMs: nowMs });
  const policy = JSON.stringify(factory.syncPolicy ?? {});
  // Made again, it has the same UIDs and nothing else of its former life.
  const revived = yield* change(
    `UPDATE factory SET deleted_at = NULL, source = ?, sync_policy = ?, name = ?, description = ?, definition = ?,
      condition = ?, conditions = '{}', rewrite = NULL, how_applied = NULL, serving_version = ?, updated_at = ?,
      generation_requested = generation_requested + 1, revision_applied = NULL, revision_seen = NULL,
      revision_attempted = NULL, suspended = 0, failures = 0
      WHERE uid = ? AND deleted_at IS NOT NULL`,
    JSON.stringify(factory.source),
    policy,
    factory.name,
    factory.description,
    EMPTY_DEFINITION,
    condition,
    version,
    nowMs,
    factory.uid,
  );
  if (revived === 1) return true;
  // Another replica may have taken the slug since we looked.
  const added = {
    uid: factory.uid,
    slug: factory.slug,
    name: factory.name,
    description: factory.description,
    source: JSON.stringify(factory.source),
    sync_policy: policy,
    definition: EMPTY_DEFINITION,
    service_account_uid: factory.serviceAccountUid,
    suspended: 0,
    serving_version: version,
    generation_requested: 1,
    generation_handled: 0,
    condition,
    failures: 0,
    lease_until: 0,
    fence: 0,
    created_at: nowMs,
    updated_at: nowMs,
  };
  const made = yield* insertInto(FACTORY, [added], { ignoreConflicts: true });
  return made === 1;
}
