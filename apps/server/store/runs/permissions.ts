/**
 * Questions of agents to the people who steer their runs: asked, answered, closed, each with the run's state and its
 * log in one transaction. contract §3.6 (States), §3.8 (Follow-up).
 */
import type { PermissionOption } from '#agents';
import { answerDecision, type AnswerDecision, type RunState } from '#runs';
import { audit } from '../access/audit.ts';
import type { Database } from '../database/database.ts';
import { appendToLog } from './run-log.ts';
import type { TransactionHook } from './run-commands.ts';
import type { Claim } from './runs.ts';
import { withStoreErrors } from '../database/store-errors.ts';
import { insertInto } from '../database/table.ts';
import { change, databaseNow, placeholders, row, rows, type Transaction } from '../database/transactions.ts';
import { PERMISSION, type PermissionRow, type RunRow } from './run.entities.ts';

/** What an agent wants to do, as people are shown it: bounded, without secrets. */
export interface Question {
  title: string;
  toolKind?: string;
  /** JSON text of what the tool would be given. */
  input?: string;
  paths?: readonly string[];
  options: readonly PermissionOption[];
}

export interface Permission {
  permissionId: string;
  runId: string;
  executionId: string;
  askedAtMs: number;
  question: Question;
  /** When it was answered, or closed because nobody was waited for any more. */
  answeredAtMs?: number;
  /** What it was answered with. */
  optionId?: string;
  /** Who answered; undefined: the service. */
  principalUid?: string;
}

/** An answer, and in which words the log tells of it. */
export interface PermissionAnswer {
  option?: PermissionOption;
  principalUid?: string;
  text: string;
}

/** Questions of a run that are shown, the latest ones. */
const SHOWN_MAX = 200;

/** By their names: a newer program may have added some beside this one. */
const COLUMNS = PERMISSION.columns.join(', ');

export class PermissionStore {
  private readonly database: Database;
  constructor(database: Database) {
    this.database = database;
  }

  /** INPROGRESS → BLOCKED, or one question more. False when the claim was lost or the run is to be cancelled. */
  ask(claim: Claim, permissionId: string, question: Question): Promise<boolean> {
    return this.database.run(function* () {
      const nowMs = yield* databaseNow();
      const moved = yield* change(
        "UPDATE run SET state = 'BLOCKED', status_message = ?, updated_at = ? WHERE run_id = ? AND epoch = ? " +
          "AND state IN ('INPROGRESS', 'BLOCKED') AND cancel_requested_at IS NULL",
        wordsOf(question),
        nowMs,
        claim.runId,
        claim.epoch,
      );
      if (moved !== 1) return false;
      const asked = {
        permission_id: permissionId,
        run_id: claim.runId,
        execution_id: claim.executionId,
        asked_at: nowMs,
        question: JSON.stringify(question),
      };
      yield* insertInto(PERMISSION, [asked]);
      yield* appendToLog(claim.runId, claim.executionId, [
        {
          kind: 'permission',
          atMs: nowMs,
          body: JSON.stringify({ permission_id: permissionId, ...toWire(question), text: 'the agent asks' }),
        },
      ]);
      return true;
    });
  }

  /** Which of these questions are answered or closed by now. */
  answered(permissionIds: readonly string[]): Promise<Permission[]> {
    if (permissionIds.length === 0) return Promise.resolve([]);
    return this.database.read(function* () {
      const found = yield* rows<PermissionRow>(
        `SELECT ${COLUMNS} FROM permission WHERE permission_id IN (${placeholders(permissionIds.length)}) ` +
          'AND answered_at IS NOT NULL',
        ...permissionIds,
      );
      return found.map(toPermission);
    });
  }

  /**
   * Closes a question that nobody answered. Answers it as it is now, which may be by somebody who was faster; undefined
   * when the claim was lost.
   */
  close(claim: Claim, permissionId: string, closing: PermissionAnswer): Promise<Permission | undefined> {
    return this.database.run(function* () {
      const run = yield* row(
        'SELECT 1 AS held FROM run WHERE run_id = ? AND epoch = ? FOR UPDATE',
        claim.runId,
        claim.epoch,
      );
      const found =
        run && (yield* row<PermissionRow>(`SELECT ${COLUMNS} FROM permission WHERE permission_id = ?`, permissionId));
      if (found === undefined) return undefined;
      return found.answered_at === null ? yield* answerPermission(toPermission(found), closing) : toPermission(found);
    });
  }

  /** Questions of a run, oldest first; of more than SHOWN_MAX the latest. */
  async ofRun(runId: string): Promise<Permission[]> {
    const permissions = this.database.source.getRepository(PERMISSION);
    const latest = { where: { run_id: runId }, order: { permission_id: 'DESC' }, take: SHOWN_MAX } as const;
    return (await withStoreErrors(permissions.find(latest))).toReversed().map(toPermission);
  }

  /** Stores somebody's answer; undefined: the run has no such question. */
  answer(
    wanted: { runId: string; permissionId: string; optionId: string; principalUid: string },
    hook: TransactionHook<Permission> = {},
  ): Promise<{ decision: AnswerDecision; permission: Permission } | undefined> {
    return this.database.run(() => storeAnswerOf(wanted, hook));
  }
}

function* storeAnswerOf(
  {
    runId,
    permissionId,
    optionId,
    principalUid,
  }: { runId: string; permissionId: string; optionId: string; principalUid: string },
  { by, also }: TransactionHook<Permission>,
): Transaction<{ decision: AnswerDecision; permission: Permission } | undefined> {
  const run = yield* row<RunRow>(
    'SELECT state, cancel_requested_at, factory_uid FROM run WHERE run_id = ? FOR UPDATE',
    runId,
  );
  const found =
    run &&
    (yield* row<PermissionRow>(
      `SELECT ${COLUMNS} FROM permission WHERE permission_id = ? AND run_id = ?`,
      permissionId,
      runId,
    ));
  if (run === undefined || found === undefined) return undefined;
  const permission = toPermission(found);
  const decision = answerDecision(optionId, {
    options: permission.question.options,
    isClosed: permission.answeredAtMs !== undefined,
    optionId: permission.optionId,
    run: { state: run.state as RunState, cancelRequested: run.cancel_requested_at !== null },
  });
  if (!decision.ok || !decision.isNew) return { decision, permission };
  const answered = yield* answerPermission(permission, permissionAnswerOf(decision.option, principalUid));
  yield* audit(by, {
    action: 'run.permission',
    subject: runId,
    factoryUid: run.factory_uid ?? undefined,
    details: { permission_id: permissionId, answer: decision.option.kind },
  });
  if (also !== undefined) yield* also(answered);
  return { decision, permission: answered };
}

/** Open questions of a run, whose row is locked, oldest first. */
export function* openQuestions(runId: string): Transaction<Permission[]> {
  return (yield* rows<PermissionRow>(
    `SELECT ${COLUMNS} FROM permission WHERE run_id = ? AND answered_at IS NULL ORDER BY permission_id`,
    runId,
  )).map(toPermission);
}

/** Settles an open question of a run, whose row is locked: with none left the run goes on. */
export function* answerPermission(
  permission: Permission,
  { option, principalUid, text }: PermissionAnswer,
): Transaction<Permission> {
  const { permissionId, runId, executionId, question } = permission;
  const nowMs = yield* databaseNow();
  yield* change(
    'UPDATE permission SET answered_at = ?, option_id = ?, principal_uid = ? WHERE permission_id = ?',
    nowMs,
    option?.optionId ?? null,
    principalUid ?? null,
    permissionId,
  );
  const body = {
    permission_id: permissionId,
    title: question.title,
    answer: option?.optionId,
    by: principalUid ?? ANSWERED_BY_SERVICE,
    text,
  };
  yield* appendToLog(runId, executionId, [{ kind: 'permission', atMs: nowMs, body: JSON.stringify(body) }]);
  const [next] = yield* openQuestions(runId);
  yield* change(
    "UPDATE run SET state = ?, status_message = ?, updated_at = ? WHERE run_id = ? AND state = 'BLOCKED'",
    next === undefined ? 'INPROGRESS' : 'BLOCKED',
    next === undefined ? null : wordsOf(next.question),
    nowMs,
    runId,
  );
  return { ...permission, answeredAtMs: nowMs, optionId: option?.optionId, principalUid };
}

/** Closes the questions of an execution that is over; the run's row is locked. */
export function* closeQuestions(runId: string): Transaction<void> {
  for (const permission of yield* openQuestions(runId))
    yield* answerPermission(permission, {
      text: 'nobody waits for an answer any more: the execution that asked is over',
    });
}

/** In what words an answer stands in the log. */
export function permissionAnswerOf(option: PermissionOption, principalUid: string): PermissionAnswer {
  return { option, principalUid, text: `answered: ${option.name}` };
}

/** Who decided where no person did. */
export const ANSWERED_BY_SERVICE = 'service';

function wordsOf({ title }: Question): string {
  return `the agent asks for permission: ${title}`;
}

/** A question as events and the interface show it. */
export function toWire({ title, toolKind, input, paths, options }: Question): {
  title: string;
  tool_kind?: string;
  input?: string;
  paths?: string[];
  options: { option_id: string; name: string; kind: PermissionOption['kind'] }[];
} {
  return {
    title,
    tool_kind: toolKind,
    input,
    paths: paths && [...paths],
    options: options.map(({ optionId, name, kind }) => ({ option_id: optionId, name, kind })),
  };
}

function toPermission(found: PermissionRow): Permission {
  return {
    permissionId: found.permission_id,
    runId: found.run_id,
    executionId: found.execution_id,
    askedAtMs: found.asked_at,
    question: JSON.parse(found.question) as Question,
    answeredAtMs: found.answered_at ?? undefined,
    optionId: found.option_id ?? undefined,
    principalUid: found.principal_uid ?? undefined,
  };
}
