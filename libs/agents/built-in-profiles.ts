/** The coding agents that have a launch profile, each as it was tried with the driver. explanation: Coding agents. */
import type { LaunchProfile, ModelBinding } from './launch-profiles.ts';

const QUIET_NODE = { NO_COLOR: '1' } as const;

/** What most agents have in common. */
const USUAL = { resume: 'resume', concurrentPrompt: false, systemPromptVia: 'prefix' } as const;

const OPENAI = 'api.openai.com';
const ANTHROPIC = 'api.anthropic.com';
const GEMINI = 'generativelanguage.googleapis.com';

const CLAUDE_MODELS = { usual: ['claude-*'], small: ['claude-*haiku*'] } as const;
const GEMINI_MODELS = { usual: ['gemini-*'], small: ['gemini-*flash*'] } as const;
const OPENAI_MODELS = {
  usual: ['gpt-*', 'o1*', 'o3*', 'o4*', 'codex-*'],
  small: ['gpt-*-mini*', 'gpt-*-nano*', 'gpt-*-luna*'],
} as const;
const ANY_MODEL = { usual: ['*'], small: [] } as const;

/** How opencode is told where a provider is. */
const opencodeAddress = (provider: string, variable?: string): ModelBinding['address'] => ({
  ...(variable === undefined ? {} : { variable }),
  members: { of: 'OPENCODE_CONFIG_CONTENT', paths: [['provider', provider, 'options', 'baseURL']] },
});

const OPENCODE_PROVIDERS: readonly ModelBinding[] = [
  {
    id: 'openai',
    apis: ['openai'],
    keys: ['OPENAI_API_KEY'],
    address: opencodeAddress('openai', 'OPENAI_BASE_URL'),
    at: 'https://api.openai.com/v1',
    ...OPENAI_MODELS,
  },
  {
    id: 'anthropic',
    apis: ['anthropic'],
    keys: ['ANTHROPIC_API_KEY'],
    address: opencodeAddress('anthropic', 'ANTHROPIC_BASE_URL'),
    at: 'https://api.anthropic.com/v1',
    ...CLAUDE_MODELS,
  },
  {
    id: 'google',
    apis: ['gemini'],
    keys: ['GEMINI_API_KEY'],
    address: opencodeAddress('google'),
    at: 'https://generativelanguage.googleapis.com/v1beta',
    ...GEMINI_MODELS,
  },
  {
    id: 'openrouter',
    apis: ['openai'],
    keys: ['OPENROUTER_API_KEY'],
    address: opencodeAddress('openrouter'),
    at: 'https://openrouter.ai/api/v1',
    ...ANY_MODEL,
  },
  {
    id: 'opencode',
    apis: ['openai', 'anthropic', 'gemini'],
    keys: ['OPENCODE_API_KEY'],
    address: opencodeAddress('opencode'),
    at: 'https://opencode.ai/zen/v1',
    ...ANY_MODEL,
  },
];

/**
 * A provider of its own: of the one that it has, it keeps the key in a file and takes it from there in later
 * executions, whose placeholder is another.
 */
const CODEX_PROVIDER = ['model_providers', 'millwright'] as const;

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
    models: OPENCODE_PROVIDERS,
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
    models: [
      {
        id: 'gemini',
        apis: ['gemini'],
        keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
        address: { variable: 'GOOGLE_GEMINI_BASE_URL' },
        at: `https://${GEMINI}`,
        ...GEMINI_MODELS,
        aliases: {
          auto: 'gemini-*',
          pro: 'gemini-*pro*',
          flash: 'gemini-*flash*',
          'flash-lite': 'gemini-*flash-lite*',
        },
      },
    ],
    skillFolders: ['.gemini/skills'],
    install: 'npm install -g @google/gemini-cli',
  },
  {
    ...USUAL,
    id: 'codex',
    command: ['codex-acp'],
    mode: 'agent-full-access',
    // Its sessions offer the models of its own version only, and take any that its configuration names.
    modelVia: { kind: 'member', of: 'CODEX_CONFIG', model: 'model', effort: 'model_reasoning_effort' },
    // Its own sandbox cannot be built inside ours; without the request it takes no key from its variables.
    env: { ...QUIET_NODE, NO_BROWSER: '1', DEFAULT_AUTH_REQUEST: '{"methodId":"api-key"}' },
    credentials: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    endpoints: [OPENAI],
    endpointVariables: ['OPENAI_BASE_URL'],
    models: [
      {
        id: 'openai',
        apis: ['openai'],
        keys: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
        address: {
          variable: 'OPENAI_BASE_URL',
          members: { of: 'CODEX_CONFIG', paths: [[...CODEX_PROVIDER, 'base_url'], ['openai_base_url']] },
        },
        settings: {
          of: 'CODEX_CONFIG',
          members: {
            model_provider: 'millwright',
            model_providers: { millwright: { name: 'OpenAI', wire_api: 'responses', supports_websockets: false } },
          },
          keyNamePath: [...CODEX_PROVIDER, 'env_key'],
        },
        at: `https://${OPENAI}/v1`,
        ...OPENAI_MODELS,
      },
    ],
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
    models: [
      {
        id: 'anthropic',
        apis: ['anthropic'],
        keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
        address: { variable: 'ANTHROPIC_BASE_URL' },
        at: `https://${ANTHROPIC}`,
        ...CLAUDE_MODELS,
        aliases: {
          default: 'claude-*',
          sonnet: 'claude-*sonnet*',
          opus: 'claude-*opus*',
          haiku: 'claude-*haiku*',
          opusplan: 'claude-*',
        },
      },
    ],
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
    models: [
      {
        id: 'openai',
        apis: ['openai'],
        keys: ['OPENAI_API_KEY'],
        address: { variable: 'OPENAI_BASE_URL' },
        at: `https://${OPENAI}/v1`,
        usual: ['qwen*', 'coder-model', ...OPENAI_MODELS.usual],
        small: [],
      },
    ],
    skillFolders: ['.qwen/skills'],
    install: 'npm install -g @qwen-code/qwen-code',
  },
];
