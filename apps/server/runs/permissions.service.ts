/**
 * Questions of agents, and the answers of people. Decisions are `#agents` and `#runs`, effects are the store's.
 * contract §3.6 (States), §3.8 (Follow-up).
 */
import { Injectable } from '@nestjs/common';
import { withoutAbsent } from '#agents';
import type { PermissionItem, PermissionList } from '#contracts';
import type { AnswerDecision } from '#runs';
import { changedBy, type Caller } from '../http/access-guard.ts';
import { lastingConflict, notFound, RefusalError } from '../http/error-codes.ts';
import { toTime } from '../http/queries.ts';
import type { Access } from '../store/access/access.ts';
import { toWire, type Permission, PermissionStore } from '../store/runs/permissions.ts';
import { RunStore } from '../store/runs/runs.ts';
import type { Transaction } from '../store/database/transactions.ts';
import { IdSource } from '../process/injection-tokens.ts';
import { visibleRunStatus } from './runs.requests.ts';
import { RunNotifier } from './run-notifier.ts';

@Injectable()
export class PermissionService {
  constructor(
    private readonly runs: RunStore,
    private readonly permissions: PermissionStore,
    private readonly notifier: RunNotifier,
    private readonly ids: IdSource,
  ) {}

  /** What the agents of a run have asked, oldest first. */
  async list(runId: string, access: Access): Promise<PermissionList> {
    await visibleRunStatus(this.runs, runId, access);
    return { permissions: (await this.permissions.ofRun(runId)).map(toItem) };
  }

  /**
   * Stored before it is answered; the agent hears of it at once where it runs in this process, else within two seconds.
   */
  async answer(runId: string, permissionId: string, optionId: string, by: Caller): Promise<PermissionItem> {
    await visibleRunStatus(this.runs, runId, by.access);
    const found = await this.permissions.answer(
      { runId, permissionId, optionId, principalUid: by.access.principal.uid },
      {
        by: changedBy(by, this.ids.newId()),
        *also(permission): Transaction<void> {
          if (by.idempotency !== undefined) yield* by.idempotency.store(200, toItem(permission));
        },
      },
    );
    if (found === undefined) throw notFound('the permission request');
    const { decision, permission } = found;
    if (!decision.ok) throw refusalOf(decision.reason, permission);
    this.notifier.notifyAll(runId);
    return toItem(permission);
  }
}

function refusalOf(reason: Extract<AnswerDecision, { ok: false }>['reason'], { question }: Permission): RefusalError {
  switch (reason) {
    case 'unknown-option': {
      const offered = question.options.map(({ optionId, name }) => `${optionId} (${name})`).join(', ');
      return new RefusalError('invalid_request', 'the agent does not offer this answer', {
        errors: [{ pointer: '/option_id', message: `must be one of ${offered}` }],
      });
    }
    case 'answered-otherwise':
      return lastingConflict('this was answered already, and otherwise');
    case 'closed':
      return lastingConflict('nobody waits for this answer any more');
    case 'cancel-under-way':
      return lastingConflict('a cancel of this run is under way');
    case 'not-blocked':
      return lastingConflict('the run does not wait for an answer');
  }
}

function toItem({
  permissionId,
  runId,
  executionId,
  askedAtMs,
  question,
  answeredAtMs,
  optionId,
  principalUid,
}: Permission): PermissionItem {
  return withoutAbsent<PermissionItem>({
    permission_id: permissionId,
    run_id: runId,
    execution_id: executionId,
    state: stateOf(answeredAtMs, optionId),
    asked_at: toTime(askedAtMs),
    ...toWire(question),
    settled_at: answeredAtMs === undefined ? null : toTime(answeredAtMs),
    answer: optionId ?? null,
    answered_by: principalUid ?? null,
  });
}

function stateOf(settledAtMs: number | undefined, optionId: string | undefined): PermissionItem['state'] {
  if (settledAtMs === undefined) return 'open';
  return optionId === undefined ? 'closed' : 'answered';
}
