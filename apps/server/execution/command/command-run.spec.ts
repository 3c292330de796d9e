/** What the end of a command is called, by what its outermost process and its sandbox say. contract §3.9. */
import { endingOf } from './command-run.ts';

const NOT_BUILT = { kind: 'spawn-failed', message: 'the sandbox could not be built; the log says why' };

it.each([
  ['a signal of its own', null, 'SIGTERM', undefined, { kind: 'signalled', signal: 'SIGTERM' }],
  ['a code without a sandbox', 3, null, undefined, { kind: 'exited', code: 3 }],
  ['a code in a sandbox', 0, null, { isBuilt: true, exitCode: 3 }, { kind: 'exited', code: 3 }],
  ['a signal in a sandbox', 0, null, { isBuilt: true, exitCode: 137 }, { kind: 'signalled', signal: 'SIGKILL' }],
  [
    'a sandbox that was killed',
    1,
    null,
    { isBuilt: true, exitCode: undefined },
    { kind: 'signalled', signal: 'SIGKILL' },
  ],
  ['a sandbox that was not built', 32, null, { isBuilt: false, exitCode: undefined }, NOT_BUILT],
  ['one that says nothing of it', 1, null, { exitCode: undefined }, NOT_BUILT],
] as const)('of %s', (_of, code, signal, reported, end) => expect(endingOf(code, signal, reported)).toEqual(end));
