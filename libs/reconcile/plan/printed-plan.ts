/** A plan of the API as the printers have it. contract §11.2, §9.9. */
import type { Change as ChangeItem } from '#contracts';
import type { ChangeDetails, DetailedChange, SecretMark } from './details.ts';
import type { CapabilityGrowth } from './growth.ts';
import type { PrintedPlan } from './print.ts';

type PrintedMember =
  | 'action'
  | 'kind'
  | 'slug'
  | 'path'
  | 'changes'
  | 'renamed_from'
  | 'values'
  | 'ingress_url'
  | 'ingress_url_before'
  | 'run_secrets'
  | 'secret'
  | 'traffic'
  | 'used_by'
  | 'replay';
export type PrintableChange = Pick<ChangeItem, PrintedMember> & { uid: string | null };

/** What of a plan is printed. */
export interface PrintableChanges {
  changes: readonly PrintableChange[];
  held: readonly PrintableChange[];
  /** Absent: a server that tells none. */
  growth?: readonly CapabilityGrowth[];
}

/** What the printers print of it. */
export function printedPlanOf({ changes, held, growth }: PrintableChanges): PrintedPlan {
  return { changes: changes.map(toDetailed), heldDeletions: held.map(toDetailed), growth };
}

/** A change as the printer has it. */
function toDetailed(item: PrintableChange): DetailedChange {
  const { action, kind, slug, uid, path, changes, renamed_from: renamedFrom } = item;
  return { action, kind, slug, uid: uid ?? '', path, changes, renamedFrom, details: toDetails(item) };
}

function toDetails({
  values,
  ingress_url: ingressUrl,
  ingress_url_before: ingressUrlBefore,
  secret,
  traffic,
  replay,
  run_secrets: runSecrets,
  used_by: usedBy,
}: PrintableChange): ChangeDetails {
  return {
    values,
    usedBy,
    runSecrets: runSecrets as ChangeDetails['runSecrets'],
    ingressUrl,
    ingressUrlBefore,
    secret: secret && { before: toMark(secret.before), after: toMark(secret.after) },
    traffic: traffic && {
      deliveries: traffic.deliveries ?? undefined,
      accepted: traffic.accepted ?? undefined,
      runs: traffic.runs,
      failedRuns: traffic.failed_runs,
      lastDeliveryAt: timeOf(traffic.last_delivery_at),
      lastRunAt: timeOf(traffic.last_run_at),
    },
    replay: replay && {
      deliveries: replay.deliveries,
      before: replay.before,
      after: replay.after,
      starts: replay.starts,
      stops: replay.stops,
      unreadable: replay.unreadable,
      filtersUnreadable: replay.filters_unreadable,
      cut: replay.cut,
    },
  };
}

function timeOf(at: string | null): string | undefined {
  return at?.replace(/\.\d+Z$/, 'Z');
}

function toMark(mark: NonNullable<ChangeItem['secret']>['after']): SecretMark | undefined {
  return mark === null
    ? undefined
    : { name: mark.name, version: mark.version, fingerprint: mark.fingerprint ?? undefined };
}
