/**
 * Edits of dashboard factories, each one transaction: decided on what is committed, written, bound, audited and served.
 * contract §2, §4, §5.8 (Transaction).
 */
import { isManagedSource, type AppliedObject, type SourceSettings } from '#reconcile';
import { audit, type AuditChange, type ChangedBy } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { bindWebhooks, deleteObject, writeObject } from './definition-writes.ts';
import { deleteUnboundValues, putSecret } from '../secrets/secret-changes.ts';
import { runGrantsOf, visibleSecrets } from '../secrets/secret-rows.ts';
import type { RunGrant } from '#definitions';
import type { Secret, WantedSecret } from '../secrets/secrets.ts';
import { bumpServing } from '../serving/serving.ts';
import { change, databaseNow, row, rows, type Transaction } from '../database/transactions.ts';
import { AUTOMATION, type AutomationRow, WEBHOOK, type WebhookRow } from './definition.entities.ts';
import { lastDeliveries } from './webhooks.ts';

/** What an edit is decided on. The factory is locked: all of it stays so until the edit is committed. */
export interface EditableFactory {
  uid: string;
  slug: string;
  /** Live webhooks by slug. */
  webhooks: readonly WebhookRow[];
  /** Live automations by slug, without what they say. */
  automations: readonly Pick<AutomationRow, 'uid' | 'slug' | 'name'>[];
  /** The automation that the edit is about, while it lives. */
  automation?: AutomationRow;
  deletedWebhookUids: ReadonlySet<string>;
  /** Environments and skills that it has from its time with files. */
  environments: readonly { uid: string; slug: string }[];
  skills: readonly { slug: string }[];
  /** Secrets that webhooks of the factory may use, by name. */
  webhookSecrets: ReadonlyMap<string, Secret>;
  /** Names of the secrets that its runs may have. */
  runSecretNames: ReadonlySet<string>;
  runGrants: ReadonlyMap<string, RunGrant>;
  /** Names of its own secrets, whatever they are granted for. */
  ownSecretNames: ReadonlySet<string>;
  /** IDs of the secrets that live webhooks of other factories use. */
  secretsUsedElsewhere: ReadonlySet<string>;
}

/** A webhook or automation to write, and its label. */
export interface LabelledObject {
  object: Extract<AppliedObject, { kind: 'webhook' | 'automation' }>;
  name: string;
}

/** Everything that one edit writes. Webhooks are bound to the secrets as they are afterwards. */
export interface DefinitionEdit<Answer> {
  ok: true;
  secrets?: readonly WantedSecret[];
  objects?: readonly LabelledObject[];
  /**
   * UIDs of webhooks that change with their secret: who has seen them as they were does not change them unknowingly.
   */
  moved?: readonly string[];
  deletions?: readonly { kind: 'webhook' | 'automation'; uid: string }[];
  /** For the audit trail; changes of secrets tell of themselves. Absent: nothing is to be written. */
  change?: AuditChange;
  /** What is answered, made of what was written. */
  answer(after: EditedFactory): Answer;
}

/** The factory as an edit leaves it. */
export interface EditedFactory {
  webhooks: readonly WebhookRow[];
  /** When the newest log entry of each webhook was received, by UID. */
  lastDeliveries: ReadonlyMap<string, number>;
  /** The automation that was written, or that the edit is about. */
  automation?: AutomationRow;
}

/** What surrounds one edit. */
export interface EditContext<Answer> {
  /** Author of one entry of the audit trail. */
  newEntry(): ChangedBy;
  /** UID of the automation that the edit is about. */
  automationUid?: string;
  /** Further statements of the same transaction, once the answer is known. */
  complete?(answer: Answer): Transaction<void> | undefined;
}

export type EditDecision<Answer, Reason> = DefinitionEdit<Answer> | { ok: false; reason: Reason };

/** `managed`: the factory's files decide, and nothing was decided here. */
export type EditOutcome<Answer, Reason> =
  | { kind: 'done'; answer: Answer }
  | { kind: 'refused'; reason: Reason }
  | { kind: 'gone' }
  | { kind: 'managed' };

export class DefinitionEditStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /**
   * Decides and writes under the factory's lock: edits of one factory follow each other. `decide` has no effects and
   * may be asked again. Throws UnusableSecretError when a webhook cannot use a value that is to be written.
   */
  edit<Answer, Reason>(
    factoryUid: string,
    decide: (factory: EditableFactory) => EditDecision<Answer, Reason>,
    context: EditContext<Answer>,
  ): Promise<EditOutcome<Answer, Reason>> {
    return this.database.run(function* (): Transaction<EditOutcome<Answer, Reason>> {
      const found = yield* row<{ slug: string; source: string }>(
        'SELECT slug, source FROM factory WHERE uid = ? AND deleted_at IS NULL FOR UPDATE',
        factoryUid,
      );
      if (found === undefined) return { kind: 'gone' };
      if (isManagedSource(JSON.parse(found.source) as SourceSettings)) return { kind: 'managed' };
      const decided = decide(yield* editable(factoryUid, found.slug, context.automationUid));
      if (!decided.ok) return { kind: 'refused', reason: decided.reason };
      if (decided.change !== undefined) yield* write(factoryUid, decided, decided.change, context);
      const answer = decided.answer(yield* edited(factoryUid, automationOf(decided) ?? context.automationUid));
      const settling = context.complete?.(answer);
      if (settling !== undefined) yield* settling;
      return { kind: 'done', answer };
    });
  }
}

function* write(
  factoryUid: string,
  { secrets = [], objects = [], moved = [], deletions = [] }: DefinitionEdit<unknown>,
  changed: AuditChange,
  { newEntry }: Pick<EditContext<unknown>, 'newEntry'>,
): Transaction<void> {
  const nowMs = yield* databaseNow();
  for (const secret of secrets) yield* putSecret(secret, newEntry());
  // Named after the serving version, which no other state of any factory has had.
  const revision = `dashboard@${yield* bumpServing(factoryUid)}`;
  const visible = yield* visibleSecrets(factoryUid, 'webhook');
  for (const { object, name } of objects) yield* writeObject(object, { factoryUid, revision, name }, visible, nowMs);
  for (const { kind, uid } of deletions) yield* deleteObject(kind, uid, revision, nowMs);
  for (const uid of moved)
    yield* change(
      'UPDATE webhook SET version = version + 1, updated_at = ? WHERE uid = ? AND factory_uid = ?',
      nowMs,
      uid,
      factoryUid,
    );
  yield* bindWebhooks(factoryUid);
  yield* deleteUnboundValues();
  yield* change(
    'UPDATE factory SET revision_seen = ?, revision_attempted = ?, revision_applied = ?, updated_at = ? WHERE uid = ?',
    revision,
    revision,
    revision,
    nowMs,
    factoryUid,
  );
  yield* audit(newEntry(), changed);
}

function* edited(factoryUid: string, automationUid: string | undefined): Transaction<EditedFactory> {
  const webhooks = yield* liveWebhooks(factoryUid);
  return {
    webhooks,
    lastDeliveries: yield* lastDeliveries(webhooks.map(({ uid }) => uid)),
    automation: yield* liveAutomation(factoryUid, automationUid),
  };
}

function automationOf({ objects = [] }: DefinitionEdit<unknown>): string | undefined {
  return objects.find(({ object }) => object.kind === 'automation')?.object.uid;
}

function* editable(uid: string, slug: string, automationUid: string | undefined): Transaction<EditableFactory> {
  const webhookSecrets = yield* visibleSecrets(uid, 'webhook');
  const runSecrets = yield* visibleSecrets(uid, 'run');
  const own = yield* rows<{ name: string }>('SELECT name FROM secret WHERE owner = ?', uid);
  return {
    uid,
    slug,
    webhooks: yield* liveWebhooks(uid),
    automations: yield* rows<Pick<AutomationRow, 'uid' | 'slug' | 'name'>>(
      'SELECT uid, slug, name FROM automation WHERE factory_uid = ? AND deleted_at IS NULL ORDER BY slug',
      uid,
    ),
    automation: yield* liveAutomation(uid, automationUid),
    deletedWebhookUids: yield* uids('SELECT uid FROM webhook WHERE factory_uid = ? AND deleted_at IS NOT NULL', uid),
    environments: yield* resources(uid, 'environment'),
    skills: yield* resources(uid, 'skill'),
    webhookSecrets,
    runSecretNames: new Set(runSecrets.keys()),
    runGrants: runGrantsOf(runSecrets),
    ownSecretNames: new Set(own.map(({ name }) => name)),
    secretsUsedElsewhere: yield* uids(
      `SELECT DISTINCT w.secret_id AS uid FROM webhook w WHERE w.factory_uid <> ? AND w.deleted_at IS NULL
        AND w.secret_id IN (SELECT mine.secret_id FROM webhook mine WHERE mine.factory_uid = ?
        AND mine.deleted_at IS NULL)`,
      uid,
      uid,
    ),
  };
}

function* liveWebhooks(factoryUid: string): Transaction<WebhookRow[]> {
  return yield* rows<WebhookRow>(
    `SELECT ${WEBHOOK.columns.join(', ')} FROM webhook WHERE factory_uid = ? AND deleted_at IS NULL ORDER BY slug`,
    factoryUid,
  );
}

function* liveAutomation(factoryUid: string, uid: string | undefined): Transaction<AutomationRow | undefined> {
  if (uid === undefined) return undefined;
  return yield* row<AutomationRow>(
    `SELECT ${AUTOMATION.columns.join(', ')} FROM automation WHERE uid = ? AND factory_uid = ? AND deleted_at IS NULL`,
    uid,
    factoryUid,
  );
}

function* resources(factoryUid: string, kind: string): Transaction<{ uid: string; slug: string }[]> {
  return yield* rows<{ uid: string; slug: string }>(
    'SELECT uid, slug FROM resource WHERE factory_uid = ? AND kind = ? AND deleted_at IS NULL ORDER BY slug',
    factoryUid,
    kind,
  );
}

function* uids(text: string, ...params: string[]): Transaction<Set<string>> {
  return new Set((yield* rows<{ uid: string }>(text, ...params)).map(({ uid }) => uid));
}
