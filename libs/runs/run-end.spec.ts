/** How a run ends when its command did: the user's side fails, a cancel cancels, and only exit code 0 succeeds. */
import { commandOutcome } from './run-end.ts';
import type { CommandEnd } from './supervision.ts';

it.each([
  { end: { kind: 'exited', code: 0 }, state: 'SUCCEEDED', says: 'exit code 0' },
  { end: { kind: 'exited', code: 3 }, state: 'FAILED', says: 'exit code 3' },
  { end: { kind: 'signalled', signal: 'SIGKILL' }, state: 'FAILED', says: 'SIGKILL' },
  { end: { kind: 'deadline' }, state: 'FAILED', says: 'within 60 s' },
  { end: { kind: 'cancelled' }, state: 'CANCELLED', says: 'on request' },
  { end: { kind: 'exceeded', message: 'too much disk' }, state: 'FAILED', says: 'too much disk' },
  { end: { kind: 'spawn-failed', message: 'no such file' }, state: 'FAILED', says: 'no such file' },
] satisfies { end: CommandEnd; state: string; says: string }[])('$end.kind is $state', ({ end, state, says }) => {
  const ended = commandOutcome(end, 60_000);
  expect(ended).toMatchObject({ state, message: expect.stringContaining(says) });
  expect(ended.retryable ?? false).toBe(false);
});

it('tells a process that could not start, and one that took too much, by their codes', () => {
  expect(commandOutcome({ kind: 'spawn-failed', message: '' }, 1).errorCode).toBe('environment_setup_failed');
  expect(commandOutcome({ kind: 'exceeded', message: '' }, 1).errorCode).toBe('resource_unavailable');
});
