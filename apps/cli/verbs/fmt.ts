/** `millwright fmt`: one layout of definition files; what they say never changes. contract §11.5. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatDefinition, hasLayout, type TreeFile } from '#definitions';
import { UsageError, verb } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { printable } from '../reports/report.ts';
import { readStdin, toText } from '../terminal/input.ts';
import { count, Output } from '../terminal/output.ts';
import { replaceText } from '../validation/replace-text.ts';
import { selectFiles, type Selection } from '../validation/selection.ts';

/** The verb `fmt`. */
export const fmt = verb({
  name: 'fmt',
  arguments: '[DIR | FILE… | -]',
  summary: 'Lays out definition files: two spaces, comments and order as they are; prompts are not touched.',
  details: [
    'A file in which anything but blanks, line breaks and quotes would change is left as it is, and named.',
    'Ends with 0 when every file has its layout, 1 when one was refused or, with --check, has another.',
  ],
  positionals: [0, 10_000],
  options: {
    check: { type: 'boolean', help: 'write nothing; name the files that have another layout' },
    'stdin-path': { type: 'string', value: 'FILE', help: 'with -: where the text on stdin belongs' },
  },
  async run({ values: { check = false, 'stdin-path': stdinPath }, positionals }, io) {
    const output = new Output(io, 'text');
    if (positionals.includes('-')) return formatStdin(stdinPath, positionals, io);
    if (stdinPath !== undefined) throw new UsageError('--stdin-path goes with -, which takes the text from stdin');
    const selection = await selectFiles(positionals, io.cwd);
    const done = asked(selection).map((file) => formatFile(file, selection.root, check));
    for (const { path, reason, isChanged } of done) {
      if (reason !== undefined) output.note(`${path}: left as it is: ${reason}`);
      else if (isChanged) output.line(path);
    }
    const [changed, refused] = [done.filter(({ isChanged }) => isChanged), done.filter(({ reason }) => reason)];
    output.note(
      `${count(done.length, 'file')}: ${changed.length} ${check ? 'with another layout' : 'written'}, ` +
        `${refused.length} left as they are`,
    );
    return refused.length > 0 || (check && changed.length > 0) ? EXIT.problems : EXIT.ok;
  },
});

function asked({ files, only }: Selection): TreeFile[] {
  return files
    .filter(({ path }) => hasLayout(path) && only?.has(path) !== false)
    .sort((left, right) => (left.path < right.path ? -1 : 1));
}

interface Formatted {
  path: string;
  isChanged: boolean;
  reason?: string;
}

function formatFile({ path, kind = 'file' }: TreeFile, root: string, isCheck: boolean): Formatted {
  if (kind !== 'file') return { path, isChanged: false, reason: 'it is a link' };
  const read = readFileSync(join(root, path));
  const formatting = formatted(path, read);
  if (!formatting.ok) return { path, isChanged: false, reason: formatting.reason };
  const isChanged = !Buffer.from(formatting.text, 'utf8').equals(read);
  const reason = isChanged && !isCheck ? replaceText(join(root, path), read, formatting.text) : undefined;
  return reason === undefined ? { path, isChanged } : { path, isChanged: false, reason };
}

function formatted(path: string, bytes: Uint8Array): ReturnType<typeof formatDefinition> {
  try {
    return formatDefinition(path, new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return { ok: false, reason: 'it is not UTF-8' };
  }
}

/** The text as it is to be goes to stdout; one that is refused goes there as it was. */
async function formatStdin(
  path: string | undefined,
  positionals: readonly string[],
  io: Parameters<typeof readStdin>[0] & { stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream },
): Promise<number> {
  if (path === undefined) throw new UsageError('- needs --stdin-path FILE: where the text on stdin belongs');
  if (positionals.length > 1) throw new UsageError('- stands alone: stdin holds the text of one file');
  const place = placeIn(path);
  const text = toText(await readStdin(io, 'redirect a file or a pipe into the command'), 'the text');
  const formatting = formatDefinition(place, text);
  io.stdout.write(formatting.ok ? formatting.text : text);
  if (formatting.ok) return EXIT.ok;
  io.stderr.write(`${printable(path)}: left as it is: ${formatting.reason}\n`);
  return EXIT.problems;
}

/** The path below the repository, by the end of the path that was given. */
function placeIn(path: string): string {
  const segments = path.split(/[/\\]/);
  const place = [3, 2, 1].map((length) => segments.slice(-length).join('/')).find(hasLayout);
  if (place === undefined) throw new UsageError('--stdin-path names no place of a definition file');
  return place;
}
