/**
 * From the plan of a pull request to what is said of it: the status of its head, and the comment where there is
 * something to say. contract §9.9 (Feedback in pull requests).
 */
import { createHash } from 'node:crypto';
import type { Plan as PlanItem } from '#contracts';
import type { Problem } from '#definitions';
import { printedPlanOf } from '../plan/printed-plan.ts';
import type { PrintedPlan } from '../plan/print.ts';
import type { PassRecord } from '../passes/pass-outcome.ts';
import { renderComment, type CommentContent } from './comments.ts';
import type { KnownPullRequest } from './pull-requests.ts';
import type { CommitStatus } from './statuses.ts';
import { branchStatus, verdictOf, type BranchState } from './verdicts.ts';

/** What is known of a judgement beside its plan. */
export interface JudgementFacts {
  factory: { slug: string };
  /** Of this factory's comment on this pull request. */
  mark: string;
  pull: KnownPullRequest;
  /** Revision that serves. */
  against?: string;
  /** Files that branch and pull request both changed. */
  contested: readonly string[];
  /** Its branch has gone on, and the forge does not tell from where the pull request left it. */
  isBaseUnknown: boolean;
  planUrl?: string;
}

/** What is to be said of a head. */
export interface PullRequestFeedback {
  status: CommitStatus;
  comment: {
    body: string;
    /** The same as long as nothing is different but the revision that it was judged against. */
    digest: string;
    /** Whether it is worth a comment where there is none yet. */
    isWorthy: boolean;
  };
}

/** Paths that a note names. */
const PATHS_NAMED_MAX = 10;

/** Pure; the same for the same judgement. */
export function feedbackOf(plan: PlanItem, facts: JudgementFacts): PullRequestFeedback {
  const { factory, mark, pull, against, planUrl } = facts;
  const problems = plan.problems.map(problemOf);
  const printed = withoutMarks(printedPlanOf(plan));
  const ending = { kind: plan.ending, ...(plan.reason === null ? {} : { reason: plan.reason }) };
  const verdict = verdictOf({ ending, problems, printed });
  const content: CommentContent = {
    mark,
    factorySlug: factory.slug,
    verdict,
    head: pull.head,
    problems,
    printed,
    notes: notesOf(facts),
    ...(planUrl === undefined ? {} : { planUrl }),
  };
  const isEmpty = problems.length + printed.changes.length + printed.heldDeletions.length === 0;
  return {
    status: { commit: pull.head, number: pull.number, ...verdict },
    comment: {
      body: renderComment(against === undefined ? content : { ...content, against }),
      digest: createHash('sha256').update(renderComment(content)).digest('hex'),
      isWorthy: !isEmpty,
    },
  };
}

/** The status of a head whose plan could not be made; `words` are ours. */
export function errorStatus(commit: string, number: number, words: string): CommitStatus {
  return { commit, number, state: 'error', description: words };
}

/** What is to be said of the commits of passes, oldest first, and of where the branch is now. */
export function branchStatuses(passes: readonly PassRecord[], now: BranchState): CommitStatus[] {
  const ofPasses = passes.map(({ revision, ending, reason, message }) =>
    branchStatus({ seen: revision, applied: ending === 'applied' ? revision : undefined, ending, reason, message }),
  );
  return [...ofPasses, branchStatus(now)].filter((status) => status !== undefined);
}

function notesOf({ pull, contested, isBaseUnknown }: JudgementFacts): string[] {
  const named = contested.slice(0, PATHS_NAMED_MAX).join(', ');
  const more = contested.length > PATHS_NAMED_MAX ? `, and ${contested.length - PATHS_NAMED_MAX} more` : '';
  return [
    ...(pull.isFork ? ['from a fork: judged without what is known of secrets, traffic and deliveries'] : []),
    ...(contested.length === 0 ? [] : [`changed here and on ${pull.base}, judged as they are here: ${named}${more}`]),
    ...(isBaseUnknown
      ? [`what ${pull.base} has gained since may look like changes: the forge tells no merge base`]
      : []),
  ];
}

/** Who reads a comment need not be let into the service: versions and fingerprints of secrets stay there. */
function withoutMarks({ changes, heldDeletions, growth }: PrintedPlan): PrintedPlan {
  const stripped = (all: PrintedPlan['changes']): PrintedPlan['changes'] =>
    all.map((each) => ({ ...each, details: { ...each.details, secret: undefined } }));
  return { changes: stripped(changes), heldDeletions: stripped(heldDeletions), ...(growth && { growth }) };
}

function problemOf({
  path,
  line,
  column,
  end_line: endLine,
  end_column: endColumn,
  severity,
  rule,
  code,
  message,
}: PlanItem['problems'][number]): Problem {
  return { path, line, column, endLine, endColumn, severity, rule, code, message };
}
