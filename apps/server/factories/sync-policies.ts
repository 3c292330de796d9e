/** Sync policies between the wire and the reconciler. contract 9. */
import type { SyncPolicy as SyncPolicyItem } from '#contracts';
import type { SyncPolicy } from '#reconcile';

/** What the API shows of a policy; the keys in it are public ones. */
export function toSyncPolicyItem({ verifyCommits, fastForwardOnly, windows }: SyncPolicy): SyncPolicyItem {
  return {
    ...(verifyCommits === undefined ? {} : { verify_commits: { keys: [...verifyCommits.keys] as [string, ...string[]] } }),
    ...(fastForwardOnly === undefined ? {} : { fast_forward_only: fastForwardOnly }),
    ...(windows === undefined ? {} : { windows: windows.map(({ kind, schedule, durationMinutes }) => ({ kind, schedule, duration_minutes: durationMinutes })) as SyncPolicyItem['windows'] }),
  };
}
