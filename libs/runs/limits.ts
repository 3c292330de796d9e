/** How much a run may use up: what its automation says, within what the operator allows. contract 8 (limits). */

/** A member that is absent is no bound. */
export interface RunLimits {
  /** Tokens of all models together. */
  tokens?: number;
  /** Money, in the currency of the server's prices. */
  cost?: number;
  /** Minutes of wall-clock time of one execution. */
  minutes?: number;
}

/** The tighter of the two, bound by bound. */
export function tighter(one: RunLimits, other: RunLimits): RunLimits {
  const smaller = (name: keyof RunLimits): number | undefined => {
    const known = [one[name], other[name]].filter((value) => value !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  };
  return { tokens: smaller('tokens'), cost: smaller('cost'), minutes: smaller('minutes') };
}
