/** Webhooks and automations as people look at them. spec: Webhook (factory resource). */
import { IsNull } from 'typeorm';
import type { Database } from './database.ts';
import { looking } from './faults.ts';
import { placeholders, rows } from './statements.ts';
import { AUTOMATION, WEBHOOK, type DefinitionRow, type WebhookRow } from './tables.ts';

export class WebhookStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** Live webhooks of a factory by slug. */
  list(factoryUid: string): Promise<WebhookRow[]> {
    return looking(this.database.source.getRepository(WEBHOOK).find({ where: { factory_uid: factoryUid, deleted_at: IsNull() }, order: { slug: 'ASC' } }));
  }

  async find(uid: string): Promise<WebhookRow | undefined> {
    return (await looking(this.database.source.getRepository(WEBHOOK).findOneBy({ uid, deleted_at: IsNull() }))) ?? undefined;
  }

  /** Live automations of a factory by slug. */
  automations(factoryUid: string): Promise<DefinitionRow[]> {
    return looking(this.database.source.getRepository(AUTOMATION).find({ where: { factory_uid: factoryUid, deleted_at: IsNull() }, order: { slug: 'ASC' } }));
  }

  /** When each webhook's newest log entry was received. */
  async lastDeliveries(uids: readonly string[]): Promise<Map<string, number>> {
    if (uids.length === 0) return new Map();
    const found = await this.database.read(() =>
      rows<{ webhook_uid: string; received_at: number }>(
        `SELECT d.webhook_uid, d.received_at FROM delivery d JOIN (SELECT webhook_uid, max(entry_id) AS entry_id FROM delivery WHERE webhook_uid IN (${placeholders(uids.length)}) GROUP BY webhook_uid) newest ON newest.entry_id = d.entry_id`,
        ...uids,
      ));
    return new Map(found.map(({ webhook_uid: uid, received_at: receivedAt }) => [uid, receivedAt]));
  }
}
