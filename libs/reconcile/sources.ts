/** What the reconciler knows of a factory's source whatever its kind: whether there are files at all. contract §4.1. */
import type { ForgeKind } from './feedback/addresses.ts';

/**
 * Where a factory's files come from. What else belongs to it, its kind knows; these members mean the same for every
 * kind that has them.
 */
export interface SourceSettings {
  kind: string;
  /** Seconds between two readings. */
  interval?: number;
  /** Name of the managed secret, granted for the use `git`, that it is read with. */
  credentialSecret?: string;
  /** Name of the managed secret, granted for the use `forge`, that push notices are proven with. */
  pushSecret?: string;
  /** What its pull requests are answered at, and the managed secret, granted for `forge`, with the token for that. */
  forge?: ForgeKind;
  forgeSecret?: string;
  /** ID of the app whose private key that secret is. */
  forgeApp?: string;
  readonly [member: string]: unknown;
}

/** Kind of a factory without files: its webhooks and automations are managed over the API. */
export const DASHBOARD_KIND = 'dashboard';

/** Whether files decide a factory's webhooks and automations. */
export function isManagedSource({ kind }: { kind: string }): boolean {
  return kind !== DASHBOARD_KIND;
}
