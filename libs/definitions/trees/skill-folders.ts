/**
 * What a skill has beside its SKILL.md, how much of it there may be, and what stands for it in a definition. contract
 * §8.
 */
import { createHash } from 'node:crypto';
import { problemAt } from '../rules/problems.ts';
import { FILE_START } from '../yaml/source-text.ts';
import type { Problem, SkillDefinition, SkillFile, TreeFile } from '../types.ts';

/** Files of one skill, SKILL.md included: they are copied into every run that uses it. */
export const SKILL_FILES_MAX = 100;
/** Bytes of them together. */
export const SKILL_BYTES_MAX = 1_048_576;

/** A folder below skills/, as far as it has been read. */
export interface SkillFolder {
  /** Of its SKILL.md. */
  path?: string;
  text?: string;
  files: SkillFile[];
  /** The same as they stand in the tree, those that could not be read included. */
  paths: string[];
}

/** Takes a further file of the skill into its folder. */
export function addFile(
  { files, paths }: SkillFolder,
  name: string,
  { path, content, executable = false }: TreeFile,
): void {
  paths.push(path);
  files.push({ path: path.slice(`skills/${name}/`.length), content, executable });
}

/** What is wrong with the amount of it. */
export function skillBoundProblem(path: string, { text = '', files }: SkillFolder): Problem | undefined {
  const count = files.length + 1;
  if (count > SKILL_FILES_MAX)
    return problemAt(
      path,
      FILE_START,
      'skill-too-large',
      `the skill has ${count} files; at most ${SKILL_FILES_MAX} are given to a run`,
    );
  const bytes = files.reduce((sum, { content }) => sum + content.byteLength, new TextEncoder().encode(text).byteLength);
  if (bytes <= SKILL_BYTES_MAX) return undefined;
  return problemAt(
    path,
    FILE_START,
    'skill-too-large',
    `the files of the skill have ${bytes} bytes together; at most ${SKILL_BYTES_MAX} (1 MiB) are given to a run`,
  );
}

/**
 * Names of the other files, and a digest of what is in them. Whether one is executable is not part of it: sources that
 * cannot tell would see a change where there is none.
 */
export function skillFiles({ files, paths }: SkillFolder): Pick<SkillDefinition, 'files' | 'filesDigest'> {
  if (files.length === 0) return { files: paths };
  const contents = files.map(({ path, content }) => [path, createHash('sha256').update(content).digest('hex')]);
  return { files: paths, filesDigest: `sha256:${createHash('sha256').update(JSON.stringify(contents)).digest('hex')}` };
}
