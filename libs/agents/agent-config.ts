/**
 * The configuration of a run: what each level says, resolved from the most specific to the least. spec: Agent
 * configuration; contract §3.
 */
import type { AgentDefaults, RunSecret } from '#definitions';
import { IDLE_MINUTES } from './permissions.ts';
import { namedSkill } from './skills.ts';

/** AmbientAgentConfig as the wire has it; members that nobody set are absent. */
export interface AmbientAgentConfig {
  name?: string;
  model_id?: string;
  base_prompt?: string;
  environment_id?: string;
  /** `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`, or a skill of the factory repository. */
  skill_spec?: string;
  /** Every skill in order, where there are several; the first of them is `skill_spec`, too. */
  skills?: string[];
  mcp_servers?: Record<string, unknown>;
  harness?: { type?: string; model_id?: string; reasoning_level?: string };
  /** 0–60. */
  idle_timeout_minutes?: number;
  computer_use_enabled?: boolean;
  /** The machine that the run is to be worked on. */
  worker_host?: string;
  secrets?: RunSecret[];
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
    harness:
      harness &&
      withoutAbsent({ type: harness.type, model_id: harness.modelId, reasoning_level: harness.reasoningLevel }),
    idle_timeout_minutes: defaults.idleTimeoutMinutes,
    secrets: defaults.secrets,
  });
}

/** The harness that comes with the service. */
export const BUILT_IN_HARNESS = 'builtin';

/** The last level: what holds where nobody said anything. */
export interface ServerAgent {
  harness: string;
  /** Model of the agent that comes with the service. */
  builtInModel: string;
}

/**
 * Run over automation over factory over server: a member is taken whole from the first level that has it, nothing is
 * merged below that; unknown members are left out. It is named explicitly, else after its skill, else `name`: the
 * automation. `model_id` is the one model that it means, wherever that was said. contract §3.4 (AmbientAgentConfig).
 */
export function resolveAgentConfig(
  levels: readonly (AmbientAgentConfig | undefined)[],
  name: string | undefined,
  server: ServerAgent,
): AmbientAgentConfig {
  const resolved: AmbientAgentConfig = { idle_timeout_minutes: IDLE_MINUTES };
  for (const level of [...levels].reverse()) {
    const known = knownConfigMembers(level ?? {});
    // A level that names one skill has replaced the list of those below it.
    if (known.skill_spec !== undefined) delete resolved.skills;
    Object.assign(resolved, known);
  }
  const skill = resolved.skill_spec === undefined ? undefined : namedSkill(resolved.skill_spec).name;
  const said = modelNamed(levels);
  const named = said !== undefined && isDefaultModel(said) ? undefined : said;
  const type = harnessNamed(resolved.harness?.type) ?? server.harness;
  const model = named ?? (type === BUILT_IN_HARNESS ? server.builtInModel : undefined);
  const harness = withoutAbsent({
    ...resolved.harness,
    type,
    model_id: named !== undefined && resolved.harness?.model_id === named ? named : undefined,
  });
  return withoutAbsent({ ...resolved, name: levels[0]?.name ?? skill ?? name, harness, model_id: model });
}

/** What the hosted service calls harnesses that are here too. contract §8.6 (Definitions of the hosted format). */
const HOSTED_HARNESSES: Readonly<Record<string, string>> = { oz: BUILT_IN_HARNESS, 'claude-code': 'claude' };

/** Those names. */
export const HOSTED_HARNESS_NAMES: readonly string[] = Object.keys(HOSTED_HARNESSES);

/** The harness that a name means; names of the hosted service mean ours. */
export function harnessNamed<Name extends string | undefined>(name: Name): Name | string {
  return name !== undefined && Object.hasOwn(HOSTED_HARNESSES, name) ? (HOSTED_HARNESSES[name] ?? name) : name;
}

/**
 * A configuration as published clients know it: the agent that comes with the service is `oz`, as a request may call it
 * too. Names that only this installation has stay what they are. contract §3.11 (harness).
 */
export function publishedHarness<Config extends AmbientAgentConfig>(config: Config): Config {
  const { harness } = config;
  return harness?.type === BUILT_IN_HARNESS ? { ...config, harness: { ...harness, type: 'oz' } } : config;
}

/** Whether a model is the one that the installation has, or the harness chooses: `auto`, `auto-…`. contract §8.6. */
export function isDefaultModel(model: string): boolean {
  return model === 'auto' || model.startsWith('auto-');
}

/**
 * The first level that names a model decides, in either member; inside one level the harness's own is the more
 * specific. A harness keeps none that was overruled.
 */
function modelNamed(levels: readonly (AmbientAgentConfig | undefined)[]): string | undefined {
  return levels
    .map((level) => said(level?.harness?.model_id) ?? said(level?.model_id))
    .find((model) => model !== undefined);
}

/**
 * What the contract names, and nothing else: what is stored of a request is what was checked. contract §3.2.
 */
export function knownConfigMembers(config: AmbientAgentConfig): AmbientAgentConfig {
  const { harness, mcp_servers: servers, skills = [] } = config;
  return withoutAbsent({
    name: config.name,
    model_id: said(config.model_id),
    base_prompt: config.base_prompt,
    environment_id: config.environment_id,
    skill_spec: config.skill_spec ?? skills[0],
    skills: skills.length > 1 ? [...skills] : undefined,
    mcp_servers: servers && knownServers(servers),
    harness:
      harness &&
      withoutAbsent({
        type: said(harness.type),
        model_id: said(harness.model_id),
        reasoning_level: said(harness.reasoning_level),
      }),
    idle_timeout_minutes: config.idle_timeout_minutes,
    computer_use_enabled: config.computer_use_enabled,
    worker_host: config.worker_host === HOSTED_WORKERS ? undefined : config.worker_host,
    secrets: config.secrets?.map(runSecretMembers),
  });
}

/** What is known of a secret's entry, and nothing else. */
export function runSecretMembers({ name, host, header, methods, paths, expose }: RunSecret): RunSecret {
  return withoutAbsent({ name, host, header, methods, paths, expose });
}

/** What the hosted service calls its own machines: any of ours will do. */
const HOSTED_WORKERS = 'warp';

/** Published clients send an empty text for what they leave open. */
function said(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** Without those that the hosted service keeps and this one does not have: a request is told that they are ignored. */
function knownServers(servers: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(servers).flatMap(([name, server]) => {
      const { command, args, env, url, headers } = (server ?? {}) as Record<string, unknown>;
      if (command === undefined && url === undefined) return [];
      return [[name, withoutAbsent({ command, args, env, url, headers })]];
    }),
  );
}

/** The same members without those that are undefined: on the wire, what is not known is absent. */
export function withoutAbsent<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
