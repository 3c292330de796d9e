/** What one execution needs, resolved and checked before anything of it runs. contract §3.4, §10. */
import type { McpServer } from '@agentclientprotocol/sdk';
import {
  BUILT_IN_HARNESS,
  COMMAND_HARNESS,
  credentialProblem,
  DEMO_MODEL,
  HOW_TO_CONFIGURE_A_MODEL,
  modelChoice,
  type AmbientAgentConfig,
  type LaunchProfile,
  type ServerAgent,
} from '#agents';
import {
  confinementProblem,
  describeReach,
  describeSecrets,
  hostInjectionsOf,
  hostsAllowedBy,
  injectableSumProblem,
  mergedInjections,
  networkOf,
  placedVariables,
  type EgressRules,
  type NetworkRequest,
  type Tier,
} from '#isolation';
import type { Config } from '../../config/config.ts';
import type { SecretReader } from '../../secrets/secret-reader.ts';
import type { DeliveryStore } from '../../store/deliveries/deliveries.ts';
import { decodePayload } from '../../store/deliveries/delivery-entries.ts';
import type { ClaimedRun } from '../../store/runs/runs.ts';
import { literalSecretsOf, mcpServersOf } from '../agent/agent-mcp-servers.ts';
import { profileOf, type BuiltInAgent } from '../agent/agents.ts';
import type { Environments, RunEnvironment } from './environments.ts';
import { notInstalled, startable } from '../agent/profiles.ts';
import { SetupError, type Executor, type Isolation } from '../executor.ts';
import {
  brokerOf,
  builtInHosts,
  hasOwnNetwork,
  hostsBySecret,
  insideOf,
  modelsOf,
  newPlaceholder,
  overlap,
  placementOf,
  releasesOf,
  remotesOf,
  requireRelease,
  secretHostsOf,
  secretUses,
  type BrokeredRun,
} from './run-broker.ts';
import { requireInside, secretsOf } from './run-secret-values.ts';
import type { RunSkill, Skills } from './skills.ts';

export interface ExecutionSpec {
  config: AmbientAgentConfig;
  /** Undefined: the operator's command. */
  profile?: LaunchProfile;
  /** What keeps it apart. */
  sandbox: Isolation;
  tier: Tier;
  /** Variables of the run, from managed secrets. */
  secrets: Readonly<Record<string, string>>;
  /** Values that must not be stored of this run in any form. */
  secretValues: readonly string[];
  /** Variables of the harness itself. */
  harnessEnv: Readonly<Record<string, string>>;
  /** With the secrets that they name. */
  mcpServers: readonly McpServer[];
  environment?: RunEnvironment;
  skills: readonly RunSkill[];
  network: 'host' | EgressRules;
  /** What stands between it and what it has no credentials of. */
  broker?: BrokeredRun;
  /** What it reaches and who said so, for its log. */
  reach: readonly string[];
  /** Exact bytes of the delivery that started it. */
  payload?: Uint8Array;
}

export interface ExecutionSpecDeps {
  config: Config;
  secrets: SecretReader;
  deliveries: DeliveryStore;
  environments: Environments;
  skills: Skills;
  builtInAgent: BuiltInAgent;
  /** Agents that the operator may have installed. */
  profiles: readonly LaunchProfile[];
  executor: Pick<Executor, 'isolation'>;
}

/**
 * What runs get that name nothing themselves: the operator's command if there is one, else the agent that comes with
 * the service.
 */
export function serverAgent({ runCommand, agentEnvironment }: Config): ServerAgent {
  const model = modelChoice(agentEnvironment);
  return {
    harness: runCommand === undefined ? BUILT_IN_HARNESS : COMMAND_HARNESS,
    builtInModel: model.kind === 'endpoint' ? model.endpoint.modelId : DEMO_MODEL,
  };
}

/** Kind of harness of a resolved configuration. */
export function harnessOf(agentConfig: string): string {
  return (JSON.parse(agentConfig) as AmbientAgentConfig).harness?.type ?? COMMAND_HARNESS;
}

/** What a delivery started stays in the strict tier, whoever sends follow-ups. contract §10. */
export function tierOf({ entryId }: ClaimedRun): Tier {
  return entryId === undefined ? 'standard' : 'strict';
}

/** Throws SetupError for what its owner has to mend. */
export async function resolveExecution(
  deps: ExecutionSpecDeps,
  run: ClaimedRun,
  signal?: AbortSignal,
): Promise<ExecutionSpec> {
  const { config } = deps;
  const agentConfig = JSON.parse(run.agentConfig) as AmbientAgentConfig;
  const sandbox = await deps.executor.isolation();
  const wanted = profileFor(harnessOf(run.agentConfig), deps);
  const unmet = wanted?.id === BUILT_IN_HARNESS ? builtInProblem(agentConfig, config) : undefined;
  if (unmet !== undefined) throw new SetupError(unmet);
  const tier = tierOf(run);
  const environment = await deps.environments.resolve(run.factoryUid, agentConfig.environment_id);
  const worker = bringsCommands(wanted && agentConfig, environment) ? 'agent' : workerOf(wanted, config);
  const problem = confinementProblem({
    worker,
    tier,
    walls: sandbox.guarantees,
    allowUnsandboxed: config.allowUnsandboxed,
  });
  if (problem !== undefined) throw new SetupError(problem);
  const profile = wanted && (await installed(wanted, config));
  const skills = await deps.skills.resolveAll(run, agentConfig, profile?.skillFolders, signal);
  const declared = [...(environment?.secrets ?? []), ...(agentConfig.secrets ?? [])];
  const names = [...new Set(declared.map(({ name }) => name))];
  const values = await secretsOf(deps.secrets, run, environment, names);
  const missing = profile && credentialProblem(profile, values);
  if (missing !== undefined) throw new SetupError(missing);
  const secretValues = [
    ...Object.values(values),
    ...(environment?.secretValues ?? []),
    ...literalSecretsOf(agentConfig),
    ...secretsOfService(profile, config),
  ];
  const tooMuch = injectableSumProblem(secretValues);
  if (tooMuch !== undefined) throw new SetupError(tooMuch);
  const placement = placementOf(declared, sandbox, config);
  const placed = placedVariables(placement, values, newPlaceholder);
  const models = profile && modelsOf(profile, config, agentConfig, { values, placed, exposed: placement.exposed });
  const agent = profile === undefined ? {} : agentConfig;
  // First: what is refused must bind no secret to a host.
  await requireInside(deps.secrets, run, insideOf(placement, values, models));
  await requireRelease(deps.secrets, run.factoryUid, releasesOf(placement, values, { models, agent }));
  const secrets = { ...placed, ...overlap(models?.env, values) };
  const request: NetworkRequest = {
    operator: config.runNetwork,
    tier,
    automation: hostsAllowedBy(networkSaid(run)),
    models: models?.direct ?? builtInHosts(config),
    secretHosts: secretHostsOf(placement),
    repositories: environment?.hosts ?? [],
  };
  const network = networkOf(request);
  const isBrokered = network !== 'host' && hasOwnNetwork(sandbox.guarantees);
  const mcp = await mcpServersOf(agent, {
    values,
    placed: secrets,
    hosts: hostsBySecret(placement),
    ...(isBrokered ? { newPlaceholder } : {}),
  });
  const remotes = remotesOf(environment, networkOf({ ...request, repositories: [] }), sandbox);
  const injections = mergedInjections([...hostInjectionsOf(placement.outside, values), ...remotes]);
  const uses = secretUses(placement, values, { models, mcp: mcp.routes, remotes });
  return {
    config: agentConfig,
    profile,
    sandbox,
    tier,
    secrets,
    environment,
    skills,
    harnessEnv: { ...ownOf(profile, config, agentConfig, secrets), ...models?.env },
    mcpServers: mcp.servers,
    secretValues,
    network,
    reach: [...describeReach(request), ...describeSecrets(uses)],
    broker: await brokerOf({ models, network, injections, mcp: mcp.routes }, config),
    payload: await payloadOf(deps.deliveries, run),
  };
}

/** Undefined: the operator's command. */
function profileFor(harness: string, { builtInAgent, profiles }: ExecutionSpecDeps): LaunchProfile | undefined {
  if (harness === COMMAND_HARNESS) return undefined;
  const profile = profileOf(harness, builtInAgent, profiles);
  if (profile !== undefined) return profile;
  const known = [BUILT_IN_HARNESS, COMMAND_HARNESS, ...profiles.map(({ id }) => id)].join(', ');
  throw new SetupError(
    `there is no harness ${JSON.stringify(harness)} here; choose one of ${known}, or leave it out; the ` +
      'operator of this service can add it (MILLWRIGHT_AGENT_PROFILES_FILE)',
  );
}

/** What the built-in agent has of reasoning. */
const REASONING_LEVELS: readonly string[] = ['low', 'medium', 'high'];

/**
 * Why the agent that comes with the service cannot do what is asked of it: nothing may look as if another model had
 * answered, or had thought harder.
 */
function builtInProblem(
  { model_id: model, harness }: AmbientAgentConfig,
  { agentEnvironment }: Config,
): string | undefined {
  if (model !== undefined && model !== DEMO_MODEL && modelChoice(agentEnvironment).kind === 'demo') {
    return (
      `the model ${JSON.stringify(model)} was asked for, and no model is configured here; leave model_id out to ` +
      `have the demo model, or let the operator ${HOW_TO_CONFIGURE_A_MODEL}`
    );
  }
  const reasoning = harness?.reasoning_level;
  if (reasoning === undefined || REASONING_LEVELS.includes(reasoning)) return undefined;
  return (
    `the built-in agent has no reasoning_level ${JSON.stringify(reasoning)}; choose one of ` +
    `${REASONING_LEVELS.join(', ')}, or leave it out`
  );
}

async function installed(profile: LaunchProfile, { searchPath }: Config): Promise<LaunchProfile> {
  if (profile.id === BUILT_IN_HARNESS) return profile;
  const found = await startable(profile, searchPath);
  if (found === undefined) throw new SetupError(notInstalled(profile));
  return found;
}

/** What the operator gives the harness; a run that brings credentials of its own uses those. */
function ownOf(
  profile: LaunchProfile | undefined,
  { agentEnvironment }: Config,
  { harness }: AmbientAgentConfig,
  secrets: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const reasoning = harness?.reasoning_level;
  if (profile?.id === BUILT_IN_HARNESS)
    return { ...agentEnvironment, ...(reasoning === undefined ? {} : { MILLWRIGHT_AGENT_REASONING: reasoning }) };
  return Object.fromEntries(Object.entries(profile?.secretEnv ?? {}).filter(([name]) => !(name in secrets)));
}

/** What the operator gave and no log may show. */
function secretsOfService(profile: LaunchProfile | undefined, { agentEnvironment }: Config): string[] {
  const key = profile?.id === BUILT_IN_HARNESS ? agentEnvironment['MILLWRIGHT_AGENT_API_KEY'] : undefined;
  return [...(key === undefined ? [] : [key]), ...Object.values(profile?.secretEnv ?? {})];
}

/**
 * Commands of a request or a definition: a step of a set-up, an MCP server to be started, or to be reached wherever
 * they say.
 */
function bringsCommands(agent: AmbientAgentConfig | undefined, environment: RunEnvironment | undefined): boolean {
  return (environment?.setupCommands.length ?? 0) > 0 || Object.keys(agent?.mcp_servers ?? {}).length > 0;
}

/** Who gives the commands: the demo model only ever those of ours. */
function workerOf(profile: LaunchProfile | undefined, config: Config): 'ours' | 'command' | 'agent' {
  if (profile === undefined) return config.runCommand === undefined ? 'ours' : 'command';
  // With its steps switched on it does what prompts say.
  const mayTakeSteps = config.agentEnvironment['MILLWRIGHT_AGENT_DEMO_STEPS'] === 'true';
  const isDemo = profile.id === BUILT_IN_HARNESS && modelChoice(config.agentEnvironment).kind === 'demo';
  return isDemo && !mayTakeSteps ? 'ours' : 'agent';
}

function networkSaid({ network }: ClaimedRun): { allow?: readonly string[] } | undefined {
  return network === undefined ? undefined : (JSON.parse(network) as { allow?: readonly string[] });
}

async function payloadOf(deliveries: DeliveryStore, { entryId }: ClaimedRun): Promise<Uint8Array | undefined> {
  const stored = entryId === undefined ? undefined : await deliveries.payload(entryId);
  return stored && decodePayload(stored);
}
