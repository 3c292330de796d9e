/**
 * The beginning of a conversation with an agent: introduction, credentials, and a session that is found again or made.
 * explanation: Coding agents.
 */
import {
  type ClientContext,
  type InitializeResponse,
  type McpServer,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import { modelOption, type LaunchProfile } from '#agents';
import type { AgentTask, SessionOrigin } from './agent-conversation.ts';
import { TimeoutError, UnauthenticatedError, UnconfigurableError } from './agent-failures.ts';
import { acceptable } from './agent-mcp-servers.ts';

/** Milliseconds an agent may take to introduce itself: some load a megabyte of JavaScript on a cold disk. */
const START_MS_MAX = 60_000;
/** Milliseconds for a session: MCP servers are started in it. */
const SESSION_MS_MAX = 120_000;
/** Characters of a session's ID: it is stored, and repeated in each message. */
const SESSION_ID_LENGTH_MAX = 1_000;

/** What a session offers to choose from. */
type Offered = Pick<NewSessionResponse, 'modes' | 'configOptions' | '_meta'>;

export interface OpenedSession {
  sessionId: string;
  origin: SessionOrigin;
  /** Undefined: the agent has none. */
  modes: SessionModeState | undefined;
}

export interface OpenSessionDeps {
  agent: ClientContext;
  hello: InitializeResponse;
  task: AgentTask;
  /**
   * A session is open without these servers, which the agent does not take; `meta`: what else it says of the session.
   */
  onServers(refused: readonly McpServer[], meta: unknown): void;
}

/** The agent's answer to who we are. Throws where it speaks another version, or does not take its credentials. */
export async function introduce(agent: ClientContext, profile: LaunchProfile): Promise<InitializeResponse> {
  const hello = await timely(
    START_MS_MAX,
    agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
      clientInfo: { name: 'millwright', version: '1' },
    }),
  );
  if (hello.protocolVersion !== PROTOCOL_VERSION)
    throw new UnconfigurableError(
      `the agent ${profile.id} speaks version ${hello.protocolVersion} of the protocol, and the service ` +
        `version ${PROTOCOL_VERSION}: install a version of the agent that speaks it too`,
    );
  await authenticate(agent, profile, hello);
  return hello;
}

/** Where the agent has the way that its profile names. */
async function authenticate(
  agent: ClientContext,
  { auth: methodId }: LaunchProfile,
  { authMethods }: InitializeResponse,
): Promise<void> {
  if (methodId === undefined || !Array.isArray(authMethods) || !authMethods.some((method) => method?.id === methodId))
    return;
  try {
    await timely(START_MS_MAX, agent.request(methods.agent.authenticate, { methodId }));
  } catch (error) {
    throw new UnauthenticatedError('the agent did not take its credentials', { cause: error });
  }
}

/** The ladder: resume, else load, else a new session that is told what was said. Throws where that takes too long. */
export function openSession(deps: OpenSessionDeps): Promise<OpenedSession> {
  return timely(SESSION_MS_MAX, climb(deps));
}

async function climb(deps: OpenSessionDeps): Promise<OpenedSession> {
  const { agent, task } = deps;
  const { agentCapabilities } = deps.hello;
  const { cwd, mcpServers, sessionId, profile } = task;
  const place = { cwd, mcpServers: acceptable(mcpServers, agentCapabilities?.mcpCapabilities) };
  if (sessionId !== undefined && profile.resume !== 'none') {
    const resumed = agentCapabilities?.sessionCapabilities?.resume
      ? await found(agent.request(methods.agent.session.resume, { ...place, sessionId }))
      : undefined;
    const loaded =
      resumed === undefined && agentCapabilities?.loadSession === true
        ? await found(agent.request(methods.agent.session.load, { ...place, sessionId }))
        : undefined;
    const again = resumed ?? loaded;
    if (again !== undefined) {
      const { modes } = await chosen(deps, sessionId, again);
      return { sessionId, origin: resumed === undefined ? 'loaded' : 'resumed', modes };
    }
  }
  const made = await agent.request(methods.agent.session.new, { ...place, ...systemPromptOf(task) });
  if (made.sessionId.length > SESSION_ID_LENGTH_MAX)
    throw new UnconfigurableError(
      `the agent ${profile.id} names its session with more than ${SESSION_ID_LENGTH_MAX} characters`,
    );
  const { modes, hasModel } = await chosen(deps, made.sessionId, made);
  if (!hasModel) throw new UnconfigurableError(`the agent ${profile.id} offers no choice of model; leave model_id out`);
  return { sessionId: made.sessionId, origin: sessionId === undefined ? 'new' : 'retold', modes };
}

/** What a session offers, with the model that is wanted chosen. `hasModel` false: it offers no choice of one. */
async function chosen(
  { agent, hello, task, onServers }: OpenSessionDeps,
  sessionId: string,
  { modes, configOptions, _meta: meta }: Offered,
): Promise<{ modes: SessionModeState | undefined; hasModel: boolean }> {
  const servers = acceptable(task.mcpServers, hello.agentCapabilities?.mcpCapabilities);
  onServers(
    task.mcpServers.filter((server) => !servers.includes(server)),
    meta,
  );
  const offered = modes ? { ...modes } : undefined;
  const { profile } = task;
  const value = modelOption(profile, task.modelId);
  if (value === undefined) return { modes: offered, hasModel: true };
  const option = configOptions?.find(({ category, id }) => category === 'model' || id === 'model');
  if (option !== undefined && option.currentValue !== value)
    await agent
      .request(methods.agent.session.setConfigOption, { sessionId, configId: option.id, value })
      .catch((error: unknown) => {
        throw isNotOffered(error, option, value) ? new UnconfigurableError(notOffered(profile, option, value)) : error;
      });
  return { modes: offered, hasModel: option !== undefined || profile.modelVia.kind === 'member' };
}

/** Of the protocol: wrong parameters. */
const INVALID_PARAMS = -32_602;
/** Models that an error names. */
const OFFERED_MAX = 20;

function isNotOffered(error: unknown, option: SessionConfigOption, value: string): boolean {
  return error instanceof RequestError && error.code === INVALID_PARAMS && !valuesOf(option).includes(value);
}

function notOffered({ id }: LaunchProfile, option: SessionConfigOption, value: string): string {
  const values = valuesOf(option);
  const more = values.length > OFFERED_MAX ? ` and ${values.length - OFFERED_MAX} more` : '';
  return (
    `the agent ${id} does not take the model ${JSON.stringify(value)}; it offers ` +
    `${values.slice(0, OFFERED_MAX).join(', ') || 'none'}${more}`
  );
}

/** Options stand in a list, or in groups of lists. */
function valuesOf(option: SessionConfigOption): string[] {
  if (option.type !== 'select' || !Array.isArray(option.options)) return [];
  return option.options.flatMap((one) => ('options' in one ? one.options.map(({ value }) => value) : [one.value]));
}

function systemPromptOf({ profile, basePrompt }: AgentTask): { _meta?: Record<string, unknown> } {
  return basePrompt !== undefined && profile.systemPromptVia === 'capability'
    ? { _meta: { systemPrompt: basePrompt } }
    : {};
}

async function timely<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What an agent answers of a session that it finds again; undefined: it does not. */
async function found(request: Promise<Offered | void>): Promise<Offered | undefined> {
  return request.then(
    (answer) => answer ?? {},
    () => undefined,
  );
}
