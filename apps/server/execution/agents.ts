/** Harnesses that are coding agents: which command line each is, and one execution with it. reference: Running real coding agents. */
import { readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { McpServer, RequestPermissionRequest } from '@agentclientprotocol/sdk';
import { BUILT_IN_HARNESS, LAUNCH_PROFILES, launchCommand, launchEnvironment, type AmbientAgentConfig, type LaunchProfile } from '#runs';
import type { RunEvent } from '../store/run-log.ts';
import type { Ending } from '../store/runs.ts';
import { converse, type TurnEnd } from './agent-conversation.ts';
import { agentEvents } from './agent-events.ts';
import type { CommandPipes, CommandSpec } from './command.ts';
import type { RunSkill } from './skills.ts';
import type { Workspace } from './workspaces.ts';

/** The agent that comes with the service, as its build has it. */
export interface BuiltInAgent {
  command: readonly string[];
  /** What it reads beside the run's own folders. */
  readOnly: readonly string[];
}

const BUILT = fileURLToPath(new URL('../../agent/main.js', import.meta.url));

/** Where the built program lies; the folder of the package stands three above it. */
export const BUILT_IN_AGENT: BuiltInAgent = {
  command: [process.execPath, BUILT],
  readOnly: ['dist', 'node_modules', 'package.json'].map((name) => join(dirname(BUILT), '../../..', name)),
};

/** The profile of a harness; undefined: there is none of that name. */
export function profileOf(harness: string, builtIn: BuiltInAgent): LaunchProfile | undefined {
  if (harness !== BUILT_IN_HARNESS) return LAUNCH_PROFILES.find(({ id }) => id === harness);
  return {
    id: BUILT_IN_HARNESS, command: builtIn.command, env: {}, credentials: [], mode: 'auto', modelVia: { kind: 'option' }, resume: 'resume',
    concurrentPrompt: false, systemPromptVia: 'capability', skillFolders: ['.agents/skills'], install: 'it comes with the service',
  };
}

export interface AgentWork {
  profile: LaunchProfile;
  config: AmbientAgentConfig;
  workspace: Workspace;
  prompt: string;
  skill?: RunSkill;
  /** Variables of the agent's own: its model, its credentials. */
  environment: Readonly<Record<string, string>>;
  secretValues: readonly string[];
  nowMs(): number;
  onEvent(event: RunEvent): void;
}

/** What the command is started with, and how the turn ended once it has. */
export interface AgentExecution {
  spec: Pick<CommandSpec, 'command' | 'operatorWords' | 'own' | 'talk'>;
  /** Settles when the conversation is over; undefined when there was none. */
  ended(): TurnEnd | undefined;
}

/** Speaks with one agent for one execution; its session is found again by the next execution of the same run. */
export function agentExecution({ profile, config, workspace, prompt, skill, environment, secretValues, nowMs, onEvent }: AgentWork): AgentExecution {
  const events = agentEvents(secretValues, nowMs, onEvent);
  let end: TurnEnd | undefined;
  const talk = async ({ input, output, cancel }: CommandPipes): Promise<void> => {
    const sessionFile = join(workspace.folder, 'session');
    const stored = existsSync(sessionFile) ? await readFile(sessionFile, 'utf8') : undefined;
    end = await converse(
      { profile, cwd: workspace.workspace, prompt, basePrompt: basePromptOf(config, skill), modelId: config.harness?.model_id ?? config.model_id, mcpServers: mcpServersOf(config), sessionId: stored },
      {
        input: Readable.toWeb(output) as ReadableStream<Uint8Array>,
        output: Writable.toWeb(input) as WritableStream<Uint8Array>,
        cancel,
        onUpdate: (update) => events.take(update),
        onSession: async (sessionId, how) => {
          onEvent({ kind: 'status', atMs: nowMs(), body: JSON.stringify({ text: SESSION_WORDS[how] }) });
          await writeFile(sessionFile, sessionId, { mode: 0o600 });
        },
        // Inside the sandbox everything that the sandbox allows is allowed.
        decide: (request) => Promise.resolve(allowed(request)),
      },
    );
    events.finish();
  };
  return { spec: { command: launchCommand(profile, config.model_id), operatorWords: profile.command, own: { ...launchEnvironment(profile, config.model_id), ...environment }, talk }, ended: () => end };
}

/** contract 3: base prompt, blank line, body of the skill. */
function basePromptOf({ base_prompt: own }: AmbientAgentConfig, skill: RunSkill | undefined): string | undefined {
  const parts = [own, skill?.body].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? undefined : parts.join('\n\n');
}

const SESSION_WORDS = {
  new: 'the agent has begun a session',
  resumed: 'the agent goes on with its session',
  loaded: 'the agent has loaded its session',
  retold: 'the agent could not find its session and was told what was said',
} as const;

function allowed({ options }: RequestPermissionRequest): string | undefined {
  return (options.find(({ kind }) => kind === 'allow_once') ?? options.find(({ kind }) => kind === 'allow_always'))?.optionId;
}

/** The map of a configuration as the protocol's list. contract 3 (AmbientAgentConfig). */
function mcpServersOf({ mcp_servers: servers = {} }: AmbientAgentConfig): McpServer[] {
  return Object.entries(servers).map(([name, server]): McpServer => {
    const { command, args = [], env = {}, url = '', headers = {} } = server as { command?: string; args?: string[]; env?: Record<string, string>; url?: string; headers?: Record<string, string> };
    const pairs = (map: Record<string, string>): { name: string; value: string }[] => Object.entries(map).map(([key, value]) => ({ name: key, value }));
    return command === undefined ? { type: 'http', name, url, headers: pairs(headers) } : { name, command, args, env: pairs(env) };
  });
}

/** What the end of a turn means for its run. spec: States and transitions. */
export function toTurnEnding(end: TurnEnd): Ending {
  switch (end.kind) {
    case 'cancelled':
      return { state: 'CANCELLED', message: 'cancelled on request' };
    case 'failed':
      return { state: 'FAILED', message: end.message, errorCode: end.stage === 'start' ? 'environment_setup_failed' : undefined, retryable: false };
    case 'stopped':
      return end.reason === 'end_turn' ? answered(end.answer) : { state: 'FAILED', message: STOP_WORDS[end.reason], retryable: false };
  }
}

function answered(answer: string): Ending {
  if (answer.trim() === '') return { state: 'FAILED', message: 'the agent ended its turn without an answer', retryable: false };
  return { state: 'SUCCEEDED', message: 'the agent has answered' };
}

const STOP_WORDS = {
  max_tokens: 'the agent reached its bound of tokens before it had finished',
  max_turn_requests: 'the agent reached its bound of steps before it had finished',
  refusal: 'the agent refused the task',
  cancelled: 'the agent ended its turn as cancelled, though nobody had asked for it',
} as const;
