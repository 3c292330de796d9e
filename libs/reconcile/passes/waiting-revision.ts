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
 * The revision whose tree is to be judged again; undefined: nothing waits. Of one that applied, files and deletions may
 * wait (`perFile`); or it applied with an approval, and its process died before it recorded that.
 */
export function waitingRevision(factory: WaitingFacts): string | undefined {
  const { revisionSeen, howApplied, condition } = factory;
  if (!isApplied(factory)) return revisionSeen;
  return howApplied?.applyMode === 'perFile' || condition.heldDigest !== undefined ? revisionSeen : undefined;
}

/** Whether judging that again brought anything; else all that is new is that the source cannot be read. */
export function hasProgressed(factory: WaitingFacts, { kind, changes, digest }: PassEnding): boolean {
  if (kind !== 'applied') return false;
  return !isApplied(factory) || changes.length > 0 || digest !== factory.condition.heldDigest;
}

function isApplied({ revisionSeen, revisionApplied }: WaitingFacts): boolean {
  return revisionSeen === revisionApplied;
}
