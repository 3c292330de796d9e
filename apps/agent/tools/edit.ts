/** The tool `edit`: replaces a piece of a file. */
import { z } from 'zod';
import { onFiles } from './file-errors.ts';
import { shownChange, writeText } from './file-changes.ts';
import { readText } from './text-files.ts';
import { failed, tool } from './types.ts';

const input = z.object({
  path: z.string().min(1).describe('File, relative to the working folder or absolute'),
  old_text: z.string().min(1).describe('Text that stands in the file, exactly, with its spaces and line breaks'),
  new_text: z.string().describe('Text to stand in its place'),
  replace_all: z.boolean().optional().describe('Replace every occurrence; otherwise there must be exactly one'),
});

/** Replaces one piece of text, or each of its occurrences. */
export const edit = tool({
  name: 'edit',
  description:
    'Replaces a piece of text in a file. The piece must occur exactly once, unless replace_all is true: give ' +
    'enough of its surroundings.',
  input,
  kind: 'edit',
  asks: true,
  describe: ({ path }, allowedPaths) => ({
    title: `Edit ${allowedPaths.shown(path)}`,
    locations: [{ path: allowedPaths.absolute(path) }],
  }),
  run: ({ path, old_text: piece, new_text: replacement, replace_all: all = false }, { allowedPaths }) =>
    onFiles(path, async () => {
      const real = await allowedPaths.writable(path);
      const file = await readText(real);
      if (!file.ok) return failed(`${JSON.stringify(path)} ${file.reason}`);
      const parts = file.text.split(piece);
      const found = parts.length - 1;
      if (found === 0)
        return failed('old_text does not occur in the file; read it and give the text exactly as it stands there');
      if (found > 1 && !all)
        return failed(`old_text occurs ${found} times; give more of its surroundings, or set replace_all`);
      const after = parts.join(replacement);
      await writeText(real, after);
      const shown = shownChange(real, file.text, after);
      const text = `replaced ${found} ${found === 1 ? 'occurrence' : 'occurrences'} in ${allowedPaths.shown(path)}`;
      return { text, rawOutput: { replaced: found }, ...(shown === undefined ? {} : { content: shown }) };
    }),
});
