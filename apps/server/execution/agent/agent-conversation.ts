/** The conversation with a coding agent over the Agent Client Protocol: session found again or made, prompts in, updates out, an end. reference: Running real coding agents. */
import {
  client,
  type ClientContext,
  type InitializeResponse,
  type McpServer,
  methods,
  type NewSessionResponse,
  type PromptResponse,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionModeState,
  type SessionNotification,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk';
import { type AgentFailure, joinPrompts, type LaunchProfile, PLAN_FIRST, type Stage } from '#agents';
import { CANCEL_ASK_MS } from '#runs';
import { agentStream } from './agent-stream.ts';
import { agentFailure, TimeoutError, UnauthenticatedError, UnconfigurableError } from './agent-failures.ts';
import { acceptable } from './agent-mcp-remarks.ts';

/** What an agent is asked to do in one execution. */
export interface AgentTask {
  profile: LaunchProfile;
  /** Absolute path of the working directory, as the agent sees it. */
  cwd: string;
  basePrompt?: string;
  modelId?: string;
  /** Session mode to work in where the agent has it; undefined: its own. */
  mode?: string;
  mcpServers: readonly McpServer[];
  /** Session of an earlier execution of this run. */
  sessionId?: string;
}

/** One thing that the agent is told. */
export interface Message {
  text: string;
  /** It is to plan only. */
  isPlan: boolean;
}

/** What the driver needs of the world around it. */
export interface AgentConversationDeps {
  input: ReadableStream<Uint8Array>;
  output: WritableStream<Uint8Array>;
  /** Called in order. Must not throw. */
  onUpdate(update: SessionUpdate): void;
  /** A session exists under this ID: worth remembering before anything else happens. */
  onSession(sessionId: string, how: SessionOrigin): Promise<void>;
  /** A session is open without these servers, which the agent does not take; `said`: what else it told of the session. */
  onServers(refused: readonly McpServer[], said: unknown): void;
  /** What the session is told first. */
  first(how: SessionOrigin): Promise<Message>;
  /** A turn has ended: what the session is told next; undefined: nothing, the conversation is over. An agent that is gone hears nothing more. */
  next(isGone: boolean): Promise<Message | undefined>;
  /** The agent's answer to one prompt, which may tell what that took. */
  onAnswer(response: PromptResponse): void;
  /** The ID of the option that was chosen; undefined: nobody decides any more. */
  decide(request: RequestPermissionRequest, signal: AbortSignal): Promise<string | undefined>;
  /** Aborted when the run is to be cancelled. */
  cancel: AbortSignal;
}

export type SessionOrigin = 'new' | 'resumed' | 'loaded' | 'retold';

/** How the conversation ended. `failed` messages are for the run's owner and hold nothing that a process printed. */
export type TurnEnd = { kind: 'stopped'; reason: StopReason; answer: string } | { kind: 'cancelled' } | AgentFailure;

/** Milliseconds an agent may take to introduce itself: some load a megabyte of JavaScript on a cold disk. */
const START_MS_MAX = 60_000;
/** Milliseconds for a session: MCP servers are started in it. */
const SESSION_MS_MAX = 120_000;
/** Characters of the answer that are kept for the run's end. */
const ANSWER_LENGTH_MAX = 100_000;
/** Characters of a session's ID: it is stored, and repeated in each message. */
const SESSION_ID_LENGTH_MAX = 1_000;
/** Session mode of agents that can only plan. */
const PLAN_MODE = 'plan';

/** What a session offers to choose from. */
type Offered = Pick<NewSessionResponse, 'modes' | 'configOptions' | '_meta'>;

export class AgentConversation {
  /** Settles, without ever rejecting, when the conversation is over, the agent has gone, or a cancel was not heeded in time. */
  readonly ended: Promise<TurnEnd>;
  private readonly task: AgentTask;
  private readonly around: AgentConversationDeps;
  private stage: Stage = 'start';
  private sessionId = '';
  private agent: ClientContext | undefined;
  private modes: SessionModeState | undefined;
  private refused: readonly McpServer[] = [];
  private answer = '';
  /** Prompts of the turn that runs; undefined between two turns. */
  private prompts: Promise<PromptResponse | undefined>[] | undefined;
  /** Aborted when the turn ends: whoever still decides for it decides for nobody. */
  private turnOver = new AbortController();
  private readonly waiting: Message[] = [];
  private hasAnswered = false;
  private isGone = false;

  constructor(task: AgentTask, around: AgentConversationDeps) {
    this.task = task;
    this.around = around;
    this.ended = this.run();
  }

  /** Whether a prompt is being worked on. */
  isInTurn(): boolean {
    return this.prompts !== undefined;
  }

  /** Tells the agent something while it works; between two turns it is the next thing that it is told. */
  say(message: Message): void {
    if (this.prompts === undefined || this.agent === undefined) return void this.waiting.push(message);
    // An agent that does not take it now is told when it has ended its turn.
    this.prompts.push(this.prompted(this.agent, this.textOf(message)).catch(() => void this.waiting.push(message)));
  }

  private async run(): Promise<TurnEnd> {
    const connection = this.app().connect(
      agentStream(this.around.output, this.around.input, (update) => this.update(update)),
    );
    try {
      return await Promise.race([this.take(connection.agent), this.gone(connection.closed), this.unheeded()]);
    } catch (error) {
      return this.around.cancel.aborted
        ? { kind: 'cancelled' }
        : agentFailure(this.stage, this.task.profile, error, connection.signal.aborted);
    } finally {
      this.turnOver.abort();
      connection.close();
    }
  }

  private app() {
    return client({ name: 'millwright' }).onRequest(
      methods.client.session.requestPermission,
      async ({ params, signal }) => {
        const optionId = await this.decided(
          params,
          AbortSignal.any([signal, this.around.cancel, this.turnOver.signal]),
        );
        return {
          outcome:
            optionId === undefined ? { outcome: 'cancelled' as const } : { outcome: 'selected' as const, optionId },
        };
      },
    );
  }

  /** Only for what it does in our turn. */
  private async decided(request: RequestPermissionRequest, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted || !this.isInTurn() || request.sessionId !== this.sessionId) return undefined;
    return this.around.decide(request, signal);
  }

  private async take(agent: ClientContext): Promise<TurnEnd> {
    const hello = await timely(
      START_MS_MAX,
      agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: {},
        clientInfo: { name: 'millwright', version: '1' },
      }),
    );
    this.understand(hello);
    await this.authenticate(agent, hello);
    [this.stage, this.agent] = ['session', agent];
    const origin = await timely(SESSION_MS_MAX, this.open(agent, hello));
    await this.around.onSession(this.sessionId, origin);
    this.around.cancel.addEventListener('abort', () => void this.askToStop(agent), { once: true });
    this.stage = 'prompt';
    let message: Message | undefined = await this.around.first(origin);
    if (origin === 'new' || origin === 'retold')
      message = { ...message, text: joinPrompts([this.prefix(), message.text]) };
    for (;;) {
      if (this.around.cancel.aborted) return { kind: 'cancelled' };
      const response = await this.turn(agent, message);
      if (this.around.cancel.aborted) return { kind: 'cancelled' };
      this.hasAnswered = true;
      message = this.waiting.shift() ?? (await this.around.next(this.isGone)) ?? this.waiting.shift();
      if (message === undefined) return { kind: 'stopped', reason: response.stopReason, answer: this.answer };
    }
  }

  private understand({ protocolVersion }: InitializeResponse): void {
    if (protocolVersion === PROTOCOL_VERSION) return;
    throw new UnconfigurableError(
      `the agent ${this.task.profile.id} speaks version ${protocolVersion} of the protocol, and the service version ${PROTOCOL_VERSION}: install a version of the agent that speaks it too`,
    );
  }

  /** Where the agent has the way that its profile names. */
  private async authenticate(agent: ClientContext, { authMethods }: InitializeResponse): Promise<void> {
    const { auth: methodId } = this.task.profile;
    if (methodId === undefined || !Array.isArray(authMethods) || !authMethods.some((method) => method?.id === methodId))
      return;
    try {
      await timely(START_MS_MAX, agent.request(methods.agent.authenticate, { methodId }));
    } catch (error) {
      throw new UnauthenticatedError('the agent did not take its credentials', { cause: error });
    }
  }

  /** What is open is answered first, as the protocol wants it. */
  private async askToStop(agent: ClientContext): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    await agent.notify(methods.agent.session.cancel, { sessionId: this.sessionId }).catch(() => undefined);
  }

  /** One turn: it is over when everything that the agent was told in it is answered. */
  private async turn(agent: ClientContext, message: Message): Promise<PromptResponse> {
    await this.setMode(agent, message.isPlan ? PLAN_MODE : this.task.mode);
    this.answer = '';
    this.turnOver = new AbortController();
    const prompts: Promise<PromptResponse | undefined>[] = (this.prompts = [
      this.prompted(agent, this.textOf(message)),
    ]);
    try {
      let last: PromptResponse | undefined;
      for (let at = 0; at < prompts.length; at += 1) {
        last = (await prompts[at]) ?? last;
        // What the agent said before its answer is heard before its turn is over.
        await new Promise((resolve) => setImmediate(resolve));
      }
      return last as PromptResponse;
    } finally {
      this.prompts = undefined;
      this.turnOver.abort();
    }
  }

  private async prompted(agent: ClientContext, text: string): Promise<PromptResponse> {
    const response = await agent.request(methods.agent.session.prompt, {
      sessionId: this.sessionId,
      prompt: [{ type: 'text', text }],
    });
    this.around.onAnswer(response);
    return response;
  }

  private textOf({ text, isPlan }: Message): string {
    return isPlan && !this.hasMode(PLAN_MODE) ? joinPrompts([PLAN_FIRST, text]) : text;
  }

  /** The ladder: resume, else load, else a new session that is told what was said. */
  private async open(agent: ClientContext, { agentCapabilities }: InitializeResponse): Promise<SessionOrigin> {
    const { cwd, mcpServers, sessionId, profile } = this.task;
    const servers = acceptable(mcpServers, agentCapabilities?.mcpCapabilities);
    this.refused = mcpServers.filter((server) => !servers.includes(server));
    const place = { cwd, mcpServers: servers };
    if (sessionId !== undefined && profile.resume !== 'none') {
      this.sessionId = sessionId;
      const resumed = agentCapabilities?.sessionCapabilities?.resume
        ? await found(agent.request(methods.agent.session.resume, { ...place, sessionId }))
        : undefined;
      const again =
        resumed ??
        (agentCapabilities?.loadSession === true
          ? await found(agent.request(methods.agent.session.load, { ...place, sessionId }))
          : undefined);
      if (again !== undefined) {
        await this.opened(agent, sessionId, again);
        return resumed === undefined ? 'loaded' : 'resumed';
      }
    }
    const made = await agent.request(methods.agent.session.new, { ...place, ...this.systemPrompt() });
    if (made.sessionId.length > SESSION_ID_LENGTH_MAX)
      throw new UnconfigurableError(
        `the agent ${this.task.profile.id} names its session with more than ${SESSION_ID_LENGTH_MAX} characters`,
      );
    this.sessionId = made.sessionId;
    if (!(await this.opened(agent, made.sessionId, made)))
      throw new UnconfigurableError(`the agent ${this.task.profile.id} offers no choice of model; leave model_id out`);
    return sessionId === undefined ? 'new' : 'retold';
  }

  /** What a session offers, and the model that is wanted; false: it offers no choice of one. */
  private async opened(
    agent: ClientContext,
    sessionId: string,
    { modes, configOptions, _meta: meta }: Offered,
  ): Promise<boolean> {
    this.around.onServers(this.refused, meta);
    this.modes = modes ? { ...modes } : undefined;
    const { profile, modelId } = this.task;
    if (modelId === undefined || profile.modelVia.kind !== 'option') return true;
    const option = configOptions?.find(({ category, id }) => category === 'model' || id === 'model');
    if (option !== undefined && option.currentValue !== modelId)
      await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: option.id, value: modelId });
    return option !== undefined;
  }

  /** Where the agent has it and is in another one. A turn without a wish leaves the planning of the turn before it. */
  private async setMode(agent: ClientContext, wanted: string | undefined): Promise<void> {
    const { modes } = this;
    const mode =
      wanted ??
      (modes?.currentModeId === PLAN_MODE ? modes.availableModes.find(({ id }) => id !== PLAN_MODE)?.id : undefined);
    if (modes === undefined || mode === undefined || mode === modes.currentModeId || !this.hasMode(mode)) return;
    await agent.request(methods.agent.session.setMode, { sessionId: this.sessionId, modeId: mode });
    modes.currentModeId = mode;
  }

  private hasMode(wanted: string): boolean {
    return this.modes?.availableModes.some(({ id }) => id === wanted) === true;
  }

  private systemPrompt(): { _meta?: Record<string, unknown> } {
    const { profile, basePrompt } = this.task;
    return basePrompt !== undefined && profile.systemPromptVia === 'capability'
      ? { _meta: { systemPrompt: basePrompt } }
      : {};
  }

  private prefix(): string {
    const { profile, basePrompt = '' } = this.task;
    return profile.systemPromptVia === 'prefix' ? basePrompt : '';
  }

  /** Replayed history of a loaded session is no news, and neither is what is said when a turn is over; what that took may still be told. */
  private update({ sessionId, update }: SessionNotification): void {
    if (this.stage !== 'prompt' || sessionId !== this.sessionId) return;
    if (update.sessionUpdate === 'current_mode_update' && this.modes !== undefined)
      this.modes.currentModeId = update.currentModeId;
    if (!this.isInTurn() && update.sessionUpdate !== 'usage_update') return;
    if (
      update.sessionUpdate === 'agent_message_chunk' &&
      update.content.type === 'text' &&
      typeof update.content.text === 'string' &&
      this.answer.length < ANSWER_LENGTH_MAX
    )
      this.answer += update.content.text.slice(0, ANSWER_LENGTH_MAX);
    this.around.onUpdate(update);
  }

  private async gone(closed: Promise<void>): Promise<TurnEnd> {
    await closed.catch(() => undefined);
    this.isGone = true;
    // What the agent answered last may still be on its way to us.
    for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    if (this.around.cancel.aborted) return { kind: 'cancelled' };
    // It had answered everything: what comes of that is decided where its answers are taken.
    if (this.hasAnswered && !this.isInTurn()) return new Promise(() => undefined);
    return agentFailure(this.stage, this.task.profile, undefined, true);
  }

  private unheeded(): Promise<TurnEnd> {
    return new Promise((resolve) => {
      const ask = (): void => void setTimeout(() => resolve({ kind: 'cancelled' }), CANCEL_ASK_MS).unref();
      if (this.around.cancel.aborted) ask();
      else this.around.cancel.addEventListener('abort', ask, { once: true });
    });
  }
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
