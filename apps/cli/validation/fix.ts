/**
 * `millwright validate --fix`: writes what has one right answer into the files, and says what it did. contract §11.4.
 */
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkReferences, fixesFor, readDefinitions, type FileFix, type KnownFacts } from '#definitions';
import { printable } from '../reports/report.ts';
import { replaceText } from './replace-text.ts';
import type { Selection } from './selection.ts';

/** What is put right can bring to light what stood behind it; each round mends something, or is the last. */
export const FIX_ROUNDS_MAX = 5;

/** Mends the files of a selection, which is read anew each time; prints what was done or refused, a line each. */
export async function fixFiles(
  select: () => Promise<Selection>,
  known: KnownFacts,
  say: (line: string) => void,
): Promise<Selection> {
  const refused = new Set<string>();
  for (let round = 0; round < FIX_ROUNDS_MAX; round += 1) {
    const selection = await select();
    const done = fixesOf(selection, known).map((fix) => apply(fix, selection, refused));
    for (const line of done.flatMap(({ lines }) => lines)) say(printable(line));
    if (!done.some(({ isDone }) => isDone)) return selection;
  }
  return select();
}

function fixesOf({ files, only }: Selection, known: KnownFacts): FileFix[] {
  const reading = readDefinitions(files);
  const { problems } = checkReferences(reading, known);
  return fixesFor(
    problems.filter(({ path }) => only?.has(path) !== false),
    reading.readFiles,
  );
}

interface Done {
  isDone: boolean;
  lines: string[];
}

/** `refused`: what was told of in an earlier round is not told again. */
function apply(fix: FileFix, { root, files, only }: Selection, refused: Set<string>): Done {
  if (fix.kind === 'text') {
    const read = files.find(({ path }) => path === fix.path)?.content ?? new Uint8Array();
    const reason = replaceText(join(root, fix.path), read, fix.text);
    if (reason !== undefined) return refusal(fix.path, reason, refused);
    const lines = fix.replacements.map(
      ({ line, column, before, after }) => `${fix.path}:${line}:${column}: ${before} → ${after}`,
    );
    return { isDone: true, lines };
  }
  // Files that were named are looked at under the names that were given
  const reason = fix.kind === 'refused' ? fix.reason : only === undefined ? moveFile(root, fix) : 'it lies elsewhere';
  return fix.kind === 'move' && reason === undefined
    ? { isDone: true, lines: [`${fix.path} → ${fix.to}`] }
    : refusal(fix.path, reason ?? '', refused);
}

function refusal(path: string, reason: string, refused: Set<string>): Done {
  const line = `${path}: not mended: ${reason}`;
  const isNew = !refused.has(line);
  refused.add(line);
  return { isDone: false, lines: isNew ? [line] : [] };
}

/** A skill moves with its folder: its files belong together. */
function moveFile(root: string, { path, to }: { path: string; to: string }): string | undefined {
  const isFolder = to.startsWith('skills/') && path.split('/').length === 3 && dirname(path) !== dirname(to);
  const [from, target] = isFolder ? [dirname(path), dirname(to)] : [path, to];
  const [source, destination] = [join(root, from), join(root, target)];
  if (existsSync(destination) && statSync(destination).ino !== statSync(source).ino)
    return `there is ${target} already`;
  mkdirSync(dirname(destination), { recursive: true });
  renameSync(source, destination);
  if (isFolder && path.split('/')[2] !== to.split('/')[2])
    renameSync(join(root, dirname(to), path.split('/')[2] ?? ''), join(root, to));
  return undefined;
}
