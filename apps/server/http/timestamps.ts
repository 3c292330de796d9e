/** Times on the wire: RFC 3339 in UTC. contract 3. */

/** `ms`: milliseconds since the epoch. */
export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Milliseconds since the epoch of an RFC 3339 time; a leap second counts as the second before it. */
export function fromTime(text: string): number {
  return Date.parse(text.replace(/:60(?=[.Zz+-])/, ':59'));
}
