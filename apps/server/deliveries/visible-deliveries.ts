/** The log of a request, or an entry of it, if it is there and the key may see it: all else looks the same from outside. contract 2. */
import { Injectable } from '@nestjs/common';
import type { Access } from '../store/access/access.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { WebhookStore } from '../store/definitions/webhooks.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';
import { visibleFactory } from '../factories/visible-factories.ts';
import { notFound } from '../http/error-codes.ts';

/** Which log, or which entry of it. */
export interface LogPlace {
  factoryUid: string;
  webhookUid: string;
}

@Injectable()
export class LogStores {
  constructor(
    readonly factories: FactoryStore,
    readonly webhooks: WebhookStore,
    readonly deliveries: DeliveryStore,
  ) {}
}

/** Throws 404 for a log that is not there, and for one that the key may not see. */
export async function refuseUnseenLog(
  { factories, webhooks }: Omit<LogStores, 'deliveries'>,
  { factoryUid, webhookUid }: LogPlace,
  access: Access,
): Promise<void> {
  await visibleFactory(factories, factoryUid, access);
  const webhook = await webhooks.find(webhookUid);
  if (webhook === undefined || webhook.factory_uid !== factoryUid) throw notFound('the webhook');
}

/** The same for an entry; one of another log is not there. */
export async function visibleEntry(
  stores: LogStores,
  place: LogPlace,
  entryId: string,
  access: Access,
): Promise<DeliveryRow> {
  await refuseUnseenLog(stores, place, access);
  const entry = await stores.deliveries.find(entryId);
  if (entry === undefined || entry.webhook_uid !== place.webhookUid) throw notFound('the delivery');
  return entry;
}
