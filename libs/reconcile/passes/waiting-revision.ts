/**
 * What of a factory goes on while its source cannot be read: a revision that waits for people (an approval, a secret)
 * or for a window needs no git host. contract §9.
 */
import type { HowApplied } from '../types.ts';
import type { PassEnding } from './endings.ts';
import type { FactoryStateFacts } from './factory-state.ts';

/** What is stored of a factory, as far as it decides what waits. */
export interface WaitingFacts extends Pick<FactoryStateFacts, 'condition'> {
  /** The tip that was advertised last, or applied since. */
  revisionSeen?: string;
  revisionApplied?: string;
  howApplied?: HowApplied;
}

/**
 * The revision whose tree is to be judged again; undefined: nothing waits. One that applied may wait in part; or it
 * applied with an approval, and its process died before it recorded that.
 */
export function waitingRevision(factory: WaitingFacts): string | undefined {
  const { revisionSeen, howApplied, condition } = factory;
  const waits = !isApplied(factory) || howApplied?.inPart === true || condition.heldDigest !== undefined;
  return waits ? revisionSeen : undefined;
}

/**
 * Whether judging it again applied something, or found what waits for an approval to be another set of deletions or
 * none; else all that is new is that the source cannot be read.
 */
export function hasProgressed(factory: WaitingFacts, { kind, changes, held, digest }: PassEnding): boolean {
  if (kind !== 'applied') return false;
  if (!isApplied(factory) || changes.length > 0) return true;
  return digest !== factory.condition.heldDigest && (digest !== undefined || held.length === 0);
}

function isApplied({ revisionSeen, revisionApplied }: WaitingFacts): boolean {
  return revisionSeen === revisionApplied;
}
