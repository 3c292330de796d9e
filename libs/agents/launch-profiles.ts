/**
 * How each coding agent is started and spoken to, as data: the built-in profiles, and what an operator's own change of
 * them. explanation: Coding agents.
 */
import { hostPatternOfUrl, readHostPattern, type HostPattern } from '#isolation';
import { LAUNCH_PROFILES } from './built-in-profiles.ts';
import type { ModelApi } from './models/model-apis.ts';
import type { PricedModels } from './models/model-prices.ts';

/** One agent that speaks the Agent Client Protocol on its stdio. */
export interface LaunchProfile {
  /** What `harness.type` names. */
  id: string;
  /** Program and arguments, the program by name or absolute path. */
  command: readonly string[];
  /** Variables that every execution gets: switches and endpoints, never credentials. */
  env: Readonly<Record<string, string>>;
  /** Variables that the operator gives every execution and that no log may show. */
  secretEnv?: Readonly<Record<string, string>>;
  /** Variables of which one must be set for the agent to reach its model; named in errors. Empty: it needs none. */
  credentials: readonly string[];
  /**
   * Way of authenticating that is chosen where the agent offers it: the ID of one of its methods. Undefined: it finds
   * its credentials by itself.
   */
  auth?: string;
  /** ACP session mode in which it works without asking; for runs that nobody watches. */
  mode?: string;
  modelVia: ModelVia;
  /** What the agent can do with a session of an earlier process, best first. */
  resume: 'resume' | 'load' | 'none';
  /** Whether a prompt in mid-turn is taken as one more message; otherwise follow-ups wait for the end of the turn. */
  concurrentPrompt: boolean;
  /**
   * `capability`: the agent takes a system prompt of ours; `prefix`: the base prompt stands before the first prompt.
   */
  systemPromptVia: 'capability' | 'prefix';
  /** Folders below HOME in which the agent looks for skills, each in a folder of its name. */
  skillFolders: readonly string[];
  /** Further files and folders of the machine that it reads, as absolute paths. */
  readOnly?: readonly string[];
  /** Hosts of its models, as entries of an allow-list: what also the strict tier reaches. contract §10. */
  endpoints: readonly string[];
  /** Variables that hold the URL of its models' endpoint. */
  endpointVariables: readonly string[];
  /**
   * Where it takes keys and addresses of its models from, so that a broker can stand between. Empty: it holds its keys
   * itself. contract §10.3 (Model calls).
   */
  models: readonly ModelBinding[];
  /** Models that runs may use of it beside the one that they name; `*` stands for any letters. */
  modelPatterns?: readonly string[];
  /** What calls of its models cost. Absent: nobody has said, and the agent tells. */
  prices?: readonly PricedModels[];
  /** What installs it, for people. */
  install: string;
}

/** One provider of an agent. */
export interface ModelBinding {
  id: string;
  /** Interfaces that it is spoken to by. */
  apis: readonly ModelApi[];
  /** Variables that hold its key. */
  keys: readonly string[];
  /** What says where it is: a variable, members of the JSON value of another one, or both. */
  address: { variable?: string; members?: { of: string; paths: readonly (readonly string[])[] } };
  /**
   * What else the JSON value of a variable has to say; `keyNamePath`: where the name of the variable of its key goes.
   */
  settings?: { of: string; members: ConfigObject; keyNamePath: readonly string[] };
  /** Where it is unless that says otherwise: as the agent itself has it. */
  at: string;
  /** Models that the agent chooses where nobody has; `*` stands for any letters. */
  usual: readonly string[];
  /** Models that it takes for titles, summaries and the like. */
  small: readonly string[];
  /** What it calls some models itself. */
  aliases?: Readonly<Record<string, string>>;
}

/** How the agent is told its model: a session option, a command-line flag, a variable, or members of its JSON value. */
export type ModelVia =
  | { kind: 'option' }
  | { kind: 'flag'; flag: string }
  | { kind: 'env'; name: string }
  /** `effort`: where what stands behind the model in brackets goes. Models that no session offers are taken, too. */
  | { kind: 'member'; of: string; model: string; effort: string };

/** What `harness.type` calls the operator's command, which is no agent. */
export const COMMAND_HARNESS = 'command';

/**
 * What an operator says of an agent: of one that is built in only what differs, of any other at least its command and
 * how it takes its model.
 */
export type OwnProfile = Partial<Omit<LaunchProfile, 'id'>> & { id: string };

/** The built-in profiles with the operator's in their place and beside them. */
export function profilesWith(own: readonly OwnProfile[]): LaunchProfile[] {
  const changed = own.map((profile) =>
    profileWith(
      LAUNCH_PROFILES.find(({ id }) => id === profile.id),
      profile,
    ),
  );
  return [...LAUNCH_PROFILES.filter(({ id }) => !own.some((profile) => profile.id === id)), ...changed];
}

function profileWith(builtIn: LaunchProfile | undefined, own: OwnProfile): LaunchProfile {
  const basis: LaunchProfile = builtIn ?? { ...BARE, id: own.id };
  const said = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) as OwnProfile;
  const merged = { ...basis, ...said, env: { ...basis.env, ...own.env } };
  return { ...merged, endpoints: endpointsOf(merged, own.endpoints) };
}

const BARE: LaunchProfile = {
  id: '',
  command: [],
  env: {},
  credentials: [],
  modelVia: { kind: 'option' },
  resume: 'none',
  concurrentPrompt: false,
  systemPromptVia: 'prefix',
  skillFolders: [],
  endpoints: [],
  endpointVariables: [],
  models: [],
  install: 'the operator of this service knows how it is installed',
};

/** Where an operator has set another endpoint, the usual ones are not needed any more. */
function endpointsOf(
  { env, secretEnv, endpoints, endpointVariables }: LaunchProfile,
  own: readonly string[] | undefined,
): readonly string[] {
  const set = endpointVariables
    .flatMap((name) => env[name] ?? secretEnv?.[name] ?? [])
    .filter((url) => hostPatternOfUrl(url) !== undefined);
  return set.length === 0 ? endpoints : [...(own ?? []), ...set];
}

/** Hosts of the models of a profile: entries of an allow-list, or URLs. */
export function modelHostsOf({ endpoints }: LaunchProfile): HostPattern[] {
  return endpoints
    .map((entry) => (entry.includes('://') ? hostPatternOfUrl(entry) : readHostPattern(entry)))
    .filter((pattern) => pattern !== undefined);
}

/**
 * Why the agent could not reach its model with these variables, in words for the run's owner; undefined: it may try.
 */
export function credentialProblem(
  { id, credentials, env, secretEnv = {} }: LaunchProfile,
  given: Readonly<Record<string, string>>,
): string | undefined {
  if (credentials.length === 0 || credentials.some((name) => name in given || name in env || name in secretEnv))
    return undefined;
  const names = credentials.length === 1 ? credentials[0] : `one of ${credentials.join(', ')}`;
  return (
    `the agent ${id} has no credentials for its model: it needs ${names}; store it as a managed secret of that ` +
    'name, granted for runs, ' +
    `and name it in the run's secrets, or let the operator of this service give it in a profile of the agent ` +
    `(MILLWRIGHT_AGENT_PROFILES_FILE)`
  );
}

/** The command line of a profile for one model; undefined: the agent's own choice. */
export function launchCommand({ command, modelVia }: LaunchProfile, modelId: string | undefined): string[] {
  return modelId !== undefined && modelVia.kind === 'flag' ? [...command, modelVia.flag, modelId] : [...command];
}

/** The variables of a profile for one model. */
export function launchEnvironment(
  { env, modelVia }: LaunchProfile,
  modelId: string | undefined,
): Record<string, string> {
  if (modelId === undefined) return { ...env };
  if (modelVia.kind === 'env') return { ...env, [modelVia.name]: modelId };
  if (modelVia.kind !== 'member') return { ...env };
  const { model, effort } = modelParts(modelId);
  const members = { [modelVia.model]: model, ...(effort === undefined ? {} : { [modelVia.effort]: effort }) };
  return { ...env, [modelVia.of]: JSON.stringify({ ...readJsonObject(env[modelVia.of]), ...members }) };
}

/** What a session's option of models is to be; undefined: it has its model by other means, or none is asked for. */
export function modelOption({ modelVia }: LaunchProfile, modelId: string | undefined): string | undefined {
  if (modelId === undefined) return undefined;
  if (modelVia.kind === 'member') return modelParts(modelId).model;
  return modelVia.kind === 'option' ? modelId : undefined;
}

/** `model[effort]`, as some agents write it. */
function modelParts(modelId: string): { model: string; effort?: string } {
  const [, model = modelId, effort] = /^(.*?)(?:\[([^\]]*)\])?$/s.exec(modelId) ?? [];
  return { model, effort };
}

export type ConfigObject = { [name: string]: unknown };

/** Empty where it is no object. */
export function readJsonObject(text = ''): ConfigObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ConfigObject) : {};
  } catch {
    return {};
  }
}
