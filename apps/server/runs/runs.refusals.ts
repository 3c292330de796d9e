/** Why what is asked of a run is not done. contract §3.8, §3.13. */
import {
  RUN_ATTACHMENT_BYTES_MAX,
  RUN_ATTACHMENTS_MAX,
  TASK_BYTES_MAX,
  type FollowupDecision,
  type InterruptDecision,
} from '#runs';
import { lastingConflict, RefusalError } from '../http/error-codes.ts';

/** Why a follow-up is not stored. contract §3.8 (Follow-up). */
export function followupRefusal(reason: Extract<FollowupDecision, { ok: false }>['reason']): RefusalError {
  switch (reason) {
    case 'cancel-under-way':
      return lastingConflict('a cancel of this run is under way');
    case 'factory-deleted':
      return lastingConflict('the factory of this run was deleted');
    case 'task-too-large':
      return tooMuch(
        '/message',
        `must be at most ${TASK_BYTES_MAX} bytes together with what waits for this run already`,
      );
    case 'attachments-too-many':
      return tooMuch(
        '/attachments',
        `must be at most ${RUN_ATTACHMENTS_MAX} files of ${RUN_ATTACHMENT_BYTES_MAX} bytes together with those ` +
          'that the run has already',
      );
  }
}

/** Why an interrupt is not stored. contract §3.13 (Interrupt). */
export function interruptRefusal(reason: Extract<InterruptDecision, { ok: false }>['reason']): RefusalError {
  switch (reason) {
    case 'already-ended':
      return new RefusalError('invalid_request', 'the run has ended already');
    case 'cancel-under-way':
      return lastingConflict('a cancel of this run is under way');
    case 'not-begun':
      return lastingConflict('no agent works on this run yet: there is no turn to interrupt');
    case 'no-agent':
      return new RefusalError(
        'operation_not_supported',
        'a command works on this run, which has no turns to interrupt: a cancel ends it',
      );
  }
}

function tooMuch(pointer: string, message: string): RefusalError {
  return new RefusalError('invalid_request', 'the run has been given too much already', {
    errors: [{ pointer, message }],
  });
}
