/**
 * What explanations look up beside the log: definitions as they are now, deleted ones too, and the delivery that a
 * duplicate repeats. spec: Webhook delivery.
 */
import type { AutomationDefinition } from '#definitions';
import type { Database } from '../database/database.ts';
import { caughtUpRelation } from '../database/deferred-index.ts';
import { placeholders, row, rows, type SqlValue } from '../database/transactions.ts';

/** A webhook or automation as it is now; times in milliseconds. */
export interface DefinitionStatus {
  uid: string;
  slug: string;
  /** Empty where it is managed over the API. */
  path: string;
  /** Revision that wrote it last, or deleted it. */
  revision: string;
  createdAtMs: number;
  updatedAtMs: number;
  deletedAtMs?: number;
}

/** UIDs in one statement. */
const UIDS_MAX = 100;

const STATUS = 'SELECT uid, slug, path, revision, created_at, updated_at, deleted_at';

interface DefinitionStatusRow {
  uid: string;
  slug: string;
  path: string;
  revision: string;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export class ExplanationStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** The webhook, live or deleted. */
  async webhook(uid: string): Promise<DefinitionStatus | undefined> {
    const found = await this.database.read(() => row<DefinitionStatusRow>(`${STATUS} FROM webhook WHERE uid = ?`, uid));
    return found && toDefinitionStatus(found);
  }

  /** All automations that a factory has or had, by slug, without what they say. */
  async automations(factoryUid: string): Promise<DefinitionStatus[]> {
    return (
      await this.database.read(() =>
        rows<DefinitionStatusRow>(`${STATUS} FROM automation WHERE factory_uid = ? ORDER BY slug`, factoryUid),
      )
    ).map(toDefinitionStatus);
  }

  /** What these automations say now, by UID. */
  definitions(uids: readonly string[]): Promise<Map<string, AutomationDefinition>> {
    return this.database.read(function* () {
      const found = new Map<string, AutomationDefinition>();
      for (let from = 0; from < uids.length; from += UIDS_MAX) {
        const some = uids.slice(from, from + UIDS_MAX);
        const said = yield* rows<{ uid: string; definition: string }>(
          `SELECT uid, definition FROM automation WHERE uid IN (${placeholders(some.length)})`,
          ...some,
        );
        for (const { uid, definition } of said) found.set(uid, JSON.parse(definition) as AutomationDefinition);
      }
      return found;
    });
  }

  /**
   * The accepted delivery of this identity before an entry of the log. What was delivered again only looks like it.
   * Looked for away from acceptances: a log may be long.
   */
  async original(webhookUid: string, deliveryId: string, entryId: string): Promise<string | undefined> {
    const params: SqlValue[] = [webhookUid, entryId, deliveryId];
    return this.database.longRead(function* () {
      const text =
        `SELECT l.entry_id FROM ${yield* caughtUpRelation('delivery_log', [webhookUid])} AS l CROSS JOIN delivery d ` +
        "WHERE l.webhook_uid = ? AND l.entry_id < ? AND l.outcome = 'accepted' AND d.entry_id = l.entry_id " +
        'AND d.delivery_id = ? AND d.resent_from IS NULL ORDER BY l.entry_id DESC LIMIT 1';
      return (yield* row<{ entry_id: string }>(text, ...params))?.entry_id;
    });
  }
}

function toDefinitionStatus({
  uid,
  slug,
  path,
  revision,
  created_at: createdAtMs,
  updated_at: updatedAtMs,
  deleted_at: deletedAt,
}: DefinitionStatusRow): DefinitionStatus {
  return { uid, slug, path, revision, createdAtMs, updatedAtMs, deletedAtMs: deletedAt ?? undefined };
}
