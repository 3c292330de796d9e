/** How each coding agent is started and spoken to, as data: the built-in profiles and the rules for an operator's own. reference: Running real coding agents. */

/** One agent that speaks the Agent Client Protocol on its stdio. */
export interface LaunchProfile {
  /** What `harness.type` names. */
  id: string;
  /** Program and arguments, the program by name or absolute path. */
  command: readonly string[];
  /** Variables that every execution gets: switches and endpoints, never credentials. */
  env: Readonly<Record<string, string>>;
  /** Variables of which one must be set for the agent to reach its model; named in errors. */
  credentials: readonly string[];
  /** ACP session mode to ask for. */
  mode?: string;
  modelVia: ModelVia;
  /** What the agent can do with a session of an earlier process, best first. */
  resume: 'resume' | 'load' | 'none';
  /** Whether a prompt in mid-turn is taken as one more message; otherwise follow-ups wait for the end of the turn. */
  concurrentPrompt: boolean;
  /** `capability`: the agent takes a system prompt of ours; `prefix`: the base prompt stands before the first prompt. */
  systemPromptVia: 'capability' | 'prefix';
  /** Folders below HOME in which the agent looks for skills, each in a folder of its name. */
  skillFolders: readonly string[];
  /** Further files and folders of the machine that it reads, as absolute paths. */
  readOnly?: readonly string[];
  /** What installs it, for people. */
  install: string;
}

/** How the agent is told its model: a session option, a command-line flag, or a variable. */
export type ModelVia = { kind: 'option' } | { kind: 'flag'; flag: string } | { kind: 'env'; name: string };

const QUIET_NODE = { NO_COLOR: '1' } as const;

/** Agents that were tried with the driver. None is shipped: each has to be installed by the operator. */
export const LAUNCH_PROFILES: readonly LaunchProfile[] = [
  {
    id: 'opencode', command: ['opencode', 'acp'], credentials: ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY'],
    env: { ...QUIET_NODE, OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
    modelVia: { kind: 'option' }, resume: 'load', concurrentPrompt: false, systemPromptVia: 'prefix', skillFolders: ['.config/opencode/skill'], install: 'npm install -g opencode-ai',
  },
  {
    id: 'gemini', command: ['gemini', '--acp'], credentials: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    env: { ...QUIET_NODE, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    modelVia: { kind: 'flag', flag: '--model' }, resume: 'none', concurrentPrompt: false, systemPromptVia: 'prefix', skillFolders: ['.gemini/skills'], install: 'npm install -g @google/gemini-cli',
  },
  {
    id: 'codex', command: ['codex-acp'], credentials: ['OPENAI_API_KEY', 'CODEX_API_KEY'], env: QUIET_NODE,
    modelVia: { kind: 'option' }, resume: 'load', concurrentPrompt: false, systemPromptVia: 'prefix', skillFolders: ['.codex/skills'], install: 'npm install -g @agentclientprotocol/codex-acp',
  },
  {
    id: 'claude', command: ['claude-agent-acp'], credentials: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
    env: { ...QUIET_NODE, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    modelVia: { kind: 'env', name: 'ANTHROPIC_MODEL' }, resume: 'resume', concurrentPrompt: false, systemPromptVia: 'prefix', skillFolders: ['.claude/skills'], install: 'npm install -g @agentclientprotocol/claude-agent-acp@0.49',
  },
  {
    id: 'qwen', command: ['qwen', '--acp'], credentials: ['OPENAI_API_KEY'], env: QUIET_NODE,
    modelVia: { kind: 'flag', flag: '--model' }, resume: 'none', concurrentPrompt: false, systemPromptVia: 'prefix', skillFolders: ['.qwen/skills'], install: 'npm install -g @qwen-code/qwen-code',
  },
];

/** The command line of a profile for one model; undefined: the agent's own choice. */
export function launchCommand({ command, modelVia }: LaunchProfile, modelId: string | undefined): string[] {
  return modelId !== undefined && modelVia.kind === 'flag' ? [...command, modelVia.flag, modelId] : [...command];
}

/** The variables of a profile for one model. */
export function launchEnvironment({ env, modelVia }: LaunchProfile, modelId: string | undefined): Record<string, string> {
  return modelId !== undefined && modelVia.kind === 'env' ? { ...env, [modelVia.name]: modelId } : { ...env };
}
