/** What one execution is fitted out with, found and checked before anything of it runs. contract 3 (AmbientAgentConfig), 10. */
import {
  BUILT_IN_HARNESS, confinementProblem, hostPatternOfUrl, hostsAllowedBy, isInjectableEnvName, isInjectableValue, networkOf, tighter,
  type AmbientAgentConfig, type EgressRules, type HostPattern, type LaunchProfile, type RunLimits, type ServerAgent, type Tier,
} from '#runs';
import type { Config } from '../config.ts';
import type { SecretReader } from '../secrets/reader.ts';
import type { DeliveryStore } from '../store/deliveries.ts';
import { decodePayload } from '../store/payload-bytes.ts';
import type { ClaimedRun } from '../store/runs.ts';
import { profileOf, type BuiltInAgent } from './agents.ts';
import type { Environments, RunEnvironment } from './environments.ts';
import type { Sandbox } from './sandboxes.ts';
import type { RunSkill, Skills } from './skills.ts';

export interface Outfit {
  config: AmbientAgentConfig;
  /** Undefined: the operator's command. */
  profile?: LaunchProfile;
  sandbox: Sandbox;
  tier: Tier;
  /** Variables of the run, from managed secrets. */
  secrets: Readonly<Record<string, string>>;
  /** Values that must not be kept of this run in any form. */
  secretValues: readonly string[];
  /** Variables of the harness itself. */
  own: Readonly<Record<string, string>>;
  environment?: RunEnvironment;
  skill?: RunSkill;
  network: 'host' | EgressRules;
  limits: RunLimits;
  /** Exact bytes of the delivery that started it. */
  payload?: Uint8Array;
}

export interface OutfitParts {
  config: Config;
  secrets: SecretReader;
  deliveries: DeliveryStore;
  environments: Environments;
  skills: Skills;
  builtInAgent: BuiltInAgent;
  sandbox: Promise<Sandbox>;
}

/** A run that cannot be started as it is asked for; `message` tells its owner what to do. */
export class SetupFailed extends Error {}

const COMMAND = 'command';

/** What runs get that name nothing themselves: the operator's command if there is one, else the agent that comes with the service. */
export function serverAgent({ runCommand, agentEnvironment }: Config): ServerAgent {
  return { harness: runCommand === undefined ? BUILT_IN_HARNESS : COMMAND, builtInModel: agentEnvironment['MILLWRIGHT_AGENT_MODEL'] ?? DEMO_MODEL };
}

/** Kind of harness of a resolved configuration. */
export function harnessOf(agentConfig: string): string {
  return (JSON.parse(agentConfig) as AmbientAgentConfig).harness?.type ?? COMMAND;
}

/** What the agent that comes with the service calls the model that it has without any. */
const DEMO_MODEL = 'demo';

/** What a delivery started stays in the strict tier, whoever sends follow-ups. contract 10. */
export function tierOf({ entryId }: ClaimedRun): Tier {
  return entryId === undefined ? 'standard' : 'strict';
}

/** Throws SetupFailed for what its owner has to mend. */
export async function fitOut(parts: OutfitParts, run: ClaimedRun): Promise<Outfit> {
  const { config, builtInAgent } = parts;
  const agentConfig = JSON.parse(run.agentConfig) as AmbientAgentConfig;
  const sandbox = await parts.sandbox;
  const harness = harnessOf(run.agentConfig);
  const profile = harness === COMMAND ? undefined : profileOf(harness, builtInAgent);
  if (harness !== COMMAND && profile === undefined) throw new SetupFailed(`the harness "${harness}" is not available here; use harness type "command" or "builtin", or leave it out`);
  const tier = tierOf(run);
  const problem = confinementProblem({ worker: workerOf(profile, config), tier, walls: sandbox.guarantees, allowUnsandboxed: config.allowUnsandboxed });
  if (problem !== undefined) throw new SetupFailed(problem);
  const environment = await parts.environments.resolve(run.factoryUid, agentConfig.environment_id);
  const skill = await parts.skills.resolve(run.factoryUid, agentConfig.skill_spec);
  const secrets = await secretsOf(parts.secrets, run.factoryUid, namesOf(agentConfig, environment));
  const own = profile?.id === BUILT_IN_HARNESS ? config.agentEnvironment : {};
  const ownKey = own['MILLWRIGHT_AGENT_API_KEY'];
  return {
    config: agentConfig, profile, sandbox, tier, secrets, own, environment, skill,
    secretValues: [...Object.values(secrets), ...(environment?.secretValues ?? []), ...(ownKey === undefined ? [] : [ownKey])],
    network: networkOf({
      operator: config.runNetwork, tier, automation: hostsAllowedBy(networkSaid(run)), models: modelHosts(config), repositories: environment?.hosts ?? [],
    }),
    limits: tighter({ tokens: config.runTokensMax, cost: config.runCostMax, minutes: config.runTimeoutMs / 60_000 }, run.limits === undefined ? {} : (JSON.parse(run.limits) as RunLimits)),
    payload: await payloadOf(parts.deliveries, run),
  };
}

/** Who gives the commands: the demo model only ever those of ours. */
function workerOf(profile: LaunchProfile | undefined, config: Config): 'ours' | 'command' | 'agent' {
  if (profile === undefined) return config.runCommand === undefined ? 'ours' : 'command';
  const { MILLWRIGHT_AGENT_MODEL: model, MILLWRIGHT_AGENT_DEMO_STEPS: steps } = config.agentEnvironment;
  // With its steps switched on it does what prompts say.
  const isDemo = profile.id === BUILT_IN_HARNESS && model === undefined && steps !== 'true';
  return isDemo ? 'ours' : 'agent';
}

/** Where the model of the built-in agent is. */
function modelHosts(config: Config): HostPattern[] {
  const pattern = hostPatternOfUrl(config.agentEnvironment['MILLWRIGHT_AGENT_BASE_URL'] ?? '');
  return pattern === undefined ? [] : [pattern];
}

function networkSaid({ network }: ClaimedRun): { allow?: readonly string[] } | undefined {
  return network === undefined ? undefined : (JSON.parse(network) as { allow?: readonly string[] });
}

async function payloadOf(deliveries: DeliveryStore, { entryId }: ClaimedRun): Promise<Uint8Array | undefined> {
  const stored = entryId === undefined ? undefined : await deliveries.payload(entryId);
  return stored && decodePayload(stored);
}

/** The run's own secrets, and those of its environment. */
function namesOf(agentConfig: AmbientAgentConfig, environment: RunEnvironment | undefined): string[] {
  return [...new Set([...(environment?.secretNames ?? []), ...(agentConfig.secrets ?? []).map(({ name }) => name)])];
}

/** Named secrets as environment variables of the agent's process; one that is not granted looks like one that does not exist. */
async function secretsOf(reader: SecretReader, factoryUid: string | undefined, names: readonly string[]): Promise<Record<string, string>> {
  const found = await Promise.all(
    names.map(async (name): Promise<[string, string]> => {
      const value = factoryUid === undefined ? undefined : await reader.value(factoryUid, name, 'run');
      if (value === undefined || !isInjectableEnvName(name)) throw new SetupFailed(`the secret ${name} cannot be given to this run: it must exist, be granted for runs and be named like an environment variable`);
      const text = Buffer.from(value).toString('utf8');
      if (!isInjectableValue(text)) throw new SetupFailed(`the secret ${name} cannot be given to this run: only values of 8 characters to 16 KiB can be kept out of its log`);
      return [name, text];
    }),
  );
  return Object.fromEntries(found);
}
