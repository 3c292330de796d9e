/** Why edits of webhooks and automations are refused, as answers of the API. contract §3.10 (Errors), §4. */
import type { EditRefusal } from '#management';
import { invalidMembers, lastingConflict, notFound, RefusalError } from './error-codes.ts';
import { staleVersion } from './conditional-requests.ts';

/** The answer to a refused edit. */
export function toRefusal(reason: EditRefusal): RefusalError {
  switch (reason.kind) {
    case 'not-found':
      return notFound(reason.what);
    case 'stale-version':
      return staleVersion(reason.what, reason.version);
    case 'invalid-members':
      return invalidMembers(reason.errors);
    case 'invalid-request':
      return new RefusalError('invalid_request', reason.detail, { errors: reason.errors });
    case 'not-supported':
      return new RefusalError('operation_not_supported', reason.detail, { errors: reason.errors });
    case 'not-authorized':
      return new RefusalError('not_authorized', reason.detail);
    case 'conflict':
      return lastingConflict(reason.detail, reason.members, reason.errors);
  }
}
