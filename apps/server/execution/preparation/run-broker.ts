/**
 * What the broker of a run has: its models, the hosts to which its secrets go, and where the broker itself may go.
 * contract §10.3 (Model calls), §10.4 (Declared injections).
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  modelAccess,
  modelChoice,
  modelHosts,
  type AmbientAgentConfig,
  type LaunchProfile,
  type ModelAccess,
  type ModelRoute,
} from '#agents';
import type { RunSecret } from '#definitions';
import {
  decideTarget,
  hostPatternOfUrl,
  placeSecrets,
  readHostPattern,
  releaseTargetOf,
  repositoryInjections,
  type EgressPolicy,
  type EgressRules,
  type HostInjections,
  type HostPattern,
  type SecretPlacement,
  type SecretUses,
} from '#isolation';
import type { Config } from '../../config/config.ts';
import { headerSecretsOf, type McpRoute } from '../agent/agent-mcp-servers.ts';
import type { SecretReader } from '../../secrets/secret-reader.ts';
import { SetupError, type Isolation } from '../executor.ts';
import type { RunEnvironment } from './environments.ts';

export interface BrokeredRun {
  /** Where the broker may take the calls of models. */
  rules: EgressRules;
  routes: readonly ModelRoute[];
  hosts: readonly HostInjections[];
  mcp: readonly McpRoute[];
  /** Certificates (PEM) accepted beside the usual ones. */
  ca?: string;
}

/** Worth nothing but to the broker of one execution. */
export function newPlaceholder(): string {
  return `mw-placeholder-${randomBytes(32).toString('base64url')}`;
}

/** Without one, no broker can stand between. */
export function hasOwnNetwork({ network, loopback }: Isolation['guarantees']): boolean {
  return network && loopback;
}

/** Hosts to which each secret goes that is outside, by name. */
export function hostsBySecret({ outside }: SecretPlacement): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const { name, host = '' } of outside) hosts.set(name, [...(hosts.get(name) ?? []), host.replace(/:443$/, '')]);
  return hosts;
}

/** Throws SetupError where a secret cannot be where its definition wants it. */
export function placementOf(
  secrets: readonly RunSecret[],
  { guarantees }: Isolation,
  { runNetwork }: Config,
): SecretPlacement {
  const result = placeSecrets(secrets);
  if (!result.ok) throw new SetupError(result.reason);
  const [first] = result.placement.outside;
  if (first !== undefined && (!hasOwnNetwork(guarantees) || runNetwork.kind === 'host'))
    throw new SetupError(
      `the secret ${first.name} is added outside of the sandbox, and this run has the network of the machine, or ` +
        'none; install bubblewrap where the service runs and set MILLWRIGHT_RUN_NETWORK to another value than ' +
        'host, or say expose: env for it',
    );
  return result.placement;
}

/** A secret that is to go to a host (`host:port`); `by`: what sends it there, for people. */
interface Release {
  name: string;
  target: string;
  by?: string;
}

/**
 * Everywhere that secrets of a run are sent by the service or by what its configuration says: where they are declared
 * for, MCP servers whose headers name one, and models whose key is one.
 */
export function releasesOf(
  { outside, exposed }: SecretPlacement,
  values: Readonly<Record<string, string>>,
  { models, agent }: { models?: ModelAccess; agent: AmbientAgentConfig },
): Release[] {
  const declared = outside.map(({ name, host = '' }) => ({ name, target: host.includes(':') ? host : `${host}:443` }));
  const isOutside = (name: string): boolean => outside.some((secret) => secret.name === name);
  // What is declared for hosts is held against these.
  const headers = headerSecretsOf(agent).filter(({ name }) => Object.hasOwn(values, name) && !isOutside(name));
  const routed = models?.routes.flatMap(({ id, baseUrl, keys }) =>
    Object.entries(values)
      .filter(([name, value]) => !isOutside(name) && !exposed.has(name) && keys.some((key) => key.value === value))
      .map(([name]) => ({ name, url: baseUrl, by: `the model endpoint ${JSON.stringify(id)}` })),
  );
  // Models first: a key that has no host yet is for its model, and not for whatever names it in a header.
  const sent = [...(routed ?? []), ...headers].map(({ name, url, by }) => ({
    name,
    // What is no address is refused as none.
    target: releaseTargetOf(url) ?? '',
    by,
  }));
  return [...declared, ...sent];
}

/** Hosts belong to secrets, not to whoever names an address. Throws SetupError. contract §2.2 (Managed secrets). */
export async function requireRelease(
  reader: Pick<SecretReader, 'injectionProblem'>,
  factoryUid: string | undefined,
  releases: readonly Release[],
): Promise<void> {
  for (const { name, target, by } of releases) {
    const problem = factoryUid === undefined ? undefined : await reader.injectionProblem(factoryUid, name, target);
    if (problem !== undefined) throw new SetupError(by === undefined ? problem : `${by}: ${problem}`);
  }
}

/**
 * Remotes of the run's repositories, as its git speaks to them; none where it has the machine's network. `without`:
 * what the run could reach if it had no repositories.
 */
export function remotesOf(
  environment: RunEnvironment | undefined,
  without: 'host' | EgressRules,
  { guarantees }: Isolation,
): HostInjections[] {
  if (without === 'host' || !hasOwnNetwork(guarantees)) return [];
  const repositories = (environment?.repositories ?? []).map(({ access, push = false }) => ({
    url: access.address.url,
    credential: access.credential?.value,
    push,
  }));
  return repositoryInjections(repositories, ({ host, ports }) =>
    ports.every((port) => decideTarget(without, host, port).ok),
  );
}

/** Hosts to which secrets of the run go. */
export function secretHostsOf({ outside }: SecretPlacement): HostPattern[] {
  return outside
    .map(({ host = '' }) => readHostPattern(host.includes(':') ? host : `${host}:443`))
    .filter((pattern) => pattern !== undefined);
}

/** Keys of models stay outside: the agent has placeholders, and the broker for an address. */
export function modelsOf(
  profile: LaunchProfile,
  { agentEnvironment }: Config,
  { model_id: modelId }: AmbientAgentConfig,
  { values, placed, exposed }: RunSecretValues,
): ModelAccess {
  return modelAccess({
    profile,
    modelId,
    builtIn: agentEnvironment,
    // What is outside for another reason is no key of a model.
    secrets: Object.fromEntries(Object.entries(values).filter(([name, value]) => placed[name] === value)),
    exposed,
    newPlaceholder,
  });
}

export interface RunSecretValues {
  values: Readonly<Record<string, string>>;
  /** As variables of the run: values, or placeholders. */
  placed: Readonly<Record<string, string>>;
  /** Those that are to be inside. */
  exposed: ReadonlySet<string>;
}

/** Names of those that the run has as variables; keys of models are with the broker. */
export function insideOf(
  { outside }: Pick<SecretPlacement, 'outside'>,
  values: Readonly<Record<string, string>>,
  models: ModelAccess | undefined,
): string[] {
  const away = new Set([...outside.map(({ name }) => name), ...Object.keys(overlap(models?.env, values))]);
  return Object.keys(values).filter((name) => !away.has(name));
}

/** What of them goes where: for the run's log. */
export function secretUses(
  { outside }: Pick<SecretPlacement, 'outside'>,
  values: Readonly<Record<string, string>>,
  { models, mcp, remotes }: Pick<BrokeredParts, 'models' | 'mcp'> & { remotes: readonly HostInjections[] },
): SecretUses {
  const routes = models?.routes.filter(({ keys }) => keys.some(({ value }) => value !== undefined)) ?? [];
  return {
    outside,
    inside: insideOf({ outside }, values, models),
    models: routes.map(({ baseUrl }) => new URL(baseUrl).host),
    remotes: remotes.map(({ host, port }) => (port === 443 ? host : `${host}:${port}`)),
    servers: mcp.map(({ name, url }) => ({ name, host: new URL(url).host })),
  };
}

/** Of some variables those that secrets have too. */
export function overlap(
  variables: Readonly<Record<string, string>> = {},
  secrets: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => name in secrets));
}

/** Undefined: there is nothing to be added. Where the operator allows nothing, the broker goes nowhere either. */
export async function brokerOf(
  { models, network, injections, mcp }: BrokeredParts,
  { runNetwork, gitCaFile }: Config,
): Promise<BrokeredRun | undefined> {
  const routes = models?.routes ?? [];
  if (routes.length + injections.length + mcp.length === 0) return undefined;
  const isReachable = ({ host, ports }: HostPattern): boolean =>
    network === 'host' || ports.every((port) => decideTarget(network, host, port).ok);
  const { trusted, further } = modelHosts({ routes }, isReachable);
  const named = [...runNetwork.hosts, ...trusted];
  const policy: EgressPolicy =
    runNetwork.kind === 'none' ? { kind: 'none' } : { kind: 'allow', hosts: [...trusted, ...further] };
  const ca = gitCaFile === undefined ? undefined : await readFile(gitCaFile, 'utf8');
  return { rules: { policy, named }, routes, hosts: injections, mcp, ...(ca === undefined ? {} : { ca }) };
}

interface BrokeredParts {
  models?: ModelAccess;
  network: 'host' | EgressRules;
  injections: readonly HostInjections[];
  mcp: readonly McpRoute[];
}

/** The model that the operator configured, as commands of the operator's reach it. */
export function builtInHosts(config: Config): HostPattern[] {
  const model = modelChoice(config.agentEnvironment);
  const pattern = model.kind === 'endpoint' ? hostPatternOfUrl(model.endpoint.baseUrl) : undefined;
  return pattern === undefined ? [] : [pattern];
}
