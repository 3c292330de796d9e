/**
 * Which runs may be given a secret: secrets belong to definitions, and a request is none. contract §2.2 (Managed
 * secrets).
 */

/**
 * `files`: runs for which a definition of the factory names it. `*`: those too whose request names it. A list
 * (`automation/<slug>`, `environment/<slug>`): of the first, only runs of these definitions.
 */
export type RunGrant = 'files' | '*' | readonly string[];

/** A run as far as grants ask: what it is of, and who says that it gets the secret. */
export interface SecretNaming {
  /** Slug of the automation that started it. */
  automation?: string;
  /** Slug of its declared environment. */
  environment?: string;
  namedBy: 'file' | 'request';
}

/** What one entry of a list looks like. */
export const RUN_GRANT_ENTRY = /^(?:automation|environment)\/[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether the run may be given the secret. To one that may not it does not exist. */
export function mayGiveToRun(grant: RunGrant, { automation, environment, namedBy }: SecretNaming): boolean {
  if (grant === '*') return true;
  if (namedBy === 'request') return false;
  if (grant === 'files') return true;
  return (
    (automation !== undefined && grant.includes(`automation/${automation}`)) ||
    (environment !== undefined && grant.includes(`environment/${environment}`))
  );
}

/**
 * Whether the value may be inside the run, where its agent can tell it: what a request says to an agent, whoever chose
 * its environment, is the word of somebody who may start runs and no more.
 */
export function mayBeInside(grant: RunGrant, startedBy: 'automation' | 'request'): boolean {
  return startedBy === 'automation' || grant === '*';
}

/**
 * Whether a file may name the secret: there may be a run of it that gets it. An environment is for the runs of whatever
 * automation, the factory's defaults are for all.
 */
export function mayBeNamedIn(
  grant: RunGrant,
  file: { kind: 'automation'; slug: string; environment?: string } | { kind: 'environment'; slug: string } | 'factory',
): boolean {
  if (grant === '*' || grant === 'files' || file === 'factory') return true;
  if (file.kind === 'automation')
    return mayGiveToRun(grant, { automation: file.slug, environment: file.environment, namedBy: 'file' });
  return grant.some((entry) => entry === `environment/${file.slug}` || entry.startsWith('automation/'));
}
