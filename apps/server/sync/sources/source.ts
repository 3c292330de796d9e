/**
 * What a factory source promises the pass: whole trees at named revisions within bounds, or the reason why there is
 * none. contract §8, §9.
 */
import { type TreeFile, isDefinitionPath } from '#definitions';

export type SourceFailureReason =
  | 'unreachable'
  | 'denied'
  | 'branch-missing'
  | 'path-missing'
  | 'repository-missing'
  | 'empty'
  | 'unstable'
  | 'refused'
  | 'timeout'
  | 'corrupt'
  | 'disk';

/**
 * Why a tree could not be read. Cannot read is never the same as empty: the pass keeps what serves and tries again.
 * Holds no secret.
 */
export interface SourceFailure {
  ok: false;
  reason: SourceFailureReason;
  message: string;
  retry: 'backoff';
  /** The git host as a whole does not answer: factories of the same host need not ask it too. */
  ofHost?: true;
}

/**
 * How a revision follows on the one that was accepted before. Of git only. Absent when nothing follows: the accepted
 * revision is read again. Where none was accepted, or one of another branch, it begins with the first commit.
 */
export interface History {
  /**
   * Object IDs of the commits that the accepted revision does not hold, newest first, the tip included; at most
   * COMMITS_MAX.
   */
  commits: string[];
  /**
   * Commits that the accepted revision held and this one does not; at most COMMITS_MAX. Empty unless the history was
   * rewritten.
   */
  lost: string[];
  /** Whether more commits may have been lost than `lost` names. */
  lostPartly?: boolean;
  /** The accepted revision, where this one does not descend from it although both are of the same branch. */
  rewrittenFrom?: string;
}

/** Commits that one history names: enough for any push that people make. */
export const COMMITS_MAX = 1_000;

/** A revision that could be read but must not be used. Never a reason to fall back to another one. */
export interface SourceRefusal {
  ok: false;
  refused: true;
  reason: 'source-unverified';
  message: string;
  revision: string;
}

export type Snapshot =
  | { ok: true; revision: string; unchanged: false; files: TreeFile[]; history?: History }
  | { ok: true; revision: string; unchanged: true }
  | SourceFailure
  | SourceRefusal;

/** What a reader knows already. */
export interface KnownRevisions {
  /** Revision whose tree is at hand: it needs no second reading. */
  atHand?: string;
  /** Revision that was last accepted, at hand or not: what a history begins after. */
  accepted?: string;
}

/** Where a factory's definition files come from. contract §9 */
export interface Source {
  /**
   * Complete tree (sorted by path) at the current revision, or `unchanged` when that is at hand; never a partial tree.
   */
  snapshot(known: KnownRevisions, signal: AbortSignal): Promise<Snapshot>;
  /** Re-reads the tree of an already fetched revision from the cache without the network. */
  cached?(revision: string): Promise<Snapshot>;
  /**
   * Calls back on hints that something changed; returns the function that ends it. Hints may be false or late: list
   * again.
   */
  watch?(onHint: () => void): () => void;
  /** The next snapshot is wanted by people or a push: no back-off holds it up. */
  tryAtOnce?(): void;
  /** Calls back when a reading that was held up, or failed because of its host, is worth another try. */
  whenBack?(wake: () => void): void;
  /** Ends what is under way and waits for it. */
  close(): Promise<void>;
}

/** The one way to write a failure down. */
export function failure(reason: SourceFailureReason, message: string): SourceFailure {
  return { ok: false, reason, message, retry: 'backoff' };
}

/** Carries a failure out of the middle of a reading; every source turns it back into a value at its own door. */
export class SourceUnavailableError extends Error {
  readonly failure: SourceFailure;

  constructor(reason: SourceFailureReason, message: string) {
    super(message);
    this.name = 'SourceUnavailableError';
    this.failure = failure(reason, message);
  }
}

/** Carries a refusal out of the middle of a reading, as `SourceUnavailableError` does a failure. */
export class SourceUnverifiedError extends Error {
  readonly refusal: SourceRefusal;

  constructor(message: string, revision: string) {
    super(message);
    this.name = 'SourceUnverifiedError';
    this.refusal = { ok: false, refused: true, reason: 'source-unverified', message, revision };
  }
}

/** The code of an error of the operating system (`ENOENT`), if it is one. */
export function systemCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Entries of one tree: far beyond any factory, while a listing fits into memory; a monorepo names a folder. */
export const TREE_ENTRIES_MAX = 100_000;

/** Content of one tree that is held in memory, in bytes: 2,000 definition files of ordinary size are under 16 MiB. */
export const TREE_BYTES_MAX = 64 * 1024 * 1024;

/** Length of one path in bytes: PATH_MAX of the systems that repositories are written on. */
export const PATH_BYTES_MAX = 4096;

/** Whether a folder (relative to the factory's root) can hold files that take part in a snapshot. */
export function mayHoldDefinitions(folder: string): boolean {
  return isDefinitionPath(`${folder}/any`);
}

/** One for all paths: a tree has up to 100,000 (TREE_ENTRIES_MAX). */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A path as text. Bytes that are not UTF-8 are written as `\xNN`, so that two hostile names stay two names. */
export function decodePath(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    return Buffer.from(bytes)
      .toString('latin1')
      .replaceAll(/[\u0080-\u00ff]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`);
  }
}

/** Order of a snapshot's files: by UTF-16 code units, the same on every machine. */
export function byPath(left: { path: string }, right: { path: string }): number {
  if (left.path === right.path) return 0;
  return left.path < right.path ? -1 : 1;
}
