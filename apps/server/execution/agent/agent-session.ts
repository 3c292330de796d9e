/**
 * What is said between one execution and its agent: the task, follow-ups as they come, what the session remembers of
 * both. contract §3.8 (Follow-up).
 */
import {
  BUILT_IN_HARNESS,
  filesSaid,
  firstPrompt,
  joinPrompts,
  launchCommand,
  launchEnvironment,
  outputSanitizer,
  type AmbientAgentConfig,
  type LaunchProfile,
  type RunUsage,
} from '#agents';
import { redact } from '#isolation';
import { ATTACHMENTS_FOLDER } from '#runs';
import type { McpServer, PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import { Readable, Writable } from 'node:stream';
import type { RunEvent } from '../../store/runs/run-log.ts';
import type { Task } from '../../store/runs/run-tasks.ts';
import type { AgentLaunch, AgentPipes, ExecutionPlace } from '../executor.ts';
import { AgentConversation, type Message, type SessionOrigin, type TurnEnd } from './agent-conversation.ts';
import type { AgentReports } from './agent-events.ts';
import { AgentEvents } from './agent-events.ts';
import { failedServers, httpRefused } from './agent-mcp-servers.ts';
import type { FollowupWait } from './followup-wait.ts';
import type { PermissionBroker } from './permission-broker.ts';
import { loadSession, SessionMemory, type RememberedSession } from './session-memory.ts';

/** Who follows what an agent does, without its words. */
export interface AgentActivity {
  turnBegan(): void;
  turnEnded(isFailed: boolean): void;
  updated(update: SessionUpdate): void;
}

export interface AgentSessionDeps {
  profile: LaunchProfile;
  config: AmbientAgentConfig;
  place: Pick<ExecutionPlace, 'cwd' | 'stateFolder'>;
  task: Task;
  skills: readonly { body: string }[];
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
  activity?: AgentActivity;
  permissions: PermissionBroker;
  /** What was said before this execution. */
  conversationDigest(): Promise<string>;
  /** Hands over follow-ups that came since, with their files; undefined: there are none. */
  takeFollowups(isInTurn: boolean): Promise<Task | undefined>;
  /** What waits for follow-ups once a turn was interrupted. */
  followupWait(take: () => Promise<Task | undefined>): FollowupWait;
  /** Whether nothing new was taken on since this interrupt. */
  isInterruptOpen(interruptId: string): Promise<boolean>;
  nowMs(): number;
  onEvent(event: RunEvent): void;
  /** Something could not be remembered or asked for. */
  onFault(error: unknown): void;
}

/** Speaks with one agent for one execution; its session is found again by the next execution of the same run. */
export class AgentSession {
  /** What the agent is started with. */
  readonly launch: AgentLaunch;
  private readonly deps: AgentSessionDeps;
  private readonly events: AgentEvents;
  private readonly sanitizer: ReturnType<typeof outputSanitizer>;
  private conversation: AgentConversation | undefined;
  private memory: SessionMemory | undefined;
  private end: TurnEnd | undefined;
  private polling: Promise<void> | undefined;
  private readonly wait: FollowupWait;
  /** The interrupt that was passed on last. */
  private interruptId: string | undefined;
  /** One after the other: what one poll has taken is sent before the next one finds nothing. */
  private taking: Promise<unknown> = Promise.resolve();

  constructor(deps: AgentSessionDeps) {
    const { profile, config, environment, secretValues, nowMs, onEvent } = deps;
    this.deps = deps;
    this.events = new AgentEvents(secretValues, nowMs, onEvent);
    this.sanitizer = outputSanitizer(secretValues);
    this.wait = deps.followupWait(() => this.take((more) => more, false));
    this.launch = {
      command: launchCommand(profile, config.model_id),
      harnessEnv: { ...launchEnvironment(profile, config.model_id), ...environment },
      converse: (pipes) => this.converse(pipes),
    };
  }

  /** How the conversation ended; undefined when there was none. */
  ended(): TurnEnd | undefined {
    return this.end;
  }

  /** Somebody may have answered a question, or said something to the agent. */
  poll(): void {
    const { permissions, profile } = this.deps;
    permissions.poll();
    this.wait.poll();
    if (!profile.concurrentPrompt || this.polling !== undefined || this.conversation?.isInTurn() !== true) return;
    this.polling = this.take((more) => {
      if (more !== undefined) this.conversation?.say(this.followup(more));
    }, true)
      .catch(() => undefined)
      .finally(() => (this.polling = undefined));
  }

  /** Somebody wants the turn ended; may be said again. */
  interrupt(interruptId: string): void {
    if (this.conversation === undefined || this.interruptId === interruptId) return;
    this.interruptId = interruptId;
    // In line with what is taken: an interrupt of the turn before does not reach the one that follows.
    this.taking = this.taking
      .then(async () => {
        if (await this.deps.isInterruptOpen(interruptId)) this.conversation?.interrupt();
      })
      .catch((error: unknown) => this.deps.onFault(error));
  }

  private async converse({ input, output, cancel }: AgentPipes): Promise<void> {
    const { profile, config, place, mcpServers, skills, secretValues, onFault } = this.deps;
    const before = await loadSession(place.stateFolder);
    const memory = (this.memory = new SessionMemory(place.stateFolder, before, onFault));
    this.conversation = new AgentConversation(
      {
        profile,
        cwd: place.cwd,
        basePrompt: basePromptOf(config, skills),
        mcpServers,
        mode: modeOf(this.deps),
        modelId: config.model_id,
        sessionId: before?.sessionId,
      },
      {
        input: Readable.toWeb(output) as ReadableStream<Uint8Array>,
        output: Writable.toWeb(input) as WritableStream<Uint8Array>,
        cancel,
        first: (origin) => this.first(origin, before),
        next: (isGone, gone) => this.next(isGone || cancel.aborted, gone && AbortSignal.any([gone, cancel])),
        onServers: (refused, session) => this.noteServers(refused, session),
        decide: (request, signal) => {
          this.events.flush();
          return this.deps.permissions.decide(request, signal);
        },
        onTurn: (isBegun, isFailed) =>
          isBegun ? this.deps.activity?.turnBegan() : this.deps.activity?.turnEnded(isFailed),
        onAnswer: (response) => this.noteAnswer(response),
        onUpdate: (update) => this.noteUpdate(update),
        onSession: async (sessionId, origin) => {
          this.deps.usage?.sessionOpened(sessionId);
          this.say(SESSION_TEXTS[origin]);
          await memory.opened(sessionId);
        },
      },
    );
    const end = (this.end = withoutSecrets(await this.conversation.ended, secretValues));
    this.events.finish();
    if (end.kind === 'failed' && end.said !== undefined) this.say(`the agent answered with an error: ${end.said}`);
  }

  /** What the session gets first. */
  private async first(origin: SessionOrigin, before: RememberedSession | undefined): Promise<Message> {
    const { task, hasPast } = this.deps;
    this.memory?.sending(task.parts.map(({ id }) => id));
    const isKnown = origin === 'resumed' || origin === 'loaded';
    const digest = hasPast && !isKnown ? await this.deps.conversationDigest() : undefined;
    return messageOf(task, firstPrompt({ parts: task.parts, told: new Set(before?.told), isKnown, digest }));
  }

  /** What it gets after a turn; undefined: nothing more. */
  private async next(isOver: boolean, over: AbortSignal | undefined): Promise<Message | undefined> {
    this.events.finish();
    if (isOver || this.deps.usage?.refusal() !== undefined) return undefined;
    const more = (await this.take((task) => task, false)) ?? (over && (await this.wait.next(over)));
    return more && this.followup(more);
  }

  private followup(more: Task): Message {
    this.memory?.sending(more.parts.map(({ id }) => id));
    return messageOf(more, more.prompt);
  }

  private take<T>(use: (more: Task | undefined) => T, isInTurn: boolean): Promise<T> {
    const followups = this.taking.then(async () => use(await this.deps.takeFollowups(isInTurn)));
    followups.catch((error: unknown) => this.deps.onFault(error));
    this.taking = followups.catch(() => undefined);
    return followups;
  }

  private noteServers(refused: readonly McpServer[], session: unknown): void {
    const fit = (text: string, lengthMax: number): string => this.sanitizer.text(text, lengthMax);
    [httpRefused(this.deps.profile.id, refused, fit), failedServers(session, fit)]
      .filter((text) => text !== undefined)
      .forEach((text) => this.say(text));
  }

  private noteAnswer(response: PromptResponse): void {
    this.memory?.acknowledged();
    this.deps.usage?.turnEnded(response);
  }

  private noteUpdate(update: SessionUpdate): void {
    const { usage, reports, permissions, activity } = this.deps;
    this.memory?.acknowledged();
    activity?.updated(update);
    usage?.take(update);
    reports?.take(update);
    permissions.noteTitle(update);
    this.events.add(update);
  }

  private say(text: string): void {
    const { onEvent, nowMs } = this.deps;
    onEvent({ kind: 'status', atMs: nowMs(), body: JSON.stringify({ text }) });
  }
}

/** Mode of the built-in agent in which it asks. */
const ASK_MODE = 'ask';

/** Where people are asked, any other agent stays in the mode that it begins in. */
function modeOf({ profile, isAsking }: AgentSessionDeps): string | undefined {
  if (!isAsking) return profile.mode;
  return profile.id === BUILT_IN_HARNESS ? ASK_MODE : undefined;
}

/** contract §3: base prompt, blank line, body of the skill; of several in their order. */
function basePromptOf(
  { base_prompt: own }: AmbientAgentConfig,
  skills: readonly { body: string }[],
): string | undefined {
  const parts = [own, ...skills.map(({ body }) => body)].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? undefined : parts.join('\n\n');
}

/** A message of a failure may repeat what an endpoint has answered. */
function withoutSecrets(end: TurnEnd, secretValues: readonly string[]): TurnEnd {
  return end.kind === 'failed'
    ? { ...end, message: redact(end.message, secretValues), said: end.said && redact(end.said, secretValues) }
    : end;
}

function messageOf({ attachments, mode }: Task, text: string): Message {
  return {
    text: joinPrompts([text, filesSaid(attachments.map(({ fileName }) => `${ATTACHMENTS_FOLDER}/${fileName}`))]),
    isPlan: mode === 'plan',
  };
}

const SESSION_TEXTS = {
  new: 'the agent has begun a session',
  resumed: 'the agent goes on with its session',
  loaded: 'the agent has loaded its session',
  retold: 'the agent could not find its session and was told what was said',
} as const;
