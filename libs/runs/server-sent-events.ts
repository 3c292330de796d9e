/** How a run's log is written as a stream of server-sent events. contract §3.1 (events). */

/** Asks clients that lose the connection to come back after this time, milliseconds. */
const RETRY_MS = 1_000;

/** First bytes of a stream: the answer has begun, although nothing has happened yet. */
export const STREAM_OPENING = `retry: ${RETRY_MS}\n\n`;

/** Says that the stream is alive; clients pass it over. */
export const STREAM_HEARTBEAT = ': alive\n\n';

/** One event; `data` as JSON on one line. Without `id` a client resumes at the event before. */
export function serverSentEvent(event: string, data: unknown, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Place that a `Last-Event-ID` header or an `after` parameter names; undefined for what was never given out. */
export function eventPlace(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
