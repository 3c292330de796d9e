/** The configuration of a run: what each level says, resolved from the most specific to the least. spec: Agent configuration; contract 3. */
import type { AgentDefaults } from '#definitions';

/** AmbientAgentConfig as the wire has it; members that nobody set are absent. */
export interface AmbientAgentConfig {
  name?: string;
  model_id?: string;
  base_prompt?: string;
  environment_id?: string;
  /** `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`, or a skill of the factory repository. */
  skill_spec?: string;
  mcp_servers?: Record<string, unknown>;
  harness?: { type?: string; model_id?: string; reasoning_level?: string };
  /** 0–60. */
  idle_timeout_minutes?: number;
  computer_use_enabled?: boolean;
  secrets?: { name: string }[];
}

/** File keys (camelCase) as wire members. */
export function toAgentConfig(defaults: AgentDefaults): AmbientAgentConfig {
  const { harness } = defaults;
  return withoutAbsent({
    model_id: defaults.model,
    base_prompt: defaults.basePrompt,
    environment_id: defaults.environmentId,
    skill_spec: defaults.skill,
    mcp_servers: defaults.mcpServers,
    harness: harness && withoutAbsent({ type: harness.type, model_id: harness.modelId, reasoning_level: harness.reasoningLevel }),
    idle_timeout_minutes: defaults.idleTimeoutMinutes,
    secrets: defaults.secrets,
  });
}

/** Run over automation over factory over server: a member is taken whole from the first level that has it, nothing is merged below that. */
export function resolveAgentConfig(levels: readonly (AmbientAgentConfig | undefined)[], name: string | undefined): AmbientAgentConfig {
  const resolved: AmbientAgentConfig = {};
  for (const level of [...levels].reverse()) Object.assign(resolved, withoutAbsent({ ...level }));
  return withoutAbsent({ ...resolved, name: levels[0]?.name ?? name });
}

function withoutAbsent<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
