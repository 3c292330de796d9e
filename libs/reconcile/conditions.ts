/** What a factory's stored state says, as conditions that people and programs can wait for. contract 4 (status), 9. */

export type ConditionType = 'Ready' | 'Reconciling' | 'Stalled' | 'FetchFailed' | 'DefinitionsInvalid' | 'PruneHeld' | 'SecretsDegraded';

/** Where a factory stands: what its last pass left behind, and what was asked for since. */
export interface Standing {
  /** Whether a repository or folder decides its definitions; else people do, on the dashboard. */
  managed: boolean;
  suspended: boolean;
  generationRequested: number;
  generationHandled: number;
  /** How the last pass ended; `none` before the first. */
  ending: 'applied' | 'blocked' | 'failed' | 'none';
  /** Of an ending that is not `applied`. */
  reason?: string;
  message?: string;
  /** Problems of severity error in the files that were looked at. */
  errorCount: number;
  /** Digest of the deletions that wait for an approval. */
  heldDigest?: string;
  /** Since when the ending is what it is; milliseconds since the epoch. */
  sinceMs: number;
  /** Slugs of enabled webhooks that have no secret to authenticate anybody with. */
  webhooksWithoutSecret: readonly string[];
}

/** One condition. `sinceMs` is absent where it is not recorded when the status became what it is. */
export interface FactoryCondition {
  type: ConditionType;
  status: 'True' | 'False' | 'Unknown';
  /** kebab-case word for programs. */
  reason: string;
  message: string;
  sinceMs?: number;
  /** Generation that the condition speaks of. */
  observedGeneration: number;
}

type Finding = Pick<FactoryCondition, 'status' | 'reason' | 'message'>;

/** Reason of an ending that is a fault of the service: nothing is known of the repository then. */
const INTERNAL = 'internal';

/** Every condition of a factory, always in this order. Nothing is guessed: what the last pass could not look at is Unknown. */
export function conditionsOf(standing: Standing): FactoryCondition[] {
  const { generationHandled, generationRequested, sinceMs } = standing;
  const ofPass = (type: ConditionType, finding: Finding): FactoryCondition => ({ type, ...finding, sinceMs, observedGeneration: generationHandled });
  return [
    ofPass('Ready', ready(standing)),
    { type: 'Reconciling', ...reconciling(standing), observedGeneration: generationRequested },
    ofPass('Stalled', stalled(standing)),
    ofPass('FetchFailed', fetchFailed(standing)),
    ofPass('DefinitionsInvalid', definitionsInvalid(standing)),
    ofPass('PruneHeld', pruneHeld(standing)),
    { type: 'SecretsDegraded', ...secretsDegraded(standing), observedGeneration: generationHandled },
  ];
}

/** What the files say is what serves. */
function ready(standing: Standing): Finding {
  const { managed, ending, reason, message } = standing;
  if (!managed) return is('True', 'dashboard', 'webhooks and automations are managed over the API');
  if (ending === 'none') return NO_PASS_YET;
  if (ending !== 'applied') return is('False', reason ?? ending, message ?? `the last pass was ${ending}`);
  const [obstacle] = [definitionsInvalid(standing), pruneHeld(standing)].filter(({ status }) => status === 'True');
  return obstacle === undefined ? APPLIED : { ...obstacle, status: 'False' };
}

function reconciling({ managed, suspended, generationRequested, generationHandled }: Standing): Finding {
  if (!managed) return NOT_MANAGED;
  if (suspended) return is('False', 'suspended', 'definitions are not reconciled until the factory is resumed; secrets are');
  if (generationRequested > generationHandled) return is('True', 'pass-requested', 'a pass is asked for or under way');
  return is('False', 'idle', 'everything that was asked for is done');
}

/** Nothing goes on until somebody acts. */
function stalled({ managed, ending, reason, message }: Standing): Finding {
  if (!managed) return NOT_MANAGED;
  if (ending === 'blocked') return is('True', reason ?? 'blocked', message ?? 'people must act');
  return is('False', ending === 'none' ? NO_PASS_YET.reason : ending, 'nobody has to act');
}

function fetchFailed({ managed, ending, reason, message }: Standing): Finding {
  if (!managed) return NOT_MANAGED;
  if (ending === 'none') return NO_PASS_YET;
  if (ending !== 'failed') return is('False', ending, 'the files were read');
  return is(reason === INTERNAL ? 'Unknown' : 'True', reason ?? ending, message ?? 'the files could not be read');
}

function definitionsInvalid(standing: Standing): Finding {
  const unseen = unseenFiles(standing);
  if (unseen !== undefined) return unseen;
  const { ending, errorCount, message } = standing;
  if (errorCount === 0) return is('False', ending, 'the files have no errors');
  const words = `${errorCount} ${errorCount === 1 ? 'error' : 'errors'} in the files; what is in error keeps its last good version`;
  return is('True', 'definitions-invalid', ending === 'blocked' ? (message ?? words) : words);
}

function pruneHeld(standing: Standing): Finding {
  const unseen = unseenFiles(standing);
  if (unseen !== undefined) return unseen;
  const { ending, heldDigest, message } = standing;
  if (heldDigest === undefined) return is('False', ending, 'no deletions wait for an approval');
  return is('True', 'prune-held', ending === 'blocked' ? (message ?? heldDigest) : `deletions wait for an approval: ${heldDigest}`);
}

function secretsDegraded({ webhooksWithoutSecret }: Standing): Finding {
  if (webhooksWithoutSecret.length === 0) return is('False', 'secrets-usable', 'every enabled webhook has its secret');
  return is('True', 'secret-missing', `these webhooks have no secret with a value and refuse every delivery: ${webhooksWithoutSecret.join(', ')}`);
}

/** What can be said of files that the last pass has not seen. */
function unseenFiles({ managed, ending, reason }: Standing): Finding | undefined {
  if (!managed) return NOT_MANAGED;
  if (ending === 'none') return NO_PASS_YET;
  return ending === 'failed' ? is('Unknown', reason ?? ending, 'the last pass could not look at the files') : undefined;
}

function is(status: FactoryCondition['status'], reason: string, message: string): Finding {
  return { status, reason, message };
}

const NO_PASS_YET = is('Unknown', 'no-pass-yet', 'no pass has ended yet');
const NOT_MANAGED = is('False', 'dashboard', 'no files decide this factory');
const APPLIED = is('True', 'applied', 'what the files say is what serves');
