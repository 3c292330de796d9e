/**
 * How much a run may use up: what its automation says, within what the operator allows, and whether it is over that.
 * contract §8.3 (limits).
 */
import type { Used } from './usage.ts';

/** A member that is absent is no bound. */
export interface RunLimits {
  /** Tokens of all models together. */
  tokens?: number;
  /** Money, in the currency of the server's prices. */
  cost?: number;
  /** Minutes of wall-clock time of one execution. */
  minutes?: number;
}

/** A bound that holds, and who set it. */
export interface Bound {
  value: number;
  setBy: 'operator' | 'automation';
}

export type RunBounds = Partial<Record<keyof RunLimits, Bound>>;

/**
 * The tighter of the two and whose it is; where both are the same, the operator's: raising the other would change
 * nothing.
 */
export function boundsOf(operator: RunLimits, automation: RunLimits): RunBounds {
  const bound = (name: keyof RunLimits): Bound | undefined => {
    const [theirs, own] = [operator[name], automation[name]];
    if (own !== undefined && (theirs === undefined || own < theirs)) return { value: own, setBy: 'automation' };
    return theirs === undefined ? undefined : { value: theirs, setBy: 'operator' };
  };
  return { tokens: bound('tokens'), cost: bound('cost'), minutes: bound('minutes') };
}

/**
 * Why a run has to end, or may not go on; undefined while it may. Whoever works may use all of a bound; who has used
 * all of it starts nothing more.
 */
export function overBudget({ tokens, cost }: RunBounds, used: Used, when: 'working' | 'starting'): string | undefined {
  const isOver = (bound: Bound | undefined, amount: number | undefined): bound is Bound =>
    bound !== undefined && amount !== undefined && (when === 'starting' ? amount >= bound.value : amount > bound.value);
  const then = when === 'starting' ? 'so nothing further is started' : 'so it was ended';
  if (isOver(tokens, used.tokens))
    return (
      `the run has used ${counted(used.tokens ?? 0)} tokens and ` +
      `${allowed('tokens', tokens, counted(tokens.value))}, ${then}: ${WAY_OUT}`
    );
  const spent = (used.costMicros ?? 0) / MICROS;
  const unit = used.currency === undefined ? '' : ` ${used.currency}`;
  if (isOver(cost, used.costMicros === undefined ? undefined : spent))
    return `the run has cost ${spent}${unit} and ${allowed('cost', cost, String(cost.value))}, ${then}: ${WAY_OUT}`;
  return undefined;
}

/**
 * The words for a run that took longer than its automation allows; undefined where the bound is not the automation's.
 */
export function overTime({ minutes }: RunBounds): string | undefined {
  if (minutes?.setBy !== 'automation') return undefined;
  return (
    `the run took longer than the ${minutes.value} minutes that its automation allows (limits.minutes), so it ` +
    `was ended: ${WAY_OUT}`
  );
}

const WAY_OUT = 'raise that bound, or ask for less at once';

const MICROS = 1_000_000;

/** Where each bound is set. */
const PLACES = {
  operator: { tokens: 'MILLWRIGHT_RUN_TOKENS_MAX', cost: 'MILLWRIGHT_RUN_COST_MAX' },
  automation: { tokens: 'limits.tokens', cost: 'limits.cost' },
} as const;

function allowed(name: 'tokens' | 'cost', { setBy }: Bound, value: string): string {
  return `${setBy === 'operator' ? 'the operator' : 'its automation'} allows ${value} (${PLACES[setBy][name]})`;
}

function counted(tokens: number): string {
  return String(tokens).replace(/\B(?=(\d{3})+$)/g, ',');
}
