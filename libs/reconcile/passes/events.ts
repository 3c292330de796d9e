/**
 * What happened to a factory, told from what a pass found before and after. One fault is told once, however many passes
 * find it. contract §9.
 */
import { knownOf, type ConditionType, type ConditionStatus, type StoredConditions } from './conditions.ts';
import { GROWTH_HELD, type PassEnding } from './endings.ts';
import { OUTSIDE_WINDOW } from '../revisions/revisions.ts';
import type { Change, Rebinding } from '../types.ts';

/** Something worth telling. Names and revisions only: no value of a secret, nothing of a payload. */
export interface FactoryEvent {
  type: 'Normal' | 'Warning';
  /** kebab-case word for programs. */
  reason: string;
  message: string;
  /** Revision that it is about. */
  revision?: string;
}

/** A pass, as far as it can be news. */
export interface PassNews {
  before: StoredConditions;
  /** Reason of the ending before. */
  reasonBefore?: string;
  after: readonly ConditionStatus[];
  ending: PassEnding;
  /** Whether a tip was accepted that was not accepted before. */
  accepted: boolean;
  /** Commits that came between and never applied by themselves. */
  superseded: number;
}

/** Conditions that tell of faults by themselves, and what their end is called. The others follow from them. */
const FAULTS: Readonly<Partial<Record<ConditionType, string>>> = {
  FetchFailed: 'fetch-recovered',
  SourceVerificationFailed: 'source-verified',
  DefinitionsInvalid: 'definitions-valid',
  PruneHeld: 'prune-released',
  SecretsDegraded: 'secrets-usable',
  HistoryRewritten: 'history-continued',
};

/** Webhooks that one message names at most. */
const NAMED_MAX = 10;

/** What a pass has to tell, in the order in which it happened. Pure. */
export function eventsOf(news: PassNews): FactoryEvent[] {
  const { ending, reasonBefore, after } = news;
  const isNewReason = ending.reason !== reasonBefore;
  return [
    ...secretEvents(ending.rebound),
    ...after.flatMap((condition) => conditionEvents(condition, news)),
    ...(ending.reason === OUTSIDE_WINDOW && isNewReason
      ? [event('Normal', OUTSIDE_WINDOW, ending.message ?? OUTSIDE_WINDOW, ending.revision)]
      : []),
    ...(ending.reason === GROWTH_HELD && isNewReason
      ? [event('Warning', GROWTH_HELD, ending.message ?? GROWTH_HELD, ending.revision)]
      : []),
    ...(ending.reason === 'internal' && isNewReason
      ? [event('Warning', 'internal', ending.message ?? 'the pass failed', ending.revision)]
      : []),
    ...appliedEvents(news),
  ];
}

function secretEvents(rebound: readonly Rebinding[]): FactoryEvent[] {
  if (rebound.length === 0) return [];
  const moves = rebound.map(
    ({ slug, secretName, version }) =>
      `${slug} has ${version === undefined ? `no value of ${secretName}` : `version ${version} of ${secretName}`}`,
  );
  const more = moves.length > NAMED_MAX ? `, and ${moves.length - NAMED_MAX} more` : '';
  return [event('Normal', 'secrets-moved', `${moves.slice(0, NAMED_MAX).join(', ')}${more}`)];
}

/** A fault that begins, that becomes another one, or that ends. What is not known now is as it was. */
function conditionEvents(
  { type, status, reason, message }: ConditionStatus,
  { before, ending }: PassNews,
): FactoryEvent[] {
  const ended = FAULTS[type];
  if (ended === undefined || status === 'Unknown') return [];
  const was = knownOf(before[type]);
  const { revision } = ending;
  if (status === 'False') return was?.status === 'True' ? [event('Normal', ended, message, revision)] : [];
  // Words about a host that is away may differ from try to try; what is wrong with a revision is news with every one.
  const isSame = was?.status === 'True' && was.reason === reason && (type === 'FetchFailed' || was.message === message);
  return isSame ? [] : [event('Warning', reason, message, revision)];
}

function appliedEvents({ ending, accepted, superseded }: PassNews): FactoryEvent[] {
  if (ending.kind !== 'applied' || (ending.changes.length === 0 && !accepted)) return [];
  const between =
    superseded === 0
      ? ''
      : `; ${superseded} ${superseded === 1 ? 'commit' : 'commits'} before it never applied ` +
        `by ${superseded === 1 ? 'itself' : 'themselves'}`;
  return [
    event(
      'Normal',
      'applied',
      `${ending.revision ?? 'the files'} applies: ${countsOf(ending.changes)}${between}`,
      ending.revision,
    ),
  ];
}

function countsOf(changes: readonly Change[]): string {
  if (changes.length === 0) return 'no changes';
  const count = (action: Change['action']): number => changes.filter((change) => change.action === action).length;
  return `${count('create')} created, ${count('update')} updated, ${count('delete')} deleted`;
}

function event(type: FactoryEvent['type'], reason: string, message: string, revision?: string): FactoryEvent {
  return { type, reason, message, ...(revision === undefined ? {} : { revision }) };
}
