/** Automations between the wire (snake_case) and the keys of their files (camelCase): one way for items, the other for requests. contract 4. */
import type {
  Automation as AutomationItem,
  AutomationAgent,
  AutomationCreate,
  AutomationPatch,
  AutomationTrigger,
  AutomationTriggerRequest,
} from '#contracts';
import type { AutomationDefinition, FileKeys, Trigger } from '#definitions';
import type { JsonValue } from '#filters';
import { toAgentConfig, withoutAbsent } from '#runs';
import type { Schedule } from '../store/definitions/schedules.ts';
import type { RecentRuns } from '../store/definitions/automations.ts';
import type { AutomationRow } from '../store/definitions/definition.entities.ts';
import { toScheduleItems } from '../schedules/schedules.items.ts';
import { toTime } from '../http/timestamps.ts';
import type { ToMember } from '../webhooks/validation-facts.ts';

/** What an automation's item needs beside its row. */
export interface AutomationView {
  /** Whether files decide it. */
  isManaged: boolean;
  lastFiredAtMs?: number;
  /** Runs of the last seven days; undefined: none. */
  recentRuns?: RecentRuns;
  /** Its schedules that were looked at, and the time. */
  schedules: readonly Schedule[];
  nowMs: number;
}

/** `agent` is what the automation itself says, before factory and server. */
export function toAutomationItem(
  automation: AutomationRow,
  { isManaged, lastFiredAtMs, recentRuns, schedules, nowMs }: AutomationView,
): AutomationItem {
  const definition = JSON.parse(automation.definition) as AutomationDefinition;
  const { description, triggers, prompt, agent, concurrency, limits, network } = definition;
  const isEnabled = automation.enabled === 1;
  return {
    uid: automation.uid,
    slug: automation.slug,
    name: automation.name,
    enabled: isEnabled,
    triggers: triggers.map(toTriggerItem),
    prompt,
    agent: toAgentConfig(agent) as AutomationAgent,
    ...withoutAbsent({
      description,
      concurrency: concurrency && withoutAbsent({ group: concurrency.group, when_busy: concurrency.whenBusy }),
      limits,
      network: network as AutomationItem['network'],
    }),
    ...withoutAbsent({
      schedules: toScheduleItems(automation.uid, definition, { isEnabled, stored: schedules, nowMs }),
    }),
    version: automation.version,
    revision: automation.revision,
    file: isManaged && automation.path !== '' ? automation.path : null,
    created_at: toTime(automation.created_at),
    updated_at: toTime(automation.updated_at),
    last_fired_at: lastFiredAtMs === undefined ? null : toTime(lastFiredAtMs),
    recent_runs: { total: recentRuns?.total ?? 0, states: { ...recentRuns?.states } },
  };
}

function toTriggerItem(trigger: Trigger): AutomationTrigger {
  switch (trigger.provider) {
    case 'webhook':
      return withoutAbsent({
        provider: 'webhook',
        webhook_uids: trigger.webhookUids,
        payload: trigger.payload as AutomationTrigger['payload'],
      });
    case 'schedule':
      return withoutAbsent({ provider: 'schedule', name: trigger.name, cron: trigger.cron });
    case 'inactive':
      return { provider: 'inactive', declared_provider: trigger.declaredProvider };
  }
}

/** The keys that a request sets: those of absent members are absent, those of members that are null are undefined. `prompt` is no key. */
export function toFileKeys(wanted: AutomationPatch | AutomationCreate): FileKeys {
  const { description, enabled, triggers, agent, concurrency, limits, network } = wanted;
  return {
    ...(description === undefined ? {} : { description: description ?? undefined }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(triggers === undefined ? {} : { triggers: triggers.map(toTriggerKeys) }),
    ...(agent === undefined ? {} : toAgentKeys(agent ?? {})),
    ...(concurrency === undefined
      ? {}
      : { concurrency: mapping(concurrency && { group: concurrency.group, whenBusy: concurrency.when_busy }) }),
    ...(limits === undefined
      ? {}
      : { limits: mapping(limits && { tokens: limits.tokens, cost: limits.cost, minutes: limits.minutes }) }),
    ...(network === undefined ? {} : { network: mapping(network && { allow: network.allow }) }),
  };
}

function toTriggerKeys(trigger: AutomationTriggerRequest): JsonValue {
  const { provider, webhook_uids: webhookIds = [], payload, name, cron } = trigger;
  if (provider === 'schedule') return { provider, event: 'cron_fired', schedule: mapping({ name, cron }) ?? {} };
  return {
    provider,
    event: 'received',
    filter: mapping({ webhook_ids: webhookIds, payload: payload as JsonValue | undefined }) ?? {},
  };
}

/** Every key that says something of the agent: `agent` is replaced whole. */
function toAgentKeys(agent: AutomationAgent): FileKeys {
  const { harness, mcp_servers: servers } = agent;
  return {
    model: agent.model_id,
    basePrompt: agent.base_prompt,
    environmentId: agent.environment_id,
    skill: agent.skill_spec,
    mcpServers:
      servers && Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, server as JsonValue])),
    harness: mapping(
      harness && { type: harness.type, modelId: harness.model_id, reasoningLevel: harness.reasoning_level },
    ),
    secrets: agent.secrets?.map(({ name }) => ({ name })),
    idleTimeoutMinutes: agent.idle_timeout_minutes,
  };
}

/** A value without its absent members; a value that is not there is none. */
function mapping(value: Record<string, JsonValue | undefined> | null | undefined): JsonValue | undefined {
  return value === null || value === undefined ? undefined : (withoutAbsent(value) as JsonValue);
}

const AGENT_MEMBERS: Readonly<Record<string, string>> = {
  model: 'model_id',
  basePrompt: 'base_prompt',
  environmentId: 'environment_id',
  skill: 'skill_spec',
  mcpServers: 'mcp_servers',
  harness: 'harness',
  secrets: 'secrets',
  idleTimeoutMinutes: 'idle_timeout_minutes',
};

/** Keys of automation files in the wire's spelling. */
export const toAutomationMember: ToMember = (pointer) => {
  const [, key = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(pointer) ?? [];
  if (key === 'triggers')
    return `/triggers${rest.replace(/^(\/\d+)\/(?:filter|schedule)/, '$1').replace(/^(\/\d+)\/webhook_ids/, '$1/webhook_uids')}`;
  if (key === 'concurrency') return `/concurrency${rest.replace('/whenBusy', '/when_busy')}`;
  const member = AGENT_MEMBERS[key];
  if (member === undefined) return pointer;
  return `/agent/${member}${key === 'harness' ? rest.replace('/modelId', '/model_id').replace('/reasoningLevel', '/reasoning_level') : rest}`;
};
