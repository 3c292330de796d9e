/** One turn with a coding agent over the Agent Client Protocol: session found again or made, prompt in, updates out, an end. reference: Running real coding agents. */
import { client, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type { ClientContext, InitializeResponse, McpServer, NewSessionResponse, RequestPermissionRequest, SessionNotification, SessionUpdate, StopReason } from '@agentclientprotocol/sdk';
import { CANCEL_ASK_MS, type LaunchProfile } from '#runs';

/** What an agent is asked to do in one execution. */
export interface AgentTask {
  profile: LaunchProfile;
  /** Absolute path of the working directory, as the agent sees it. */
  cwd: string;
  prompt: string;
  basePrompt?: string;
  modelId?: string;
  mcpServers: readonly McpServer[];
  /** Session of an earlier execution of this run. */
  sessionId?: string;
  /** What was said so far, for an agent that cannot find its session again. */
  digest?: string;
}

/** What the driver needs of the world around it. */
export interface AgentSurroundings {
  input: ReadableStream<Uint8Array>;
  output: WritableStream<Uint8Array>;
  /** Called in order. Must not throw. */
  onUpdate(update: SessionUpdate): void;
  /** A session exists under this ID: worth remembering before anything else happens. */
  onSession(sessionId: string, how: SessionOrigin): Promise<void>;
  /** The ID of the option that was chosen; undefined: nobody decides any more. */
  decide(request: RequestPermissionRequest, signal: AbortSignal): Promise<string | undefined>;
  /** Aborted when the run is to be cancelled. */
  cancel: AbortSignal;
}

export type SessionOrigin = 'new' | 'resumed' | 'loaded' | 'retold';

/** How the turn ended. `failed` messages are for the run's owner and hold nothing that a process printed. */
export type TurnEnd = { kind: 'stopped'; reason: StopReason; answer: string } | { kind: 'cancelled' } | { kind: 'failed'; stage: 'start' | 'session' | 'prompt'; message: string };

/** Milliseconds an agent may take to introduce itself: some load a megabyte of JavaScript on a cold disk. */
const START_MS_MAX = 60_000;
/** Milliseconds for a session: MCP servers are started in it. */
const SESSION_MS_MAX = 120_000;
/** Bytes of one protocol message; a flood without a line break is no protocol. */
const MESSAGE_BYTES_MAX = 16 * 1_048_576;
/** Characters of the answer that are kept for the run's end. */
const ANSWER_LENGTH_MAX = 100_000;

/** Speaks with the agent until its turn has ended, it has gone, or a cancel was not heeded in time. Never rejects. */
export async function converse(task: AgentTask, around: AgentSurroundings): Promise<TurnEnd> {
  const turn = new Turn(task, around);
  return turn.run();
}

class Turn {
  private readonly task: AgentTask;
  private readonly around: AgentSurroundings;
  private stage: 'start' | 'session' | 'prompt' = 'start';
  private sessionId: string | undefined;
  /** Replayed history of a loaded session is no news. */
  private isReplaying = false;
  private answer = '';

  constructor(task: AgentTask, around: AgentSurroundings) {
    this.task = task;
    this.around = around;
  }

  async run(): Promise<TurnEnd> {
    const stream = ndJsonStream(this.around.output, this.around.input, { maxMessageBytes: MESSAGE_BYTES_MAX });
    const connection = this.app().connect(stream);
    try {
      return await Promise.race([this.take(connection.agent), this.gone(connection.closed), this.unheeded()]);
    } catch (error) {
      return this.around.cancel.aborted ? { kind: 'cancelled' } : { kind: 'failed', stage: this.stage, message: words(this.stage, this.task.profile.id, error) };
    } finally {
      connection.close();
    }
  }

  private app() {
    return client({ name: 'millwright' })
      .onNotification(methods.client.session.update, ({ params }) => this.update(params))
      .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
        const optionId = this.around.cancel.aborted ? undefined : await this.around.decide(params, AbortSignal.any([signal, this.around.cancel]));
        return { outcome: optionId === undefined ? { outcome: 'cancelled' as const } : { outcome: 'selected' as const, optionId } };
      });
  }

  private async take(agent: ClientContext): Promise<TurnEnd> {
    const hello = await timely(START_MS_MAX, agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION, clientCapabilities: {}, clientInfo: { name: 'millwright', version: '1' },
    }));
    this.stage = 'session';
    const origin = await timely(SESSION_MS_MAX, this.open(agent, hello));
    const sessionId = this.sessionId as string;
    await this.around.onSession(sessionId, origin);
    this.stage = 'prompt';
    this.around.cancel.addEventListener('abort', () => void agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => undefined), { once: true });
    if (this.around.cancel.aborted) return { kind: 'cancelled' };
    const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: this.promptFor(origin) }] });
    if (stopReason === 'cancelled' || this.around.cancel.aborted) return { kind: 'cancelled' };
    return { kind: 'stopped', reason: stopReason, answer: this.answer };
  }

  /** The ladder: resume, else load, else a new session that is told what was said. */
  private async open(agent: ClientContext, { agentCapabilities }: InitializeResponse): Promise<SessionOrigin> {
    const { task } = this;
    const place = { cwd: task.cwd, mcpServers: [...task.mcpServers] };
    const { sessionId } = task;
    if (sessionId !== undefined) {
      this.sessionId = sessionId;
      if (agentCapabilities?.sessionCapabilities?.resume && (await succeeded(agent.request(methods.agent.session.resume, { ...place, sessionId })))) return 'resumed';
      if (agentCapabilities?.loadSession === true && (await this.loaded(agent, { ...place, sessionId }))) return 'loaded';
    }
    const made = await agent.request(methods.agent.session.new, { ...place, ...this.systemPrompt() });
    this.sessionId = made.sessionId;
    await this.configure(agent, made);
    return sessionId === undefined ? 'new' : 'retold';
  }

  private async loaded(agent: ClientContext, request: { cwd: string; mcpServers: McpServer[]; sessionId: string }): Promise<boolean> {
    this.isReplaying = true;
    try {
      return await succeeded(agent.request(methods.agent.session.load, request));
    } finally {
      this.isReplaying = false;
    }
  }

  private async configure(agent: ClientContext, { sessionId, modes, configOptions }: NewSessionResponse): Promise<void> {
    const { profile, modelId } = this.task;
    const mode = modes?.availableModes.find(({ id }) => id === profile.mode);
    if (mode !== undefined) await agent.request(methods.agent.session.setMode, { sessionId, modeId: mode.id });
    if (modelId === undefined || profile.modelVia.kind !== 'option') return;
    const option = configOptions?.find(({ category, id }) => category === 'model' || id === 'model');
    if (option === undefined) throw new Unconfigurable(`the agent ${profile.id} offers no choice of model; leave model_id out`);
    await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: option.id, value: modelId });
  }

  private systemPrompt(): { _meta?: Record<string, unknown> } {
    const { profile, basePrompt } = this.task;
    return basePrompt !== undefined && profile.systemPromptVia === 'capability' ? { _meta: { systemPrompt: basePrompt } } : {};
  }

  private promptFor(origin: SessionOrigin): string {
    const { profile, basePrompt, prompt, digest } = this.task;
    const isFresh = origin === 'new' || origin === 'retold';
    const before = isFresh && profile.systemPromptVia === 'prefix' ? basePrompt : undefined;
    const told = origin === 'retold' && digest !== undefined ? `What was said so far in this conversation:\n\n${digest}` : undefined;
    return [before, told, prompt].filter((part) => part !== undefined && part !== '').join('\n\n');
  }

  private update({ sessionId, update }: SessionNotification): void {
    if (this.isReplaying || (this.sessionId !== undefined && sessionId !== this.sessionId)) return;
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' && this.answer.length < ANSWER_LENGTH_MAX) this.answer += update.content.text;
    this.around.onUpdate(update);
  }

  private async gone(closed: Promise<void>): Promise<TurnEnd> {
    await closed.catch(() => undefined);
    // What the agent answered last may still be on its way to us.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.around.cancel.aborted) return { kind: 'cancelled' };
    return { kind: 'failed', stage: this.stage, message: `the agent ${this.task.profile.id} ended before it had answered; the log has what it said` };
  }

  private unheeded(): Promise<TurnEnd> {
    return new Promise((resolve) => {
      const ask = (): void => void setTimeout(() => resolve({ kind: 'cancelled' }), CANCEL_ASK_MS).unref();
      if (this.around.cancel.aborted) ask();
      else this.around.cancel.addEventListener('abort', ask, { once: true });
    });
  }
}

/** A task that this agent cannot be given; the message says what to change. */
class Unconfigurable extends Error {}

class TooLate extends Error {}

async function timely<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function succeeded(request: Promise<unknown>): Promise<boolean> {
  return request.then(() => true, () => false);
}

/** Our words for what went wrong: an agent's own message may repeat what it was given. */
function words(stage: 'start' | 'session' | 'prompt', agent: string, error: unknown): string {
  if (error instanceof Unconfigurable) return error.message;
  if (error instanceof TooLate) return `the agent ${agent} did not ${stage === 'start' ? 'introduce itself' : 'open a session'} in time`;
  if (error instanceof RequestError && error.code === AUTH_REQUIRED) return `the agent ${agent} wants credentials: give the run a secret with its API key`;
  const code = error instanceof RequestError ? ` (error ${error.code})` : '';
  switch (stage) {
    case 'start':
      return `the agent ${agent} could not be started as an agent${code}; the log has what it said`;
    case 'session':
      return `the agent ${agent} could not open a session${code}; the log has what it said`;
    case 'prompt':
      return `the agent ${agent} failed in the middle of its work${code}; the log has what it said`;
  }
}

/** JSON-RPC code of the protocol for missing credentials. */
const AUTH_REQUIRED = -32_000;
