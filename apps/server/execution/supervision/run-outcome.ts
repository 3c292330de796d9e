/** What the end of a process means for its run. spec: States and transitions. */
import type { RunEnd } from '../../store/runs/runs.ts';
import type { CommandEnd } from '#runs';

export function commandOutcome(end: CommandEnd, deadlineMs: number): RunEnd {
  switch (end.kind) {
    case 'exited':
      return end.code === 0
        ? { state: 'SUCCEEDED', message: 'the command ended with exit code 0' }
        : { state: 'FAILED', message: `the command ended with exit code ${end.code}`, retryable: false };
    case 'signalled':
      return { state: 'FAILED', message: `the command was ended by ${end.signal}`, retryable: false };
    case 'deadline':
      return {
        state: 'FAILED',
        message:
          `it did not end within ${deadlineMs / 1000} s, which is all the time that runs have here ` +
          '(MILLWRIGHT_RUN_TIMEOUT)',
        retryable: false,
      };
    case 'cancelled':
      return { state: 'CANCELLED', message: 'cancelled on request' };
    case 'exceeded':
      return { state: 'FAILED', message: end.message, errorCode: 'resource_unavailable', retryable: false };
    case 'spawn-failed':
      return { state: 'FAILED', message: end.message, errorCode: 'environment_setup_failed', retryable: false };
  }
}
