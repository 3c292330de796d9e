/**
 * A skill in a repository, read from a bare copy at one commit: no checkout, no link followed, bounded. contract §3.4
 * (AmbientAgentConfig).
 */
import { isSkillFilePath, skillFolders, type SkillPlace } from '#agents';
import { SKILL_BYTES_MAX, SKILL_FILES_MAX } from '#definitions';
import { readListing, type TreeEntry } from '../../sync/sources/git/git-objects.ts';
import type { GitSession } from '../../sync/sources/git/git-session.ts';
import { contentsOf, readObjectSizes } from '../../sync/sources/git/git-tree.ts';
import { SetupError } from '../executor.ts';

export interface RepositorySkill {
  commit?: string;
  /** By their paths in the skill's folder. */
  files: readonly { path: string; content: Uint8Array; executable: boolean }[];
}

/** Bytes of a listing: as many files as a skill may have, and many more that it may not, each with a long path. */
const LISTING_BYTES_MAX = 4 * 1_048_576;

const SKILL_FILE = 'SKILL.md';

/**
 * Throws SetupError where there is no such skill, or more of it than a run is given; SourceUnavailableError where the
 * copy cannot be read.
 */
export async function readSkillFiles(
  session: GitSession,
  at: { gitDir: string; commit: string },
  place: SkillPlace,
  skillSpec: string,
): Promise<RepositorySkill> {
  const entries = await entriesOf(session, at, place, skillSpec);
  const files = entries.filter(({ kind, path }) => kind === 'file' && isSkillFilePath(path));
  if (files.length > SKILL_FILES_MAX) throw tooLarge(skillSpec, `${files.length} files; at most ${SKILL_FILES_MAX}`);
  const sizes = await readObjectSizes(session, at.gitDir, [...new Set(files.map(({ object }) => object))]);
  const bytes = files.reduce((sum, { object }) => sum + (sizes.get(object) ?? 0), 0);
  if (bytes > SKILL_BYTES_MAX) throw tooLarge(skillSpec, `${bytes} bytes; at most ${SKILL_BYTES_MAX} (1 MiB)`);
  const contents = await contentsOf(session, at.gitDir, sizes);
  return {
    commit: at.commit,
    files: files.map(({ path, object, executable }) => ({
      path,
      executable,
      content: contents.get(object) ?? new Uint8Array(),
    })),
  };
}

/** What lies in the first folder that has a SKILL.md. */
async function entriesOf(
  session: GitSession,
  { gitDir, commit }: { gitDir: string; commit: string },
  place: SkillPlace,
  skillSpec: string,
): Promise<TreeEntry[]> {
  for (const folder of skillFolders(place)) {
    // At the top of a repository everything else is the repository's.
    const within = folder === '' ? SKILL_FILE : `${folder}/`;
    const { entries } = readListing(
      await session.read(gitDir, ['ls-tree', '-z', '-r', '--full-tree', commit, '--', within], LISTING_BYTES_MAX),
      folder,
      () => true,
    );
    const skill = entries.find(({ path }) => path === SKILL_FILE);
    if (skill?.kind === 'file') return entries;
    if (skill !== undefined)
      throw new SetupError(
        `the SKILL.md of the skill ${JSON.stringify(skillSpec)} is a link or a submodule, which is not ` +
          'followed; commit the file itself',
      );
  }
  throw new SetupError(
    `there is no skill ${JSON.stringify(skillSpec)}: at commit ${commit} there is no ${skillFolders(place)
      .map((folder) => `${folder === '' ? '' : `${folder}/`}${SKILL_FILE}`)
      .join(', ')}`,
  );
}

function tooLarge(skillSpec: string, what: string): SetupError {
  return new SetupError(`the skill ${JSON.stringify(skillSpec)} has ${what} are given to a run`);
}
