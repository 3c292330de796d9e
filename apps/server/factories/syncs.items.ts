/** Passes, their problems and their changes as the API shows them. contract 4 (syncs), 9. */
import type { Change as ChangeItem, Diagnostic, Sync } from '#contracts';
import type { Problem } from '#definitions';
import type { Change, PassRecord } from '#reconcile';
import { toTime } from '../http/queries.ts';

/** A change as passes record it: the reconciler's own, and the webhook whose secret moved in step 0. */
type RecordedChange = Change & { secretName?: string; secretVersion?: number | null };

/** One recorded pass. */
export function toSyncItem(pass: PassRecord): Sync {
  return {
    id: pass.id,
    triggers: pass.triggers as Sync['triggers'],
    started_at: toTime(pass.startedAtMs),
    finished_at: toTime(pass.finishedAtMs),
    ending: pass.ending,
    reason: pass.reason ?? null,
    message: pass.message ?? null,
    revision: pass.revision ?? null,
    problems: (pass.problems as Problem[]).map(toDiagnostic),
    changes: (pass.changes as RecordedChange[]).map(toChangeItem),
    held: (pass.held as RecordedChange[]).map(toChangeItem),
    plan: pass.digest ?? null,
    rewritten_from: pass.rewrittenFrom ?? null,
    superseded: pass.superseded,
    timings: pass.timings,
  };
}

/** One problem of a file. */
export function toDiagnostic({
  path,
  line,
  column,
  endLine,
  endColumn,
  severity,
  rule,
  code,
  message,
  excerpt,
}: Problem): Diagnostic {
  return {
    path,
    line,
    column,
    end_line: endLine,
    end_column: endColumn,
    severity,
    rule,
    code,
    message,
    ...(excerpt === undefined ? {} : { excerpt: { first_line: excerpt.firstLine, lines: excerpt.lines } }),
  };
}

/** One change of a plan or pass. */
export function toChangeItem({
  action,
  kind,
  slug,
  uid,
  path,
  changes,
  renamedFrom,
  secretName,
  secretVersion,
}: RecordedChange): ChangeItem {
  return {
    action,
    kind,
    slug,
    uid,
    path,
    changes,
    renamed_from: renamedFrom,
    secret_name: secretName,
    secret_version: secretVersion,
  };
}
