/** The time that stands in a UUID of version 7. */

/** Milliseconds since the epoch. RFC 9562, 5.7. */
export function timeOfUuidv7(uuid: string): number {
  return Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16);
}
