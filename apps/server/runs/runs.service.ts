/**
 * What can be done with runs: create, dispatch, look at, follow up, cancel. Decisions are `#runs`, effects are the
 * store's. spec: Agent run interface.
 */
import { Inject, Injectable } from '@nestjs/common';
import { COMMAND_HARNESS, toAgentConfig, withoutAbsent } from '#agents';
import { unknownMembers } from '#contracts';
import type {
  FactoryDispatchResponse,
  RequestBody,
  RunAgentResponse,
  RunEventList,
  RunFollowupResponse,
  RunItem,
  RunReference,
} from '#contracts';
import {
  attachmentsOf,
  followupOutcome,
  ignoredSaid,
  ineffectiveMembers,
  ineffectiveMode,
  interruptDecision,
  isEnded,
  type FollowupOutcome,
  type RunSource,
  type RunState,
} from '#runs';
import type { Access } from '../store/access/access.ts';
import { ArtifactStore } from '../store/runs/run-files.ts';
import { appendToLog } from '../store/runs/run-log.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { RunHistoryStore } from '../store/runs/run-history.ts';
import { AgentIdentityStore } from '../store/runs/agent-identities.ts';
import { InterruptStore } from '../store/runs/run-interrupts.ts';
import { RunStore, type RunStatus } from '../store/runs/runs.ts';
import type { Transaction } from '../store/database/transactions.ts';
import { changedBy, maySee, type Caller } from '../http/access-guard.ts';
import { notFound, RefusalError } from '../http/error-codes.ts';
import { harnessOf } from '../execution/preparation/execution-spec.ts';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { CONFIG, Clock, IdSource } from '../process/injection-tokens.ts';
import type { Config } from '../config/config.ts';
import { toRunEventItem } from './runs.items.ts';
import { RunItems } from './run-item-loader.ts';
import {
  followupFiles,
  harnessFacts,
  identityOf,
  toNewAttachments,
  toNewRun,
  visibleRun,
  visibleRunStatus,
  type WantedRun,
} from './runs.requests.ts';
import { followupRefusal, interruptRefusal } from './runs.refusals.ts';
import { RunAdmission } from './run-admission.ts';
import { RunNotifier } from './run-notifier.ts';

/** What an interrupt answers: the agent ends its turn afterwards. */
const ACCEPTED = 202;

@Injectable()
export class RunService {
  constructor(
    private readonly runs: RunStore,
    private readonly interrupts: InterruptStore,
    private readonly identities: AgentIdentityStore,
    private readonly histories: RunHistoryStore,
    private readonly factories: FactoryStore,
    private readonly definitions: DefinitionStore,
    private readonly items: RunItems,
    private readonly agents: RunAgents,
    private readonly admission: RunAdmission,
    private readonly notifier: RunNotifier,
    private readonly artifacts: ArtifactStore,
    @Inject(CONFIG) private readonly config: Config,
    private readonly clock: Clock,
    private readonly ids: IdSource,
  ) {}

  /** spec: Agent run interface. The run is committed before this returns. */
  create(request: RequestBody<'run-agent-request'>, by: Caller, source: RunSource): Promise<RunAgentResponse> {
    const wanted = { request, ticket: {}, unknown: unknownMembers('run-agent-request', request) };
    return this.start(wanted, by, source, (made) => made);
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
    const wanted = {
      request: { prompt, title, config, metadata, attachments, factory_uid: factoryUid },
      ticket,
      unknown: unknownMembers('dispatch-request', request),
    };
    return this.start(wanted, by, source, ({ run_id: runId, state, ignored }) =>
      withoutAbsent({
        factory_uid: factoryUid,
        run_id: runId,
        state,
        ticket_ref: ref ?? '',
        run_url: `${this.config.publicUrl}/runs/${runId}`,
        foreman_agent: '',
        ignored,
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
    const attachments = await followupFiles(this.artifacts, request.attachments ?? [], by.access);
    if (attachments.length > 0) this.admission.refuseWithoutDisk();
    const followupId = this.ids.newId();
    const ignored = unknownMembers('run-followup-request', request);
    const toAnswer = (outcome: FollowupOutcome): RunFollowupResponse =>
      withoutAbsent({ ...more, followup_id: followupId, outcome, ignored: someOf(ignored) });
    const wanted = {
      followupId,
      runId,
      principalUid: by.access.principal.uid,
      message: request.message || FILES_ALONE,
      mode: request.mode,
      attachments,
    };
    const decided = await this.runs.followup(
      wanted,
      (run, facts) => {
        const isCommand = harnessOf(run.agent_config) === COMMAND_HARNESS;
        ignored.push(...ineffectiveMode(request.mode, { isCommand }).filter((pointer) => !ignored.includes(pointer)));
        return followupOutcome(run.state as RunState, {
          ...facts,
          promptClaimed: run.prompt_taken_at !== null,
          agentConcurrent: this.agents.takesPromptsInTurn(run.agent_config),
          cancelRequested: run.cancel_requested_at !== null && !isEnded(run.state as RunState),
        });
      },
      this.transactionHook(by, toAnswer, { runId, what: 'follow-up', ignored }),
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

  /** Ends the turn that the agent works on, and not the run; stored before it is answered. contract §3.13. */
  async interrupt(runId: string, by: Caller): Promise<RunReference> {
    await visibleRunStatus(this.runs, runId, by.access);
    const decision = await this.interrupts.request(
      { interruptId: this.ids.newId(), runId, principalUid: by.access.principal.uid },
      (run, facts) =>
        interruptDecision(run.state as RunState, {
          ...facts,
          cancelRequested: run.cancel_requested_at !== null,
          takesInterrupts: this.agents.takesInterrupts(run.agent_config),
        }),
      this.transactionHook(by, () => ({ run_id: runId }), undefined, ACCEPTED),
    );
    if (decision === undefined) throw notFound('the run');
    if (!decision.ok) throw interruptRefusal(decision.reason);
    this.notifier.notifyAll(runId);
    return { run_id: runId };
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
    { request: asked, ticket, unknown }: WantedRun,
    by: Caller,
    source: RunSource,
    toAnswer: (made: RunAgentResponse) => Answer,
  ): Promise<Answer> {
    const { access } = by;
    const identity = await identityOf(this.identities, asked, access);
    const request = { ...asked, factory_uid: asked.factory_uid ?? identity?.factoryUid };
    const { factory_uid: factoryUid } = request;
    if (factoryUid === undefined && access.factories !== undefined) {
      throw new RefusalError('not_authorized', 'this key is limited to factories: name one as factory_uid');
    }
    const defaults = factoryUid === undefined ? undefined : await this.factoryDefaults(factoryUid, access);
    await this.refuseUnseen(request, access);
    await this.admission.refuseWithoutRoom(factoryUid);
    const run = {
      ...toNewRun(request, { identity, defaults, ticket, server: this.agents.server }),
      runId: this.ids.newId(),
      source,
      creatorUid: access.principal.uid,
      createdAtMs: this.clock.nowMs(),
    };
    const ignored = [...unknown, ...ineffectiveMembers(request, harnessFacts(run.agentConfig))];
    const free = this.admission.freeSlots();
    const answerOf = ({ waiting }: { waiting: number }): Answer => {
      const { runId } = run;
      const atCapacity = waiting >= free;
      const answer = { run_id: runId, task_id: runId, state: 'QUEUED' as const, at_capacity: atCapacity };
      return toAnswer(withoutAbsent({ ...answer, ignored: someOf(ignored) }));
    };
    const made = await this.runs.create(run, {
      ...this.transactionHook(by, answerOf, { runId: run.runId, what: 'request', ignored }),
      attachments: toNewAttachments(attachmentsOf(request)),
    });
    if (made === undefined) throw notFound('the factory');
    this.admission.added(factoryUid);
    this.notifier.notifyEngines();
    return answerOf(made);
  }

  /** Who asked, the answer to an idempotency key, and what was ignored: all committed with the change. */
  private transactionHook<Outcome>(
    by: Caller,
    toAnswer: (outcome: Outcome) => unknown,
    told?: { runId: string; what: 'request' | 'follow-up'; ignored: readonly string[] },
    status = 200,
  ): { by: ReturnType<typeof changedBy>; also: (outcome: Outcome) => Transaction<void> } {
    const atMs = this.clock.nowMs();
    return {
      by: changedBy(by, this.ids.newId()),
      *also(outcome) {
        if (told !== undefined && told.ignored.length > 0) {
          const body = JSON.stringify({ text: ignoredSaid(told.what, told.ignored) });
          yield* appendToLog(told.runId, undefined, [{ kind: 'status', atMs, body }]);
        }
        if (by.idempotency !== undefined) yield* by.idempotency.store(status, toAnswer(outcome));
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

/** What a follow-up says that has files and no message. */
const FILES_ALONE = 'Look at the files that come with this.';
/** Undefined where there is nothing to list. */
function someOf(pointers: readonly string[]): string[] | undefined {
  return pointers.length === 0 ? undefined : [...pointers];
}
