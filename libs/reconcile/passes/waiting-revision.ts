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
 * Whether judging it again applied something, or found that something else waits for an approval, or nothing does any
 * more; else all that is new is that the source cannot be read.
 */
export function hasProgressed(factory: WaitingFacts, { kind, changes, held, digest }: PassEnding): boolean {
  const isNewlyHeld = digest !== undefined && digest !== factory.condition.heldDigest;
  if (kind !== 'applied') return kind === 'blocked' && isNewlyHeld;
  const isReleased = digest === undefined && factory.condition.heldDigest !== undefined && held.length === 0;
  return !isApplied(factory) || changes.length > 0 || isNewlyHeld || isReleased;
}

function isApplied({ revisionSeen, revisionApplied }: WaitingFacts): boolean {
  return revisionSeen === revisionApplied;
}
