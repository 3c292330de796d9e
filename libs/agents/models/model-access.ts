/**
 * How a run reaches its models: through the broker beside its sandbox, with placeholders where its agent looks for keys
 * and addresses. contract §10.3 (Model calls).
 */
import { hostPatternOfUrl, type HostPattern } from '#isolation';
import { BUILT_IN_HARNESS } from '../agent-config.ts';
import { LAUNCH_PROFILES } from '../built-in-profiles.ts';
import {
  launchEnvironment,
  modelHostsOf,
  readJsonObject,
  type ConfigObject,
  type LaunchProfile,
  type ModelBinding,
} from '../launch-profiles.ts';
import { modelChoice } from '../model-endpoints.ts';
import type { ModelApi } from './model-apis.ts';
import { modelPrices, type PricedModels } from './model-prices.ts';

/** Where runs find their broker: on their own loopback, at the port of their proxy. */
export const BROKER_ORIGIN = 'http://127.0.0.1:61128';

/** One endpoint of models behind the broker. */
export interface ModelRoute {
  /** First part of its path at the broker, behind `/models/`. */
  id: string;
  apis: readonly ModelApi[];
  /** Where it is; without a slash at its end. */
  baseUrl: string;
  /** What the agent has in place of a key, and the key; undefined where the endpoint wants none. */
  keys: readonly { placeholder: string; value?: string }[];
  /** Models that the run was given; `*` stands for any letters. */
  models: readonly string[];
  /** Its address is the operator's or the agent's own, and none that a secret of the run holds. */
  isTrusted: boolean;
  /** What its calls cost, where the operator has said so. */
  prices?: readonly PricedModels[];
}

export interface ModelAccess {
  routes: readonly ModelRoute[];
  /** Variables of the agent: addresses at the broker, and placeholders. */
  env: Readonly<Record<string, string>>;
  /** Hosts that the agent still reaches by itself: it holds a key of theirs. */
  direct: readonly HostPattern[];
}

export interface ModelAccessRequest {
  profile: LaunchProfile;
  /** The model that the run asks for; undefined: the agent's own choice. */
  modelId?: string;
  /** Variables that the operator gives the built-in agent. */
  builtIn: Readonly<Record<string, string>>;
  /** Secrets of the run, by variable. */
  secrets: Readonly<Record<string, string>>;
  /** Those of them that are to be inside as they are. */
  exposed: ReadonlySet<string>;
  /** A new one with each call: nobody can guess it. */
  newPlaceholder(): string;
}

/** What the agent of a run gets in place of keys. */
export function modelAccess(request: ModelAccessRequest): ModelAccess {
  const { profile } = request;
  if (profile.id === BUILT_IN_HARNESS) return builtInAccess(request);
  const parts = profile.models.map((binding) => boundAccess(binding, request));
  return {
    routes: parts.flatMap(({ route }) => route ?? []),
    env: mergedEnv(parts.map(({ env }) => env)),
    direct: [...furtherHosts(profile), ...parts.flatMap(({ hosts }) => hosts)],
  };
}

/** What an agent reaches beside the endpoints that the broker stands before; all of it where none does. */
function furtherHosts(profile: LaunchProfile): HostPattern[] {
  if (profile.models.length === 0) return modelHostsOf(profile);
  const usual = LAUNCH_PROFILES.find(({ id }) => id === profile.id)?.endpoints ?? [];
  const own = profile.endpoints.filter((entry) => !usual.includes(entry) && !entry.includes('://'));
  return modelHostsOf({ ...profile, endpoints: own });
}

/** The operator's rules for the broker itself: where it may take the calls of a run. */
export function modelHosts(
  { routes }: Pick<ModelAccess, 'routes'>,
  isReachable: (host: HostPattern) => boolean,
): { trusted: HostPattern[]; further: HostPattern[] } {
  const hosts = (isTrusted: boolean): HostPattern[] =>
    hostsOf(routes.filter((route) => route.isTrusted === isTrusted).map(({ baseUrl }) => baseUrl));
  return { trusted: hosts(true), further: hosts(false).filter(isReachable) };
}

function builtInAccess({ builtIn, modelId, newPlaceholder }: ModelAccessRequest): ModelAccess {
  const choice = modelChoice(builtIn);
  if (choice.kind !== 'endpoint') return { routes: [], env: {}, direct: [] };
  const { provider, baseUrl, key, modelId: configured } = choice.endpoint;
  const placeholder = newPlaceholder();
  const prices = modelPrices(builtIn);
  const apis: ModelApi[] = [provider === 'anthropic' ? 'anthropic' : 'openai'];
  return {
    routes: [
      {
        id: 'model',
        apis,
        baseUrl,
        keys: [{ placeholder, ...(key === undefined ? {} : { value: key }) }],
        models: [modelId ?? configured],
        isTrusted: true,
        prices: prices && [{ ...prices, models: '*' }],
      },
    ],
    env: {
      MILLWRIGHT_AGENT_PROVIDER: provider,
      MILLWRIGHT_AGENT_BASE_URL: addressOf('model'),
      MILLWRIGHT_AGENT_API_KEY: placeholder,
    },
    direct: [],
  };
}

interface BoundAccess {
  route?: ModelRoute;
  env: Readonly<Record<string, string>>;
  hosts: readonly HostPattern[];
}

function boundAccess(binding: ModelBinding, request: ModelAccessRequest): BoundAccess {
  const { profile, modelId, secrets, exposed, newPlaceholder } = request;
  const given: Readonly<Record<string, string>> = {
    ...launchEnvironment(profile, modelId),
    ...profile.secretEnv,
    ...secrets,
  };
  const set = binding.keys.filter((name) => given[name] !== undefined);
  const address = addressSaid(binding, given);
  const baseUrl = (address ?? binding.at).replace(/\/+$/, '');
  if (set.some((name) => exposed.has(name))) return { env: {}, hosts: hostsOf([baseUrl]) };
  if (hostPatternOfUrl(baseUrl) === undefined || (set.length === 0 && address === undefined))
    return { env: {}, hosts: [] };
  const names = set.length === 0 ? binding.keys.slice(0, 1) : set;
  const keys = names.map((name) => ({ name, placeholder: newPlaceholder(), value: given[name] }));
  const route: ModelRoute = {
    id: binding.id,
    apis: binding.apis,
    baseUrl,
    keys: keys.map(({ placeholder, value }) => ({ placeholder, ...(value === undefined ? {} : { value }) })),
    models: modelsOf(binding, request),
    isTrusted: [binding.address.variable, binding.address.members?.of].every(
      (name) => !Object.hasOwn(secrets, name ?? ''),
    ),
    prices: profile.prices,
  };
  const placeholders = Object.fromEntries(keys.map(({ name, placeholder }) => [name, placeholder]));
  return { route, env: { ...placeholders, ...addressEnv(binding, given, names[0] ?? '') }, hosts: [] };
}

/** Where the operator or a secret of the run says that it is. */
function addressSaid({ address }: ModelBinding, given: Readonly<Record<string, string>>): string | undefined {
  const { variable, members } = address;
  const plain = variable === undefined ? undefined : given[variable];
  const inner = members?.paths.map((path) =>
    path.reduce<unknown>(
      (value, name) => (typeof value === 'object' && value !== null ? (value as ConfigObject)[name] : undefined),
      readJsonObject(given[members.of]),
    ),
  );
  return plain ?? inner?.find((value) => typeof value === 'string');
}

function addressEnv(
  { id, address: { variable, members }, settings }: ModelBinding,
  given: Readonly<Record<string, string>>,
  keyName: string,
): Record<string, string> {
  const at = addressOf(id);
  const values = new Map<string, ConfigObject>();
  const add = (of: string, value: ConfigObject): unknown =>
    values.set(of, merged(values.get(of) ?? readJsonObject(given[of]), value));
  for (const path of members?.paths ?? []) add(members?.of ?? '', nested(path, at));
  if (settings !== undefined) add(settings.of, merged(settings.members, nested(settings.keyNamePath, keyName)));
  return {
    ...(variable === undefined ? {} : { [variable]: at }),
    ...Object.fromEntries([...values].map(([name, value]) => [name, JSON.stringify(value)])),
  };
}

/**
 * What the run asks for and what its agent takes for small things; what the agent likes where the run says nothing.
 * What the operator says in the profile counts in both cases.
 */
function modelsOf(binding: ModelBinding, { profile, modelId }: ModelAccessRequest): string[] {
  const said = Object.entries({ ...profile.env, ...profile.secretEnv })
    .filter(([name]) => /(?:^|_)MODEL$/.test(name))
    .flatMap(([, model]) => spellings(model, binding));
  const asked = modelId === undefined ? binding.usual : [...spellings(modelId, binding), ...binding.small];
  return [...new Set([...asked, ...said, ...(profile.modelPatterns ?? [])])];
}

/**
 * A model as agents take it and as they send it: with or without its provider before it, an effort behind it, or the
 * date of its version.
 */
function spellings(model: string, { aliases = {} }: ModelBinding): string[] {
  const bare = model.replace(/\[[^\]]*\]$/, '');
  const alias = aliases[bare];
  if (alias !== undefined) return [alias];
  const parts = bare.split('/');
  const names = [model, bare, ...parts.slice(1).map((_, index) => parts.slice(index + 1).join('/')), parts[0] ?? bare];
  return names.filter((name) => name !== '' && !name.includes('*')).flatMap((name) => [name, `${name}-20*`]);
}

function addressOf(id: string): string {
  return `${BROKER_ORIGIN}/models/${id}`;
}

function hostsOf(entries: readonly string[]): HostPattern[] {
  return entries.map(hostPatternOfUrl).filter((pattern) => pattern !== undefined);
}

function nested(path: readonly string[], value: string): ConfigObject {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as ConfigObject;
}

/** Several endpoints may be told in one variable: as members of one JSON value. */
function mergedEnv(parts: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    const before = result[name];
    result[name] =
      before === undefined || !before.startsWith('{')
        ? value
        : JSON.stringify(merged(readJsonObject(before), readJsonObject(value)));
  }
  return result;
}

function merged(one: ConfigObject, other: ConfigObject): ConfigObject {
  const result = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = result[name];
    result[name] =
      typeof before === 'object' && typeof value === 'object'
        ? merged(before as ConfigObject, value as ConfigObject)
        : value;
  }
  return result;
}
