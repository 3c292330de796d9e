/**
 * What an automation can do, computed from definition files alone: who writes what it reads, and which secrets, hosts,
 * repositories, tools, effects and budget its runs have. contract §8.5 (Trust).
 */
import type { JsonValue } from '#filters';
import { MODEL_KEY_VARIABLES, type RunSecret } from '../run-secrets.ts';
import { repositoriesOf, type RepositoryCapability } from './declared-repositories.ts';
import { toolsOf, type ToolCapability } from './declared-tools.ts';
import { writerOf, type AuthorCheck, type Writer } from './writers.ts';
import type {
  AgentDefaults,
  AutomationDefinition,
  EnvironmentDefinition,
  FactoryDefinition,
  Trigger,
  WebhookDefinition,
  WrittenAutomation,
  WrittenTrigger,
} from '../types.ts';

/** A pointer into a definition file. */
export interface DefinitionPlace {
  path: string;
  pointer: string;
}

/** What one trigger lets in. */
export interface InputCapability {
  /** What tells the writers: a signature scheme, what a payload looks like, `schedule`. */
  provider: string;
  writer: Writer;
  authors: AuthorCheck;
  /** It starts for every delivery of its webhooks. */
  isUnfiltered: boolean;
  webhooks: readonly WebhookDefinition[];
  place: DefinitionPlace;
}

export interface SecretCapability {
  name: string;
  /** As a variable of the run, where whatever runs there can read it. */
  isInside: boolean;
  entry: RunSecret;
  place: DefinitionPlace;
}

export interface HostCapability {
  host: string;
  /** What lets the run reach it. */
  by: 'network' | 'secret' | 'repository' | 'mcp';
  place: DefinitionPlace;
}

/** Something that a run changes outside of itself. */
export interface EffectCapability {
  kind: 'push' | 'write';
  /** A repository, or methods and a host. */
  target: string;
  place: DefinitionPlace;
}

/** What a run may use up; what is absent has no bound of the file's. */
export interface BudgetCapability {
  tokens?: number;
  cost?: number;
  minutes?: number;
}

export interface AutomationCapabilities {
  automation: string;
  path: string;
  inputs: readonly InputCapability[];
  secrets: readonly SecretCapability[];
  hosts: readonly HostCapability[];
  repositories: readonly RepositoryCapability[];
  tools: readonly ToolCapability[];
  effects: readonly EffectCapability[];
  budget: BudgetCapability;
}

/** What an automation refers to. */
export interface CapabilityDeps<AnyTrigger> {
  factory: FactoryDefinition;
  environmentOf(id: string): EnvironmentDefinition | undefined;
  webhooksOf(trigger: AnyTrigger): readonly WebhookDefinition[];
}

/** Methods that change nothing, which a secret has unless it says others. */
const READING_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** An automation as a file says it, or with its names resolved. */
type AnyAutomation<AnyTrigger> = Omit<WrittenAutomation | AutomationDefinition, 'triggers'> & {
  triggers: readonly AnyTrigger[];
};

/** What the runs of an automation can do, as far as files say. Defaults of the factory and its environment count. */
export function capabilitiesOf<AnyTrigger extends WrittenTrigger | Trigger>(
  automation: AnyAutomation<AnyTrigger>,
  deps: CapabilityDeps<AnyTrigger>,
): AutomationCapabilities {
  const environment = environmentOfRuns(automation.agent, deps);
  const secrets = secretsOf(automation, environment, deps.factory);
  const repositories = environment === undefined ? [] : repositoriesOf(environment);
  const tools = toolsOf(
    agentPlaceOf(automation, deps.factory, 'mcpServers'),
    effective(automation, deps, 'mcpServers'),
  );
  return {
    automation: automation.name,
    path: automation.path,
    inputs: automation.triggers.flatMap((trigger, index) => inputOf(automation.path, trigger, index, deps)),
    secrets,
    hosts: hostsOf(automation, secrets, repositories, tools),
    repositories,
    tools,
    effects: [...repositories.flatMap(pushOf), ...secrets.flatMap(writeOf)],
    budget: { ...automation.limits },
  };
}

/** What decides a key of the agent: the automation before the factory. */
export function effective<Key extends keyof AgentDefaults>(
  { agent }: { agent: AgentDefaults },
  { factory }: { factory: FactoryDefinition },
  key: Key,
): AgentDefaults[Key] {
  return agent[key] ?? factory.agentDefaults?.[key];
}

/** The file that says a key of the agent, and where. */
export function agentPlaceOf(
  { path, agent }: { path: string; agent: AgentDefaults },
  { agentDefaults }: FactoryDefinition,
  key: keyof AgentDefaults,
): DefinitionPlace {
  return agent[key] === undefined && agentDefaults?.[key] !== undefined
    ? { path: 'factory.yaml', pointer: `/agentDefaults/${key}` }
    : { path, pointer: `/${key}` };
}

/** Whether the entry lets a run change something at its host. */
export function writingMethods({ host, methods = [] }: RunSecret): string[] {
  return host === undefined ? [] : methods.filter((method) => !READING_METHODS.includes(method));
}

function environmentOfRuns<AnyTrigger>(
  agent: AgentDefaults,
  { factory, environmentOf }: CapabilityDeps<AnyTrigger>,
): EnvironmentDefinition | undefined {
  const id = agent.environmentId ?? factory.agentDefaults?.environmentId;
  return id === undefined ? undefined : environmentOf(id);
}

function inputOf<AnyTrigger extends WrittenTrigger | Trigger>(
  path: string,
  trigger: AnyTrigger,
  index: number,
  { webhooksOf }: CapabilityDeps<AnyTrigger>,
): InputCapability[] {
  const place = { path, pointer: `/triggers/${index}` };
  if (trigger.provider === 'inactive') return [];
  if (trigger.provider === 'schedule')
    return [{ provider: 'schedule', writer: 'files', authors: 'none', isUnfiltered: false, webhooks: [], place }];
  const payload = 'payload' in trigger ? trigger.payload : undefined;
  const webhooks = webhooksOf(trigger);
  return [{ ...writerOf(webhooks, payload), isUnfiltered: isEmptyFilter(payload), webhooks, place }];
}

function isEmptyFilter(payload: JsonValue | undefined): boolean {
  return (
    payload === undefined || (typeof payload === 'object' && payload !== null && Object.keys(payload).length === 0)
  );
}

function secretsOf(
  automation: { path: string; agent: AgentDefaults },
  environment: EnvironmentDefinition | undefined,
  factory: FactoryDefinition,
): SecretCapability[] {
  const { path, pointer } = agentPlaceOf(automation, factory, 'secrets');
  const own = automation.agent.secrets ?? factory.agentDefaults?.secrets ?? [];
  return [
    ...own.map((entry, index) => secretOf(entry, { path, pointer: `${pointer}/${index}` })),
    ...(environment?.secrets ?? []).map((entry, index) =>
      secretOf(entry, { path: environment?.path ?? '', pointer: `/secrets/${index}` }),
    ),
  ];
}

function secretOf(entry: RunSecret, place: DefinitionPlace): SecretCapability {
  const { name, host, expose } = entry;
  // Keys of models stay outside without a word.
  const isInside = expose === 'env' || (host === undefined && !MODEL_KEY_VARIABLES.includes(name));
  return { name, isInside, entry, place };
}

function hostsOf(
  { path, network }: { path: string; network?: JsonValue },
  secrets: readonly SecretCapability[],
  repositories: readonly RepositoryCapability[],
  tools: readonly ToolCapability[],
): HostCapability[] {
  const allow = (network as { allow?: string[] } | undefined)?.allow ?? [];
  return [
    ...allow.map((host, index) => ({
      host: host.toLowerCase(),
      by: 'network' as const,
      place: { path, pointer: `/network/allow/${index}` },
    })),
    ...secrets.flatMap(({ entry: { host }, place }) =>
      host === undefined
        ? []
        : [{ host, by: 'secret' as const, place: { ...place, pointer: `${place.pointer}/host` } }],
    ),
    ...repositories.flatMap(({ host, place }) =>
      host === undefined ? [] : [{ host, by: 'repository' as const, place }],
    ),
    ...tools.flatMap(({ host, place }) => (host === undefined ? [] : [{ host, by: 'mcp' as const, place }])),
  ];
}

function pushOf({ address, isPushed, place }: RepositoryCapability): EffectCapability[] {
  return isPushed ? [{ kind: 'push', target: address, place: { ...place, pointer: `${place.pointer}/push` } }] : [];
}

function writeOf({ entry, place }: SecretCapability): EffectCapability[] {
  const methods = writingMethods(entry);
  return methods.length === 0 ? [] : [{ kind: 'write', target: `${methods.join(', ')} ${entry.host}`, place }];
}
