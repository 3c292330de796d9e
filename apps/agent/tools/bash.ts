/** The tool `bash`: a command line in the working folder. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { runCommand, type CommandEnding } from './commands.ts';
import { tool, type Outcome } from './types.ts';
import { oneLine } from '../diagnostics.ts';

/** Seconds: enough for most tests and builds, and the most that one call may ask for. */
const TIMEOUT_SECONDS_DEFAULT = 120;
const TIMEOUT_SECONDS_MAX = 3_600;

/** Bytes of output that the model sees, beginning and end: about eight thousand tokens. */
const OUTPUT_BYTES_MAX = 32 * 1_024;

/** Characters of a command in its title. */
const TITLE_LENGTH_MAX = 120;

const SHELL = ['/bin/bash', '/usr/bin/bash', '/bin/sh'].find((path) => existsSync(path)) ?? 'sh';

const input = z.object({
  command: z.string().min(1).max(100_000).describe('Command line for the shell'),
  timeout_seconds: z
    .int()
    .min(1)
    .max(TIMEOUT_SECONDS_MAX)
    .optional()
    .describe(`Seconds after which it is ended; ${TIMEOUT_SECONDS_DEFAULT} if not given`),
});

/** Runs a command line; nothing that it starts outlives it. */
export const bash = tool({
  name: 'bash',
  description:
    'Runs a command line with the shell in the working folder and answers what it writes, stdout and stderr ' +
    'together, and its exit code. ' +
    'There is no terminal and no standard input. Each call is a new shell. Processes in the background end with ' +
    'the call. ' +
    `Of more than ${OUTPUT_BYTES_MAX} bytes of output the beginning and the end are kept.`,
  input,
  kind: 'execute',
  asks: true,
  describe: ({ command }) => ({ title: oneLine(command, TITLE_LENGTH_MAX) }),
  run: async (
    { command, timeout_seconds: seconds = TIMEOUT_SECONDS_DEFAULT },
    { allowedPaths, environment, signal },
  ) => {
    const { ending, output } = await runCommand({
      argv: [SHELL, '-c', command],
      cwd: allowedPaths.cwd,
      environment,
      timeoutMs: seconds * 1_000,
      signal,
      outputBytesMax: OUTPUT_BYTES_MAX,
    });
    return outcome(ending, output, seconds);
  },
});

function outcome(ending: CommandEnding, output: string, seconds: number): Outcome {
  const shown = output === '' ? '(no output)' : output.replace(/\n$/, '');
  const isFine = ending.kind === 'exited' && ending.code === 0;
  return {
    text: isFine ? shown : `${shown}\n[${words(ending, seconds)}]`,
    isShownFailed: !isFine,
    ...(ending.kind === 'exited' ? { rawOutput: { exit_code: ending.code } } : {}),
  };
}

function words(ending: CommandEnding, seconds: number): string {
  switch (ending.kind) {
    case 'exited':
      return `exit code ${ending.code}`;
    case 'signalled':
      return `ended by ${ending.signal}`;
    case 'timed-out':
      return `ended after ${seconds} s: it took too long`;
    case 'cancelled':
      return 'cancelled';
    case 'flooded':
      return 'ended: it wrote far too much';
    case 'not-started':
      return `the shell could not be started (${ending.code})`;
  }
}
