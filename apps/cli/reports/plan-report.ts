/** How a plan is printed in every format. contract §11.2 (--format). */
import { appendFile } from 'node:fs/promises';
import type { Change as ChangeItem, Diagnostic } from '#contracts';
import { isDefinitionPath, type Advice, type TreeFile, type UnrunCheck } from '#definitions';
import {
  detailLines,
  headlineOf,
  printPlan,
  summaryOf,
  type ChangeDetails,
  type DetailedChange,
  type PrintedPlan,
  type SecretMark,
} from '#reconcile';
import { FORMATS, type FormatName } from './formats.ts';
import { toSeconds, type Output } from '../terminal/output.ts';
import { toGithubSummary } from './report-github.ts';
import { fromWorkingFolder, UNRUN_WORDS, type Report, type ReportedChange } from './report.ts';
import { toProblem } from './factory-status.ts';

/** What an offline plan did not check. */
export type UnplannedCheck = UnrunCheck | 'traffic' | 'replay' | 'secret-changes' | 'approvals';

/** A plan of the API, or one that was made here: what only a server knows is null in it. */
export interface PrintablePlan {
  factory_uid: string | null;
  revision: string;
  valid: boolean;
  ending: 'applied' | 'blocked';
  reason: string | null;
  message: string | null;
  problems: Diagnostic[];
  /** Absent: a server that gives none. */
  advice?: Advice[];
  changes: PrintableChange[];
  held: PrintableChange[];
  plan: string | null;
  summary: { create: number; update: number; delete: number; held: number };
  not_run?: UnplannedCheck[];
}

type PrintedMember =
  | 'action'
  | 'kind'
  | 'slug'
  | 'path'
  | 'changes'
  | 'renamed_from'
  | 'ingress_url'
  | 'ingress_url_before'
  | 'run_secrets'
  | 'secret'
  | 'traffic'
  | 'replay';
export type PrintableChange = Pick<ChangeItem, PrintedMember> & { uid: string | null };

/** Where and how it is printed. */
export interface PlanPrinting {
  format: FormatName;
  output: Output;
  /** Folder of the files, as it was named. */
  folder: string;
  cwd: string;
  /** Where a job of GitHub wants its summary. */
  summaryFile: string | undefined;
  files: readonly TreeFile[];
}

/** What each of them would have shown. */
export const UNPLANNED_WORDS: Readonly<Record<UnplannedCheck, string>> = {
  ...UNRUN_WORDS,
  traffic: 'what came and ran in the last days',
  replay: 'what stored deliveries would start',
  'secret-changes': 'which values guard the webhooks',
  approvals: 'which deletions are approved already',
};

/** Prints it to stdout; remarks are the caller's. */
export async function printPlanned(
  plan: PrintablePlan,
  { format, output, folder, cwd, summaryFile, files }: PlanPrinting,
): Promise<void> {
  if (format === 'json') return output.result(plan, () => undefined);
  const printed = toPrinted(plan);
  if (format === 'text') return printText(plan, printed, output);
  const report: Report = {
    problems: plan.problems.map(toProblem),
    notRun: [],
    fileCount: files.filter(({ path }) => isDefinitionPath(path)).length,
    plan: { summary: summaryOf(printed), changes: toReported(printed) },
  };
  const shown = fromWorkingFolder(report, folder, cwd);
  output.raw(FORMATS[format](shown));
  if (format === 'github' && summaryFile !== undefined && summaryFile !== '')
    await appendFile(summaryFile, toGithubSummary(shown));
}

function printText({ problems, valid, ending }: PrintablePlan, printed: PrintedPlan, output: Output): void {
  if (problems.length > 0) output.text(FORMATS.text({ problems: problems.map(toProblem), notRun: [], fileCount: 0 }));
  if (valid || ending === 'applied') output.text(printPlan(printed));
}

function toPrinted({ changes, held }: PrintablePlan): PrintedPlan {
  return { changes: changes.map(toDetailed), heldDeletions: held.map(toDetailed) };
}

/** A change as the printer has it. */
function toDetailed(item: PrintableChange): DetailedChange {
  const { action, kind, slug, uid, path, changes, renamed_from: renamedFrom } = item;
  return { action, kind, slug, uid: uid ?? '', path, changes, renamedFrom, details: toDetails(item) };
}

function toDetails({
  ingress_url: ingressUrl,
  ingress_url_before: ingressUrlBefore,
  secret,
  traffic,
  replay,
  run_secrets: runSecrets,
}: PrintableChange): ChangeDetails {
  return {
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
  return at === null ? undefined : toSeconds(at);
}

function toMark(mark: NonNullable<ChangeItem['secret']>['after']): SecretMark | undefined {
  return mark === null
    ? undefined
    : { name: mark.name, version: mark.version, fingerprint: mark.fingerprint ?? undefined };
}

function toReported({ changes, heldDeletions }: PrintedPlan): ReportedChange[] {
  const reported = (change: DetailedChange, held: boolean): ReportedChange => ({
    path: change.path,
    rule: held ? 'plan-held' : `plan-${change.action}`,
    isWarning: held || change.action === 'delete' || falls(change),
    headline: headlineOf(change, held),
    details: detailLines(change),
  });
  return [
    ...changes.map((change) => reported(change, false)),
    ...heldDeletions.map((change) => reported(change, true)),
  ];
}

/** What fired would fire no more. */
function falls({ details }: DetailedChange): boolean {
  return details?.replay !== undefined && details.replay.before > 0 && details.replay.after === 0;
}
