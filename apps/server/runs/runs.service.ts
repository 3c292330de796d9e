/**
 * What can be done with runs: create, dispatch, look at, follow up, cancel. Decisions are `#runs`, effects are the
 * store's. spec: Agent run interface.
 */
import { Inject, Injectable } from '@nestjs/common';
import { resolveAgentConfig, toAgentConfig, type ServerAgent } from '#agents';
import type {
  FactoryDispatchResponse,
  RequestBody,
  RunAgentResponse,
  RunEventList,
  RunFollowupResponse,
  RunItem,
} from '#contracts';
import {
  attachmentsOf,
  defaultTitle,
  followupOutcome,
  isEnded,
  RUN_ATTACHMENT_BYTES_MAX,
  RUN_ATTACHMENTS_MAX,
  TASK_BYTES_MAX,
  type AttachmentRequest,
  type FollowupDecision,
  type FollowupOutcome,
  type RunSource,
  type RunState,
} from '#runs';
import type { Access } from '../store/access/access.ts';
import type { NewAttachment } from '../store/runs/run-files.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import type { NewRun } from '../store/runs/new-run.ts';
import { RunHistoryStore } from '../store/runs/run-history.ts';
import { RunStore, type RunStatus } from '../store/runs/runs.ts';
import type { Transaction } from '../store/database/transactions.ts';
import { changedBy, maySee, type Caller } from '../http/access-guard.ts';
import { lastingConflict, notFound, RefusalError } from '../http/error-codes.ts';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { CONFIG, Clock, IdSource } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import { toRunEventItem } from './runs.items.ts';
import { RunItems } from './run-item-loader.ts';
import { visibleRun, visibleRunStatus } from './runs.requests.ts';
import { RunAdmission } from './run-admission.ts';
import { RunNotifier } from './run-notifier.ts';

@Injectable()
export class RunService {
  constructor(
    private readonly runs: RunStore,
    private readonly histories: RunHistoryStore,
    private readonly factories: FactoryStore,
    private readonly definitions: DefinitionStore,
    private readonly items: RunItems,
    private readonly agents: RunAgents,
    private readonly admission: RunAdmission,
    private readonly notifier: RunNotifier,
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
    private readonly ids: IdSource,
  ) {}

  /** spec: Agent run interface. The run is committed before this returns. */
  create(request: RequestBody<'run-agent-request'>, by: Caller, source: RunSource): Promise<RunAgentResponse> {
    return this.start(request, {}, by, source, (made) => made);
  }

  /** spec: What the service does 5. The ticket becomes metadata of the run, and what triggered it. contract §4. */
  dispatch(
    factoryUid: string,
    request: RequestBody<'dispatch-request'>,
    by: Caller,
    source: RunSource,
  ): Promise<FactoryDispatchResponse> {
    const { prompt, title, config, metadata, attachments, ticket_ref: ref, ticket_url: url } = request;
    const ticket = {
      ...(ref === undefined ? {} : { ticket_ref: ref }),
      ...(url === undefined ? {} : { ticket_url: url }),
    };
    return this.start(
      { prompt, title, config, metadata, attachments, factory_uid: factoryUid },
      ticket,
      by,
      source,
      ({ run_id: runId, state }) => ({
        factory_uid: factoryUid,
        run_id: runId,
        state,
        ticket_ref: ref ?? '',
        run_url: `${this.config.publicUrl}/runs/${runId}`,
        foreman_agent: '',
      }),
    );
  }

  async get(runId: string, access: Access): Promise<RunItem> {
    const [item] = await this.items.of([await visibleRun(this.runs, runId, access)], access);
    return item as RunItem;
  }

  /** spec: Agent run interface. Stored, with its files, before it is answered. `more`: members of the answer. */
  async followup(
    runId: string,
    request: RequestBody<'run-followup-request'>,
    by: Caller,
    more: Record<string, string> = {},
  ): Promise<RunFollowupResponse> {
    await visibleRunStatus(this.runs, runId, by.access);
    const attachments = toNewAttachments(attachmentsOf(request));
    if (attachments.length > 0) this.admission.refuseWithoutDisk();
    const followupId = this.ids.newId();
    const toAnswer = (outcome: FollowupOutcome): RunFollowupResponse => ({ ...more, followup_id: followupId, outcome });
    const wanted = {
      followupId,
      runId,
      principalUid: by.access.principal.uid,
      message: request.message,
      mode: request.mode,
      attachments,
    };
    const decided = await this.runs.followup(
      wanted,
      (run, facts) =>
        followupOutcome(run.state as RunState, {
          ...facts,
          promptClaimed: run.prompt_taken_at !== null,
          agentConcurrent: this.agents.takesPromptsInTurn(run.agent_config),
          cancelRequested: run.cancel_requested_at !== null && !isEnded(run.state as RunState),
        }),
      this.transactionHook(by, toAnswer),
    );
    if (decided === undefined) throw notFound('the run');
    if (!decided.ok) throw followupRefusal(decided.reason);
    this.notifier.notifyAll(runId);
    return toAnswer(decided.outcome);
  }

  /** spec: Agent run interface. Answers the run's ID as a bare JSON string. */
  async cancel(runId: string, by: Caller): Promise<string> {
    await visibleRunStatus(this.runs, runId, by.access);
    const outcome = await this.runs.cancel(
      runId,
      this.transactionHook(by, () => runId),
    );
    if (outcome === 'unknown') throw notFound('the run');
    if (outcome === 'ended') throw new RefusalError('invalid_request', 'the run has ended already');
    this.notifier.notifyAll(runId);
    return runId;
  }

  /** Where a run stands, without its texts; 404 for one that the key may not see. */
  statusOf(runId: string, access: Access): Promise<RunStatus> {
    return visibleRunStatus(this.runs, runId, access);
  }

  /** The run's log in order, from behind `after`. */
  async events(runId: string, after: number, limit: number, access: Access): Promise<RunEventList> {
    await visibleRunStatus(this.runs, runId, access);
    return { events: (await this.runs.events(runId, after, limit)).map((event) => toRunEventItem(runId, event)) };
  }

  private async start<Answer>(
    request: RequestBody<'run-agent-request'>,
    ticket: Record<string, string>,
    by: Caller,
    source: RunSource,
    toAnswer: (made: RunAgentResponse) => Answer,
  ): Promise<Answer> {
    const { access } = by;
    const { factory_uid: factoryUid } = request;
    if (factoryUid === undefined && access.factories !== undefined) {
      throw new RefusalError('not_authorized', 'this key is limited to factories: name one as factory_uid');
    }
    const defaults = factoryUid === undefined ? undefined : await this.factoryDefaults(factoryUid, access);
    await this.refuseUnseen(request, access);
    await this.admission.refuseWithoutRoom(factoryUid);
    const run = {
      ...toNewRun(request, defaults, ticket, this.agents.server),
      runId: this.ids.newId(),
      source,
      creatorUid: access.principal.uid,
      createdAtMs: this.clock.nowMs(),
    };
    const free = this.admission.freeSlots();
    const answerOf = ({ waiting }: { waiting: number }): Answer =>
      toAnswer({ run_id: run.runId, task_id: run.runId, state: 'QUEUED', at_capacity: waiting >= free });
    const made = await this.runs.create(run, {
      ...this.transactionHook(by, answerOf),
      attachments: toNewAttachments(attachmentsOf(request)),
    });
    if (made === undefined) throw notFound('the factory');
    this.admission.added(factoryUid);
    this.notifier.notifyEngines();
    return answerOf(made);
  }

  /** Who asked, and the answer to an idempotency key: both committed with the change. */
  private transactionHook<Outcome>(
    by: Caller,
    toAnswer: (outcome: Outcome) => unknown,
  ): { by: ReturnType<typeof changedBy>; also: (outcome: Outcome) => Transaction<void> } {
    return {
      by: changedBy(by, this.ids.newId()),
      *also(outcome) {
        if (by.idempotency !== undefined) yield* by.idempotency.store(200, toAnswer(outcome));
      },
    };
  }

  private async factoryDefaults(uid: string, access: Access) {
    const factory = maySee(access, uid) ? await this.factories.find(uid) : undefined;
    if (factory === undefined) throw notFound('the factory');
    const definition = (await this.definitions.factories([uid])).get(uid);
    return definition?.agentDefaults && toAgentConfig(definition.agentDefaults);
  }

  /** What a run refers to has to be there for its key. contract §2, §3.2 (Create). */
  private async refuseUnseen(
    { conversation_id: conversationId, parent_run_id: parentRunId }: RequestBody<'run-agent-request'>,
    access: Access,
  ): Promise<void> {
    if (conversationId !== undefined && !(await this.histories.hasConversation(conversationId, access.factories)))
      throw notFound('the conversation');
    if (parentRunId === undefined) return;
    const parent = await this.runs.status(parentRunId);
    if (parent === undefined || !maySee(access, parent.factory_uid ?? undefined)) {
      throw new RefusalError('invalid_request', 'there is no such parent run', {
        errors: [{ pointer: '/parent_run_id', message: 'must be a run that the key may see' }],
      });
    }
  }
}

function toNewRun(
  request: RequestBody<'run-agent-request'>,
  defaults: ReturnType<typeof toAgentConfig> | undefined,
  ticket: Record<string, string>,
  server: ServerAgent,
): Omit<NewRun, 'runId' | 'source' | 'creatorUid' | 'createdAtMs'> {
  const skill = request.skill ?? request.config?.skill_spec;
  const prompt = request.prompt ?? `Use the skill ${skill}.`;
  const config = resolveAgentConfig([{ ...request.config, skill_spec: skill }, defaults], undefined, server);
  return {
    prompt,
    title: request.title ?? defaultTitle(prompt),
    configName: config.name,
    modelId: config.model_id,
    environmentId: config.environment_id,
    skillSpec: config.skill_spec,
    workerHost: config.worker_host,
    agentConfig: JSON.stringify(config),
    metadata: JSON.stringify({ ...request.metadata, ...ticket }),
    factoryUid: request.factory_uid,
    conversationId: request.conversation_id,
    parentRunId: request.parent_run_id,
    triggerUrl: ticket['ticket_url'],
    mode: request.mode,
    interactive: request.interactive,
  };
}

function toNewAttachments(files: readonly AttachmentRequest[]): NewAttachment[] {
  return files.map(({ file_name: fileName, mime_type: mimeType, data }) => ({
    fileName,
    mimeType,
    content: Buffer.from(data, 'base64'),
  }));
}

function followupRefusal(reason: Extract<FollowupDecision, { ok: false }>['reason']): RefusalError {
  switch (reason) {
    case 'cancel-under-way':
      return lastingConflict('a cancel of this run is under way');
    case 'factory-deleted':
      return lastingConflict('the factory of this run was deleted');
    case 'task-too-large':
      return tooMuch(
        '/message',
        `must be at most ${TASK_BYTES_MAX} bytes together with what waits for this run already`,
      );
    case 'attachments-too-many':
      return tooMuch(
        '/attachments',
        `must be at most ${RUN_ATTACHMENTS_MAX} files of ${RUN_ATTACHMENT_BYTES_MAX} bytes together with those ` +
          'that the run has already',
      );
  }
}

function tooMuch(pointer: string, message: string): RefusalError {
  return new RefusalError('invalid_request', 'the run has been given too much already', {
    errors: [{ pointer, message }],
  });
}
