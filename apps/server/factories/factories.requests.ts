/** Which source and sync policy of a request could be followed, before anybody tries. contract §4.1, §9.7. */
import { membersOf, type SyncPolicy as SyncPolicyItem } from '#contracts';
import { commitKeyProblem } from '#authentication';
import { readCron } from '#definitions';
import type { SyncPolicy } from '#reconcile';
import type { MemberError } from '../http/error-codes.ts';
import { SOURCES } from '../sync/sources/registry.ts';

/**
 * What no server would take of the source and the policy in the body of a create or a change, each by its pointer. The
 * body may be anything.
 */
export function factoryRequestErrors(body: unknown): MemberError[] {
  const { source, sync_policy: policy } = membersOf(body);
  return [...SOURCES.requestErrors(source), ...syncPolicyErrors(policy)];
}

/** What the API shows of a policy; the keys in it are public ones. */
export function toSyncPolicyItem({
  verifyCommits,
  fastForwardOnly,
  windows,
  growthApproval,
}: SyncPolicy): SyncPolicyItem {
  return {
    ...(verifyCommits === undefined ? {} : { verify_commits: { keys: [...verifyCommits.keys] } }),
    ...(fastForwardOnly === undefined ? {} : { fast_forward_only: fastForwardOnly }),
    ...(growthApproval === undefined ? {} : { growth_approval: growthApproval }),
    ...(windows === undefined
      ? {}
      : {
          windows: windows.map(({ kind, schedule, durationMinutes }) => ({
            kind,
            schedule,
            duration_minutes: durationMinutes,
          })),
        }),
  };
}

/** The policy of a request that was found right. */
export function toSyncPolicy({
  verify_commits: verifyCommits,
  fast_forward_only: fastForwardOnly,
  windows,
  growth_approval: growthApproval,
}: SyncPolicyItem): SyncPolicy {
  return {
    ...(verifyCommits === undefined ? {} : { verifyCommits: { keys: [...verifyCommits.keys] } }),
    ...(fastForwardOnly === undefined ? {} : { fastForwardOnly }),
    ...(growthApproval === undefined ? {} : { growthApproval }),
    ...(windows === undefined
      ? {}
      : {
          windows: windows.map(({ kind, schedule, duration_minutes: durationMinutes }) => ({
            kind,
            schedule,
            durationMinutes,
          })),
        }),
  };
}

/**
 * Keys and schedules of a policy that nobody could use, each by its pointer; what is of a wrong type is passed over.
 * The policy may be anything.
 */
export function syncPolicyErrors(policy: unknown): MemberError[] {
  const { verify_commits: verify, windows } = membersOf(policy);
  const keys = listOf(membersOf(verify)['keys']).flatMap((key, at) =>
    problemAt(`/sync_policy/verify_commits/keys/${at}`, key, commitKeyProblem),
  );
  const schedules = listOf(windows).flatMap((window, at) =>
    problemAt(`/sync_policy/windows/${at}/schedule`, membersOf(window)['schedule'], cronProblem),
  );
  return [...keys, ...schedules];
}

function problemAt(pointer: string, value: unknown, problemOf: (text: string) => string | undefined): MemberError[] {
  const message = typeof value === 'string' ? problemOf(value) : undefined;
  return message === undefined ? [] : [{ pointer, message }];
}

function cronProblem(schedule: string): string | undefined {
  if (schedule.trim().startsWith('@'))
    return 'must be five cron fields: minute hour day-of-month month day-of-week, in UTC';
  const reading = readCron(schedule);
  return reading.ok ? undefined : reading.reason;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
