/** What a factory's stored state says, as conditions that people and programs can wait for. contract §4.1, §9. */
import { GROWTH_HELD, REFUSED_UNSEEN } from './endings.ts';
import { OUTSIDE_WINDOW } from '../revisions/revisions.ts';
import type { FactoryState } from './factory-state.ts';

export type ConditionType =
  | 'Ready'
  | 'Reconciling'
  | 'Stalled'
  | 'FetchFailed'
  | 'SourceVerificationFailed'
  | 'DefinitionsInvalid'
  | 'PruneHeld'
  | 'SecretsDegraded'
  | 'HistoryRewritten';

/** What a condition says. */
export interface Finding {
  status: 'True' | 'False' | 'Unknown';
  /** kebab-case word for programs. */
  reason: string;
  message: string;
}

/** A condition as the last pass left it. */
export interface StoredCondition extends Finding {
  /** Since when its status is what it is; milliseconds since the epoch. */
  sinceMs: number;
  /** What it said when it was last known, while it is Unknown. */
  known?: Finding;
}

export type StoredConditions = Readonly<Partial<Record<ConditionType, StoredCondition>>>;

/** One condition. `sinceMs` is absent where it is not recorded when the status became what it is. */
export interface ConditionStatus extends Finding {
  type: ConditionType;
  sinceMs?: number;
  /** Generation that the condition speaks of. */
  observedGeneration: number;
}

/** Reason of an ending that is a fault of the service: nothing is known of the repository then. */
const INTERNAL = 'internal';
/** Reason of an ending that refuses a tip before anything of it is read. */
const UNVERIFIED = 'source-unverified';

/** Reason of Stalled while nobody makes passes. */
export const NO_SYNC_PROCESS = 'no-sync-process';

/**
 * Every condition of a factory, always in this order. Nothing is guessed: what the last pass could not look at is
 * Unknown.
 */
export function conditionsOf(state: FactoryState): ConditionStatus[] {
  const { generationHandled, generationRequested, stored } = state;
  const of = (type: ConditionType, finding: Finding, observedGeneration = generationHandled): ConditionStatus => ({
    type,
    ...finding,
    sinceMs: stored[type]?.status === finding.status ? stored[type].sinceMs : undefined,
    observedGeneration,
  });
  return [
    of('Ready', ready(state)),
    of('Reconciling', reconciling(state), generationRequested),
    of('Stalled', stalled(state)),
    of('FetchFailed', fetchFailed(state)),
    of('SourceVerificationFailed', verificationFailed(state)),
    of('DefinitionsInvalid', definitionsInvalid(state)),
    of('PruneHeld', pruneHeld(state)),
    of('SecretsDegraded', secretsDegraded(state)),
    of('HistoryRewritten', historyRewritten(state)),
  ];
}

/** What is to be kept of conditions that were found at this time. */
export function nextConditions(
  previous: StoredConditions,
  found: readonly ConditionStatus[],
  atMs: number,
): StoredConditions {
  const entries = found.map(({ type, status, reason, message }): [ConditionType, StoredCondition] => {
    const before = previous[type];
    const known = status === 'Unknown' ? knownOf(before) : undefined;
    return [
      type,
      {
        status,
        reason,
        message,
        sinceMs: before?.status === status ? before.sinceMs : atMs,
        ...(known === undefined ? {} : { known }),
      },
    ];
  });
  return Object.fromEntries(entries);
}

/** What a condition said when something was last known of it. */
export function knownOf(previous: StoredCondition | undefined): Finding | undefined {
  if (previous === undefined) return undefined;
  const { status, reason, message, known } = previous;
  return status === 'Unknown' ? known : { status, reason, message };
}

/** What the files say is what serves. */
function ready(state: FactoryState): Finding {
  const { managed, ending, reason, message, unread } = state;
  if (!managed) return is('True', 'dashboard', 'webhooks and automations are managed over the API');
  if (ending === 'none') return NO_PASS_YET;
  if (ending !== 'applied') return is('False', reason ?? ending, message ?? `the last pass was ${ending}`);
  if (unread !== undefined) return is('False', unread.reason, unread.message);
  const [obstacle] = [definitionsInvalid(state), pruneHeld(state)].filter(({ status }) => status === 'True');
  return obstacle === undefined ? APPLIED : { ...obstacle, status: 'False' };
}

function reconciling({ managed, suspended, generationRequested, generationHandled }: FactoryState): Finding {
  if (!managed) return NOT_MANAGED;
  if (suspended)
    return is('False', 'suspended', 'definitions are not reconciled until the factory is resumed; secrets are');
  if (generationRequested > generationHandled) return is('True', 'pass-requested', 'a pass is asked for or under way');
  return is('False', 'idle', 'everything that was asked for is done');
}

/** Nothing goes on until somebody acts. */
function stalled({ managed, unattended, ending, reason, message }: FactoryState): Finding {
  if (!managed) return NOT_MANAGED;
  if (unattended === true) return UNATTENDED; // whatever else people have to do, it is seen by nobody
  if (ending === 'blocked' && reason === OUTSIDE_WINDOW)
    return is('False', OUTSIDE_WINDOW, 'nobody has to act: it goes on when the sync window opens');
  if (ending === 'blocked') return is('True', reason ?? 'blocked', message ?? 'people must act');
  return is('False', ending === 'none' ? NO_PASS_YET.reason : ending, 'nobody has to act');
}

function fetchFailed({ managed, ending, reason, message, unread }: FactoryState): Finding {
  if (!managed) return NOT_MANAGED;
  if (ending === 'none') return NO_PASS_YET;
  if (unread !== undefined) return is('True', unread.reason, unread.message);
  if (ending !== 'failed') return is('False', ending, 'the source was read');
  return is(reason === INTERNAL ? 'Unknown' : 'True', reason ?? ending, message ?? 'the files could not be read');
}

function verificationFailed(state: FactoryState): Finding {
  const { managed, verifies, verifiedNow, reason, message } = state;
  if (!managed) return NOT_MANAGED;
  if (!verifies) return is('False', 'not-required', 'the sync policy asks for no signatures');
  const unseen = unseenTip(state);
  if (unseen !== undefined) return unseen;
  if (!verifiedNow)
    return is(
      'Unknown',
      'not-verified-yet',
      'no pass has verified the tip against the keys that the sync policy names now',
    );
  if (reason === UNVERIFIED) return is('True', reason, message ?? 'no key of the sync policy signed the tip');
  return is('False', 'verified', 'a key of the sync policy signed the tip');
}

function historyRewritten(state: FactoryState): Finding {
  const { managed, rewrite, ending, reason, message } = state;
  if (!managed) return NOT_MANAGED;
  if (ending === 'blocked' && reason === 'history-rewritten')
    return is('True', reason, message ?? 'a rewritten history waits for an approval');
  if (rewrite !== undefined)
    return is(
      'True',
      'history-rewritten',
      `the history was rewritten: ${rewrite.to} does not descend from ${rewrite.from}`,
    );
  const unseen = unseenTip(state);
  if (unseen !== undefined) return unseen;
  if (reason === UNVERIFIED)
    return is('Unknown', reason, 'the tip was refused before anybody looked at how it follows on what was accepted');
  return is('False', 'not-rewritten', 'what is there follows on what was accepted before');
}

/** What can be said of a tip that the last pass has not seen. */
function unseenTip({ ending, reason, unread }: FactoryState): Finding | undefined {
  if (ending === 'none') return NO_PASS_YET;
  if (unread === undefined && ending !== 'failed') return undefined;
  return is('Unknown', unread?.reason ?? reason ?? ending, 'the last pass could not look at the tip');
}

function definitionsInvalid(state: FactoryState): Finding {
  const unseen = unseenFiles(state);
  if (unseen !== undefined) return unseen;
  const { ending, reason, errorCount, message } = state;
  if (errorCount === 0) return is('False', ending, 'the files have no errors');
  const words =
    `${errorCount} ${errorCount === 1 ? 'error' : 'errors'} in the files; what is in error keeps its last good ` +
    'version';
  return is('True', 'definitions-invalid', reason === 'definitions-invalid' ? (message ?? words) : words);
}

function pruneHeld(state: FactoryState): Finding {
  const unseen = unseenFiles(state);
  if (unseen !== undefined) return unseen;
  const { ending, reason, heldDigest, message } = state;
  if (heldDigest === undefined || reason === GROWTH_HELD)
    return is('False', ending, 'no deletions wait for an approval');
  return is(
    'True',
    'prune-held',
    reason === 'prune-held' ? (message ?? heldDigest) : `deletions wait for an approval: ${heldDigest}`,
  );
}

function secretsDegraded({ webhooksWithoutSecret, secretsAwaySinceMs }: FactoryState): Finding {
  const missing =
    webhooksWithoutSecret.length === 0
      ? undefined
      : `these webhooks have no secret with a value and refuse every delivery: ${webhooksWithoutSecret.join(', ')}`;
  if (secretsAwaySinceMs !== undefined) {
    const kept =
      'secrets cannot be looked after: the last values are kept, ' +
      `since ${new Date(secretsAwaySinceMs).toISOString()}`;
    return is('True', 'secrets-unavailable', missing === undefined ? kept : `${kept}; ${missing}`);
  }
  return missing === undefined
    ? is('False', 'secrets-usable', 'every enabled webhook has its secret')
    : is('True', 'secret-missing', missing);
}

/** What can be said of files that the last pass has not seen. */
function unseenFiles({ managed, ending, reason }: FactoryState): Finding | undefined {
  if (!managed) return NOT_MANAGED;
  if (ending === 'none') return NO_PASS_YET;
  const isUnseen = ending === 'failed' || (ending === 'blocked' && REFUSED_UNSEEN.has(reason ?? ''));
  return isUnseen ? is('Unknown', reason ?? ending, 'the last pass did not look at the files') : undefined;
}

function is(status: ConditionStatus['status'], reason: string, message: string): Finding {
  return { status, reason, message };
}

const NO_PASS_YET = is('Unknown', 'no-pass-yet', 'no pass has ended yet');
const NOT_MANAGED = is('False', 'dashboard', 'no files decide this factory');
const UNATTENDED = is(
  'True',
  NO_SYNC_PROCESS,
  'no process with the role sync is running: changes of files and of secrets wait until one is started',
);
const APPLIED = is('True', 'applied', 'what the files say is what serves');
