/**
 * The tool `grep`: lines that match, found by the system's grep, which can be ended where a regular expression of our
 * own could not.
 */
import { z } from 'zod';
import { runCommand } from './commands.ts';
import { onFiles } from './file-errors.ts';
import { SKIPPED_FOLDERS } from './glob.ts';
import { failed, type Outcome, tool } from './types.ts';

/** Matches in one file, and bytes of the answer. */
const MATCHES_PER_FILE_MAX = 200;
const OUTPUT_BYTES_MAX = 32 * 1_024;

const TIMEOUT_MS = 60_000;

const input = z.object({
  pattern: z.string().min(1).max(1_000).describe('Extended regular expression (POSIX, as for grep -E)'),
  path: z.string().min(1).optional().describe('File or folder to search; otherwise the working folder'),
  files: z.string().min(1).max(200).optional().describe('Only files with names like this, for example *.ts'),
  ignore_case: z.boolean().optional(),
  context: z.int().min(0).max(20).optional().describe('Lines to show around each match'),
});

/** Finds lines in text files below a folder; follows no links. */
export const grep = tool({
  name: 'grep',
  description:
    'Finds lines that match a regular expression, as file:line:text. Binary files, ' +
    `${SKIPPED_FOLDERS.join(' and ')} are left out.`,
  input,
  kind: 'search',
  asks: false,
  describe: ({ pattern, path }, allowedPaths) => ({
    title: `Search ${pattern}${path === undefined ? '' : ` in ${allowedPaths.shown(path)}`}`,
    locations: [{ path: allowedPaths.absolute(path ?? '.') }],
  }),
  run: (asked, { allowedPaths, environment, signal }) =>
    onFiles(asked.path ?? '.', async () => {
      const real = await allowedPaths.readable(asked.path ?? '.');
      const { ending, output } = await runCommand({
        argv: ['grep', ...options(asked), '-e', asked.pattern, '--', real],
        cwd: allowedPaths.cwd,
        environment,
        timeoutMs: TIMEOUT_MS,
        signal,
        outputBytesMax: OUTPUT_BYTES_MAX,
      });
      const shown = output.replaceAll(`${allowedPaths.cwd}/`, '').replace(/\n$/, '');
      if (ending.kind === 'timed-out') return failed(`the search took more than ${TIMEOUT_MS / 1_000} s; search less`);
      if (ending.kind === 'not-started') return failed('grep is not installed here; use bash');
      return ending.kind === 'exited' ? found(ending.code, shown) : failed('the search was ended');
    }),
});

function options({ files, ignore_case: ignoreCase = false, context = 0 }: z.output<typeof input>): string[] {
  return [
    '-rnHIE',
    '-m',
    String(MATCHES_PER_FILE_MAX),
    ...SKIPPED_FOLDERS.map((name) => `--exclude-dir=${name}`),
    ...(files === undefined ? [] : [`--include=${files}`]),
    ...(ignoreCase ? ['-i'] : []),
    ...(context === 0 ? [] : ['-C', String(context)]),
  ];
}

/**
 * grep ends with 0 when it found something, 1 when it did not, 2 when something was wrong; with 2 it may have found
 * something all the same.
 */
function found(code: number, output: string): Outcome {
  if (code === 1) return { text: '(no line matches)' };
  return code === 0 ? { text: output } : failed(output === '' ? 'grep failed' : output);
}
