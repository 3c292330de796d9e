/** What goes wrong with an agent, in words for the owner of its run. reference: Running real coding agents. */
import { RequestError } from '@agentclientprotocol/sdk';
import { BUILT_IN_HARNESS, type LaunchProfile } from '#agents';

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

/** A task that this agent cannot be given; the message says what to change. */
export class UnconfigurableError extends Error {}

/** The agent did not take its credentials; the cause is what it said. */
export class UnauthenticatedError extends Error {}

/** The agent did not answer in time. */
export class TimeoutError extends Error {}

/** The agent sent a message of more values than are read. */
export class OverflowError extends Error {
  readonly nodesMax: number;
  constructor(nodesMax: number) {
    super(`a message of more than ${nodesMax} values`);
    this.nodesMax = nodesMax;
  }
}

/** The agent asks, and does not read the answers. */
export class UnreadOutputError extends Error {}

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

/** Characters of what an agent answers that its log keeps. */
const SAID_LENGTH_MAX = 4_000;

type Who = Pick<LaunchProfile, 'id' | 'credentials'>;

/** What went wrong. `isGone`: the connection has ended. Our words, for an agent's own message may repeat what it was given; only those of the built-in agent are ours too. */
export function agentFailure(stage: Stage, who: Who, error: unknown, isGone: boolean): AgentFailure {
  if (error instanceof UnauthenticatedError)
    return {
      kind: 'failed',
      stage,
      said: saidBy(error.cause),
      errorCode: SETUP,
      retryable: false,
      message: wantsCredentials(who),
    };
  const failed = {
    kind: 'failed',
    stage,
    said: saidBy(error),
    errorCode: stage === 'start' ? SETUP : undefined,
    retryable: false,
  } as const;
  if (error instanceof UnconfigurableError) return { ...failed, errorCode: SETUP, message: error.message };
  if (error instanceof TimeoutError)
    return {
      ...failed,
      message: `the agent ${who.id} did not ${stage === 'start' ? 'introduce itself' : 'open a session'} in time; the log has what it said`,
    };
  const own = who.id === BUILT_IN_HARNESS && error instanceof RequestError ? ownFailure(error) : undefined;
  if (own !== undefined) return { ...failed, ...own, said: undefined };
  if (error instanceof RequestError && error.code === AUTH_REQUIRED)
    return { ...failed, errorCode: SETUP, message: wantsCredentials(who) };
  if (error instanceof UnreadOutputError)
    return {
      ...failed,
      message: `the agent ${who.id} asks without reading the answers, so it was ended: it does not read its standard input`,
    };
  if (error instanceof OverflowError)
    return {
      ...failed,
      message: `the agent ${who.id} sent more than ${error.nodesMax} values in one line, which is no message of the protocol`,
    };
  if (isTooLarge(error))
    return {
      ...failed,
      message: `the agent ${who.id} sent more than ${error.maxMessageBytes / 1_048_576} MiB in one line, which is no message of the protocol`,
    };
  if (isGone && !(error instanceof RequestError))
    return { ...failed, message: `the agent ${who.id} ended before it had answered; the log has what it said` };
  const message = words(stage, who, error instanceof RequestError ? ` (error ${error.code})` : '');
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
      `${status('429', 'too many|rate|quota|resource')}|rate[ _-]?limit|too many requests|insufficient[ _]quota|quota|resource[ _]exhausted`,
      'i',
    ),
    errorCode: UNAVAILABLE,
    retryable: true,
    words: () =>
      'it looks as if its model takes no more requests for now: check the quota and the rate limits of the account, or try again later',
  },
  {
    pattern: new RegExp(
      `${status('401|403', 'unauthori[sz]ed|forbidden|invalid|permission')}|unauthori[sz]ed|unauthenticated|(?:invalid|incorrect|wrong|expired|missing)[ _-](?:x-)?api[ _-]?key|api[ _-]?key (?:is )?(?:not valid|invalid|missing|expired)|api_key_invalid|authentication[ _](?:error|failed)|permission[ _]denied`,
      'i',
    ),
    errorCode: SETUP,
    retryable: false,
    words: ({ credentials }) =>
      `it looks as if its model refused the key: check the value of ${credentials.length === 0 ? 'its credentials' : credentials.join(' or ')}, and that the key may use this model`,
  },
  {
    pattern: new RegExp(
      `${status('404', 'not found')}|model[ _]not[ _]found|model\\b.{0,80}\\b(?:not found|does not exist|is not supported|unknown)|(?:no such|unknown|unsupported) model`,
      'i',
    ),
    errorCode: SETUP,
    retryable: false,
    words: () =>
      'it looks as if its endpoint does not know the model: check the model (model_id) and the address of the endpoint',
  },
  {
    pattern:
      /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ECONNRESET|ETIMEDOUT|fetch failed|connection (?:error|refused|reset)|socket hang up|cannot connect|unable to connect|time(?:d)?[ -]?out/i,
    errorCode: UNAVAILABLE,
    retryable: true,
    words: () =>
      'it looks as if it could not reach its model: check the address of the endpoint, that it answers, and that runs may reach its host (MILLWRIGHT_RUN_ALLOW_HOSTS, or endpoints in a profile of the agent)',
  },
];

function causeIn(said: string): Cause | undefined {
  return CAUSES.find(({ pattern }) => pattern.test(said));
}

/** Its messages are written for people and hold no credential; it says itself which kind each is. */
function ownFailure({
  message,
  data,
}: RequestError): Pick<AgentFailure, 'message' | 'errorCode' | 'retryable'> | undefined {
  const { kind, retryable } = (data ?? {}) as { kind?: unknown; retryable?: unknown };
  if (typeof kind !== 'string' || !Object.hasOwn(OWN_KINDS, kind)) return undefined;
  return { message: message.slice(0, OWN_WORDS_LENGTH_MAX), errorCode: OWN_KINDS[kind], retryable: retryable === true };
}

/** Also what it tells programs: some say there what is wrong, and only `Internal error` to people. */
function saidBy(error: unknown): string | undefined {
  if (!(error instanceof RequestError)) return undefined;
  const more = error.data === undefined ? '' : ` ${JSON.stringify(error.data)}`;
  return `${error.message}${more}`.slice(0, SAID_LENGTH_MAX);
}

function wantsCredentials({ id, credentials }: Who): string {
  const names = credentials.length === 0 ? '' : ` (${credentials.join(', ')})`;
  return `the agent ${id} wants credentials${names}: give the run a managed secret with its key, granted for runs and named in the run's secrets, or let the operator of this service give it in a profile of the agent`;
}

/** The protocol's library tells the bound that was passed, and nothing of what came. */
function isTooLarge(error: unknown): error is { maxMessageBytes: number } {
  return error instanceof Error && typeof (error as { maxMessageBytes?: unknown }).maxMessageBytes === 'number';
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
