/**
 * A factory repository behind git: one ref advertisement tells whether anything changed; only definition files are
 * fetched. contract §9
 */
import type { TreeFile } from '#definitions';
import { isBranchName } from '#reconcile';
import {
  discard,
  gitCache,
  isWhole,
  markWhole,
  prepareParent,
  refCacheFolder,
  replaceWithSpare,
  type GitCache,
} from './git-cache.ts';
import type { SshSettings } from './git-environment.ts';
import { fetchObjects, fetchTip, prepareCache, remoteSettings, tidy } from './git-fetch.ts';
import { readHistory, resolveTip, type BranchTip } from './git-history.ts';
import { commitOf, formatOf, revisionOf } from './git-objects.ts';
import { readCommits, readRef, type RefLocation } from './git-ref.ts';
import { withSession, type Gate, type GitSession, type SessionScope } from './git-session.ts';
import { FilesWithheldError, readTree } from './git-tree.ts';
import { checkGitUrl, normalizeSubfolder } from './git-urls.ts';
import { createCommitVerifier, readCommitKeys, type CommitVerifier } from './git-verification.ts';
import {
  RefMissingError,
  SourceUnavailableError,
  SourceUnverifiedError,
  failure,
  systemCodeOf,
  type CommitTrees,
  type History,
  type KnownRevisions,
  type RefMissing,
  type RefReading,
  type Snapshot,
  type Source,
  type SourceFailure,
  type SourceRefusal,
} from '../source.ts';

export interface GitSourceOptions {
  url: string;
  /** Branch to follow; without one the branch that the remote's HEAD names at each reading. */
  branch?: string;
  /** Folder of the repository that is the factory's root. */
  path?: string;
  /**
   * The bare cache repository: made, repaired and thrown away by the source; beside it `<cacheDir>.spare`, `.key`,
   * `.verify`, and `.ref` with a `.key` of its own while another ref is read.
   */
  cacheDir: string;
  /** Certificates (PEM) accepted beside the system's place of them. MILLWRIGHT_GIT_CA_FILE */
  caFile?: string;
  /** Whether file: addresses and local paths may be read. */
  allowLocal: boolean;
  /** Credential granted to the address's host, asked for at each reading: a token for https, a private key for ssh. */
  credential?: () => Promise<string | undefined>;
  ssh?: SshSettings;
  /**
   * What the sync policy asks of a commit before anything of it is read. It is part of what the source is: another
   * policy, another source.
   */
  verify?: { keys: readonly string[] };
  /** PATH of git and its children. */
  searchPath?: string;
  /** Time limit of one git process, in milliseconds. */
  timeoutMs: number;
  /** Most that one fetch may write, in bytes; FETCH_BYTES_MAX if not said. */
  fetchBytesMax?: number;
  gate: Gate;
}

interface RepositoryLocation extends SessionScope {
  cache: GitCache;
  scratchFolder: string;
  verifier?: CommitVerifier;
  branch?: string;
  subfolder: string;
}

/** What the operating system says when the data folder is full, protected, or not a folder. */
const DISK_TROUBLES: ReadonlySet<string> = new Set(
  'ENOSPC EDQUOT EROFS EACCES EPERM ENOTDIR EEXIST EIO EMFILE ENFILE'.split(' '),
);

/**
 * A source that reads a git repository. Readings take turns; an address that may not be read makes each of them fail as
 * `refused`.
 */
export function createGitSource(options: GitSourceOptions): Source {
  const closing = new AbortController();
  const place = locate(options);
  // A reading of another ref goes on beside a sync: nothing of theirs has the same name.
  const refPlace = locate({ ...options, cacheDir: refCacheFolder(options.cacheDir) });
  let lastTurn: Promise<unknown> = Promise.resolve();
  let lastRefTurn: Promise<unknown> = Promise.resolve();
  const inTurn = (work: (place: RepositoryLocation) => Promise<Snapshot>): Promise<Snapshot> => {
    const turn = lastTurn.then(() => catchFailures(place, (at) => work(at).catch(toRefusal)));
    lastTurn = turn.catch(() => undefined);
    return turn;
  };
  const inRefTurn = <Reading>(
    signal: AbortSignal,
    read: (session: GitSession, at: RefLocation) => Promise<Reading>,
  ): Promise<Reading | SourceFailure> => {
    const turn = lastRefTurn.then(() =>
      catchFailures<Reading>(refPlace, (at) =>
        withSession(at, options.credential, [signal, closing.signal], (session) =>
          read(session, { ...at, gitDir: at.cache.folder }),
        ),
      ),
    );
    lastRefTurn = turn.catch(() => undefined);
    return turn;
  };
  return {
    snapshot: (known, signal) =>
      inTurn((at) =>
        withSession(at, options.credential, [signal, closing.signal], (session) => takeSnapshot(session, at, known)),
      ),
    cached: (revision) =>
      inTurn((at) => withSession(at, undefined, [closing.signal], (session) => readCached(session, at, revision))),
    atRef: (ref, isKnown, signal) =>
      inRefTurn<RefReading>(signal, (session, at) => readRef(session, at, ref, isKnown).catch(toMissing)),
    atCommits: (commits, signal) =>
      inRefTurn<CommitTrees>(signal, async (session, at) => ({
        ok: true,
        trees: await readCommits(session, at, commits),
      })),
    async close() {
      closing.abort();
      await Promise.all([lastTurn, lastRefTurn]);
    },
  };
}

/** What is known before the first command: where everything stands, or why the options cannot be followed. */
function locate(options: GitSourceOptions): Omit<RepositoryLocation, 'workingFolder'> | SourceFailure {
  const verdict = checkGitUrl(options.url, options.allowLocal);
  if (!verdict.ok) return failure('refused', verdict.reason);
  if (options.branch !== undefined && !isBranchName(options.branch))
    return failure('refused', 'the branch is not a valid branch name');
  const subfolder = normalizeSubfolder(options.path ?? '');
  if (subfolder === undefined)
    return failure('refused', 'the path must be a plain relative path inside the repository');
  const keys = options.verify && readCommitKeys(options.verify.keys);
  if (keys !== undefined && 'ok' in keys) return keys;
  const { branch, caFile, searchPath, allowLocal, timeoutMs, gate } = options;
  return {
    address: verdict.address,
    cache: gitCache(options.cacheDir),
    keyFile: `${options.cacheDir}.key`,
    scratchFolder: `${options.cacheDir}.verify`,
    subfolder,
    allowLocal,
    timeoutMs,
    gate,
    ssh: options.ssh ?? {},
    ...(keys === undefined ? {} : { verifier: createCommitVerifier(keys) }),
    ...(branch === undefined ? {} : { branch }),
    ...(caFile === undefined ? {} : { caFile }),
    ...(options.fetchBytesMax === undefined ? {} : { fetchBytesMax: options.fetchBytesMax }),
    ...(searchPath === undefined ? {} : { searchPath }),
  };
}

/** Public boundary: failures are returned, only bugs are thrown. */
async function catchFailures<Reading>(
  place: Omit<RepositoryLocation, 'workingFolder'> | SourceFailure,
  work: (place: RepositoryLocation) => Promise<Reading>,
): Promise<Reading | SourceFailure> {
  if ('ok' in place) return place;
  try {
    return await work({ ...place, workingFolder: await prepareParent(place.cache) });
  } catch (error) {
    if (error instanceof SourceUnavailableError) return error.failure;
    const code = systemCodeOf(error);
    if (code === undefined || !DISK_TROUBLES.has(code)) throw error;
    return failure('disk', `the cache of the repository cannot be written: ${code}`);
  }
}

function toRefusal(error: unknown): SourceRefusal {
  if (error instanceof SourceUnverifiedError) return error.refusal;
  throw error;
}

function toMissing(error: unknown): RefMissing {
  if (error instanceof RefMissingError) return error.reading;
  throw error;
}

/**
 * resolve → compare → fetch → verify → read. A tip at hand that these keys have not verified yet is not taken as it is.
 */
async function takeSnapshot(
  session: GitSession,
  place: RepositoryLocation,
  { atHand, accepted }: KnownRevisions,
): Promise<Snapshot> {
  const tip = await resolveTip(session, place);
  const revision = revisionOf(tip.branch, tip.commit);
  if (revision === atHand && place.verifier?.holds(tip.commit) !== false)
    return { ok: true, revision, unchanged: true };
  const { commit, files, history } = await readTip(session, place, { ...tip, accepted });
  return {
    ok: true,
    revision: revisionOf(tip.branch, commit),
    unchanged: false,
    files,
    ...(history === undefined ? {} : { history }),
  };
}

async function readCached(session: GitSession, place: RepositoryLocation, revision: string): Promise<Snapshot> {
  const commit = commitOf(revision);
  if (commit === undefined) return failure('corrupt', 'this is no revision of a git repository');
  const { scratchFolder, subfolder } = place;
  await place.verifier?.demand(session, { gitDir: place.cache.folder, commit, revision, scratchFolder });
  const files = await readTree(session, { gitDir: place.cache.folder, commit, subfolder });
  return { ok: true, revision, unchanged: false, files };
}

/** A tip that is to be read, and what it is compared with. */
interface WantedTip extends BranchTip {
  accepted?: string | undefined;
}

interface Reading {
  commit: string;
  files: TreeFile[];
  history?: History | undefined;
}

/**
 * Reads the tip through the cache. A cache that is broken, or too sparse for its server, is replaced once; until then
 * it stays.
 */
async function readTip(session: GitSession, place: RepositoryLocation, tip: WantedTip): Promise<Reading> {
  const { cache } = place;
  try {
    const reading = await update(session, place, tip, cache.folder, await isWhole(cache.folder));
    await tidy(session, cache.folder, place.address);
    return reading;
  } catch (error) {
    if (!(error instanceof SourceUnavailableError) || error.failure.reason !== 'corrupt') throw error;
    return replace(session, place, tip, error instanceof FilesWithheldError);
  }
}

async function replace(
  session: GitSession,
  place: RepositoryLocation,
  tip: WantedTip,
  whole: boolean,
): Promise<Reading> {
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

/**
 * Brings a cache to the tip, verifies it, and reads it there. The tip may have moved since it was resolved: what was
 * fetched counts.
 */
async function update(
  session: GitSession,
  place: RepositoryLocation,
  tip: WantedTip,
  gitDir: string,
  whole: boolean,
): Promise<Reading> {
  await prepareCache(session, gitDir, formatOf(tip.commit));
  const remote = remoteSettings(place.address, whole);
  const { branch, accepted } = tip;
  const commit = await fetchTip(session, gitDir, remote, branch);
  const { scratchFolder, subfolder } = place;
  await place.verifier?.demand(session, { gitDir, commit, revision: revisionOf(branch, commit), scratchFolder });
  const history = await readHistory(session, {
    gitDir,
    branch,
    commit,
    ...(accepted === undefined ? {} : { accepted }),
  });
  const files = await readTree(session, { gitDir, commit, subfolder }, (objects) =>
    fetchObjects(session, gitDir, remote, objects),
  );
  return { commit, files, history };
}
