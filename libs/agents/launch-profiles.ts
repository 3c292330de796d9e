/**
 * How each coding agent is started and spoken to, as data: the built-in profiles, and what an operator's own change of
 * them. explanation: Coding agents.
 */
import { hostPatternOfUrl, readHostPattern, type HostPattern } from '#isolation';

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
  /** What installs it, for people. */
  install: string;
}

/** How the agent is told its model: a session option, a command-line flag, or a variable. */
export type ModelVia = { kind: 'option' } | { kind: 'flag'; flag: string } | { kind: 'env'; name: string };

/** What `harness.type` calls the operator's command, which is no agent. */
export const COMMAND_HARNESS = 'command';

const QUIET_NODE = { NO_COLOR: '1' } as const;

/** What most agents have in common. */
const USUAL = { resume: 'resume', concurrentPrompt: false, systemPromptVia: 'prefix' } as const;

const OPENAI = 'api.openai.com';
const ANTHROPIC = 'api.anthropic.com';
const GEMINI = 'generativelanguage.googleapis.com';

/** Agents that were tried with the driver. None is shipped: each has to be installed by the operator. */
export const LAUNCH_PROFILES: readonly LaunchProfile[] = [
  {
    ...USUAL,
    id: 'opencode',
    command: ['opencode', 'acp'],
    modelVia: { kind: 'option' },
    env: {
      ...QUIET_NODE,
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    },
    credentials: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY', 'OPENCODE_API_KEY'],
    endpoints: [OPENAI, ANTHROPIC, GEMINI, 'openrouter.ai', 'opencode.ai'],
    endpointVariables: ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL'],
    skillFolders: ['.config/opencode/skill'],
    install: 'npm install -g opencode-ai',
  },
  {
    ...USUAL,
    id: 'gemini',
    resume: 'load',
    command: ['gemini', '--acp'],
    mode: 'yolo',
    modelVia: { kind: 'flag', flag: '--model' },
    env: { ...QUIET_NODE, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    credentials: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    endpoints: [GEMINI],
    endpointVariables: ['GOOGLE_GEMINI_BASE_URL'],
    skillFolders: ['.gemini/skills'],
    install: 'npm install -g @google/gemini-cli',
  },
  {
    ...USUAL,
    id: 'codex',
    command: ['codex-acp'],
    mode: 'agent-full-access',
    modelVia: { kind: 'option' },
    // Its own sandbox cannot be built inside ours; without the request it takes no key from its variables.
    env: { ...QUIET_NODE, NO_BROWSER: '1', DEFAULT_AUTH_REQUEST: '{"methodId":"api-key"}' },
    credentials: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    endpoints: [OPENAI],
    endpointVariables: ['OPENAI_BASE_URL'],
    skillFolders: ['.codex/skills'],
    install: 'npm install -g @agentclientprotocol/codex-acp',
  },
  {
    ...USUAL,
    id: 'claude',
    command: ['claude-agent-acp'],
    mode: 'bypassPermissions',
    modelVia: { kind: 'env', name: 'ANTHROPIC_MODEL' },
    // Where the service is root and runs have no users of their own, it refuses its mode unless it is told of the
    // sandbox.
    env: { ...QUIET_NODE, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' },
    credentials: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
    endpoints: [ANTHROPIC],
    endpointVariables: ['ANTHROPIC_BASE_URL'],
    skillFolders: ['.claude/skills'],
    install: 'npm install -g @agentclientprotocol/claude-agent-acp@0.49',
  },
  {
    ...USUAL,
    id: 'qwen',
    command: ['qwen', '--acp', '--auth-type', 'openai'],
    mode: 'yolo',
    modelVia: { kind: 'flag', flag: '--model' },
    env: QUIET_NODE,
    credentials: ['OPENAI_API_KEY'],
    endpoints: ['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', OPENAI],
    endpointVariables: ['OPENAI_BASE_URL'],
    skillFolders: ['.qwen/skills'],
    install: 'npm install -g @qwen-code/qwen-code',
  },
];

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
  return modelId !== undefined && modelVia.kind === 'env' ? { ...env, [modelVia.name]: modelId } : { ...env };
}
