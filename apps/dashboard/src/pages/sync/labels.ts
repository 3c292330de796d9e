/** Labels of the sync pages. contract §9. */
import type { Api } from '../../api/client.ts';
import type { Sync } from './queries.ts';

/** What asked for a pass. */
export const TRIGGERS: Readonly<Record<Sync['triggers'][number], string>> = {
  start: 'start of the service',
  timer: 'regular look',
  watcher: 'change of a file',
  api: 'somebody asked',
  secret: 'change of a secret',
  push: 'push notice',
  approval: 'approval',
};

export const ENDING_COLORS: Readonly<Record<string, string>> = {
  applied: 'teal',
  blocked: 'red',
  failed: 'orange',
  none: 'gray',
};

export const VERDICT_COLORS: Readonly<Record<Api<'PullRequest'>['verdict'], string>> = {
  pending: 'gray',
  success: 'teal',
  failure: 'red',
  error: 'orange',
};

/** What each condition is about, in the words of its being True. */
export const CONDITION_TEXTS: Readonly<Record<Api<'Condition'>['type'], string>> = {
  Ready: 'what the files say is what serves',
  Reconciling: 'a pass is asked for or under way',
  Stalled: 'nothing goes on until somebody acts',
  FetchFailed: 'the source could not be read',
  SourceVerificationFailed: 'no key of the policy signed the tip',
  DefinitionsInvalid: 'files have errors',
  PruneHeld: 'deletions wait for an approval',
  SecretsDegraded: 'a webhook has no secret',
  HistoryRewritten: 'the tip does not descend from the one before',
};

export const REVISION_STATES: Readonly<Record<Api<'RevisionStatus'>['state'], { word: string; color: string }>> = {
  serving: { word: 'Serving', color: 'teal' },
  waiting: { word: 'Waiting', color: 'blue' },
  blocked: { word: 'Blocked', color: 'red' },
  failed: { word: 'Failed, is tried again', color: 'orange' },
  superseded: { word: 'Superseded', color: 'gray' },
  lost: { word: 'Lost', color: 'red' },
  unknown: { word: 'Not seen yet', color: 'gray' },
};

/** How the last pass ended, for whoever asked for it. */
export function endingWords({ condition, suspended }: Pick<Api<'FactoryStatus'>, 'condition' | 'suspended'>): string {
  if (suspended) return 'The pass is over. The factory is suspended, so that only its secrets were looked after.';
  if (condition.ending === 'applied') return 'The pass is over: what the files say is what serves.';
  return `The pass is over: ${condition.ending}, ${condition.reason ?? 'without a reason'}.`;
}
