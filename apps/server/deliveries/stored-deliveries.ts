/** Entries of the delivery log as a key may see them, and the payloads that are stored with them. contract §2, §5.9. */
import { Injectable } from '@nestjs/common';
import { parseJsonBody } from '#deliveries';
import type { JsonValue } from '#filters';
import type { Access } from '../store/access/access.ts';
import { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { WebhookStore } from '../store/definitions/webhooks.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';
import { visibleFactory } from '../http/access-guard.ts';
import { notFound } from '../http/error-codes.ts';
import { decodePayload } from '../store/deliveries/delivery-entries.ts';

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

/**
 * The JSON of an accepted delivery and how many bytes that was; `none` where nothing is kept, `damaged` where it cannot
 * be read any more.
 */
export async function payloadOf(
  entryId: string,
  deliveries: Pick<DeliveryStore, 'payload'>,
): Promise<{ value: JsonValue; sizeBytes: number } | 'none' | 'damaged'> {
  const bytes = await storedBytes(entryId, deliveries);
  if (typeof bytes === 'string') return bytes;
  const json = parsed(bytes);
  return json === 'damaged' ? json : { ...json, sizeBytes: bytes.length };
}

/** The exact bytes of an accepted delivery, as `payloadOf`. */
export async function bytesOf(
  { entry_id: entryId, size }: DeliveryRow,
  deliveries: Pick<DeliveryStore, 'payload'>,
): Promise<Uint8Array | 'none' | 'damaged'> {
  const bytes = await storedBytes(entryId, deliveries);
  return typeof bytes !== 'string' && bytes.length !== size ? 'damaged' : bytes;
}

/** Both: bytes and what they say. */
export async function bodyOf(
  entry: DeliveryRow,
  deliveries: Pick<DeliveryStore, 'payload'>,
): Promise<{ bytes: Uint8Array; value: JsonValue } | 'none' | 'damaged'> {
  const bytes = await bytesOf(entry, deliveries);
  if (typeof bytes === 'string') return bytes;
  const json = parsed(bytes);
  return json === 'damaged' ? json : { bytes, ...json };
}

async function storedBytes(
  entryId: string,
  deliveries: Pick<DeliveryStore, 'payload'>,
): Promise<Uint8Array | 'none' | 'damaged'> {
  const stored = await deliveries.payload(entryId);
  if (stored === undefined) return 'none';
  try {
    return decodePayload(stored);
  } catch {
    return 'damaged'; // no stream of its encoding
  }
}

function parsed(bytes: Uint8Array): { value: JsonValue } | 'damaged' {
  const json = parseJsonBody(bytes);
  return json.ok ? { value: json.value } : 'damaged';
}
