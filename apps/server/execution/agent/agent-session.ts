/** What is said between one execution and its agent: the task, follow-ups as they come, what the session remembers of both. contract 3 (Follow-up). */
import { Readable, Writable } from 'node:stream';
import type { McpServer } from '@agentclientprotocol/sdk';
import { filesSaid, firstPrompt, joinPrompts, outputSanitizer } from '#agents';
import { redact } from '#isolation';
import { ATTACHMENTS_FOLDER } from '#runs';
import type { Task } from '../../store/runs/run-tasks.ts';
import { AgentConversation, type Message, type SessionOrigin, type TurnEnd } from './agent-conversation.ts';
import { agentEvents } from './agent-events.ts';
import { failedServers, httpRefused } from './agent-mcp-remarks.ts';
import { rememberedSession } from './agent-session-files.ts';
import type { AgentExecution, AgentWork } from './agents.ts';
import type { CommandPipes } from '../command/command.ts';
import { sessionDigest } from './session-digest.ts';

/** What the agent's session is opened with. */
export interface SessionOptions {
  basePrompt?: string;
  mcpServers: readonly McpServer[];
  mode?: string;
}

export interface AgentSession extends Pick<AgentExecution, 'ended' | 'look'> {
  talk(pipes: CommandPipes): Promise<void>;
}

/** The talk of one execution. */
export function agentSession(work: AgentWork, wishes: SessionOptions): AgentSession {
  const { profile, config, workspace, task, usage, reports, desk, nowMs, onEvent } = work;
  const events = agentEvents(work.secretValues, nowMs, onEvent);
  const say = (text: string): void => onEvent({ kind: 'status', atMs: nowMs(), body: JSON.stringify({ text }) });
  const words = outputSanitizer(work.secretValues);
  let conversation: AgentConversation | undefined;
  let end: TurnEnd | undefined;
  let telling: ((task: Task) => Message) | undefined;

  // One after the other: what one look has taken is told before the next one finds nothing.
  let taking: Promise<unknown> = Promise.resolve();
  const take = <T>(use: (more: Task | undefined) => T): Promise<T> => {
    const taken = taking.then(async () => use(await work.takeFollowups()));
    taken.catch((error: unknown) => work.onFault(error));
    taking = taken.catch(() => undefined);
    return taken;
  };

  async function talk({ input, output, cancel }: CommandPipes): Promise<void> {
    const before = await rememberedSession(workspace);
    const memory = sessionDigest(workspace, before, work.onFault);
    telling = (more) => {
      memory.telling(more.parts.map(({ id }) => id));
      return messageOf(more, more.prompt);
    };
    const first = async (how: SessionOrigin): Promise<Message> => {
      memory.telling(task.parts.map(({ id }) => id));
      const isKnown = how === 'resumed' || how === 'loaded';
      const digest = work.hasPast && !isKnown ? await work.toldSoFar() : undefined;
      return messageOf(task, firstPrompt({ parts: task.parts, told: new Set(before?.told), isKnown, digest }));
    };
    const next = async (isGone: boolean): Promise<Message | undefined> => {
      events.finish();
      if (isGone || cancel.aborted || usage?.refusal() !== undefined) return undefined;
      return take((more) => more && telling?.(more));
    };
    conversation = new AgentConversation(
      { profile, cwd: workspace.workspace, ...wishes, modelId: config.model_id, sessionId: before?.sessionId },
      {
        input: Readable.toWeb(output) as ReadableStream<Uint8Array>,
        output: Writable.toWeb(input) as WritableStream<Uint8Array>,
        cancel,
        first,
        next,
        onServers: (refused, said) =>
          [httpRefused(profile.id, refused, words.text), failedServers(said, words.text)]
            .filter((text) => text !== undefined)
            .forEach(say),
        decide: (request, signal) => {
          events.flush();
          return desk.decide(request, signal);
        },
        onAnswer: (response) => {
          memory.heard();
          usage?.turnEnded(response);
        },
        onUpdate: (update) => {
          memory.heard();
          usage?.take(update);
          reports?.take(update);
          desk.heard(update);
          events.take(update);
        },
        onSession: async (sessionId, how) => {
          usage?.sessionOpened(sessionId);
          say(SESSION_WORDS[how]);
          await memory.opened(sessionId);
        },
      },
    );
    end = withoutSecrets(await conversation.ended, work.secretValues);
    events.finish();
    if (end.kind === 'failed' && end.said !== undefined) say(`the agent answered with an error: ${end.said}`);
  }

  let isLooking = false;
  return {
    talk,
    ended: () => end,
    look: () => {
      desk.look();
      if (!profile.concurrentPrompt || isLooking || conversation?.isInTurn() !== true) return;
      isLooking = true;
      void take((more) => {
        if (more !== undefined && telling !== undefined) conversation?.say(telling(more));
      })
        .catch(() => undefined)
        .finally(() => (isLooking = false));
    },
  };
}

/** What a message tells may be an endpoint's words. */
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

const SESSION_WORDS = {
  new: 'the agent has begun a session',
  resumed: 'the agent goes on with its session',
  loaded: 'the agent has loaded its session',
  retold: 'the agent could not find its session and was told what was said',
} as const;
