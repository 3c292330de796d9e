/** How a plan is printed in every format. contract §11.2 (--format). */
import { appendFile } from 'node:fs/promises';
import type { Diagnostic } from '#contracts';
import { isDefinitionPath, type Advice, type TreeFile, type UnrunCheck } from '#definitions';
import {
  detailLines,
  growthWords,
  headlineOf,
  printPlan,
  summaryOf,
  printedPlanOf,
  type DetailedChange,
  type CapabilityGrowth,
  type PrintableChange,
  type PrintedPlan,
} from '#reconcile';
import { FORMATS, type FormatName } from './formats.ts';
import type { Output } from '../terminal/output.ts';
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
  /** Absent: a server that tells none. */
  growth?: CapabilityGrowth[];
  held: PrintableChange[];
  plan: string | null;
  summary: { create: number; update: number; delete: number; held: number };
  not_run?: UnplannedCheck[];
}

/** Where and how it is printed. */
export interface PlanPrinting {
  format: FormatName;
  output: Output;
  /** Folder of the files, as it was named. */
  folder: string;
  cwd: string;
  /** Where a service has its guide. */
  guide: string | undefined;
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
  { format, output, folder, cwd, guide, summaryFile, files }: PlanPrinting,
): Promise<void> {
  if (format === 'json') return output.result(plan, () => undefined);
  const printed = printedPlanOf(plan);
  if (format === 'text') return printText(plan, printed, output);
  const report: Report = {
    problems: plan.problems.map(toProblem),
    notRun: [],
    guide,
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

function toReported({ changes, heldDeletions, growth = [] }: PrintedPlan): ReportedChange[] {
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
    ...growth.map((each) => ({
      path: each.path,
      rule: 'plan-grows' as const,
      isWarning: true,
      headline: `grows: ${growthWords(each)}`,
      details: [],
    })),
  ];
}

/** What fired would fire no more. */
function falls({ details }: DetailedChange): boolean {
  return details?.replay !== undefined && details.replay.before > 0 && details.replay.after === 0;
}
