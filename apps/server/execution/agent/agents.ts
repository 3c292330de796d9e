/** Harnesses that are coding agents: which command line each is, and one execution with it. reference: Running real coding agents. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { McpServer } from '@agentclientprotocol/sdk';
import {
  BUILT_IN_HARNESS,
  launchCommand,
  launchEnvironment,
  type AmbientAgentConfig,
  type LaunchProfile,
  type RunUsage,
} from '#agents';
import type { RunEvent } from '../../store/runs/run-log.ts';
import type { Task } from '../../store/runs/run-tasks.ts';
import type { RunEnd } from '../../store/runs/runs.ts';
import type { AgentReports } from './agent-artifacts.ts';
import type { TurnEnd } from './agent-conversation.ts';
import type { PermissionBroker } from './permission-broker.ts';
import { agentSession } from './agent-session.ts';
import type { CommandSpec } from '../command/command.ts';
import type { RunSkill } from '../preparation/skills.ts';
import type { Workspace } from '../workspace/workspaces.ts';

/** The agent that comes with the service, as its build has it. */
export interface BuiltInAgent {
  command: readonly string[];
  /** What it reads beside the run's own folders. */
  readOnly: readonly string[];
}

const BUILT = fileURLToPath(new URL('../../../agent/main.js', import.meta.url));

/** Where the built program lies; the folder of the package stands three above it. */
export const BUILT_IN_AGENT: BuiltInAgent = {
  command: [process.execPath, '--disable-warning=UNDICI-EHPA', BUILT],
  readOnly: ['dist', 'node_modules', 'package.json'].map((name) => join(dirname(BUILT), '../../..', name)),
};

/** The profile of a harness; undefined: there is none of that name. */
export function profileOf(
  harness: string,
  builtIn: BuiltInAgent,
  profiles: readonly LaunchProfile[],
): LaunchProfile | undefined {
  if (harness !== BUILT_IN_HARNESS) return profiles.find(({ id }) => id === harness);
  return {
    id: BUILT_IN_HARNESS,
    command: builtIn.command,
    env: {},
    credentials: [],
    mode: 'auto',
    modelVia: { kind: 'option' },
    resume: 'resume',
    concurrentPrompt: false,
    systemPromptVia: 'capability',
    skillFolders: ['.agents/skills'],
    endpoints: [],
    endpointVariables: [],
    install: 'it comes with the service',
  };
}

export interface AgentWork {
  profile: LaunchProfile;
  config: AmbientAgentConfig;
  workspace: Workspace;
  task: Task;
  skill?: RunSkill;
  mcpServers: readonly McpServer[];
  /** People are asked for permission: it is not put into the mode in which it does not ask. */
  isAsking: boolean;
  /** Something was said before this execution that a new session would not know. */
  hasPast: boolean;
  /** Variables of the agent's own: its model, its credentials. */
  environment: Readonly<Record<string, string>>;
  secretValues: readonly string[];
  usage?: RunUsage;
  reports?: AgentReports;
  desk: PermissionBroker;
  /** What was said before this execution. */
  toldSoFar(): Promise<string>;
  /** Hands over follow-ups that came since, with their files; undefined: there are none. */
  takeFollowups(): Promise<Task | undefined>;
  nowMs(): number;
  onEvent(event: RunEvent): void;
  /** Something could not be remembered or looked for. */
  onFault(error: unknown): void;
}

/** What the command is started with, and how the conversation ended once it has. */
export interface AgentExecution {
  spec: Pick<CommandSpec, 'command' | 'own' | 'talk'>;
  /** Undefined when there was no conversation. */
  ended(): TurnEnd | undefined;
  /** Somebody may have answered a question, or told the agent something. */
  look(): void;
}

/** Speaks with one agent for one execution; its session is found again by the next execution of the same run. */
export function agentExecution(work: AgentWork): AgentExecution {
  const { profile, config, environment, mcpServers } = work;
  const talk = agentSession(work, { basePrompt: basePromptOf(config, work.skill), mcpServers, mode: modeOf(work) });
  return {
    spec: {
      command: launchCommand(profile, config.model_id),
      own: { ...launchEnvironment(profile, config.model_id), ...environment },
      talk: talk.talk,
    },
    ended: talk.ended,
    look: talk.look,
  };
}

/** Mode of the built-in agent in which it asks. */
const ASK_MODE = 'ask';

/** Where people are asked, any other agent keeps the mode that it begins in. */
function modeOf({ profile, isAsking }: AgentWork): string | undefined {
  if (!isAsking) return profile.mode;
  return profile.id === BUILT_IN_HARNESS ? ASK_MODE : undefined;
}

/** contract 3: base prompt, blank line, body of the skill. */
function basePromptOf({ base_prompt: own }: AmbientAgentConfig, skill: RunSkill | undefined): string | undefined {
  const parts = [own, skill?.body].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? undefined : parts.join('\n\n');
}

/** What the end of a turn means for its run. spec: States and transitions. */
export function toRunOutcome(end: TurnEnd): RunEnd {
  switch (end.kind) {
    case 'cancelled':
      return { state: 'CANCELLED', message: 'cancelled on request' };
    case 'failed':
      return { state: 'FAILED', message: end.message, errorCode: end.errorCode, retryable: end.retryable };
    case 'stopped':
      return end.reason === 'end_turn'
        ? answered(end.answer)
        : {
            state: 'FAILED',
            message: (STOP_WORDS as Readonly<Record<string, string>>)[end.reason] ?? UNKNOWN_STOP,
            retryable: false,
          };
  }
}

function answered(answer: string): RunEnd {
  if (answer.trim() === '')
    return { state: 'FAILED', message: 'the agent ended its turn without an answer', retryable: false };
  return { state: 'SUCCEEDED', message: 'the agent has answered' };
}

const UNKNOWN_STOP = 'the agent ended its turn for a reason that the protocol does not know';

const STOP_WORDS = {
  max_tokens: 'the agent reached its bound of tokens before it had finished',
  max_turn_requests: 'the agent reached its bound of steps before it had finished',
  refusal: 'the agent refused the task',
  cancelled: 'the agent ended its turn as cancelled, though nobody had asked for it',
} as const;
