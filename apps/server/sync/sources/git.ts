/** A factory repository behind git: one ref advertisement tells whether anything changed; only definition files are fetched. contract 9 */
import type { TreeFile } from '#definitions';
import {
  PACKS_MAX,
  cacheFormat,
  discard,
  gitCache,
  isWhole,
  markWhole,
  packCount,
  prepareParent,
  replaceWithSpare,
  sweep,
} from './git-cache.ts';
import type { GitCache } from './git-cache.ts';
import type { SshSettings } from './git-environment.ts';
import { commitOf, formatOf, readAdvertisement, revisionOf } from './git-objects.ts';
import { withSession } from './git-session.ts';
import type { Gate, GitSession, SessionScope } from './git-session.ts';
import { FilesWithheld, readTree } from './git-tree.ts';
import { checkGitUrl, isBranchName, normalizeSubfolder } from './git-urls.ts';
import type { GitAddress } from './git-urls.ts';
import { SourceUnavailable, failure, systemCodeOf } from './source.ts';
import type { KnownRevisions, Snapshot, Source, SourceFailure } from './source.ts';

export interface GitSourceOptions {
  url: string;
  /** Branch to follow; without one the branch that the remote's HEAD names at each reading. */
  branch?: string;
  /** Folder of the repository that is the factory's root. */
  path?: string;
  /** The bare cache repository: made, repaired and thrown away by the source; beside it `<cacheDir>.spare` and `<cacheDir>.key`. */
  cacheDir: string;
  /** Certificates (PEM) accepted beside the system's place of them. MILLWRIGHT_GIT_CA_FILE */
  caFile?: string;
  /** Whether file: addresses and local paths may be read. */
  allowLocal: boolean;
  /** Credential granted to the address's host, asked for at each reading: a token for https, a private key for ssh. */
  credential?: () => Promise<string | undefined>;
  ssh?: SshSettings;
  /** PATH of git and its children. */
  searchPath?: string;
  /** Time limit of one git process, in milliseconds. */
  timeoutMs: number;
  gate: Gate;
}

interface Place extends SessionScope {
  cache: GitCache;
  branch?: string;
  subfolder: string;
}

interface Tip {
  branch: string;
  commit: string;
}

/** `git ls-remote --exit-code` when no ref matches. */
const EXIT_NO_MATCH = 2;

/** The one ref of the cache: the last fetched tip. */
const TIP_REF = 'refs/millwright/tip';

/** Stands in for a repository where a command needs none, so that none is found by looking around. */
const NO_REPOSITORY = '/dev/null';

/** What the operating system says when the data folder is full, protected, or not a folder. */
const DISK_TROUBLES: ReadonlySet<string> = new Set(
  'ENOSPC EDQUOT EROFS EACCES EPERM ENOTDIR EEXIST EIO EMFILE ENFILE'.split(' '),
);

/** A source that reads a git repository. Readings take turns; an address that may not be read makes each of them fail as `refused`. */
export function createGitSource(options: GitSourceOptions): Source {
  const closing = new AbortController();
  const place = locate(options);
  let lastTurn: Promise<unknown> = Promise.resolve();
  const inTurn = (work: (place: Place) => Promise<Snapshot>): Promise<Snapshot> => {
    const turn = lastTurn.then(() => settle(place, work));
    lastTurn = turn.catch(() => undefined);
    return turn;
  };
  return {
    snapshot: (known, signal) =>
      inTurn((at) => withSession(at, options.credential, [signal, closing.signal], (session) => takeSnapshot(session, at, known))),
    cached: (revision) => inTurn((at) => withSession(at, undefined, [closing.signal], (session) => readCached(session, at, revision))),
    async close() {
      closing.abort();
      await lastTurn;
    },
  };
}

/** What is known before the first command: where everything stands, or why the options cannot be followed. */
function locate(options: GitSourceOptions): Omit<Place, 'workingFolder'> | SourceFailure {
  const verdict = checkGitUrl(options.url, options.allowLocal);
  if (!verdict.ok) return failure('refused', verdict.message);
  if (options.branch !== undefined && !isBranchName(options.branch)) return failure('refused', 'the branch is not a valid branch name');
  const subfolder = normalizeSubfolder(options.path ?? '');
  if (subfolder === undefined) return failure('refused', 'the path must be a plain relative path inside the repository');
  const { branch, caFile, searchPath, allowLocal, timeoutMs, gate } = options;
  return {
    address: verdict.address,
    cache: gitCache(options.cacheDir),
    keyFile: `${options.cacheDir}.key`,
    subfolder,
    allowLocal,
    timeoutMs,
    gate,
    ssh: options.ssh ?? {},
    ...(branch === undefined ? {} : { branch }),
    ...(caFile === undefined ? {} : { caFile }),
    ...(searchPath === undefined ? {} : { searchPath }),
  };
}

/** The source's door: every failure leaves as a value; only bugs leave as exceptions. */
async function settle(place: Omit<Place, 'workingFolder'> | SourceFailure, work: (place: Place) => Promise<Snapshot>): Promise<Snapshot> {
  if ('ok' in place) return place;
  try {
    return await work({ ...place, workingFolder: await prepareParent(place.cache) });
  } catch (error) {
    if (error instanceof SourceUnavailable) return error.failure;
    const code = systemCodeOf(error);
    if (code === undefined || !DISK_TROUBLES.has(code)) throw error;
    return failure('disk', `the cache of the repository cannot be written: ${code}`);
  }
}

/** resolve → compare → fetch → read. */
async function takeSnapshot(session: GitSession, place: Place, { atHand }: KnownRevisions): Promise<Snapshot> {
  const tip = await resolveTip(session, place);
  const revision = revisionOf(tip.branch, tip.commit);
  if (revision === atHand) return { ok: true, revision, unchanged: true };
  const { commit, files } = await readTip(session, place, tip);
  return { ok: true, revision: revisionOf(tip.branch, commit), unchanged: false, files };
}

async function readCached(session: GitSession, place: Place, revision: string): Promise<Snapshot> {
  const commit = commitOf(revision);
  if (commit === undefined) return failure('corrupt', 'this is no revision of a git repository');
  const files = await readTree(session, { gitDir: place.cache.folder, commit, subfolder: place.subfolder });
  return { ok: true, revision, unchanged: false, files };
}

/** The branch and its commit as the remote advertises them; costs one ref advertisement. */
async function resolveTip(session: GitSession, place: Place): Promise<Tip> {
  const ref = place.branch === undefined ? 'HEAD' : `refs/heads/${place.branch}`;
  const output = await session.ask(NO_REPOSITORY, ['ls-remote', '--exit-code', '--symref', place.address.url, ref]);
  if (output.ended === 'exit' && output.exitCode === EXIT_NO_MATCH) throw await explainMissing(session, place);
  if (output.ended !== 'exit' || output.exitCode !== 0) throw session.failureOf(output);
  const { refs, headBranch } = readAdvertisement(output.stdout.toString('utf8'));
  const branch = place.branch ?? headBranch;
  const commit = refs.get(ref);
  if (branch === undefined) throw new SourceUnavailable('branch-missing', "the repository's HEAD names no branch; name one");
  if (commit === undefined || !isBranchName(branch)) throw await explainMissing(session, place);
  return { branch, commit };
}

/** Nothing matched: a repository without any branch is empty, another one lost this branch. */
async function explainMissing(session: GitSession, place: Place): Promise<SourceUnavailable> {
  const heads = await session.ask(NO_REPOSITORY, ['ls-remote', '--exit-code', '--heads', place.address.url]);
  if (heads.ended === 'exit' && heads.exitCode === EXIT_NO_MATCH) {
    return new SourceUnavailable('empty', 'the repository has no commit yet, or what answers there is no git server');
  }
  if (heads.ended === 'exit' && heads.exitCode !== 0) return session.failureOf(heads);
  const branch = place.branch === undefined ? "the branch that the repository's HEAD names" : `the branch "${place.branch}"`;
  return new SourceUnavailable('branch-missing', `${branch} does not exist in the repository`);
}

interface Reading {
  commit: string;
  files: TreeFile[];
}

/** Reads the tip through the cache. A cache that is broken, or too sparse for its server, is replaced once; until then it stays. */
async function readTip(session: GitSession, place: Place, tip: Tip): Promise<Reading> {
  const { cache } = place;
  try {
    const reading = await update(session, place, tip, cache.folder, await isWhole(cache.folder));
    await tidy(session, place);
    return reading;
  } catch (error) {
    if (!(error instanceof SourceUnavailable) || error.failure.reason !== 'corrupt') throw error;
    return replace(session, place, tip, error instanceof FilesWithheld);
  }
}

async function replace(session: GitSession, place: Place, tip: Tip, whole: boolean): Promise<Reading> {
  await discard(place.cache.spareFolder);
  try {
    const reading = await update(session, place, tip, place.cache.spareFolder, whole);
    if (whole) await markWhole(place.cache.spareFolder);
    await replaceWithSpare(place.cache);
    return reading;
  } finally {
    await discard(place.cache.spareFolder);
  }
}

/** Brings a cache to the tip and reads it there. The tip may have moved since it was resolved: what was fetched counts. */
async function update(session: GitSession, place: Place, tip: Tip, gitDir: string, whole: boolean): Promise<Reading> {
  await prepareCache(session, gitDir, formatOf(tip.commit));
  const remote = remoteSettings(place.address, whole);
  const refspec = `+refs/heads/${tip.branch}:${TIP_REF}`;
  session.demand(await session.ask(gitDir, [...remote, 'fetch', ...QUIETLY, '--force', 'origin', refspec]));
  const commit = (await session.local(gitDir, ['rev-parse', '--verify', '--quiet', `${TIP_REF}^{commit}`])).trim();
  const location = { gitDir, commit, subfolder: place.subfolder };
  const files = await readTree(session, location, (objects) => fetchObjects(session, gitDir, remote, objects));
  return { commit, files };
}

/** No tags, no submodules, no FETCH_HEAD: nothing but the objects that are asked for. */
const QUIETLY = ['--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head'];

async function prepareCache(session: GitSession, gitDir: string, format: 'sha1' | 'sha256'): Promise<void> {
  if ((await cacheFormat(gitDir)) === format) return sweep(gitDir);
  await discard(gitDir);
  await session.local(gitDir, ['init', '--quiet', '--bare', '--template=', `--object-format=${format}`]);
}

/** The remote lives in the arguments, not in the cache's configuration: reading the cache can then never reach the network. */
function remoteSettings(address: GitAddress, whole: boolean): string[] {
  const origin = ['-c', `remote.origin.url=${address.url}`];
  return whole ? origin : [...origin, '-c', 'remote.origin.promisor=true', '-c', 'remote.origin.partialclonefilter=blob:none'];
}

/** All missing files in one request; without the noop negotiation the server would take them for known. */
async function fetchObjects(session: GitSession, gitDir: string, remote: readonly string[], objects: readonly string[]): Promise<void> {
  const args = [...remote, '-c', 'fetch.negotiationAlgorithm=noop', 'fetch', ...QUIETLY, '--stdin', 'origin'];
  const output = await session.ask(gitDir, args, objects.map((object) => `${object}\n`).join(''));
  if (output.ended === 'exit' && output.exitCode === 0) return;
  const unavailable = session.failureOf(output);
  throw unavailable.failure.reason === 'refused' && output.ended === 'exit' ? new FilesWithheld() : unavailable;
}

/** Packs a cache that has become slow. Only ever of use, never needed: its failure is none of the reading's. */
async function tidy(session: GitSession, place: Place): Promise<void> {
  if ((await packCount(place.cache.folder)) <= PACKS_MAX) return;
  const remote = remoteSettings(place.address, await isWhole(place.cache.folder));
  await session.ask(place.cache.folder, [...remote, 'repack', '-a', '-d', '-q']);
}
