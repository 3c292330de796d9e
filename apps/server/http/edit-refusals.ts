/** Why edits of webhooks and automations are refused, as answers of the API. contract 3 (Errors), 4. */
import type { EditRefusal } from '#management';
import { invalidMembers, lastingConflict, notFound, Refusal } from './error-codes.ts';
import { staleVersion } from './if-match.ts';

/** The answer to a refused edit. */
export function toRefusal(reason: EditRefusal): Refusal {
  switch (reason.kind) {
    case 'not-found':
      return notFound(reason.what);
    case 'stale-version':
      return staleVersion(reason.what, reason.version);
    case 'invalid-members':
      return invalidMembers(reason.errors);
    case 'invalid-request':
      return new Refusal('invalid_request', reason.detail, { errors: reason.errors });
    case 'not-supported':
      return new Refusal('operation_not_supported', reason.detail, { errors: reason.errors });
    case 'not-authorized':
      return new Refusal('not_authorized', reason.detail);
    case 'conflict':
      return lastingConflict(reason.detail, reason.members, reason.errors);
  }
}
