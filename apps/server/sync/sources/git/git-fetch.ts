/**
 * What is fetched into the cache, and with which words: the tip with all that it descends from, then the files that a
 * tree names. contract §9
 */
import { PACKS_MAX, cacheFormat, discard, isWhole, packCount, sweep } from './git-cache.ts';
import { exceedsBounds } from './git-failures.ts';
import type { GitOutput } from './git-process.ts';
import type { GitSession } from './git-session.ts';
import { FilesWithheldError } from './git-tree.ts';
import type { GitAddress } from './git-urls.ts';

/** The one ref of the cache: the last fetched tip. */
export const TIP_REF = 'refs/millwright/tip';

/** No tags, no submodules, no FETCH_HEAD: nothing but the objects that are asked for. */
const QUIETLY = ['--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'];

/** An empty repository, or the one that is there without what a killed process left. */
export async function prepareCache(session: GitSession, gitDir: string, format: 'sha1' | 'sha256'): Promise<void> {
  if ((await cacheFormat(gitDir)) === format) return sweep(gitDir);
  await discard(gitDir);
  await session.local(gitDir, ['init', '--quiet', '--bare', '--template=', `--object-format=${format}`]);
}

/**
 * The remote lives in the arguments, not in the cache's configuration: reading the cache can then never reach the
 * network.
 */
export function remoteSettings(address: GitAddress, whole: boolean): string[] {
  const origin = ['-c', `remote.origin.url=${address.url}`];
  return whole
    ? origin
    : [...origin, '-c', 'remote.origin.promisor=true', '-c', 'remote.origin.partialclonefilter=blob:none'];
}

/** Fetches the tip of a branch with its whole history and all trees; answers its commit. */
export async function fetchTip(
  session: GitSession,
  gitDir: string,
  remote: readonly string[],
  branch: string,
): Promise<string> {
  const refspec = `+refs/heads/${branch}:${TIP_REF}`;
  session.demand(await fetchInto(session, gitDir, [...remote, 'fetch', ...QUIETLY, '--force', 'origin', refspec]));
  return (await session.local(gitDir, ['rev-parse', '--verify', '--quiet', `${TIP_REF}^{commit}`])).trim();
}

/**
 * Fetches one commit with its trees, and nothing that it descends from: by the full name of a ref, or its own. What
 * came of it is the caller's to judge.
 */
export function fetchCommit(
  session: GitSession,
  gitDir: string,
  remote: readonly string[],
  what: string,
): Promise<GitOutput<Buffer>> {
  const args = [...remote, 'fetch', ...QUIETLY, '--force', '--depth=1', 'origin', `+${what}:${TIP_REF}`];
  return fetchInto(session, gitDir, args);
}

/** The same of several commits, by their IDs. A host that does not give out one of them gives out none. */
export function fetchCommits(
  session: GitSession,
  gitDir: string,
  remote: readonly string[],
  commits: readonly string[],
): Promise<GitOutput<Buffer>> {
  const args = [...remote, 'fetch', ...QUIETLY, '--depth=1', '--stdin', 'origin'];
  return fetchInto(session, gitDir, args, toLines(commits));
}

/** All missing files in one request; without the noop negotiation the server would take them for known. */
export async function fetchObjects(
  session: GitSession,
  gitDir: string,
  remote: readonly string[],
  objects: readonly string[],
): Promise<void> {
  const args = [...remote, '-c', 'fetch.negotiationAlgorithm=noop', 'fetch', ...QUIETLY, '--stdin', 'origin'];
  const output = await fetchInto(session, gitDir, args, toLines(objects));
  if (output.ended === 'exit' && output.exitCode === 0) return;
  const unavailable = session.failureOf(output);
  throw unavailable.failure.reason === 'refused' && output.ended === 'exit' && !exceedsBounds(output)
    ? new FilesWithheldError()
    : unavailable;
}

function toLines(words: readonly string[]): string {
  return words.map((word) => `${word}\n`).join('');
}

/** What a fetch that failed has written may be as much as a server can send: it does not wait for the next one. */
async function fetchInto(
  session: GitSession,
  gitDir: string,
  args: readonly string[],
  input?: string,
): Promise<GitOutput<Buffer>> {
  const output = await session.ask(gitDir, args, input);
  if (output.ended !== 'exit' || output.exitCode !== 0) await sweep(gitDir);
  return output;
}

/** Packs a cache that has become slow. Only ever of use, never needed: its failure is none of the reading's. */
export async function tidy(session: GitSession, gitDir: string, address: GitAddress): Promise<void> {
  if ((await packCount(gitDir)) <= PACKS_MAX) return;
  const remote = remoteSettings(address, await isWhole(gitDir));
  await session.ask(gitDir, [...remote, 'repack', '-a', '-d', '-q']);
}
