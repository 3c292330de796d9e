/** How a signed timestamp is written, and how far it may be from now. contract §5.5 (Timestamps). */

/** contract §6: stripe and standard_webhooks are pinned to five minutes. spec: Authentication rule 3. */
export const SIGNATURE_AGE_SECONDS_MAX = 300;

/** Seconds as 10 digits or milliseconds as 13: a lenient parser reads `123abc` or `1e9` and signs away the check. */
const UNIX_SECONDS = /^[0-9]{10}$/;
const UNIX_MILLISECONDS = /^[0-9]{13}$/;
const RFC_3339_WITH_ZONE = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Milliseconds since the epoch, or undefined when the text is not exactly in the format. */
export function parseTimestamp(text: string, format: 'unix' | 'rfc3339'): number | undefined {
  switch (format) {
    case 'unix':
      if (UNIX_SECONDS.test(text)) return Number(text) * 1000;
      return UNIX_MILLISECONDS.test(text) ? Number(text) : undefined;
    case 'rfc3339':
      return parseRfc3339(text);
  }
}

function parseRfc3339(text: string): number | undefined {
  const [, date, time, fraction = '', zone] = RFC_3339_WITH_ZONE.exec(text) ?? [];
  if (date === undefined || time === undefined || zone === undefined) return undefined;
  // Date.parse rolls 30 February over into March: the wall clock must come back as it was written.
  const wallClock = Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(wallClock) || !new Date(wallClock).toISOString().startsWith(`${date}T${time}`)) return undefined;
  return Date.parse(`${date}T${time}${fraction.slice(0, 4)}${zone}`);
}

/**
 * Whether a timestamp is within the tolerance of now, in both directions, bounds included. Milliseconds and seconds.
 */
export function timeliness(
  timestampMs: number,
  nowMs: number,
  toleranceSeconds: number,
): 'timely' | 'stale' | 'future' {
  const ageMs = nowMs - timestampMs;
  if (ageMs > toleranceSeconds * 1000) return 'stale';
  return -ageMs > toleranceSeconds * 1000 ? 'future' : 'timely';
}
