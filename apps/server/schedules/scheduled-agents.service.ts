/**
 * Schedules that people look at, make and change; what their ticks start, the scheduler does. Those of automations are
 * changed where the automations are. contract §12.8 (Schedules).
 */
import { Injectable } from '@nestjs/common';
import { resolveAgentConfig, identityConfig, toAgentConfig, type AmbientAgentConfig } from '#agents';
import {
  unknownMembers,
  type RequestBody,
  type ScheduleDeleted,
  type ScheduleItem,
  type ScheduleList,
} from '#contracts';
import {
  bareSkillProblems,
  changedSchedule,
  ignoredAfter,
  ineffectiveMembers,
  lacksWork,
  NEEDS_PROMPT,
  newSchedule,
  scheduledConfig,
  type ScheduledAgentSettings,
} from '#runs';
import { changedBy, maySee, visibleFactory, type Caller } from '../http/access-guard.ts';
import { invalidMembers, lastingConflict, type MemberError, notFound, RefusalError } from '../http/error-codes.ts';
import { Clock, IdSource } from '../process/injection-tokens.ts';
import type { Access } from '../store/access/access.ts';
import { CatalogueStore } from '../store/definitions/catalogue.ts';
import { ResourceStore } from '../store/definitions/resource-files.ts';
import type { ScheduledAgent } from '../store/definitions/scheduled-agent-rows.ts';
import {
  SCHEDULED_AGENTS_MAX,
  ScheduledAgentStore,
  type ScheduledAgentHook,
} from '../store/definitions/scheduled-agents.ts';
import { DefinitionStore } from '../store/definitions/definitions.ts';
import { FactoryStore } from '../store/factories/factories.ts';
import { AgentIdentityStore, type AgentIdentity } from '../store/runs/agent-identities.ts';
import { RunAgents } from '../execution/preparation/run-agents.ts';
import { harnessFacts, identityOf } from '../runs/runs.requests.ts';
import { toScheduleItem, toTriggerItems } from './schedules.items.ts';

@Injectable()
export class ScheduledAgentService {
  constructor(
    private readonly agents: ScheduledAgentStore,
    private readonly catalogue: CatalogueStore,
    private readonly factories: FactoryStore,
    private readonly resources: ResourceStore,
    private readonly definitions: DefinitionStore,
    private readonly identities: AgentIdentityStore,
    private readonly runAgents: RunAgents,
    private readonly clock: Clock,
    private readonly ids: IdSource,
  ) {}

  /** By name. */
  async list(access: Access): Promise<ScheduleList> {
    const nowMs = this.clock.nowMs();
    const agents = await this.agents.list(access.factories);
    const schedules = [...agents.map((agent) => toScheduleItem(agent, nowMs)), ...(await this.triggers(access))];
    return { schedules: schedules.toSorted((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1)) };
  }

  /** 404 for a schedule that is none, and for one that the key may not see. */
  async get(scheduleId: string, access: Access): Promise<ScheduleItem> {
    const agent = await this.visible(scheduleId, access);
    if (agent !== undefined) return toScheduleItem(agent, this.clock.nowMs());
    return this.trigger(scheduleId, access);
  }

  async create(request: RequestBody<'schedule-create'>, by: Caller): Promise<ScheduleItem> {
    const identity = await this.identityOf(request, request.factory_uid, by.access);
    const factoryUid = request.factory_uid ?? identity?.factoryUid;
    await this.refuseFactory(factoryUid, by.access);
    const agentConfig = scheduledConfig(request.agent_config) ?? {};
    const levels = { agentConfig, identity, factoryUid };
    const settings: ScheduledAgentSettings = {
      name: request.name,
      cron: request.cron_schedule,
      prompt: request.prompt,
      agentConfig,
      metadata: request.metadata ?? {},
      mode: request.mode ?? 'normal',
      isEnabled: request.enabled ?? true,
      agentIdentityUid: identity?.uid ?? null,
      ignored: await this.ignoredOf('schedule-create', request, levels),
    };
    const errors = await this.referenceErrors(settings, factoryUid);
    if (errors.length > 0) throw invalidMembers(errors);
    const nowMs = this.clock.nowMs();
    const made = await this.agents.create(
      { ...newSchedule(settings, nowMs), scheduleId: this.ids.newId(), factoryUid, createdAtMs: nowMs },
      this.hook('schedule.create', by),
    );
    if (made === 'gone') throw notFound('the factory');
    if (made === 'no-identity') throw badIdentity(NO_IDENTITY);
    if (made === 'full') throw lastingConflict(`there are ${SCHEDULED_AGENTS_MAX} schedules, and no more fit`);
    return toScheduleItem(made, nowMs);
  }

  /** Members that may be absent and are stay as they are. */
  async update(scheduleId: string, request: RequestBody<'schedule-update'>, by: Caller): Promise<ScheduleItem> {
    const before = await this.own(scheduleId, by.access);
    const { factoryUid } = before;
    const identity = await this.identityOf(request, factoryUid, by.access, before.agentIdentityUid);
    const agentConfig = scheduledConfig(request.agent_config);
    const levels = { agentConfig: agentConfig ?? before.agentConfig, identity, factoryUid };
    const now = await this.ignoredOf('schedule-update', { ...request, mode: request.mode ?? before.mode }, levels);
    const wanted: Partial<ScheduledAgentSettings> = {
      name: request.name,
      cron: request.cron_schedule,
      isEnabled: request.enabled,
      prompt: request.prompt,
      agentConfig,
      metadata: request.metadata,
      mode: request.mode,
      agentIdentityUid: request.agent_uid === undefined ? undefined : (identity?.uid ?? null),
    };
    const errors = await this.referenceErrors(wanted, factoryUid);
    if (errors.length > 0) throw invalidMembers(errors);
    const ignored = ({ ignored: known }: ScheduledAgent): readonly string[] => ignoredAfter(known, request, now);
    return this.change(
      scheduleId,
      (stored) => ({ ...wanted, ignored: ignored(stored) }),
      this.hook('schedule.change', by),
    );
  }

  /** Pauses or resumes one; repeating it changes nothing. */
  async setEnabled(scheduleId: string, isEnabled: boolean, by: Caller): Promise<ScheduleItem> {
    await this.own(scheduleId, by.access);
    return this.change(
      scheduleId,
      () => ({ isEnabled }),
      this.hook(isEnabled ? 'schedule.resume' : 'schedule.pause', by),
    );
  }

  async remove(scheduleId: string, by: Caller): Promise<ScheduleDeleted> {
    await this.own(scheduleId, by.access);
    if (!(await this.agents.remove(scheduleId, this.hook('schedule.delete', by)))) throw notFound('the schedule');
    return { success: true };
  }

  private async change(
    scheduleId: string,
    wanted: (before: ScheduledAgent) => Partial<ScheduledAgentSettings>,
    hook: ScheduledAgentHook,
  ): Promise<ScheduleItem> {
    const nowMs = this.clock.nowMs();
    const changed = await this.agents.change(
      scheduleId,
      (before) => {
        const after = changedSchedule(before, wanted(before), nowMs);
        return after !== undefined && lacksWork(after) ? 'idle' : after;
      },
      hook,
    );
    if (changed === 'gone') throw notFound('the schedule');
    if (changed === 'no-identity') throw badIdentity(NO_IDENTITY);
    if (changed === 'idle') throw invalidMembers([{ pointer: '/prompt', message: `prompt ${NEEDS_PROMPT}` }]);
    return toScheduleItem(changed, nowMs);
  }

  /** Who asked, and the answer to an idempotency key: both committed with the change. */
  private hook(action: string, by: Caller): ScheduledAgentHook {
    const { idempotency } = by;
    return {
      by: changedBy(by, this.ids.newId()),
      action,
      also: idempotency && ((agent) => idempotency.store(200, toScheduleItem(agent, this.clock.nowMs()))),
    };
  }

  private async visible(scheduleId: string, access: Access): Promise<ScheduledAgent | undefined> {
    const agent = await this.agents.find(scheduleId);
    return agent !== undefined && maySee(access, agent.factoryUid) ? agent : undefined;
  }

  /** One that can be changed here: 404 where there is none, 409 for the trigger of an automation. */
  private async own(scheduleId: string, access: Access): Promise<ScheduledAgent> {
    const agent = await this.visible(scheduleId, access);
    if (agent !== undefined) return agent;
    const { name, metadata } = await this.trigger(scheduleId, access);
    const { file, automation_id: automationId } = metadata;
    throw lastingConflict(
      file === undefined
        ? `the schedule ${JSON.stringify(name)} is a trigger of the automation ${automationId}: change it there`
        : `the schedule ${JSON.stringify(name)} is a trigger in ${file}: change it in this file`,
      { file, automation_id: automationId },
    );
  }

  private async trigger(scheduleId: string, access: Access): Promise<ScheduleItem> {
    const found = (await this.triggers(access)).find(({ id }) => id === scheduleId);
    if (found === undefined) throw notFound('the schedule');
    return found;
  }

  private async triggers(access: Access): Promise<ScheduleItem[]> {
    const nowMs = this.clock.nowMs();
    const automations = await this.catalogue.scheduled(access.factories);
    return automations.flatMap((automation) => toTriggerItems(automation, nowMs));
  }

  private async refuseFactory(factoryUid: string | undefined, access: Access): Promise<void> {
    if (factoryUid !== undefined) await visibleFactory(this.factories, factoryUid, access);
    else if (access.factories !== undefined)
      throw new RefusalError('not_authorized', 'this key is limited to factories: name one as factory_uid');
  }

  /** What its runs would not find. contract §12.8 (Schedules). */
  private async referenceErrors(
    { agentConfig }: Partial<ScheduledAgentSettings>,
    factoryUid: string | undefined,
  ): Promise<MemberError[]> {
    const { environment_id: environment } = agentConfig ?? {};
    return [
      ...(factoryUid === undefined ? bareSkillProblems(agentConfig ?? {}) : []),
      ...(environment === undefined ? [] : await this.environmentErrors(environment, factoryUid)),
    ];
  }

  /** The identity that it has behind a request; 400 for one that the key may not see, or of another factory. */
  private async identityOf(
    { agent_uid: asked }: { agent_uid?: string | null },
    factoryUid: string | undefined,
    access: Access,
    before?: string | null,
  ): Promise<AgentIdentity | undefined> {
    if (asked === undefined) return before === undefined || before === null ? undefined : this.identities.find(before);
    const wanted = { agent_identity_uid: asked === '' ? null : asked, factory_uid: factoryUid };
    const found = await identityOf(this.identities, wanted, access, '/agent_uid');
    const isMade = before !== undefined;
    if (isMade && factoryUid === undefined && found?.factoryUid !== undefined)
      throw badIdentity('must be of no factory, as the schedule is');
    return found;
  }

  /** What nothing here serves of a request, by JSON pointers. */
  private async ignoredOf(
    schema: 'schedule-create' | 'schedule-update',
    request: object,
    { agentConfig, identity, factoryUid }: WantedLevels,
  ): Promise<string[]> {
    const factories = await this.definitions.factories(factoryUid === undefined ? [] : [factoryUid]);
    const said = factoryUid === undefined ? undefined : factories.get(factoryUid)?.agentDefaults;
    const levels = [agentConfig, identity && identityConfig(identity.settings), said && toAgentConfig(said)];
    const resolved = resolveAgentConfig(levels, undefined, this.runAgents.server);
    const facts = harnessFacts(JSON.stringify(resolved));
    return [...unknownMembers(schema, request), ...ineffectiveMembers(request, facts, 'agent_config')];
  }

  private async environmentErrors(environment: string, factoryUid: string | undefined): Promise<MemberError[]> {
    const at = (message: string): MemberError[] => [
      {
        pointer: '/agent_config/environment_id',
        message: `agent_config.environment_id names no environment ${JSON.stringify(environment)}${message}`,
      },
    ];
    if (factoryUid === undefined)
      return at(': environments belong to factories, and the schedule has none; name its factory (factory_uid)');
    const found = await this.resources.environment(factoryUid, environment);
    if ('uid' in found) return [];
    return at(
      found.names.length === 0 ? ' of its factory, which declares none' : `: there are ${found.names.join(', ')}`,
    );
  }
}

/** What decides what the runs of a schedule are worked on by. */
interface WantedLevels {
  agentConfig: AmbientAgentConfig;
  identity: AgentIdentity | undefined;
  factoryUid: string | undefined;
}

const NO_IDENTITY = 'must be an agent identity that the key may see';

function badIdentity(message: string): RefusalError {
  return invalidMembers([{ pointer: '/agent_uid', message: `agent_uid ${message}` }]);
}
