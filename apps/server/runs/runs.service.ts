/** What can be done with runs: create, dispatch, look at, follow up, cancel. Decisions are `#runs`, effects are the store's. spec: Agent run interface. */
import {
  attachmentsOf,
  defaultTitle,
  followupOutcome,
  isEnded,
  resolveAgentConfig,
  RUN_ATTACHMENT_BYTES_MAX,
  RUN_ATTACHMENTS_MAX,
  TASK_BYTES_MAX,
  toAgentConfig,
  type AttachmentRequest,
  type FollowupDecision,
  type FollowupOutcome,
  type RunSource,
  type RunState,
  type ServerAgent,
} from '#runs';
import type { FactoryDispatchResponse, RunAgentResponse, RunEventList, RunFollowupResponse, RunItem } from '#contracts';
import type { Access } from '../store/access/access.ts';
import type { NewAttachment } from '../store/runs/run-files.ts';
import type { FactoryStore } from '../store/factories/factories.ts';
import type { DefinitionStore } from '../store/definitions/definitions.ts';
import type { NewRun } from '../store/runs/new-run.ts';
import type { RunHistoryStore } from '../store/runs/run-history.ts';
import type { RunStore, RunStatus } from '../store/runs/runs.ts';
import type { Transaction } from '../store/database/transactions.ts';
import { changedBy, maySee, type Caller } from '../http/access-guard.ts';
import { lastingConflict, notFound, RefusalError } from '../http/error-codes.ts';
import type { FactoryDispatchRequest, RunAgentRequest, RunFollowupRequest } from '../http/body-schemas.ts';
import type { WaitingRuns } from '../ingress/waiting-runs.ts';
import { toRunEventItem } from './runs.items.ts';
import type { RunItems } from './run-item-loader.ts';
import { visibleRun, visibleRunStatus } from './visible-runs.ts';

/** What the outside world gives the service. */
export interface RunServiceDeps {
  publicUrl: string;
  /** What runs get that name nothing themselves. */
  serverAgent: ServerAgent;
  nowMs(): number;
  newId(): string;
  /** Tells the engine that something waits. */
  wake(): void;
  /** Tells who watches a run that something changed. */
  tell(runId: string): void;
  /** Runs that this server could start at once. */
  freePlaces(): number;
  /** Whether the agent of a resolved configuration takes a message while it works; JSON text. */
  takesPromptsInTurn(agentConfig: string): boolean;
  waitingRuns: WaitingRuns;
  /** Whether the data folder's disk has less than its reserve. */
  isDiskLow(): boolean;
}

/** Seconds after which a client may ask again when there is no room for more. */
const RETRY_AFTER_SECONDS = 5;

/** Key of the runs that belong to no factory, among the waiting ones. */
const NO_FACTORY = '';

export class RunService {
  private readonly runs: RunStore;
  private readonly histories: RunHistoryStore;
  private readonly factories: FactoryStore;
  private readonly definitions: DefinitionStore;
  private readonly items: RunItems;
  private readonly around: RunServiceDeps;

  constructor(
    runs: RunStore,
    histories: RunHistoryStore,
    factories: FactoryStore,
    definitions: DefinitionStore,
    items: RunItems,
    around: RunServiceDeps,
  ) {
    this.runs = runs;
    this.histories = histories;
    this.factories = factories;
    this.definitions = definitions;
    this.items = items;
    this.around = around;
  }

  /** spec: POST /agent/run. The run is committed before this returns. */
  create(request: RunAgentRequest, by: Caller, source: RunSource): Promise<RunAgentResponse> {
    return this.start(request, {}, by, source, (made) => made);
  }

  /** spec: factory dispatch. The ticket becomes metadata of the run, and what triggered it. contract 4. */
  dispatch(
    factoryUid: string,
    request: FactoryDispatchRequest,
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
        ticket_ref: ref ?? null,
        run_url: `${this.around.publicUrl}/runs/${runId}`,
        foreman_agent: null,
      }),
    );
  }

  async get(runId: string, access: Access): Promise<RunItem> {
    const [item] = await this.items.of([await visibleRun(this.runs, runId, access)], access);
    return item as RunItem;
  }

  /** spec: POST /agent/runs/{runId}/followups. Stored, with its files, before it is answered. */
  async followup(runId: string, request: RunFollowupRequest, by: Caller): Promise<RunFollowupResponse> {
    await visibleRunStatus(this.runs, runId, by.access);
    const attachments = toNewAttachments(attachmentsOf(request));
    if (attachments.length > 0) this.refuseWithoutDisk();
    const followupId = this.around.newId();
    const toAnswer = (outcome: FollowupOutcome): RunFollowupResponse => ({ followup_id: followupId, outcome });
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
          promptTaken: run.prompt_taken_at !== null,
          agentConcurrent: this.around.takesPromptsInTurn(run.agent_config),
          cancelRequested: run.cancel_requested_at !== null && !isEnded(run.state as RunState),
        }),
      this.beside(by, toAnswer),
    );
    if (decided === undefined) throw notFound('the run');
    if (!decided.ok) throw followupRefusal(decided.reason);
    this.changed(runId);
    return toAnswer(decided.outcome);
  }

  /** spec: POST /agent/runs/{runId}/cancel. Answers the run's ID as a bare JSON string. */
  async cancel(runId: string, by: Caller): Promise<string> {
    await visibleRunStatus(this.runs, runId, by.access);
    const outcome = await this.runs.cancel(
      runId,
      this.beside(by, () => runId),
    );
    if (outcome === 'unknown') throw notFound('the run');
    if (outcome === 'ended') throw new RefusalError('invalid_request', 'the run has ended already');
    this.changed(runId);
    return runId;
  }

  /** Where a run stands, without its texts; 404 for one that the key may not see. */
  standing(runId: string, access: Access): Promise<RunStatus> {
    return visibleRunStatus(this.runs, runId, access);
  }

  /** The run's log in order, from behind `after`. */
  async events(runId: string, after: number, limit: number, access: Access): Promise<RunEventList> {
    await visibleRunStatus(this.runs, runId, access);
    return { events: (await this.runs.events(runId, after, limit)).map((event) => toRunEventItem(runId, event)) };
  }

  private async start<Answer>(
    request: RunAgentRequest,
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
    await this.refuseWithoutRoom(factoryUid);
    const run = {
      ...toNewRun(request, defaults, ticket, this.around.serverAgent),
      runId: this.around.newId(),
      source,
      creatorUid: access.principal.uid,
      createdAtMs: this.around.nowMs(),
    };
    const free = this.around.freePlaces();
    const answerOf = ({ waiting }: { waiting: number }): Answer =>
      toAnswer({ run_id: run.runId, task_id: run.runId, state: 'QUEUED', at_capacity: waiting >= free });
    const made = await this.runs.create(run, {
      ...this.beside(by, answerOf),
      attachments: toNewAttachments(attachmentsOf(request)),
    });
    if (made === undefined) throw notFound('the factory');
    this.around.waitingRuns.added(factoryUid ?? NO_FACTORY, 1);
    this.around.wake();
    return answerOf(made);
  }

  /** Who asked, and the answer to an idempotency key: both committed with the change. */
  private beside<Outcome>(
    by: Caller,
    toAnswer: (outcome: Outcome) => unknown,
  ): { by: ReturnType<typeof changedBy>; also: (outcome: Outcome) => Transaction<void> } {
    return {
      by: changedBy(by, this.around.newId()),
      *also(outcome) {
        if (by.idempotency !== undefined) yield* by.idempotency.store(200, toAnswer(outcome));
      },
    };
  }

  private changed(runId: string): void {
    this.around.wake();
    this.around.tell(runId);
  }

  private async factoryDefaults(uid: string, access: Access) {
    const factory = maySee(access, uid) ? await this.factories.find(uid) : undefined;
    if (factory === undefined) throw notFound('the factory');
    const definition = (await this.definitions.factories([uid])).get(uid);
    return definition?.agentDefaults && toAgentConfig(definition.agentDefaults);
  }

  /** What a run refers to has to be there for its key. contract 2, 3 (Create). */
  private async refuseUnseen(
    { conversation_id: conversationId, parent_run_id: parentRunId }: RunAgentRequest,
    access: Access,
  ): Promise<void> {
    if (conversationId !== undefined && !(await this.histories.hasConversation(conversationId, access.factories)))
      throw notFound('the conversation');
    if (parentRunId !== undefined) await visibleRunStatus(this.runs, parentRunId, access, 'the parent run');
  }

  /** contract 5: the bound of the queue holds for everything that creates runs. */
  private async refuseWithoutRoom(factoryUid: string | undefined): Promise<void> {
    this.refuseWithoutDisk();
    if (await this.around.waitingRuns.isFull(factoryUid ?? NO_FACTORY)) {
      throw new RefusalError('resource_unavailable', 'too many runs wait already', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  }

  private refuseWithoutDisk(): void {
    if (this.around.isDiskLow())
      throw new RefusalError('resource_unavailable', 'the disk of the service is nearly full', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
  }
}

function toNewRun(
  request: RunAgentRequest,
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
        `must be at most ${RUN_ATTACHMENTS_MAX} files of ${RUN_ATTACHMENT_BYTES_MAX} bytes together with those that the run has already`,
      );
  }
}

function tooMuch(pointer: string, message: string): RefusalError {
  return new RefusalError('invalid_request', 'the run has been given too much already', {
    errors: [{ pointer, message }],
  });
}
