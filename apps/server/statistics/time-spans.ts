/** Which span of time a chart asks for. contract 4 (Statistics). */
import { invalidMembers } from '../http/error-codes.ts';
import { fromTime } from '../http/queries.ts';

/** The span of a query, as it was sent. */
export interface SpanQuery {
  since?: string;
  until?: string;
}

const DAY_MS = 86_400_000;
/** As the operations say. */
const SPAN_DAYS_MAX = 31;
/** Years that four digits write, with room for the last bucket: 1970 to 9998. */
const LAST_MS = Date.UTC(9999, 0, 1);

/** [`sinceMs`, `untilMs`), not empty. Throws a 400 that names each wrong parameter. */
export function spanOf({ since, until }: SpanQuery, nowMs: number): { sinceMs: number; untilMs: number } {
  const untilMs = until === undefined ? nowMs : fromTime(until);
  const sinceMs = since === undefined ? Math.max(0, untilMs - DAY_MS) : fromTime(since);
  const outside = [
    ...(since !== undefined && !isWritable(sinceMs) ? ['since'] : []),
    ...(until !== undefined && !(isWritable(untilMs) && untilMs > 0) ? ['until'] : []),
  ];
  if (outside.length > 0)
    throw invalidMembers(
      outside.map((pointer) => ({ pointer, message: `${pointer} must be a time after 1970 and before 9999` })),
      'query parameters',
    );
  if (sinceMs >= untilMs)
    throw refused(
      until === undefined ? 'since must be before now, where until is not given' : 'since must be before until',
    );
  if (untilMs - sinceMs > SPAN_DAYS_MAX * DAY_MS)
    throw refused(
      `since must be at most ${SPAN_DAYS_MAX} days before ${until === undefined ? 'now, where until is not given' : 'until'}`,
    );
  return { sinceMs, untilMs };
}

/** Not for what is no time at all. */
function isWritable(ms: number): boolean {
  return ms >= 0 && ms <= LAST_MS;
}

function refused(message: string): Error {
  return invalidMembers([{ pointer: 'since', message }]);
}
