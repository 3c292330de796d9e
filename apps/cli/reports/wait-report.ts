/**
 * How the end of a waiting reads, and which exit code it is: problems as `validate` prints them, approvals with their
 * command. contract §11.
 */
import type { RevisionStatus } from '#contracts';
import type { Problem } from '#definitions';
import { revisionId } from '#reconcile';
import type { CliIo } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { FORMATS } from './formats.ts';
import { count, type Output } from '../terminal/output.ts';
import { mergedWords } from './pull-requests-report.ts';
import { ofText, toGithubSummary } from './report-github.ts';
import { printable } from './report.ts';
import { toProblem } from './factory-status.ts';
import type { Factory } from '#client';

export type WaitFormat = 'text' | 'json' | 'yaml' | 'github';

/** How a waiting ended. */
export interface End {
  /** The revision that decided: the one that was asked for, or the newer one that keeps it from serving. */
  status: RevisionStatus;
  /** The revision that was asked for, where a newer one decided. */
  superseded?: string;
}

/** Prints the end; answers the exit code, and what a build server's page shows. */
export function printEnd(
  { status: end, superseded }: End,
  factory: Factory,
  format: WaitFormat,
  output: Output,
  io: CliIo,
): { code: number; summary: string } {
  const code = exitOf(end);
  const before = superseded === undefined ? '' : `${superseded} is superseded by ${end.revision}, which is `;
  const words = `${factory.slug}: ${before}${sentence(end)}`;
  const problems = problemsOf(end, format === 'github' ? factory : undefined);
  const found = { problems, notRun: [], fileCount: 0 };
  const merged = mergedWords(end.pull_requests);
  output.result(end, () => {
    if (problems.length > 0) io.stdout.write(format === 'github' ? FORMATS.github(found) : FORMATS.text(found));
    for (const { kind, slug, path } of judgedBy(end)?.held ?? [])
      output.line(`held: deletion of ${kind} ${slug} (${path})`, 'yellow');
    if (format === 'github' && code !== EXIT.ok && problems.length === 0)
      io.stdout.write(`::error title=millwright wait::${ofText(printable(words))}\n`);
    else output.line(words, code === EXIT.ok ? 'green' : 'yellow');
    if (merged !== '') output.line(`it came with ${merged}`);
  });
  const approval = end.sync?.plan ?? null;
  if (approval !== null && code === EXIT.held)
    output.note(`to let it go: millwright approve ${factory.slug} ${approval}`);
  return {
    code,
    summary:
      problems.length > 0
        ? toGithubSummary(found)
        : `### ${code === EXIT.ok ? 'Serving' : 'Not serving'}\n\n    ${printable(words)}\n` +
          `${merged === '' ? '' : `    it came with ${printable(merged)}\n`}\n`,
  };
}

/**
 * The pass whose findings count: the one that blocked it; of what serves the one that applied it, because a part may be
 * missing.
 */
function judgedBy({ state, revision, serving_revision: serving, sync }: RevisionStatus): RevisionStatus['sync'] {
  if (sync === null || state === 'lost') return null; // nobody can approve or mend what is no longer part of the branch
  if (state !== 'serving') return sync;
  // Where a descendant serves, its findings are about itself, and those of the pass before are mended.
  return sync.ending === 'applied' &&
    [serving, sync.revision].every((one) => one !== null && revisionId(one) === revisionId(revision))
    ? sync
    : null;
}

/**
 * 0 serves · 1 people must change something · 4 something waits for an approval. Of a revision that applied in part,
 * the other part counts.
 */
function exitOf(end: RevisionStatus): number {
  const judged = judgedBy(end);
  if (end.state === 'serving' && judged?.problems.some(({ severity }) => severity === 'error') === true)
    return EXIT.problems;
  if (judged !== null && judged.plan !== null) return EXIT.held;
  return end.state === 'serving' ? EXIT.ok : EXIT.problems;
}

function sentence({ state, revision, message, serving_revision: serving, replicas }: RevisionStatus): string {
  if (state !== 'serving') return `${state}: ${message}`;
  const within = serving === null || revisionId(serving) === revisionId(revision) ? '' : `, as part of ${serving}`;
  return `${revision} serves on ${count(replicas.length, 'replica')}${within}`;
}

/** Problems of the pass that judged the revision; build servers look for files from the repository's root on. */
function problemsOf(end: RevisionStatus, within: Factory | undefined): Problem[] {
  const judged = judgedBy(end);
  if (judged === null) return [];
  const source = within?.source;
  const folder =
    typeof source?.url === 'string' && typeof source.path === 'string' ? `${source.path.replace(/\/+$/, '')}/` : '';
  return judged.problems.map(toProblem).map((problem) => ({ ...problem, path: `${folder}${problem.path}` }));
}
