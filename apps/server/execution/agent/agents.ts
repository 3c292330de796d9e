/**
 * Harnesses that are coding agents: which command line each is, and what the end of its turn means. explanation: Coding
 * agents.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILT_IN_HARNESS, type LaunchProfile } from '#agents';
import type { RunEnd } from '#runs';
import type { TurnEnd } from './agent-conversation.ts';

/** The agent that comes with the service, as its build has it. */
export interface BuiltInAgent {
  command: readonly string[];
  /** What it reads in addition to the run's own folders. */
  readOnly: readonly string[];
}

const BUILT = fileURLToPath(new URL('../../../agent/main.js', import.meta.url));

/**
 * What the built program consists of; `package.json` says where the libs lie. Nothing else of the installation. Other
 * people's packages are in a folder of their own in a checkout, and part of the program as it is published.
 */
const PARTS = ['dist/apps/agent', 'dist/libs', 'dist/schemas', 'package.json', 'node_modules', 'dist/vendor'];

/** Those of them that there are in a package. */
export function partsOf(packageFolder: string): string[] {
  return PARTS.map((name) => join(packageFolder, name)).filter((path) => existsSync(path));
}

/** Where the built program lies; the folder of the package is three above it. */
export const BUILT_IN_AGENT: BuiltInAgent = {
  command: [process.execPath, '--disable-warning=UNDICI-EHPA', BUILT],
  readOnly: partsOf(join(dirname(BUILT), '../../..')),
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
    models: [],
    install: 'it comes with the service',
  };
}

/** What the end of a turn means for its run. spec: States and transitions. */
export function toRunOutcome(end: TurnEnd): RunEnd {
  switch (end.kind) {
    case 'cancelled':
      return { state: 'CANCELLED', message: 'cancelled on request' };
    case 'interrupted':
      return { state: 'CANCELLED', message: INTERRUPTED_WORDS[end.by] };
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

const GOES_ON = 'a follow-up goes on with it';

const INTERRUPTED_WORDS = {
  agent: `interrupted on request, and nobody said how to go on in time; ${GOES_ON}`,
  exit: `interrupted on request: the agent ended instead of its turn; ${GOES_ON}`,
  force: `interrupted on request: the agent did not end its turn in time and was ended; ${GOES_ON}`,
} as const;

const UNKNOWN_STOP = 'the agent ended its turn for a reason that the protocol does not know';

const STOP_WORDS = {
  max_tokens: 'the agent reached its bound of tokens before it had finished',
  max_turn_requests: 'the agent reached its bound of steps before it had finished',
  refusal: 'the agent refused the task',
  cancelled: 'the agent ended its turn as cancelled, though nobody had asked for it',
} as const;
