/** The models of a run behind its broker, and where that broker may go. contract §10.3 (Model calls). */
import { randomBytes } from 'node:crypto';
import {
  modelAccess,
  modelChoice,
  modelHosts,
  type AmbientAgentConfig,
  type LaunchProfile,
  type ModelAccess,
  type ModelRoute,
} from '#agents';
import { decideTarget, hostPatternOfUrl, type EgressPolicy, type EgressRules, type HostPattern } from '#isolation';
import type { Config } from '../../config/config.ts';

/** What the broker of a run has: where its models are, and where the broker itself may go. */
export interface BrokeredRun {
  rules: EgressRules;
  routes: readonly ModelRoute[];
}

/** Keys of models stay outside: the agent has placeholders, and the broker for an address. */
export function modelsOf(
  profile: LaunchProfile,
  { agentEnvironment }: Config,
  { model_id: modelId }: AmbientAgentConfig,
  secrets: Readonly<Record<string, string>>,
): ModelAccess {
  return modelAccess({
    profile,
    modelId,
    builtIn: agentEnvironment,
    secrets,
    exposed: new Set(),
    newPlaceholder: () => `mw-placeholder-${randomBytes(32).toString('base64url')}`,
  });
}

/** Of some variables those that secrets have too. */
export function overlap(
  variables: Readonly<Record<string, string>> = {},
  secrets: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => name in secrets));
}

/** Where the broker may go: nowhere if the operator allows nothing, to an address of the run's only if that may. */
export function brokerOf(
  access: ModelAccess,
  network: 'host' | EgressRules,
  { runNetwork }: Config,
): BrokeredRun | undefined {
  if (access.routes.length === 0) return undefined;
  const isReachable = ({ host, ports }: HostPattern): boolean =>
    network === 'host' || ports.every((port) => decideTarget(network, host, port).ok);
  const { trusted, further } = modelHosts(access, isReachable);
  const named = [...runNetwork.hosts, ...trusted];
  const policy: EgressPolicy =
    runNetwork.kind === 'none' ? { kind: 'none' } : { kind: 'allow', hosts: [...trusted, ...further] };
  return { rules: { policy, named }, routes: access.routes };
}

/** The model that the operator configured, as commands of the operator's reach it. */
export function builtInHosts(config: Config): HostPattern[] {
  const model = modelChoice(config.agentEnvironment);
  const pattern = model.kind === 'endpoint' ? hostPatternOfUrl(model.endpoint.baseUrl) : undefined;
  return pattern === undefined ? [] : [pattern];
}
