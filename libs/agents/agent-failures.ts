/** What goes wrong with an agent, in words for the owner of its run. explanation: Coding agents. */
import { BUILT_IN_HARNESS } from './agent-config.ts';
import type { LaunchProfile } from './launch-profiles.ts';

/** How far a conversation had come. */
export type Stage = 'start' | 'session' | 'prompt';

/** A conversation that failed. `message` is for the run's owner. */
export interface AgentFailure {
  kind: 'failed';
  stage: Stage;
  message: string;
  /** What the agent itself answered, for the run's log: it may repeat what it was given. */
  said?: string;
  errorCode?: string;
  /** The same may succeed later without anybody changing anything. */
  retryable: boolean;
}

/** What an agent answered with an error of the protocol. */
export interface ErrorAnswer {
  code: number;
  message: string;
  /** What it tells programs. */
  data?: unknown;
}

/** What ended a conversation; `error`: what the agent itself answered, if that is what ended it. */
export type AgentFault =
  | { kind: 'unauthenticated'; error?: ErrorAnswer }
  | { kind: 'unconfigurable'; message: string }
  | { kind: 'timeout' }
  | { kind: 'unread-output' }
  | { kind: 'overflow'; nodesMax: number }
  | { kind: 'too-large'; bytesMax: number }
  | { kind: 'answered'; error: ErrorAnswer }
  /** Anything else. `isGone`: the connection has ended. */
  | { kind: 'other'; isGone: boolean };

const SETUP = 'environment_setup_failed';
const UNAVAILABLE = 'resource_unavailable';

/** JSON-RPC code of the protocol for missing credentials. */
const AUTH_REQUIRED = -32_000;

/** Kinds of failure that the built-in agent tells, and what each is to who asked for the run. */
const OWN_KINDS: Readonly<Record<string, string | undefined>> = {
  configuration: SETUP,
  credentials: SETUP,
  not_found: SETUP,
  rate_limited: UNAVAILABLE,
  unavailable: UNAVAILABLE,
  unreachable: UNAVAILABLE,
  silent: UNAVAILABLE,
  broken_off: UNAVAILABLE,
  refused: undefined,
  malformed: undefined,
  failed: undefined,
  transcript: undefined,
};

/** Characters of a message that the built-in agent may tell. */
const OWN_WORDS_LENGTH_MAX = 1_000;

/** Characters of what an agent answers that its log holds. */
const SAID_LENGTH_MAX = 4_000;

const BYTES_PER_MIB = 1_048_576;

type Who = Pick<LaunchProfile, 'id' | 'credentials'>;

/**
 * What went wrong. Our words, for an agent's own message may repeat what it was given; only those of the built-in agent
 * are ours too.
 */
export function agentFailureOf(stage: Stage, who: Who, fault: AgentFault): AgentFailure {
  const failed = {
    kind: 'failed',
    stage,
    said: 'error' in fault ? saidBy(fault.error) : undefined,
    errorCode: stage === 'start' ? SETUP : undefined,
    retryable: false,
  } as const;
  switch (fault.kind) {
    case 'unauthenticated':
      return { ...failed, errorCode: SETUP, message: wantsCredentials(who) };
    case 'unconfigurable':
      return { ...failed, errorCode: SETUP, message: fault.message };
    case 'timeout':
    case 'unread-output':
    case 'overflow':
    case 'too-large':
      return { ...failed, message: breachMessage(stage, who, fault) };
    case 'answered':
      return answeredFailure(failed, who, fault.error);
    case 'other':
      return {
        ...failed,
        message: fault.isGone
          ? `the agent ${who.id} ended before it had answered; the log has what it said`
          : words(stage, who, ''),
      };
  }
}

type Breach = Extract<AgentFault, { kind: 'timeout' | 'unread-output' | 'overflow' | 'too-large' }>;

/** How the agent broke the protocol. */
function breachMessage(stage: Stage, { id }: Who, fault: Breach): string {
  switch (fault.kind) {
    case 'timeout': {
      const missed = stage === 'start' ? 'introduce itself' : 'open a session';
      return `the agent ${id} did not ${missed} in time; the log has what it said`;
    }
    case 'unread-output':
      return `the agent ${id} asks without reading the answers, so it was ended: it does not read its standard input`;
    case 'overflow':
      return `the agent ${id} sent more than ${fault.nodesMax} values in one line, which is no message of the protocol`;
    case 'too-large': {
      const size = `${fault.bytesMax / BYTES_PER_MIB} MiB`;
      return `the agent ${id} sent more than ${size} in one line, which is no message of the protocol`;
    }
  }
}

/** What an agent's own error means. */
function answeredFailure(failed: Omit<AgentFailure, 'message'>, who: Who, error: ErrorAnswer): AgentFailure {
  const own = who.id === BUILT_IN_HARNESS ? ownFailure(error) : undefined;
  if (own !== undefined) return { ...failed, ...own, said: undefined };
  if (error.code === AUTH_REQUIRED) return { ...failed, errorCode: SETUP, message: wantsCredentials(who) };
  const message = words(failed.stage, who, ` (error ${error.code})`);
  const cause = failed.said === undefined ? undefined : causeIn(failed.said);
  return cause === undefined
    ? { ...failed, message }
    : { ...failed, errorCode: cause.errorCode, retryable: cause.retryable, message: `${message}; ${cause.words(who)}` };
}

/** What may lie behind an agent's error: what it says tells which, and its owner reads our words. */
interface Cause {
  pattern: RegExp;
  errorCode: string;
  retryable: boolean;
  words(who: Who): string;
}

/** A status of HTTP, as errors name it: behind a word for it, or before its own words. */
const status = (codes: string, name: string): string =>
  `\\b(?:status|code|http|error)(?:[ _-]?code)?\\W{1,4}(?:${codes})\\b|\\b(?:${codes})\\W{1,3}(?:${name})`;

/** The first that fits. */
const CAUSES: readonly Cause[] = [
  {
    pattern: new RegExp(
      `${status('429', 'too many|rate|quota|resource')}|rate[ _-]?limit|too many requests|insufficient[ ` +
        '_]quota|quota|resource[ _]exhausted',
      'i',
    ),
    errorCode: UNAVAILABLE,
    retryable: true,
    words: () =>
      'it looks as if its model takes no more requests for now: check the quota and the rate limits of the ' +
      'account, or try again later',
  },
  {
    pattern: new RegExp(
      [
        status('401|403', 'unauthori[sz]ed|forbidden|invalid|permission'),
        'unauthori[sz]ed|unauthenticated',
        '(?:invalid|incorrect|wrong|expired|missing)[ _-](?:x-)?api[ _-]?key',
        'api[ _-]?key (?:is )?(?:not valid|invalid|missing|expired)|api_key_invalid',
        'authentication[ _](?:error|failed)|permission[ _]denied',
      ].join('|'),
      'i',
    ),
    errorCode: SETUP,
    retryable: false,
    words: ({ credentials }) =>
      'it looks as if its model refused the key: check the value of ' +
      `${credentials.length === 0 ? 'its credentials' : credentials.join(' or ')}, and that the key may use ` +
      'this model',
  },
  {
    pattern: new RegExp(
      `${status('404', 'not found')}|model[ _]not[ _]found|model\\b.{0,80}\\b(?:not found|does not exist|is ` +
        'not supported|unknown)|(?:no such|unknown|unsupported) model',
      'i',
    ),
    errorCode: SETUP,
    retryable: false,
    words: () =>
      'it looks as if its endpoint does not know the model: check the model (model_id) and the address of the endpoint',
  },
  {
    pattern: new RegExp(
      [
        'ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ECONNRESET|ETIMEDOUT|fetch failed',
        'connection (?:error|refused|reset)|socket hang up|cannot connect|unable to connect',
        'time(?:d)?[ -]?out',
      ].join('|'),
      'i',
    ),
    errorCode: UNAVAILABLE,
    retryable: true,
    words: () =>
      'it looks as if it could not reach its model: check the address of the endpoint, that it answers, and ' +
      'that runs may reach its host (MILLWRIGHT_RUN_ALLOW_HOSTS, or endpoints in a profile of the agent)',
  },
];

function causeIn(said: string): Cause | undefined {
  return CAUSES.find(({ pattern }) => pattern.test(said));
}

/** Its messages are written for people and hold no credential; it says itself which kind each is. */
function ownFailure({
  message,
  data,
}: ErrorAnswer): Pick<AgentFailure, 'message' | 'errorCode' | 'retryable'> | undefined {
  const { kind, retryable } = (data ?? {}) as { kind?: unknown; retryable?: unknown };
  if (typeof kind !== 'string' || !Object.hasOwn(OWN_KINDS, kind)) return undefined;
  return { message: message.slice(0, OWN_WORDS_LENGTH_MAX), errorCode: OWN_KINDS[kind], retryable: retryable === true };
}

/** Also what it tells programs: some say there what is wrong, and only `Internal error` to people. */
function saidBy(error: ErrorAnswer | undefined): string | undefined {
  if (error === undefined) return undefined;
  const more = error.data === undefined ? '' : ` ${JSON.stringify(error.data)}`;
  return `${error.message}${more}`.slice(0, SAID_LENGTH_MAX);
}

function wantsCredentials({ id, credentials }: Who): string {
  const names = credentials.length === 0 ? '' : ` (${credentials.join(', ')})`;
  return (
    `the agent ${id} wants credentials${names}: give the run a managed secret with its key, granted for runs and ` +
    `named in the run's secrets, or let the operator of this service give it in a profile of the agent`
  );
}

function words(stage: Stage, { id }: Who, code: string): string {
  switch (stage) {
    case 'start':
      return `the agent ${id} could not be started as an agent${code}; the log has what it said`;
    case 'session':
      return `the agent ${id} could not open a session${code}; the log has what it said`;
    case 'prompt':
      return `the agent ${id} failed in the middle of its work${code}; the log has what it said`;
  }
}
