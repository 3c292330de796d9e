/** The delivery log of a webhook: pages, single entries, stored payloads. spec: Inspect deliveries; contract 4, 5 (Log). */
import type { Delivery, DeliveryList } from '#contracts';
import { OUTCOMES, type OutcomeKind, type OutcomeLabel } from '#deliveries';
import { queryDigest } from '#runs';
import type { Access } from '../store/access.ts';
import type { DeliveryStore } from '../store/deliveries.ts';
import type { FactoryStore } from '../store/factories.ts';
import { decodePayload } from '../store/payload-bytes.ts';
import type { DeliveryRow } from '../store/tables.ts';
import type { WebhookStore } from '../store/webhooks.ts';
import { visibleFactory } from '../factories/visible.ts';
import { notFound } from '../http/answers.ts';
import { pageOf, placeOf } from '../http/pages.ts';
import { fromTime } from '../http/times.ts';
import { toDeliveryItem } from './items.ts';

/** A parsed list query. */
export interface DeliveryListQuery {
  outcome?: OutcomeLabel[];
  since?: string;
  until?: string;
  limit: number;
  cursor?: string;
}

/** Which log, or which entry of it. */
export interface LogPlace {
  factoryUid: string;
  webhookUid: string;
}

export class DeliveryService {
  private readonly factories: FactoryStore;
  private readonly webhooks: WebhookStore;
  private readonly deliveries: DeliveryStore;
  private readonly around: { publicUrl: string };

  constructor(factories: FactoryStore, webhooks: WebhookStore, deliveries: DeliveryStore, around: { publicUrl: string }) {
    this.factories = factories;
    this.webhooks = webhooks;
    this.deliveries = deliveries;
    this.around = around;
  }

  /** Newest first. Why a delivery was refused is for managers. */
  async list(place: LogPlace, query: DeliveryListQuery, access: Access): Promise<DeliveryList> {
    await this.refuseUnseen(place, access);
    const { outcome, since, until, limit, cursor } = query;
    const digest = queryDigest({ list: 'deliveries', webhook: place.webhookUid, outcome: outcome && [...new Set(outcome)].sort(), since, until });
    const [before] = placeOf(cursor, digest, ['string']) ?? [];
    const filter = { outcomes: outcome?.map(toOutcomeKind), sinceMs: since === undefined ? undefined : fromTime(since), untilMs: until === undefined ? undefined : fromTime(until) };
    const found = await this.deliveries.list(place.webhookUid, limit + 1, before as string | undefined, filter);
    const { page, pageInfo } = pageOf(found, limit, digest, ({ entry_id: entryId }) => [entryId]);
    return { deliveries: page.map((entry) => this.toItem(entry, access)), page_info: pageInfo };
  }

  async get(place: LogPlace, entryId: string, access: Access): Promise<Delivery> {
    return this.toItem(await this.entry(place, entryId, access), access);
  }

  /** Exact bytes of an accepted delivery. */
  async payload(place: LogPlace, entryId: string, access: Access): Promise<Uint8Array> {
    await this.entry(place, entryId, access);
    const stored = await this.deliveries.payload(entryId);
    if (stored === undefined) throw notFound('the payload');
    return decodePayload(stored);
  }

  private async entry(place: LogPlace, entryId: string, access: Access): Promise<DeliveryRow> {
    await this.refuseUnseen(place, access);
    const entry = await this.deliveries.find(entryId);
    if (entry === undefined || entry.webhook_uid !== place.webhookUid) throw notFound('the delivery');
    return entry;
  }

  private async refuseUnseen({ factoryUid, webhookUid }: LogPlace, access: Access): Promise<void> {
    await visibleFactory(this.factories, factoryUid, access);
    const webhook = await this.webhooks.find(webhookUid);
    if (webhook === undefined || webhook.factory_uid !== factoryUid) throw notFound('the webhook');
  }

  private toItem(entry: DeliveryRow, { role }: Access): Delivery {
    const { factory_uid: factoryUid, webhook_uid: webhookUid, entry_id: entryId } = entry;
    const payloadUrl = `${this.around.publicUrl}/api/v1/factory/${factoryUid}/webhooks/${webhookUid}/deliveries/${entryId}/payload`;
    return toDeliveryItem(entry, role === 'admin' || role === 'manager', payloadUrl);
  }
}

function toOutcomeKind(label: OutcomeLabel): OutcomeKind {
  const [kind] = Object.entries(OUTCOMES).find(([, text]) => text === label) ?? [];
  if (kind === undefined) throw new Error(`there is no outcome ${label}`);
  return kind as OutcomeKind;
}
