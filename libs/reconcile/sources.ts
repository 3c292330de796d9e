/** What the reconciler knows of a factory's source whatever its kind: whether there are files at all. contract §4.1. */

/** Kind of a factory without files: its webhooks and automations are managed over the API. */
export const NO_SOURCE = 'dashboard';

/** Whether files decide a factory's webhooks and automations. */
export function isManagedSource({ kind }: { kind: string }): boolean {
  return kind !== NO_SOURCE;
}
