/** Why the API has no plan of a ref. contract §12.6 (Plan of a ref), §3.10 (Errors). */
import { RefusalError } from '../http/error-codes.ts';
import type { RefMissing, SourceFailure, SourceFailureReason } from '../sync/sources/source.ts';

const POINTER = '/ref';

/** Seconds after which a repository that is away may be back. */
const RETRY_AFTER_SECONDS = 15;

/** What another time may change. */
const AWAY: ReadonlySet<SourceFailureReason> = new Set(['unreachable', 'timeout', 'unstable', 'corrupt', 'disk']);
/** What the repository does not have. */
const ABSENT: ReadonlySet<SourceFailureReason> = new Set(['branch-missing', 'path-missing', 'empty']);

/** The factory follows no repository that could have other refs. */
export function withoutRefs(): RefusalError {
  return new RefusalError('operation_not_supported', 'the factory follows no git repository, so it has no refs', {
    errors: [{ pointer: POINTER, message: 'is for factories that follow a git repository; send files instead' }],
  });
}

/** 404 what is not there, 400 what is ambiguous, 503 who is away, 409 who lets nobody in, 422 what is too much. */
export function refRefusal(reading: RefMissing | SourceFailure): RefusalError {
  const { message } = reading;
  const errors = [{ pointer: POINTER, message }];
  if (reading.reason === 'ref-unknown' || reading.reason === 'ref-ambiguous')
    return new RefusalError(reading.reason === 'ref-ambiguous' ? 'invalid_request' : 'resource_not_found', message, {
      errors,
    });
  const { reason } = reading;
  if (ABSENT.has(reason)) return new RefusalError('resource_not_found', message, { errors });
  const words = `the repository could not be read (${reason}): ${message}`;
  if (AWAY.has(reason))
    return new RefusalError('resource_unavailable', words, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  return reason === 'refused'
    ? new RefusalError('operation_not_supported', words)
    : new RefusalError('conflict', words, { retryable: false });
}
