/** Reads of webhooks. spec: Webhook (factory resource). */
import { IsNull } from 'typeorm';
import type { Database } from '../database/database.ts';
import { behindMarker, catchUp, catchUpIfRoom, type DeferredTable } from '../database/deferred-index.ts';
import { withStoreErrors } from '../database/store-errors.ts';
import { placeholders, row, rows, type Transaction } from '../database/transactions.ts';
import { WEBHOOK, type WebhookRow } from './definition.entities.ts';

export class WebhookStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Live webhooks of a factory by slug. */
  list(factoryUid: string): Promise<WebhookRow[]> {
    return withStoreErrors(
      this.database.source
        .getRepository(WEBHOOK)
        .find({ where: { factory_uid: factoryUid, deleted_at: IsNull() }, order: { slug: 'ASC' } }),
    );
  }

  async find(uid: string): Promise<WebhookRow | undefined> {
    return (
      (await withStoreErrors(this.database.source.getRepository(WEBHOOK).findOneBy({ uid, deleted_at: IsNull() }))) ??
      undefined
    );
  }

  /** Text of the file that a webhook of a managed factory was applied from; undefined where none was kept. */
  async fileText(uid: string): Promise<string | undefined> {
    return (
      (await this.database.read(() => row<{ text: string | null }>('SELECT text FROM webhook WHERE uid = ?', uid)))
        ?.text ?? undefined
    );
  }

  /** When each webhook's newest log entry was received. */
  lastDeliveries(uids: readonly string[]): Promise<Map<string, number>> {
    return this.database.read(function* () {
      const lacking = yield* catchUpIfRoom('delivery_log', uids);
      const last = yield* lastLogged(uids);
      return lacking === undefined ? last : new Map([...last, ...(yield* lastBehindMarker(uids, lacking))]);
    });
  }
}

/**
 * When the newest log entry of each of these webhooks was received, in milliseconds; those without any are absent. One
 * step of the log each, however long the logs are.
 */
export function* lastDeliveries(uids: readonly string[]): Transaction<Map<string, number>> {
  yield* catchUp('delivery_log', uids);
  return yield* lastLogged(uids);
}

function* lastLogged(uids: readonly string[]): Transaction<Map<string, number>> {
  const last = new Map<string, number>();
  for (const uid of uids) {
    const newest = yield* row<{ received_at: number }>(
      'SELECT received_at FROM delivery_log WHERE webhook_uid = ? ORDER BY entry_id DESC LIMIT 1',
      uid,
    );
    if (newest !== undefined) last.set(uid, newest.received_at);
  }
  return last;
}

/**
 * The same of entries that the log by webhook may lack, of SQLite alone, which gives the other columns of the row that
 * has the maximum. What is newer than one of them is one of them, too. A factory has few webhooks.
 */
function* lastBehindMarker(uids: readonly string[], log: DeferredTable): Transaction<Map<string, number>> {
  const found = yield* rows<{ uid: string; at: number }>(
    `SELECT webhook_uid AS uid, received_at AS at, max(entry_id) FROM ${behindMarker(log)} ` +
      `WHERE webhook_uid IN (${placeholders(uids.length)}) GROUP BY webhook_uid`,
    ...uids,
  );
  return new Map(found.map(({ uid, at }) => [uid, at]));
}
