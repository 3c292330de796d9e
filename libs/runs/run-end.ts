/**
 * How a run ends, and what the end of a process means for it. spec: States and transitions.
 */
import type { RunState } from './types.ts';
import type { CommandEnd } from './supervision.ts';

/** How an execution ended. */
export interface RunEnd {
  state: Extract<RunState, 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED'>;
  message: string;
  errorCode?: string;
  retryable?: boolean;
}

/** The end of a run whose command ended like this; `deadlineMs`: all the time that it had. */
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
