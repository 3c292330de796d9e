/** Stored payloads as values, for whoever asks a delivery again: one that was removed, or damaged at rest, is no fault of the question. contract 5 (Log). */
import { parseJsonBody } from '#deliveries';
import type { JsonValue } from '#filters';
import type { DeliveryStore } from '../store/deliveries.ts';
import { decodePayload } from '../store/payload-bytes.ts';

/** The JSON of an accepted delivery; `none` where nothing is kept, `damaged` where it cannot be read any more. */
export async function payloadOf(entryId: string, deliveries: Pick<DeliveryStore, 'payload'>): Promise<{ value: JsonValue } | 'none' | 'damaged'> {
  const stored = await deliveries.payload(entryId);
  if (stored === undefined) return 'none';
  try {
    const parsed = parseJsonBody(decodePayload(stored));
    return parsed.ok ? { value: parsed.value } : 'damaged';
  } catch {
    return 'damaged'; // no stream of its encoding
  }
}
