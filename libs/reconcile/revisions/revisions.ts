/** Where a commit stands: whether what serves holds it, and what keeps it from that. contract §9, §11.1 (wait). */

/** A revision as passes have seen it. Every acceptance of a tip has a number of its own, higher than those before. */
export interface SeenRevision {
  /** Object ID of a commit, or `sha256:…` of a directory's files. */
  id: string;
  /** The acceptance that it came with. */
  ordinal: number;
  /** The last acceptance whose tip it was; 0: it was none. */
  tip: number;
  /** The acceptance since which the branch does not hold it any more; 0: it does. */
  lost: number;
}

export type RevisionState = 'serving' | 'waiting' | 'blocked' | 'failed' | 'superseded' | 'lost' | 'unknown';

/** A process that takes deliveries. */
export interface ReplicaSeen {
  name: string;
  seenAtMs: number;
  /** Whether it has loaded what is applied. */
  serving: boolean;
}

/** What a revision is compared with. */
export interface RevisionFacts {
  /** ID of the revision that is applied, and what is kept of it. */
  appliedId?: string;
  applied?: SeenRevision;
  /** ID of the revision that was last judged. */
  attemptedId?: string;
  /** ID of the revision that was last advertised, accepted or not. */
  seenId?: string;
  ending: 'applied' | 'blocked' | 'failed' | 'none';
  reason?: string;
  message?: string;
  suspended: boolean;
  replicas: readonly ReplicaSeen[];
}

export interface RevisionVerdict {
  state: RevisionState;
  message: string;
}

/** Reason of a pass that waits for a sync window: it goes on by itself. */
export const OUTSIDE_WINDOW = 'outside-sync-window';

/** What became of the revision of this ID; `seen` is what is kept of it, if passes have seen it. */
export function revisionVerdict(id: string, seen: SeenRevision | undefined, facts: RevisionFacts): RevisionVerdict {
  if (isHeld(id, seen, facts)) return servingVerdict(facts);
  if (id === facts.attemptedId && !isRefusedBehind(facts)) return attemptedVerdict(facts);
  // Advertised, and refused before anybody looked at its files.
  if (id === facts.seenId) return refusedVerdict(facts);
  if (seen === undefined && id !== facts.attemptedId)
    return verdict('unknown', `no pass has seen this revision${lately(facts)}`);
  if (seen === undefined || seen.lost === 0)
    return verdict(
      'superseded',
      `newer commits came before it was applied, and none of them serves yet${lately(facts)}`,
    );
  if (isDirectory(id)) return verdict('superseded', 'the files were changed again before it was applied');
  return verdict('lost', 'the history of the branch was rewritten, and it is no longer part of it');
}

/** Whether a newer tip was refused after the one that was judged: the ending speaks of that one. */
function isRefusedBehind({ attemptedId, seenId, ending }: RevisionFacts): boolean {
  return ending === 'blocked' && seenId !== undefined && seenId !== attemptedId;
}

/** ID under which a revision is kept: the commit of `branch@sha1:…`, or the text itself. */
export function revisionId(revision: string): string {
  return /@sha(?:1|256):([0-9a-f]+)$/.exec(revision)?.[1] ?? revision;
}

/** Whether a revision is of a directory and not of a repository. */
export function isDirectory(id: string): boolean {
  return id.startsWith('sha256:');
}

/** Whether what is applied is this revision, or was made on top of it. */
function isHeld(id: string, seen: SeenRevision | undefined, { appliedId, applied }: RevisionFacts): boolean {
  if (id === appliedId) return true;
  if (seen === undefined || applied === undefined || isDirectory(id)) return false;
  return seen.ordinal <= applied.tip && (seen.lost === 0 || seen.lost > applied.tip);
}

function servingVerdict({ replicas }: RevisionFacts): RevisionVerdict {
  const behind = replicas.filter(({ serving }) => !serving).map(({ name }) => name);
  if (replicas.length === 0)
    return verdict('waiting', 'it is applied, and no process that takes deliveries was heard of lately');
  if (behind.length > 0) return verdict('waiting', `it is applied, and not yet loaded by ${behind.join(', ')}`);
  return verdict('serving', replicas.length === 1 ? 'it serves' : `it serves on all ${replicas.length} replicas`);
}

function attemptedVerdict({ ending, reason, message, suspended }: RevisionFacts): RevisionVerdict {
  if (suspended) return verdict('waiting', 'reconciling is suspended: it goes on when the factory is resumed');
  if (ending === 'blocked')
    return verdict(reason === OUTSIDE_WINDOW ? 'waiting' : 'blocked', message ?? 'people must act');
  if (ending === 'failed') return failedVerdict(reason, message);
  return verdict('waiting', 'it was looked at and is not applied yet');
}

function refusedVerdict({ ending, reason, message }: RevisionFacts): RevisionVerdict {
  if (ending === 'blocked') return verdict('blocked', message ?? 'people must act');
  return ending === 'failed'
    ? failedVerdict(reason, message)
    : verdict('waiting', 'it was advertised and is not judged yet');
}

/** Only a fault of the service is one of the revision: a host that is away says nothing of it. */
function failedVerdict(reason: string | undefined, message = 'the last pass failed'): RevisionVerdict {
  return verdict(reason === 'internal' ? 'failed' : 'waiting', `${message}; it is tried again`);
}

/** What keeps newer revisions from being seen or applied, for messages. */
function lately({ ending, message, suspended }: RevisionFacts): string {
  if (suspended) return '; reconciling is suspended';
  if ((ending === 'blocked' || ending === 'failed') && message !== undefined)
    return `; the last pass was ${ending}: ${message}`;
  return '';
}

function verdict(state: RevisionState, message: string): RevisionVerdict {
  return { state, message };
}
