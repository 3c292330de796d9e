/** The tool `glob`: files by the pattern of their names. */
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { onFiles } from './file-errors.ts';
import { PATTERN_LENGTH_MAX, pathTest } from './glob-patterns.ts';
import { failed, tool } from './types.ts';

/** Files that are returned, and entries that are visited: a search must end even in a folder of millions. */
const FILES_MAX = 500;
const ENTRIES_MAX = 200_000;

/** Folders that are searched only when a pattern names them: they hold what others wrote, and drown the rest. */
export const SKIPPED_FOLDERS = ['.git', 'node_modules'];

const input = z.object({
  pattern: z
    .string()
    .min(1)
    .max(PATTERN_LENGTH_MAX)
    .describe('For example **/*.ts or src/{a,b}/*.json; without a slash it is about names at any depth'),
  path: z.string().min(1).optional().describe('Folder to search; otherwise the working folder'),
});

/** Finds files; follows no links to folders. */
export const glob = tool({
  name: 'glob',
  description:
    `Finds files by a pattern of their paths. Answers at most ${FILES_MAX} paths. ` +
    `${SKIPPED_FOLDERS.join(' and ')} are left out unless the pattern names them.`,
  input,
  kind: 'search',
  asks: false,
  describe: ({ pattern, path }, allowedPaths) => ({
    title: `Find ${pattern}${path === undefined ? '' : ` in ${allowedPaths.shown(path)}`}`,
    locations: [{ path: allowedPaths.absolute(path ?? '.') }],
  }),
  run: ({ pattern, path = '.' }, { allowedPaths, signal }) =>
    onFiles(path, async () => {
      const matches = pathTest(pattern);
      if (matches === undefined)
        return failed('the pattern is not well formed (a bracket or brace does not close) or has too many stars');
      const root = await allowedPaths.readable(path);
      const skipped = SKIPPED_FOLDERS.filter((name) => !pattern.includes(name));
      const { files, isWhole } = await search(root, matches, { skipped, signal });
      const shown = files.sort().map((file) => allowedPaths.shown(join(root, file)));
      const more = isWhole ? '' : '\n(there may be more: the search was ended)';
      return {
        text: (shown.length === 0 ? '(no file matches)' : shown.join('\n')) + more,
        rawOutput: { files: shown.length },
      };
    }),
});

async function search(
  root: string,
  matches: (path: string) => boolean,
  options: { skipped: readonly string[]; signal: AbortSignal },
): Promise<{ files: string[]; isWhole: boolean }> {
  const files: string[] = [];
  const folders = [''];
  let entryCount = 0;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    // A folder that vanished or must not be read is no reason to end the search.
    const entries = await opendir(join(root, folder)).catch(() => undefined);
    if (entries === undefined) continue;
    for await (const entry of entries) {
      entryCount += 1;
      if (entryCount > ENTRIES_MAX || files.length >= FILES_MAX || options.signal.aborted)
        return { files, isWhole: false };
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!entry.isDirectory() && matches(path)) files.push(path);
      if (entry.isDirectory() && !options.skipped.includes(entry.name)) folders.push(path);
    }
  }
  return { files, isWhole: true };
}
