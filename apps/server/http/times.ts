/** Times on the wire: RFC 3339 in UTC. contract 3. */

/** `ms`: milliseconds since the epoch. */
export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
