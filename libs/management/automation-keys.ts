/** Automations between the wire (snake_case) and the keys of their files (camelCase). contract §4. */
import { runSecretMembers, withoutAbsent } from '#agents';
import type { AutomationAgent, AutomationCreate, AutomationPatch, AutomationTriggerRequest } from '#contracts';
import type { FileKeys } from '#definitions';
import type { JsonValue } from '#filters';
import type { ToMember } from './validation-facts.ts';

/**
 * The keys that a request sets: those of absent members are absent, those of members that are null are undefined.
 * `prompt` is no key.
 */
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
    secrets: agent.secrets?.map((secret) => ({ ...runSecretMembers(secret) })),
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
  if (key === 'triggers') {
    const flat = rest.replace(/^(\/\d+)\/(?:filter|schedule)/, '$1');
    return `/triggers${flat.replace(/^(\/\d+)\/webhook_ids/, '$1/webhook_uids')}`;
  }
  if (key === 'concurrency') return `/concurrency${rest.replace('/whenBusy', '/when_busy')}`;
  const member = AGENT_MEMBERS[key];
  if (member === undefined) return pointer;
  if (key !== 'harness') return `/agent/${member}${rest}`;
  return `/agent/harness${rest.replace('/modelId', '/model_id').replace('/reasoningLevel', '/reasoning_level')}`;
};
