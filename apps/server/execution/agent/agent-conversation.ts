/**
 * The conversation with a coding agent over the Agent Client Protocol: session found again or made, prompts in, updates
 * out, an end. explanation: Coding agents.
 */
import {
  client,
  type ClientContext,
  type McpServer,
  methods,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionModeState,
  type SessionNotification,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk';
import { type AgentFailure, joinPrompts, type LaunchProfile, PLAN_FIRST, type Stage } from '#agents';
import { CANCEL_ASK_MS } from '#runs';
import { AgentStream } from './agent-stream.ts';
import { agentFailure } from './agent-failures.ts';
import { introduce, openSession } from './agent-handshake.ts';

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

/** One message to the agent. */
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
  /**
   * A session is open without these servers, which the agent does not take; `meta`: what else it says of the session.
   */
  onServers(refused: readonly McpServer[], meta: unknown): void;
  /** What the session gets first. */
  first(how: SessionOrigin): Promise<Message>;
  /**
   * A turn has ended: what the session gets next; undefined: nothing, the conversation is over. An agent that is gone
   * hears nothing more. `gone`: the turn was interrupted, so that something is waited for until it is aborted.
   */
  next(isGone: boolean, gone?: AbortSignal): Promise<Message | undefined>;
  /** A turn begins, or is over. */
  onTurn?(isBegun: boolean, isFailed: boolean): void;
  /** The agent's answer to one prompt, which may say what that took. */
  onAnswer(response: PromptResponse): void;
  /** The ID of the option that was chosen; undefined: nobody decides any more. */
  decide(request: RequestPermissionRequest, signal: AbortSignal): Promise<string | undefined>;
  /** Aborted when the run is to be cancelled. */
  cancel: AbortSignal;
}

export type SessionOrigin = 'new' | 'resumed' | 'loaded' | 'retold';

/** How the conversation ended. `failed` messages are for the run's owner and hold nothing that a process printed. */
export type TurnEnd =
  | { kind: 'stopped'; reason: StopReason; answer: string }
  | { kind: 'cancelled' }
  /** A turn was interrupted, and nobody said how to go on; or the agent ended instead, or had to be ended. */
  | { kind: 'interrupted'; by: 'agent' | 'exit' | 'force' }
  | AgentFailure;

/** Characters of the answer that are stored for the run's end. */
const ANSWER_LENGTH_MAX = 100_000;
/** Session mode of agents that can only plan. */
const PLAN_MODE = 'plan';

export class AgentConversation {
  /**
   * Settles, without ever rejecting, when the conversation is over, the agent has gone, or a cancel was ignored for too
   * long.
   */
  readonly ended: Promise<TurnEnd>;
  private readonly task: AgentTask;
  private readonly deps: AgentConversationDeps;
  private stage: Stage = 'start';
  private sessionId = '';
  private agent: ClientContext | undefined;
  private modes: SessionModeState | undefined;
  private answer = '';
  /** Prompts of the turn that runs; undefined between two turns. */
  private prompts: Promise<PromptResponse | undefined>[] | undefined;
  /** Aborted when the turn ends: whoever still decides for it decides for nobody. */
  private turnOver = new AbortController();
  private readonly waiting: Message[] = [];
  private hasAnswered = false;
  private isGone = false;
  private readonly goneSignal = new AbortController();
  /** Undefined: the turn is not to be ended. `sent`: the agent knows. */
  private interruption: { sent: boolean; timer?: NodeJS.Timeout } | undefined;
  private ignore: ((end: TurnEnd) => void) | undefined;

  constructor(task: AgentTask, deps: AgentConversationDeps) {
    this.task = task;
    this.deps = deps;
    this.ended = this.run();
  }

  /** Whether a prompt is being worked on. */
  isInTurn(): boolean {
    return this.prompts !== undefined;
  }

  /** Sends the agent something while it works; between two turns it is the next message. */
  say(message: Message): void {
    if (this.prompts === undefined || this.agent === undefined) return void this.waiting.push(message);
    // An agent that does not take it now gets it when it has ended its turn.
    this.prompts.push(this.prompted(this.agent, this.textOf(message)).catch(() => void this.waiting.push(message)));
  }

  /** Asks the agent to end the turn that it works on, or the one that it is about to begin. May be repeated. */
  interrupt(): void {
    this.interruption ??= { sent: false };
    this.sendInterrupt();
  }

  /** An agent that goes on with its turn all the same is ended with its execution. */
  private sendInterrupt(): void {
    const { interruption, agent } = this;
    if (interruption === undefined || interruption.sent || agent === undefined || !this.isInTurn()) return;
    interruption.sent = true;
    this.turnOver.abort(); // what it asks is answered as cancelled
    void this.askToStop(agent);
    interruption.timer = setTimeout(() => this.ignore?.({ kind: 'interrupted', by: 'force' }), CANCEL_ASK_MS).unref();
  }

  private async run(): Promise<TurnEnd> {
    const connection = this.app().connect(
      new AgentStream(this.deps.output, this.deps.input, (update) => this.update(update)),
    );
    try {
      const interruptIgnored = new Promise<TurnEnd>((resolve) => (this.ignore = resolve));
      return await Promise.race([
        this.carryOn(connection.agent),
        this.gone(connection.closed),
        this.cancelIgnored(),
        interruptIgnored,
      ]);
    } catch (error) {
      return this.deps.cancel.aborted
        ? { kind: 'cancelled' }
        : agentFailure(this.stage, this.task.profile, error, connection.signal.aborted);
    } finally {
      clearTimeout(this.interruption?.timer);
      this.turnOver.abort();
      connection.close();
    }
  }

  private app() {
    return client({ name: 'millwright' }).onRequest(
      methods.client.session.requestPermission,
      async ({ params, signal }) => {
        const optionId = await this.decided(params, AbortSignal.any([signal, this.deps.cancel, this.turnOver.signal]));
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
    return this.deps.decide(request, signal);
  }

  private async carryOn(agent: ClientContext): Promise<TurnEnd> {
    const hello = await introduce(agent, this.task.profile);
    [this.stage, this.agent] = ['session', agent];
    const onServers = this.deps.onServers.bind(this.deps);
    const { sessionId, origin, modes } = await openSession({ agent, hello, task: this.task, onServers });
    [this.sessionId, this.modes] = [sessionId, modes];
    await this.deps.onSession(this.sessionId, origin);
    this.deps.cancel.addEventListener('abort', () => void this.askToStop(agent), { once: true });
    this.stage = 'prompt';
    let message: Message | undefined = await this.deps.first(origin);
    if (origin === 'new' || origin === 'retold')
      message = { ...message, text: joinPrompts([this.prefix(), message.text]) };
    for (;;) {
      if (this.deps.cancel.aborted) return { kind: 'cancelled' };
      const response = await this.turn(agent, message);
      if (this.deps.cancel.aborted) return { kind: 'cancelled' };
      this.hasAnswered = true;
      const gone = this.interruption?.sent === true ? this.goneSignal.signal : undefined;
      clearTimeout(this.interruption?.timer);
      this.interruption = undefined;
      message = this.waiting.shift() ?? (await this.deps.next(this.isGone, gone)) ?? this.waiting.shift();
      if (message !== undefined) continue;
      if (gone !== undefined && response.stopReason === 'cancelled') return { kind: 'interrupted', by: 'agent' };
      return { kind: 'stopped', reason: response.stopReason, answer: this.answer };
    }
  }

  /** What is open is answered first, as the protocol wants it. */
  private async askToStop(agent: ClientContext): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    await agent.notify(methods.agent.session.cancel, { sessionId: this.sessionId }).catch(() => undefined);
  }

  /** One turn: it is over when everything that the agent got in it is answered. */
  private async turn(agent: ClientContext, message: Message): Promise<PromptResponse> {
    await this.setMode(agent, message.isPlan ? PLAN_MODE : this.task.mode);
    this.answer = '';
    this.turnOver = new AbortController();
    this.deps.onTurn?.(true, false);
    const prompts: Promise<PromptResponse | undefined>[] = (this.prompts = [
      this.prompted(agent, this.textOf(message)),
    ]);
    this.sendInterrupt();
    let hasAnswered = false;
    try {
      let last: PromptResponse | undefined;
      for (let at = 0; at < prompts.length; at += 1) {
        last = (await this.orInterrupted(prompts[at])) ?? last;
        // What the agent said before its answer is heard before its turn is over.
        await new Promise((resolve) => setImmediate(resolve));
      }
      hasAnswered = true;
      return last as PromptResponse;
    } finally {
      this.deps.onTurn?.(false, !hasAnswered);
      this.prompts = undefined;
      this.turnOver.abort();
    }
  }

  /** An interrupted agent may answer with an error. */
  private async orInterrupted(prompt: Promise<PromptResponse | undefined> | undefined) {
    try {
      return await prompt;
    } catch (error) {
      if (this.interruption?.sent !== true || this.isGone || this.deps.cancel.aborted) throw error;
      return { stopReason: 'cancelled' } satisfies PromptResponse;
    }
  }

  private async prompted(agent: ClientContext, text: string): Promise<PromptResponse> {
    const response = await agent.request(methods.agent.session.prompt, {
      sessionId: this.sessionId,
      prompt: [{ type: 'text', text }],
    });
    this.deps.onAnswer(response);
    return response;
  }

  private textOf({ text, isPlan }: Message): string {
    return isPlan && !this.hasMode(PLAN_MODE) ? joinPrompts([PLAN_FIRST, text]) : text;
  }

  /**
   * Where the agent has it and is in another one. A turn that asks for none leaves the planning of the turn before it.
   */
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

  private prefix(): string {
    const { profile, basePrompt = '' } = this.task;
    return profile.systemPromptVia === 'prefix' ? basePrompt : '';
  }

  /**
   * Replayed history of a loaded session is no news, and neither is what is said when a turn is over; what that took
   * may still be reported.
   */
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
    this.deps.onUpdate(update);
  }

  private async gone(closed: Promise<void>): Promise<TurnEnd> {
    await closed.catch(() => undefined);
    this.isGone = true;
    const wasInterrupted = this.interruption?.sent === true;
    // What the agent answered last may still be on its way to us.
    for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    this.goneSignal.abort();
    if (this.deps.cancel.aborted) return { kind: 'cancelled' };
    // It had answered everything: what comes of that is decided where its answers are taken.
    if (this.hasAnswered && !this.isInTurn()) return new Promise(() => undefined);
    if (wasInterrupted) return { kind: 'interrupted', by: 'exit' };
    return agentFailure(this.stage, this.task.profile, undefined, true);
  }

  private cancelIgnored(): Promise<TurnEnd> {
    return new Promise((resolve) => {
      const ask = (): void => void setTimeout(() => resolve({ kind: 'cancelled' }), CANCEL_ASK_MS).unref();
      if (this.deps.cancel.aborted) ask();
      else this.deps.cancel.addEventListener('abort', ask, { once: true });
    });
  }
}
