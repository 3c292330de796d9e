/** A factory that is a plain directory: trusted only when two listings agree, watched for hints. contract §9.2 */
import { relative, sep } from 'node:path';
import { watch as watchFiles } from 'chokidar';
import { isDefinitionPath, type TreeFile } from '#definitions';
import { directoryRevision } from '#reconcile';
import { IGNORED_FOLDERS, agree, listDirectory } from './directory-listing.ts';
import { SourceUnavailableError, failure, type Snapshot, type Source, mayHoldDefinitions } from '../source.ts';

/**
 * Between two listings that must agree, in milliseconds: an editor's save or a small copy is over by then. contract §9
 */
export const LISTING_GAP_MS = 300;

/**
 * The same when files are gone, in milliseconds: a checkout or an unpacking removes first and writes later. contract §9
 */
export const DELETION_GAP_MS = 2000;

/** Quiet time after which a burst of file events becomes one hint, in milliseconds. */
const HINT_QUIET_MS = 100;

export interface DirectorySourceOptions {
  path: string;
  /** Something of this directory was applied in an earlier life: the first look cannot know which files are gone. */
  mayHaveServed?: boolean;
  listingGapMs?: number;
  deletionGapMs?: number;
  /** Waits that long; returns early when the signal aborts. */
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** A source that reads a directory. Whether the directory lies in a git work tree makes no difference. */
export function createDirectorySource(options: DirectorySourceOptions): Source {
  const closing = new AbortController();
  const watchers = new Set<() => Promise<void>>();
  let lastSeen: ReadonlySet<string> | undefined;
  return {
    async snapshot({ atHand: knownRevision }, signal) {
      const outcome = await catchFailures(options, lastSeen, knownRevision, [signal, closing.signal]);
      if (outcome.paths !== undefined) lastSeen = outcome.paths;
      return outcome.snapshot;
    },
    watch(onHint) {
      const end = startWatching(options.path, onHint);
      watchers.add(end);
      return () => {
        watchers.delete(end);
        void end().catch(() => undefined); // nobody looks at it any more
      };
    },
    async close() {
      closing.abort();
      await Promise.all([...watchers].map((end) => end()));
      watchers.clear();
    },
  };
}

interface Outcome {
  snapshot: Snapshot;
  /** Paths of a listing that was confirmed. */
  paths?: ReadonlySet<string>;
}

/** Public boundary: failures are returned, only bugs are thrown. */
async function catchFailures(
  options: DirectorySourceOptions,
  lastSeen: ReadonlySet<string> | undefined,
  knownRevision: string | undefined,
  signals: readonly AbortSignal[],
): Promise<Outcome> {
  try {
    const first = await listDirectory(options.path);
    const revision = directoryRevision(first);
    if (revision === knownRevision) return { snapshot: { ok: true, revision, unchanged: true }, paths: pathsOf(first) };
    await pause(
      options,
      gapFor(options, mayHaveLost(first, lastSeen, knownRevision !== undefined || options.mayHaveServed === true)),
      signals,
    );
    const second = await listDirectory(options.path);
    if (!agree(first, second))
      return { snapshot: failure('unstable', 'the factory directory is changing; two listings did not agree') };
    return { snapshot: { ok: true, revision, unchanged: false, files: second }, paths: pathsOf(second) };
  } catch (error) {
    if (error instanceof SourceUnavailableError) return { snapshot: error.failure };
    throw error;
  }
}

/**
 * Files known before are gone; or something was applied before and, after a restart, nobody remembers of which files it
 * was made.
 */
function mayHaveLost(listed: readonly TreeFile[], lastSeen: ReadonlySet<string> | undefined, served: boolean): boolean {
  if (lastSeen === undefined) return served;
  const present = pathsOf(listed);
  return [...lastSeen].some((path) => !present.has(path));
}

function gapFor(
  { listingGapMs = LISTING_GAP_MS, deletionGapMs = DELETION_GAP_MS }: DirectorySourceOptions,
  lost: boolean,
): number {
  return lost ? deletionGapMs : listingGapMs;
}

async function pause(
  options: DirectorySourceOptions,
  milliseconds: number,
  signals: readonly AbortSignal[],
): Promise<void> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  for (const signal of signals) signal.addEventListener('abort', end, { once: true });
  try {
    if (!signals.some((signal) => signal.aborted)) await options.sleep(milliseconds, ending.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', end);
  }
  if (signals.some((signal) => signal.aborted))
    throw new SourceUnavailableError('timeout', 'the reading was called off');
}

function pathsOf(listed: readonly TreeFile[]): ReadonlySet<string> {
  return new Set(listed.map((file) => file.path));
}

/** Watches until the returned function is called. A watcher that fails says nothing: the timer finds the change. */
function startWatching(root: string, onHint: () => void): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watchFiles(root, {
    ignoreInitial: true,
    followSymlinks: false,
    ignored: (path) => isOfNoInterest(relative(root, path)),
  });
  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(onHint, HINT_QUIET_MS);
  });
  watcher.on('error', () => undefined);
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}

function isOfNoInterest(path: string): boolean {
  // the directory itself, and what is above it while it does not exist
  if (path === '' || path.startsWith('..')) return false;
  const parts = path.split(sep);
  if (parts.some((part) => IGNORED_FOLDERS.has(part))) return true;
  const inTree = parts.join('/');
  return !isDefinitionPath(inTree) && !mayHoldDefinitions(inTree); // whether it is a file or a folder is not known here
}
