/** The tool `write`: a whole file. */
import { z } from 'zod';
import { onFiles } from './file-errors.ts';
import { shownChange, writeText } from './file-changes.ts';
import { readText } from './text-files.ts';
import { tool } from './types.ts';

const input = z.object({
  path: z.string().min(1).describe('File, relative to the working folder or absolute'),
  content: z.string().describe('The whole content of the file'),
});

/** Writes a file, new or existing. */
export const write = tool({
  name: 'write',
  description:
    'Writes a text file, replacing what it held; makes the folders above it. To change a part of a file use edit.',
  input,
  kind: 'edit',
  asks: true,
  describe: ({ path }, allowedPaths) => ({
    title: `Write ${allowedPaths.shown(path)}`,
    locations: [{ path: allowedPaths.absolute(path) }],
  }),
  run: ({ path, content }, { allowedPaths }) =>
    onFiles(path, async () => {
      const real = await allowedPaths.writable(path);
      const before = await readText(real).catch(() => undefined);
      await writeText(real, content);
      const bytes = Buffer.byteLength(content);
      // Of a binary file there is nothing to compare with.
      const shown = before?.ok === false ? undefined : shownChange(real, before?.text, content);
      return {
        text: `wrote ${bytes} bytes to ${allowedPaths.shown(path)}`,
        rawOutput: { bytes },
        ...(shown === undefined ? {} : { content: shown }),
      };
    }),
});
