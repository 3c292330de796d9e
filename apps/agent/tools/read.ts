/** The tool `read`: lines of a text file. */
import { readdir, stat } from 'node:fs/promises';
import { z } from 'zod';
import { bounded } from './bounded-text.ts';
import { onFiles } from './file-errors.ts';
import { readText } from './text-files.ts';
import { failed, type Outcome, tool } from './types.ts';

/**
 * Lines and bytes of one answer, and characters of one line: what a model can take in at once; the rest is asked for
 * with `offset`.
 */
const LINES_MAX = 2_000;
const ANSWER_BYTES_MAX = 64 * 1_024;
const LINE_LENGTH_MAX = 2_000;

/** Names of a folder that are listed. */
const NAMES_MAX = 500;

const input = z.object({
  path: z.string().min(1).describe('File, relative to the working folder or absolute'),
  offset: z.int().min(1).optional().describe('First line to read, counted from 1'),
  limit: z.int().min(1).max(LINES_MAX).optional().describe(`Number of lines, at most ${LINES_MAX}`),
});

/** Answers numbered lines; of a folder its names. */
export const read = tool({
  name: 'read',
  description: 'Reads a text file and answers its lines, each with its number. Of a folder it answers the names in it.',
  input,
  kind: 'read',
  asks: false,
  describe: ({ path, offset }, allowedPaths) => ({
    title: `Read ${allowedPaths.shown(path)}`,
    locations: [{ path: allowedPaths.absolute(path), ...(offset === undefined ? {} : { line: offset }) }],
  }),
  run: ({ path, offset, limit }, { allowedPaths }) =>
    onFiles(path, async () => {
      const real = await allowedPaths.readable(path);
      if ((await stat(real)).isDirectory()) return names(real);
      const file = await readText(real);
      return file.ok
        ? lines(file.text, offset ?? 1, limit ?? LINES_MAX)
        : failed(`${JSON.stringify(path)} ${file.reason}`);
    }),
});

function lines(text: string, from: number, count: number): Outcome {
  if (text === '') return { text: '(the file is empty)' };
  const all = text.replace(/\r?\n$/, '').split(/\r?\n/);
  if (from > all.length) return failed(`the file has only ${all.length} lines`);
  const chosen = all.slice(from - 1, from - 1 + count);
  const shown = chosen.map((line, index) => {
    const words = line.length <= LINE_LENGTH_MAX ? line : `${line.slice(0, LINE_LENGTH_MAX)}… (line cut)`;
    return `${String(from + index).padStart(6)}\t${words}`;
  });
  const rest = all.length - (from - 1) - chosen.length;
  const more = rest === 0 ? '' : `\n(${rest} more lines; go on with offset ${from + chosen.length})`;
  return {
    text: bounded(shown.join('\n'), ANSWER_BYTES_MAX) + more,
    rawOutput: { lines: chosen.length, lines_total: all.length },
  };
}

async function names(folder: string): Promise<Outcome> {
  const entries = await readdir(folder, { withFileTypes: true });
  const all = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const more = all.length <= NAMES_MAX ? '' : `\n(${all.length - NAMES_MAX} more)`;
  return { text: all.length === 0 ? '(the folder is empty)' : all.slice(0, NAMES_MAX).join('\n') + more };
}
