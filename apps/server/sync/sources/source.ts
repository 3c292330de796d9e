/**
 * What a factory source promises the pass: whole trees at named revisions within bounds, or the reason why there is
 * none; and what one kind of source has to say for itself: how it is asked for, stored, shown, read and forgotten.
 * contract §4.1 (source), §8, §9.
 */
import type { FactorySource as SourceItem } from '#contracts';
import { type TreeFile, leadsToDefinitions } from '#definitions';
import type { SourceSettings, WantedRef } from '#reconcile';
import type { Config } from '../../config/config.ts';
import type { MemberError } from '../../http/error-codes.ts';
import type { SecretReader } from '../../secrets/secret-reader.ts';
import type { Factory } from '../../store/factories/factory-rows.ts';

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

/** The tree of a ref that is not followed, read once: nothing of it is remembered, and no sync sees it. */
export interface RefTree {
  ok: true;
  /** Full name of the ref; undefined where a commit was asked for. */
  name?: string;
  commit: string;
  /** Undefined: the reader has this commit already. */
  files?: TreeFile[];
}

/** The repository answers, and what was asked for is not there, or is more than one thing. */
export interface RefMissing {
  ok: false;
  reason: 'ref-unknown' | 'ref-ambiguous';
  message: string;
}

/** The trees of several commits, by their IDs. */
export interface CommitTrees {
  ok: true;
  trees: ReadonlyMap<string, readonly TreeFile[]>;
}

/** What a ref leads to. */
export type RefReading = RefTree | RefMissing | SourceFailure;

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
   * The tree of another ref or commit of the same repository, within the same bounds and with the same credential. It
   * is fetched beside what the source keeps, which stays as it is. `isKnown`: whether the tree of a commit is at hand.
   */
  atRef?(ref: WantedRef, isKnown: (commit: string) => boolean, signal: AbortSignal): Promise<RefReading>;
  /**
   * The trees of several commits of the same repository in one exchange with its host, as `atRef` reads one: all, or a
   * failure, also where the host does not give out one of them.
   */
  atCommits?(commits: readonly string[], signal: AbortSignal): Promise<CommitTrees | SourceFailure>;
  /**
   * Calls back on hints that something changed; returns the function that ends it. Hints may be false or late: list
   * again.
   */
  watch?(onHint: () => void): () => void;
  /** The next snapshot is wanted by people or a push: no back-off holds it up. */
  bypassBackoff?(): void;
  /** Calls back when a reading that was held up, or failed because of its host, is worth another try. */
  onRecovered?(wake: () => void): void;
  /** Ends what is under way and waits for it. */
  close(): Promise<void>;
}

/** The one way to write a failure down. */
export function failure(reason: SourceFailureReason, message: string): SourceFailure {
  return { ok: false, reason, message, retry: 'backoff' };
}

/**
 * Carries a failure out of the middle of a reading. Each source turns it back into a value at its public boundary:
 * failures are returned, only bugs are thrown.
 */
export class SourceUnavailableError extends Error {
  readonly failure: SourceFailure;

  constructor(reason: SourceFailureReason, message: string) {
    super(message);
    this.name = 'SourceUnavailableError';
    this.failure = failure(reason, message);
  }
}

/** Carries out of the middle of a reading that there is no such ref, as `SourceUnavailableError` does a failure. */
export class RefMissingError extends Error {
  readonly reading: RefMissing;

  constructor(reason: RefMissing['reason'], message: string) {
    super(message);
    this.name = 'RefMissingError';
    this.reading = { ok: false, reason, message };
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

/** Length of one path in bytes: PATH_MAX of the systems that repositories are written on. */
export const PATH_BYTES_MAX = 4096;

/** Whether a folder (relative to the factory's root) can hold files that take part in a snapshot. */
export function mayHoldDefinitions(folder: string): boolean {
  return leadsToDefinitions(folder);
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

/** What a service has for all of its sources. */
export interface SourceDeps {
  config: Config;
  secrets: SecretReader;
}

/** Opens the source of a factory. `isTrusted`: the operator named it on the command line, so it may be local. */
export type SourceOpener = (factory: Factory, isTrusted: boolean) => Source;

/** The git repository that holds a factory's files. */
export interface SourceRepository {
  url: string;
  branch?: string;
  /** Folder of the repository that is the factory's root. */
  path?: string;
  credentialSecret?: string;
}

/**
 * One kind of source. Members of a stored source that mean the same for every kind are read without asking the kind:
 * `interval`, `forge`, and the names of secrets, `credentialSecret` (use git), `pushSecret` and `forgeSecret` (use
 * forge).
 */
export interface SourceKind<Stored extends SourceSettings = SourceSettings> {
  readonly kind: Stored['kind'];
  /** Whether it has commits, which can be signed and descend from each other: what a sync policy may ask for. */
  readonly hasCommits: boolean;
  /** Whether it is of one machine: the operator has to allow it, and no other machine can read it. */
  readonly isLocal: boolean;
  /** Whether a revision is named by its files alone, so that a plan of posted files can name the one that will be. */
  readonly isNamedByFiles: boolean;
  /** What no server would take of a wanted source, each by its pointer into the body; members may be anything. */
  requestErrors(wanted: Readonly<Record<string, unknown>>, allowLocal: boolean): MemberError[];
  /** What is stored of a wanted source that schema and `requestErrors` let pass. */
  toStored(wanted: SourceItem): Stored;
  /** What the API shows of a stored one. */
  toItem(stored: Stored): SourceItem;
  /** The repository that holds the files, where there is one. */
  repositoryOf(stored: Stored): SourceRepository | undefined;
  /** Makes what opens the sources of one service; what they share is made once. */
  opener(deps: SourceDeps): (stored: Stored, factory: Factory, isTrusted: boolean) => Source;
  /** Deletes what the source of a factory keeps on disk; called when it is closed. */
  forget(dataDir: string, factoryUid: string): Promise<void>;
}
