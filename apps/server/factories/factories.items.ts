/**
 * Factories as the API shows them, and where each stands: conditions, revisions, inventory, passes, events. Every
 * member is named here, snake_case, absent ones left out. contract §4, §4.1 (status).
 */
import { publishedHarness, toAgentConfig } from '#agents';
import type {
  Change as ChangeItem,
  Condition,
  Diagnostic,
  FactoryEvent as FactoryEventItem,
  Factory as FactoryItem,
  FactoryStatus,
  InventoryItem,
  MergedPullRequest,
  Sync,
} from '#contracts';
import type { FactoryDefinition, Problem } from '#definitions';
import {
  conditionsOf,
  factoryStateOf,
  heldOf,
  isManagedSource,
  type Change,
  type ConditionStatus,
  type KnownPullRequest,
  type PassRecord,
} from '#reconcile';
import { repositoryName } from '#runs';
import { toTime } from '../http/queries.ts';
import { TEAM_UID } from '../http/requests.ts';
import type { InventoryEntry } from '../store/definitions/catalogue.ts';
import type { StoredFactoryEvent } from '../store/factories/events.ts';
import type { Factory } from '../store/factories/factory-rows.ts';
import { SOURCES } from '../sync/sources/registry.ts';
import { toSyncPolicyItem } from './factories.requests.ts';

/** Whether files decide a factory's webhooks and automations. */
export function isManaged({ source }: Pick<Factory, 'source'>): boolean {
  return isManagedSource(source);
}

/** What the hosted service has of a factory and this one has not. contract §3.11 (factory). */
const NOT_HERE = {
  code_forge: 'NONE',
  credential_strategy: 'CREATOR',
  scorer_defaults: {},
  scoring: {},
  team_uid: TEAM_UID,
} as const satisfies Partial<FactoryItem>;

/** What clients ask for of a factory whose file says nothing of it. */
const NO_DEFAULTS = { mcp_servers: {}, secrets: [] };

/** Agent defaults are what the factory's file says, as the wire has configurations. */
export function toFactoryItem(factory: Factory, definition: FactoryDefinition | undefined): FactoryItem {
  return {
    uid: factory.uid,
    slug: factory.slug,
    name: factory.name,
    description: factory.description,
    created_at: toTime(factory.createdAtMs),
    updated_at: toTime(factory.updatedAtMs),
    source: SOURCES.toItem(factory.source),
    sync_policy: toSyncPolicyItem(factory.syncPolicy),
    suspended: factory.suspended,
    definitions_managed: isManaged(factory),
    service_account: factory.serviceAccountUid,
    alias: factory.slug,
    repositories: repositoriesOf(factory),
    ...NOT_HERE,
    code_forges: [],
    agent_defaults: {
      ...NO_DEFAULTS,
      ...(publishedHarness(toAgentConfig(definition?.agentDefaults ?? {})) as Partial<FactoryItem['agent_defaults']>),
      worker_host: '',
      default_runner_uid: '',
    },
  };
}

function repositoriesOf({ source }: Factory): FactoryItem['repositories'] {
  const url = SOURCES.repositoryOf(source)?.url;
  const named = url === undefined ? undefined : repositoryName(url);
  return named === undefined ? [] : [{ owner: named.owner, repo: named.name }];
}

/** What is known of a factory beside its own row. */
export interface StatusFacts {
  inventory: readonly InventoryEntry[];
  /** The newest passes that were recorded, newest first. */
  recent: readonly PassRecord[];
  /** The pass whose findings wait for an approval. */
  held: PassRecord | undefined;
  /** The newest events, newest first. */
  events: readonly StoredFactoryEvent[];
  /** Whether any process reconciles. */
  isAttended: boolean;
}

/** A factory's status as the API shows it. */
export function toStatusItem(
  factory: Factory,
  { inventory, recent, held, events, isAttended }: StatusFacts,
): FactoryStatus {
  const [last] = recent;
  const { ending, reason, message, sinceMs, checkedMs } = factory.condition;
  const isHeld = heldBy(factory, last);
  const webhooksWithoutSecret = inventory
    .filter(({ enabled, hasSecret }) => enabled && !hasSecret)
    .map(({ slug }) => slug);
  return {
    factory_uid: factory.uid,
    suspended: factory.suspended,
    definitions_managed: isManaged(factory),
    conditions: conditionsOf({ ...factoryStateOf(factory, webhooksWithoutSecret), unattended: !isAttended }).map(
      toConditionItem,
    ),
    condition: {
      ending,
      reason: reason ?? null,
      message: message ?? null,
      since: toTime(sinceMs),
      checked_at: toTime(checkedMs),
    },
    generation_requested: factory.generationRequested,
    generation_handled: factory.generationHandled,
    revision_seen: factory.revisionSeen ?? null,
    revision_attempted: factory.revisionAttempted ?? null,
    revision_applied: factory.revisionApplied ?? null,
    last_sync: last === undefined ? null : toSyncItem(last),
    held_sync: held === undefined ? null : toSyncItem(held),
    recent_syncs: recent.map(toSyncSummary),
    events: events.map(toFactoryEventItem),
    inventory: inventory.map((entry) => toInventoryItem(entry, isManaged(factory), isHeld)),
  };
}

function toSyncSummary({
  id,
  finishedAtMs,
  ending,
  reason,
  revision,
  changes,
  problems,
  superseded,
}: PassRecord): FactoryStatus['recent_syncs'][number] {
  return {
    id,
    finished_at: toTime(finishedAtMs),
    ending,
    reason: reason ?? null,
    revision: revision ?? null,
    changes: changes.length,
    problems: problems.length,
    superseded,
  };
}

function toConditionItem({ type, status, reason, message, sinceMs, observedGeneration }: ConditionStatus): Condition {
  return {
    type,
    status,
    reason,
    message,
    since: sinceMs === undefined ? null : toTime(sinceMs),
    observed_generation: observedGeneration,
  };
}

type Held = (entry: InventoryEntry) => boolean;

function toInventoryItem(entry: InventoryEntry, managed: boolean, isHeld: Held): InventoryItem {
  const { kind, slug, uid, path, blob, revision, enabled } = entry;
  const isFile = managed && path !== '';
  return {
    kind,
    slug,
    uid,
    file: isFile ? path : null,
    blob: isFile ? (blob ?? null) : null,
    revision,
    state: isHeld(entry) ? 'held' : enabled ? 'applied' : 'disabled',
  };
}

/**
 * Which objects the last pass left as they were although files say otherwise, as far as that pass is the recorded one.
 */
function heldBy(factory: Factory, last: PassRecord | undefined): Held {
  const isCurrent =
    isManaged(factory) &&
    last !== undefined &&
    last.ending === factory.condition.ending &&
    last.reason === factory.condition.reason;
  return isCurrent ? heldOf({ problems: last.problems as Problem[], held: last.held as Change[] }) : () => false;
}

/** A change as passes record it: the reconciler's own, and the webhook whose secret moved in step 0. */
type RecordedChange = Change & { secretName?: string; secretVersion?: number | null };

/** One recorded pass. */
export function toSyncItem(pass: PassRecord): Sync {
  return {
    id: pass.id,
    triggers: pass.triggers as Sync['triggers'],
    started_at: toTime(pass.startedAtMs),
    finished_at: toTime(pass.finishedAtMs),
    ending: pass.ending,
    reason: pass.reason ?? null,
    message: pass.message ?? null,
    revision: pass.revision ?? null,
    problems: (pass.problems as Problem[]).map(toDiagnostic),
    changes: (pass.changes as RecordedChange[]).map(toChangeItem),
    held: (pass.held as RecordedChange[]).map(toChangeItem),
    plan: pass.digest ?? null,
    rewritten_from: pass.rewrittenFrom ?? null,
    superseded: pass.superseded,
    timings: pass.timings,
  };
}

/** One problem of a file. */
export function toDiagnostic({
  path,
  line,
  column,
  endLine,
  endColumn,
  severity,
  rule,
  code,
  message,
  excerpt,
}: Problem): Diagnostic {
  return {
    path,
    line,
    column,
    end_line: endLine,
    end_column: endColumn,
    severity,
    rule,
    code,
    message,
    ...(excerpt === undefined ? {} : { excerpt: { first_line: excerpt.firstLine, lines: excerpt.lines } }),
  };
}

/** One change of a plan or pass. */
export function toChangeItem({
  action,
  kind,
  slug,
  uid,
  path,
  changes,
  renamedFrom,
  secretName,
  secretVersion,
}: RecordedChange): ChangeItem {
  return {
    action,
    kind,
    slug,
    uid,
    path,
    changes,
    renamed_from: renamedFrom,
    secret_name: secretName,
    secret_version: secretVersion,
  };
}

/** One event. */
export function toFactoryEventItem({
  id,
  atMs,
  type,
  reason,
  message,
  revision,
  passId,
}: StoredFactoryEvent): FactoryEventItem {
  return { id, at: toTime(atMs), type, reason, message, revision: revision ?? null, sync: passId ?? null };
}

/** `revision`: as it is named where this is listed. */
export function toMergedPullRequestItem(
  { number, title, author, url, mergeCommit }: KnownPullRequest,
  revision: string,
): MergedPullRequest {
  return { revision, number, title, author, url: url === '' ? null : url, merge_commit: mergeCommit ?? null };
}
