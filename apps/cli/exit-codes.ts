/** What the command's exit codes mean, and which answer of the server leads to which. contract §11. */

/**
 * Exit codes of every verb. `changes` belongs to a plan; `held`: the guard waits for an approval; `notFound`: the
 * server has nothing of that name, or shows this key none; `notAllowed`: no key, an unknown one, or one that may not.
 */
export const EXIT = {
  ok: 0,
  problems: 1,
  changes: 2,
  internal: 3,
  held: 4,
  notFound: 5,
  notAllowed: 6,
  usage: 64,
} as const;

/** Too many requests and a request that took too long say "later", not "wrong". */
const LATER = new Set([408, 425, 429]);
/** What says more than "wrong". 421 is the address of another server: it was typed wrongly. */
const OF_STATUS: Readonly<Record<number, number>> = {
  401: EXIT.notAllowed,
  403: EXIT.notAllowed,
  404: EXIT.notFound,
  421: EXIT.usage,
};

/** Exit code for a refusal of the API. */
export function exitOfStatus(status: number): number {
  if (status >= 500 || LATER.has(status)) return EXIT.internal;
  return OF_STATUS[status] ?? EXIT.problems;
}
