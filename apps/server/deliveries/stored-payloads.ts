/** Stored payloads, for whoever asks a delivery again: one that was removed, or damaged at rest, is no fault of the question. contract 5 (Log). */
import { parseJsonBody } from '#deliveries';
import type { JsonValue } from '#filters';
import type { DeliveryStore } from '../store/deliveries/deliveries.ts';
import { decodePayload } from '../store/deliveries/payload-bytes.ts';
import type { DeliveryRow } from '../store/deliveries/delivery.entities.ts';

/** The JSON of an accepted delivery and how many bytes that was; `none` where nothing is kept, `damaged` where it cannot be read any more. */
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
