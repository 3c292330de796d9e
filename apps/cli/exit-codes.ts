/** What the command's exit codes mean, and which answer of the server leads to which. contract §11. */

/** Exit codes of every verb. `changes` belongs to a plan; `held`: the guard waits for an approval. */
export const EXIT = { ok: 0, problems: 1, changes: 2, internal: 3, held: 4, usage: 64 } as const;

/** Too many requests and a request that took too long say "later", not "wrong". */
const LATER = new Set([408, 425, 429]);
/** No key or not enough of one, nothing of that name, another server's address: the command was called wrongly. */
const CALLED_WRONGLY = new Set([401, 403, 404, 421]);

/** Exit code for a refusal of the API. */
export function exitOfStatus(status: number): number {
  if (status >= 500 || LATER.has(status)) return EXIT.internal;
  return CALLED_WRONGLY.has(status) ? EXIT.usage : EXIT.problems;
}
