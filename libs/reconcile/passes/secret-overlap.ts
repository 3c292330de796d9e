/**
 * How long the value of before is still accepted when a webhook moves to the next value of its secret. contract §9.5.
 */

const MINUTE_MS = 60_000;

/** What a webhook authenticates with: a version of a secret, and for a while the one before it. */
export interface SecretBinding {
  secretId: string | null;
  version: number | null;
  previousVersion: number | null;
  /** Milliseconds since the epoch; at this time it is over. */
  previousUntilMs: number | null;
}

/** What it is bound to next. */
export type NextBinding = Pick<SecretBinding, 'secretId' | 'version'>;

/**
 * The binding as it is stored then. Only another value of the same secret has an overlap: a webhook that names another
 * secret, or none that it may use, is done with the one of before. A shorter overlap shortens one that is under way, a
 * longer one does not prolong it.
 */
export function overlappedBinding(
  before: SecretBinding | undefined,
  next: NextBinding,
  { overlapMinutes, nowMs }: { overlapMinutes: number | undefined; nowMs: number },
): SecretBinding {
  const alone = { ...next, previousVersion: null, previousUntilMs: null };
  if (overlapMinutes === undefined || next.version === null || before?.secretId !== next.secretId) return alone;
  const endMs = nowMs + overlapMinutes * MINUTE_MS;
  if (before.version !== next.version)
    return before.version === null ? alone : { ...next, previousVersion: before.version, previousUntilMs: endMs };
  const { previousVersion, previousUntilMs } = before;
  if (previousVersion === null || previousUntilMs === null || previousUntilMs <= nowMs) return alone;
  return { ...next, previousVersion, previousUntilMs: Math.min(previousUntilMs, endMs) };
}
