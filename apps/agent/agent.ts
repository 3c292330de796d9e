/** The agent as an ACP client sees it: which methods there are, and what each of them does. */
import {
  agent,
  type AgentConnection,
  type AgentContext,
  type InitializeResponse,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
  type Stream,
} from '@agentclientprotocol/sdk';
import type { AgentConfig, ReadConfig } from './config/config.ts';
import { failure } from './errors.ts';
import { history } from './session/history.ts';
import { configuredModelId } from './model/model.ts';
import type { Fetch } from './model/fetch.ts';
import type { Session } from './session/session.ts';
import { type OpenOptions, type Sessions, sessionsOf } from './session/sessions.ts';
import { runTurn } from './turn/turn.ts';

export interface ServedAgent {
  connection: AgentConnection;
  /** Cancels running turns and ends everything that sessions have started. */
  shutdown(): Promise<void>;
}

export interface AgentOptions {
  config: ReadConfig;
  fetch: Fetch;
  version: string;
}

/** Serves one client. With a bad configuration it still answers, and refuses sessions with what is wrong. */
export function serveAgent(stream: Stream, { config, fetch, version }: AgentOptions): ServedAgent {
  const sessions = config.ok ? sessionsOf(config.config, fetch) : undefined;
  const usable = (): { sessions: Sessions; config: AgentConfig } => {
    if (config.ok && sessions !== undefined) return { sessions, config: config.config };
    const problems = config.ok ? [] : config.problems;
    throw failure(problems.join('; '), { kind: 'configuration', retryable: false });
  };
  const open = (): Sessions => usable().sessions;
  const connection = agent({ name: 'millwright-agent' })
    .onRequest(methods.agent.initialize, () => introduction(version, config))
    .onRequest(methods.agent.session.new, async ({ params }) => {
      const session = await open().create(optionsOf(params));
      return { sessionId: session.id, ...stateOf(session) };
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const session = await open().reopen(params.sessionId, optionsOf(params));
      await replay(session, client);
      return stateOf(session);
    })
    .onRequest(methods.agent.session.resume, async ({ params }) =>
      stateOf(await open().reopen(params.sessionId, optionsOf(params))),
    )
    // Before `session/cancel`: a cancel that follows at once must find the turn.
    .onRequest(methods.agent.session.prompt, async ({ params, client, signal }) => {
      const { sessions: all, config: usableConfig } = usable();
      const session = all.get(params.sessionId);
      const today = new Date().toISOString().slice(0, 10);
      return session.inTurn((cancelled) =>
        runTurn({
          session,
          client,
          blocks: params.prompt,
          config: usableConfig,
          fetch,
          today,
          signal: AbortSignal.any([cancelled, signal]),
        }),
      );
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions?.find(params.sessionId)?.cancel())
    .onRequest(methods.agent.session.setMode, async ({ params }) => {
      await open()
        .get(params.sessionId)
        .choose({ mode: modeOf(params.modeId) });
      return {};
    })
    .onRequest(methods.agent.session.setConfigOption, async ({ params }) => {
      const session = open().get(params.sessionId);
      await setOption(session, params.configId, params.value);
      return { configOptions: optionsOfSession(session) };
    })
    .onRequest(methods.agent.session.close, async ({ params }) => {
      await open().close(params.sessionId);
      return {};
    })
    .connect(stream);
  return { connection, shutdown: async () => sessions?.closeAll() };
}

function introduction(version: string, config: ReadConfig): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'millwright-agent', title: 'Millwright agent', version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { resume: {}, close: {} },
      _meta: { millwright: { systemPrompt: true, concurrentPrompt: false } },
    },
    authMethods: [],
    ...(config.ok ? { _meta: { millwright: { modelId: configuredModelId(config.config) } } } : {}),
  };
}

function optionsOf({
  cwd,
  mcpServers,
  _meta: meta,
}: {
  cwd: string;
  mcpServers?: OpenOptions['servers'] | null;
  _meta?: Record<string, unknown> | null;
}): OpenOptions {
  return { cwd, servers: mcpServers ?? [], instructions: instructionsOf(meta?.['systemPrompt']) };
}

/**
 * `_meta.systemPrompt`: a text, or `{append: text}` as other agents want it. Both add to the agent's own instructions.
 */
function instructionsOf(systemPrompt: unknown): string | undefined {
  if (systemPrompt === undefined || systemPrompt === null || typeof systemPrompt === 'string')
    return systemPrompt ?? undefined;
  const { append } = systemPrompt as { append?: unknown };
  if (typeof append === 'string') return append;
  throw RequestError.invalidParams(undefined, '_meta.systemPrompt must be a text or {append: text}');
}

const MODES: SessionModeState['availableModes'] = [
  {
    id: 'ask',
    name: 'Ask',
    description: 'Asks before each command, each change of a file and each call of an MCP tool',
  },
  { id: 'auto', name: 'Auto', description: 'Asks for nothing' },
];

function modeOf(id: unknown): 'ask' | 'auto' {
  if (id === 'ask' || id === 'auto') return id;
  throw RequestError.invalidParams(undefined, 'the mode must be ask or auto');
}

async function setOption(session: Session, id: string, value: unknown): Promise<void> {
  if (id === 'mode') return session.choose({ mode: modeOf(value) });
  if (id !== 'model') throw RequestError.invalidParams(undefined, 'there are the options mode and model');
  if (typeof value !== 'string' || value.trim() === '')
    throw RequestError.invalidParams(undefined, 'the model must be named by a text');
  return session.choose({ modelId: value.trim() });
}

function stateOf(session: Session): Omit<NewSessionResponse, 'sessionId'> {
  return {
    modes: { currentModeId: session.settings.mode, availableModes: MODES },
    configOptions: optionsOfSession(session),
    ...(session.servers.length === 0 ? {} : { _meta: { millwright: { mcpServers: session.servers } } }),
  };
}

/** The model list holds only the current one: endpoints accept names that are unknown here. */
function optionsOfSession({ settings: { mode, modelId } }: Session): SessionConfigOption[] {
  return [
    {
      id: 'mode',
      name: 'Mode',
      category: 'mode',
      type: 'select',
      currentValue: mode,
      options: MODES.map(({ id, name }) => ({ value: id, name })),
    },
    {
      id: 'model',
      name: 'Model',
      category: 'model',
      type: 'select',
      currentValue: modelId,
      options: [{ value: modelId, name: modelId }],
    },
  ];
}

async function replay(session: Session, client: AgentContext): Promise<void> {
  for await (const update of history(session))
    await client.notify(methods.client.session.update, { sessionId: session.id, update });
}
