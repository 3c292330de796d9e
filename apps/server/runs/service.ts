/** What can be done with runs: create, look at, follow up, cancel. Decisions are `#runs`, effects are the store's. spec: Agent run interface. */
import {
  agentConfigProblems, decodeCursor, defaultTitle, encodeCursor, followupOutcome, isEnded, metadataProblems, queryDigest, resolveAgentConfig, RUN_STATES, skillProblems, TASK_BYTES_MAX,
  ticketProblems, toAgentConfig, type FollowupDecision, type RunSource, type RunState,
} from '#runs';
import type { Access, AccessStore, Principal } from '../store/access.ts';
import type { FactoryStore } from '../store/factories.ts';
import type { DefinitionStore } from '../store/definitions.ts';
import type { ListFilter, ListKey, RunStore } from '../store/runs.ts';
import type { RunRow } from '../store/tables.ts';
import { maySee, type Caller } from '../http/access.ts';
import { lastingConflict, notFound, Refusal } from '../http/answers.ts';
import type { FactoryDispatchRequest, RunAgentRequest, RunFollowupRequest } from '../http/body-schemas.ts';
import { toRunItem } from './run-item.ts';
import { toTime } from '../http/times.ts';

/** What the outside world gives the service. */
export interface RunSurroundings {
  publicUrl: string;
  nowMs(): number;
  newId(): string;
  /** Tells the engine that something waits. */
  wake(): void;
}

/** A parsed list query. */
export interface RunListQuery {
  states?: string[];
  factoryUids?: string[];
  name?: string;
  deliveryId?: string;
  limit: number;
  cursor?: string;
}

/** The ticket that a dispatch is about; stored as metadata of the run. */
export type Ticket = Pick<FactoryDispatchRequest, 'ticket_ref' | 'ticket_url'>;

export class RunService {
  private readonly runs: RunStore;
  private readonly factories: FactoryStore;
  private readonly definitions: DefinitionStore;
  private readonly accounts: AccessStore;
  private readonly around: RunSurroundings;
  private readonly principals = new Map<string, Principal>();

  constructor(runs: RunStore, factories: FactoryStore, definitions: DefinitionStore, accounts: AccessStore, around: RunSurroundings) {
    this.runs = runs;
    this.factories = factories;
    this.definitions = definitions;
    this.accounts = accounts;
    this.around = around;
  }

  /** spec: POST /agent/run. The run is committed before this returns. */
  async create(request: RunAgentRequest, by: Caller, source: RunSource, ticket: Ticket = {}): Promise<{ run_id: string; task_id: string; state: RunState }> {
    const prompt = promptOf(request);
    refuseProblems(request, ticket);
    const { access } = by;
    if (request.factory_uid === undefined && access.factories !== undefined) {
      throw new Refusal('not_authorized', 'this key is limited to factories: name one as factory_uid');
    }
    const defaults = request.factory_uid === undefined ? undefined : await this.factoryDefaults(request.factory_uid, access);
    const runId = this.around.newId();
    const own = { ...request.config, skill_spec: request.skill ?? request.config?.skill_spec };
    const config = resolveAgentConfig([own, defaults], undefined);
    await this.runs.create({
      runId, prompt, source,
      title: request.title ?? defaultTitle(prompt),
      creatorUid: access.principal.uid,
      configName: config.name, modelId: config.model_id, environmentId: config.environment_id, skillSpec: config.skill_spec,
      agentConfig: JSON.stringify(config),
      metadata: JSON.stringify({ ...request.metadata, ...ticket }),
      factoryUid: request.factory_uid,
      createdAtMs: this.around.nowMs(),
    });
    this.around.wake();
    await this.audit(by, 'run.create', runId, request.factory_uid);
    return { run_id: runId, task_id: runId, state: 'QUEUED' };
  }

  async get(runId: string, access: Access): Promise<Record<string, unknown>> {
    return this.toItem(await this.visible(runId, access));
  }

  /** spec: GET /agent/runs. Newest change first, paged by key; a page of large prompts ends before its limit. */
  async list(query: RunListQuery, access: Access): Promise<{ runs: Record<string, unknown>[]; page_info: { has_next_page: boolean; next_cursor?: string } }> {
    const filter = this.toFilter(query, access);
    const digest = queryDigest({ ...query, limit: undefined, cursor: undefined });
    const { runs, next } = await this.runs.list(filter, query.limit, toKey(query.cursor, digest));
    return {
      runs: await Promise.all(runs.map((run) => this.toItem(run))),
      page_info: next ? { has_next_page: true, next_cursor: encodeCursor({ query: digest, key: [next.updatedAtMs, next.runId] }) } : { has_next_page: false },
    };
  }

  /** spec: POST /agent/runs/{runId}/followups. Stored before it is answered. */
  async followup(runId: string, request: RunFollowupRequest, by: Caller): Promise<{ followup_id: string; outcome: string }> {
    const { factory_uid: factoryUid } = await this.visible(runId, by.access);
    const followupId = this.around.newId();
    const decided = await this.runs.followup({ followupId, runId, principalUid: by.access.principal.uid, message: request.message }, (run, around) =>
      followupOutcome(run.state as RunState, {
        ...around, promptTaken: run.prompt_taken_at !== null, agentConcurrent: false, cancelRequested: run.cancel_requested_at !== null && !isEnded(run.state as RunState),
      }),
    );
    if (decided === undefined) throw notFound('the run');
    if (!decided.ok) throw followupRefusal(decided.reason);
    this.around.wake();
    await this.audit(by, 'run.followup', runId, factoryUid ?? undefined);
    return { followup_id: followupId, outcome: decided.outcome };
  }

  /** spec: POST /agent/runs/{runId}/cancel. Answers the run's ID as a bare JSON string. */
  async cancel(runId: string, by: Caller): Promise<string> {
    const { factory_uid: factoryUid } = await this.visible(runId, by.access);
    const outcome = await this.runs.cancel(runId);
    if (outcome === 'unknown') throw notFound('the run');
    if (outcome === 'ended') throw new Refusal('invalid_request', 'the run has ended already');
    this.around.wake();
    await this.audit(by, 'run.cancel', runId, factoryUid ?? undefined);
    return runId;
  }

  /** Address of a run's page. */
  linkOf(runId: string): string {
    return `${this.around.publicUrl}/runs/${runId}`;
  }

  /** The run's log in order, from behind `after`. */
  async events(runId: string, after: number, limit: number, access: Access): Promise<{ events: Record<string, unknown>[] }> {
    await this.visible(runId, access);
    const events = await this.runs.events(runId, after, limit);
    return {
      events: events.map(({ seq, kind, atMs, executionId, body }) => ({
        seq, event_type: kind, occurred_at: toTime(atMs), run_id: runId, execution_id: executionId, payload: JSON.parse(body) as unknown,
      })),
    };
  }

  private async visible(runId: string, access: Access): Promise<RunRow> {
    const run = await this.runs.find(runId);
    if (run === undefined || !maySee(access, run.factory_uid ?? undefined)) throw notFound('the run');
    return run;
  }

  private async factoryDefaults(uid: string, access: Access) {
    const factory = maySee(access, uid) ? await this.factories.find(uid) : undefined;
    if (factory === undefined) throw notFound('the factory');
    const definition = (await this.definitions.factories([uid])).get(uid);
    return definition?.agentDefaults && toAgentConfig(definition.agentDefaults);
  }

  private audit({ access, address }: Caller, action: string, runId: string, factoryUid: string | undefined): Promise<void> {
    return this.accounts.audit({ id: this.around.newId(), principalUid: access.principal.uid, action, subject: runId, factoryUid, address, details: '{}' });
  }

  private toFilter(query: RunListQuery, access: Access): ListFilter {
    const unknown = (query.states ?? []).filter((state) => !(RUN_STATES as readonly string[]).includes(state));
    if (unknown.length > 0) throw new Refusal('invalid_request', 'state is not a run state', { errors: [{ pointer: 'state', message: `must be one of ${RUN_STATES.join(', ')}` }] });
    const asked = query.factoryUids?.filter((uid) => maySee(access, uid));
    const factoryUids = asked ?? access.factories;
    return {
      states: query.states as RunState[] | undefined,
      factoryUids: factoryUids?.length === 0 ? ['-'] : factoryUids,
      configName: query.name,
      deliveryId: query.deliveryId,
    };
  }

  private async toItem(run: RunRow): Promise<Record<string, unknown>> {
    const creator = await this.principal(run.creator_uid);
    return toRunItem(run, creator, creator, this.around.publicUrl);
  }

  // Principals never change their names here, so that a list of 500 runs asks once for each.
  private async principal(uid: string): Promise<Principal | undefined> {
    const known = this.principals.get(uid) ?? (await this.accounts.principal(uid));
    if (known !== undefined && this.principals.size < 10_000) this.principals.set(uid, known);
    return known;
  }
}

function followupRefusal(reason: Extract<FollowupDecision, { ok: false }>['reason']): Refusal {
  switch (reason) {
    case 'cancel-under-way':
      return lastingConflict('a cancel of this run is under way');
    case 'factory-deleted':
      return lastingConflict('the factory of this run was deleted');
    case 'task-too-large': {
      const message = `must be at most ${TASK_BYTES_MAX} bytes together with what waits for this run already`;
      return new Refusal('invalid_request', 'too much waits for this run already', { errors: [{ pointer: '/message', message }] });
    }
  }
}

/** Everything that a schema cannot state, each by its pointer. contract 3 (Create). */
function refuseProblems(request: RunAgentRequest, ticket: Ticket): void {
  const errors = [
    ...metadataProblems(request.metadata ?? {}),
    ...ticketProblems(ticket),
    ...skillProblems(request.skill, '/skill'),
    ...agentConfigProblems(request.config ?? {}),
  ];
  if (errors.length === 0) return;
  throw new Refusal('invalid_request', errors.length === 1 ? 'a member of the body is invalid' : `${errors.length} members of the body are invalid`, { errors });
}

function promptOf(request: RunAgentRequest): string {
  const skill = request.skill ?? request.config?.skill_spec;
  if (request.prompt !== undefined) return request.prompt;
  if (skill === undefined) throw new Refusal('invalid_request', 'a run needs a prompt or a skill', { errors: [{ pointer: '/prompt', message: 'is required unless skill or config.skill_spec is given' }] });
  return `Use the skill ${skill}.`;
}

function toKey(cursor: string | undefined, digest: string): ListKey | undefined {
  if (cursor === undefined) return undefined;
  const decoded = decodeCursor(cursor, digest);
  const [updatedAtMs, runId] = decoded.ok ? decoded.key : [];
  if (Number.isSafeInteger(updatedAtMs) && typeof updatedAtMs === 'number' && typeof runId === 'string' && !runId.includes('\0')) return { updatedAtMs, runId };
  throw new Refusal('invalid_request', 'the cursor does not belong to this query', { errors: [{ pointer: 'cursor', message: 'must come from an answer to the same query' }] });
}
