/**
 * Trees of a repository beside the branch that is followed: the ref is looked up, its commit fetched alone into a
 * folder of its own, read and thrown away; several commits in one go where their IDs are known. contract §12.6 (Plan of
 * a ref)
 */
import type { TreeFile } from '#definitions';
import type { WantedRef } from '#reconcile';
import { RefMissingError, type RefTree } from '../source.ts';
import { discard } from './git-cache.ts';
import { isUnknownObject } from './git-failures.ts';
import { fetchCommit, fetchCommits, fetchObjects, prepareCache, remoteSettings, TIP_REF } from './git-fetch.ts';
import { formatOf, readAdvertisement } from './git-objects.ts';
import type { GitSession } from './git-session.ts';
import { FilesWithheldError, readTree, readTrees } from './git-tree.ts';
import type { GitAddress } from './git-urls.ts';

/** Where the reading takes place. */
export interface RefLocation {
  address: GitAddress;
  /** Bare repository that is made for it, and removed. */
  gitDir: string;
  /** Folder of the repository that is the factory's root; '' = the top. */
  subfolder: string;
}

/** What is fetched: the name of a ref, or a commit by its ID. */
interface FoundRef {
  name?: string;
  object: string;
}

/** `git ls-remote --exit-code` when no ref matches. */
const EXIT_NO_MATCH = 2;

/** Stands in for a repository where a command needs none, so that none is found by looking around. */
const NO_REPOSITORY = '/dev/null';

/** Reads it. Throws RefMissingError where it is not there, and SourceUnavailableError. */
export async function readRef(
  session: GitSession,
  location: RefLocation,
  ref: WantedRef,
  isKnown: (commit: string) => boolean,
): Promise<RefTree> {
  const found = await lookUp(session, location.address, ref);
  if (isKnown(found.object)) return { ok: true, name: found.name, commit: found.object };
  return inFreshFolder(location, (whole) => fetchAndRead(session, location, found, whole));
}

/** Reads these commits, all or none. Throws SourceUnavailableError, also where the host gives one of them not out. */
export function readCommits(
  session: GitSession,
  location: RefLocation,
  commits: readonly string[],
): Promise<Map<string, TreeFile[]>> {
  const { address, gitDir, subfolder } = location;
  return inFreshFolder(location, async (whole) => {
    await discard(gitDir);
    await prepareCache(session, gitDir, formatOf(commits[0] ?? ''));
    const remote = remoteSettings(address, whole);
    session.demand(await fetchCommits(session, gitDir, remote, commits));
    return readTrees(session, { gitDir, subfolder }, commits, (objects) =>
      fetchObjects(session, gitDir, remote, objects),
    );
  });
}

async function inFreshFolder<Result>(
  { gitDir }: RefLocation,
  read: (whole: boolean) => Promise<Result>,
): Promise<Result> {
  try {
    return await read(false);
  } catch (error) {
    // A server that sends no file by its name sends all of them with their commit.
    if (!(error instanceof FilesWithheldError)) throw error;
    return await read(true);
  } finally {
    await discard(gitDir);
  }
}

/** Asked of the host for a commit too: that it answers, and lets this credential in, is what the answer is worth. */
async function lookUp(session: GitSession, { url }: GitAddress, ref: WantedRef): Promise<FoundRef> {
  const names = ref.kind === 'commit' ? ['HEAD'] : ref.names;
  const asked = names.flatMap((name) => (name.startsWith('refs/tags/') ? [name, peeled(name)] : [name]));
  const output = await session.ask(NO_REPOSITORY, ['ls-remote', '--exit-code', '--symref', url, ...asked]);
  const isNothing = output.ended === 'exit' && output.exitCode === EXIT_NO_MATCH;
  if (!isNothing) session.demand(output);
  if (ref.kind === 'commit') return { object: ref.commit };
  const { refs, headBranch } = readAdvertisement(isNothing ? '' : output.stdout.toString('utf8'));
  const there = names.flatMap((name): FoundRef[] => {
    const object = refs.get(peeled(name)) ?? refs.get(name);
    return object === undefined ? [] : [{ name, object }];
  });
  const [first, ...others] = there;
  if (first === undefined) throw new RefMissingError('ref-unknown', unknownWords(ref));
  if (others.length > 0)
    throw new RefMissingError(
      'ref-ambiguous',
      `"${ref.text}" is ${there.map(({ name }) => name).join(' and ')}: name the one that is meant in full`,
    );
  return first.name === 'HEAD' && headBranch !== undefined ? { ...first, name: `refs/heads/${headBranch}` } : first;
}

/** How a tag's commit is advertised beside the tag. */
function peeled(name: string): string {
  return `${name}^{}`;
}

function unknownWords({ text, names, isPullRequest }: Extract<WantedRef, { kind: 'named' }>): string {
  if (text === 'HEAD') return 'the repository has no HEAD: it has no commit yet';
  if (isPullRequest) return `the repository has no pull request "${text}" (looked for ${names.join(', ')})`;
  if (names.length === 1) return `the repository has no ref "${text}"`;
  const hint = /^[0-9a-f]{4,63}$/i.test(text) ? '; a commit is named by its whole ID' : '';
  return `the repository has no branch and no tag "${text}"${hint}`;
}

async function fetchAndRead(
  session: GitSession,
  { address, gitDir, subfolder }: RefLocation,
  { name, object }: FoundRef,
  whole: boolean,
): Promise<RefTree> {
  await discard(gitDir);
  await prepareCache(session, gitDir, formatOf(object));
  const remote = remoteSettings(address, whole);
  const output = await fetchCommit(session, gitDir, remote, name ?? object);
  if (isUnknownObject(output)) throw goneError(name, object);
  session.demand(output);
  const commit = await commitIn(session, gitDir);
  if (commit === undefined) throw new RefMissingError('ref-unknown', `${name ?? object} is no commit`);
  const files = await readTree(session, { gitDir, commit, subfolder }, (objects) =>
    fetchObjects(session, gitDir, remote, objects),
  );
  return { ok: true, name, commit, files };
}

/** It was there a moment ago, or nobody ever said that it is. */
function goneError(name: string | undefined, object: string): RefMissingError {
  return new RefMissingError(
    'ref-unknown',
    name === undefined
      ? `the repository has no commit ${object}, or its host gives out no commits by their IDs: name a branch`
      : `${name} is not there any more`,
  );
}

async function commitIn(session: GitSession, gitDir: string): Promise<string | undefined> {
  const tip = await session.examine(gitDir, ['rev-parse', '--verify', '--quiet', `${TIP_REF}^{commit}`], {});
  return tip.ended === 'exit' && tip.exitCode === 0 ? tip.stdout.toString('latin1').trim() : undefined;
}
