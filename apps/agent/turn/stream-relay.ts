/** Passes on what a turn's stream brings: to the client as updates, to the conversation as messages. */
import { type AgentContext, methods, type SessionUpdate } from '@agentclientprotocol/sdk';
import type { FinishReason, TextStreamPart, ToolSet } from 'ai';
import { announced, ended } from './tool-call-updates.ts';
import type { AgentConfig } from '../config/config.ts';
import { InterruptedStreamError } from '../model/model-errors.ts';
import type { Session } from '../session/session.ts';
import { stepRecord, type StepRecord } from './step-record.ts';
import { toolCalls } from './tool-calls.ts';
import { failed } from '../tools/types.ts';
import { added, NO_USAGE, type Usage, usageOf } from './usage.ts';

export interface TurnRelay {
  /** The session's tools; their calls run only after they were announced. */
  tools: ToolSet;
  take(part: Part): Promise<void>;
  /** Waits for running calls, reports those that never ran, and stores the output of an unfinished step. */
  close(reason: string): Promise<void>;
  finishReason(): FinishReason;
  usage(): Usage;
}

export interface TurnRelayOptions {
  session: Session;
  client: AgentContext;
  config: AgentConfig;
  signal: AbortSignal;
  /** Told what went wrong with the model. */
  fail(error: unknown): void;
}

type Part = TextStreamPart<ToolSet>;

/** One call of the model: its message in the conversation. */
interface Step {
  messageId: string;
  record: StepRecord;
}

/** The relay of one turn. */
export function turnRelay(options: TurnRelayOptions): TurnRelay {
  const { session, client, config, signal, fail } = options;
  let step: Step = { messageId: '', record: stepRecord() };
  let usage = NO_USAGE;
  let finishReason: FinishReason = 'other';
  // When the client is gone the turn is ended for that reason, and what it has brought is to be kept all the same.
  const send = (update: SessionUpdate): Promise<void> =>
    client.notify(methods.client.session.update, { sessionId: session.id, update }).catch(() => undefined);
  const calls = toolCalls({
    session,
    client,
    signal,
    send,
    environment: config.toolEnvironment,
    answer: (...answer) => step.record.answer(...answer),
  });

  const announce = async (part: Extract<Part, { type: 'tool-call' }>): Promise<void> => {
    const tool = session.tools.find(({ name }) => name === part.toolName);
    const announcement = await announced(
      { id: callId(step, part.toolCallId), toolName: part.toolName, input: part.input },
      tool,
      session.allowedPaths,
    );
    await send(announcement);
    if (part.invalid !== true) calls.announced(part.toolCallId, announcement);
  };
  /** Reports calls that could not start, for example with invalid input; calls that ran report their own end. */
  const refuse = async (part: Extract<Part, { type: 'tool-error' }>): Promise<void> => {
    if (signal.aborted) return;
    const text = typeof part.error === 'string' ? part.error : 'the call could not be carried out';
    step.record.answer(part.toolCallId, part.toolName, { type: 'error-text', value: text });
    await send(ended(callId(step, part.toolCallId), failed(text)));
  };
  const keep = async (): Promise<void> => {
    const messages = step.record.messages();
    step = { ...step, record: stepRecord() };
    await session.remember(messages);
  };
  const finishStep = async (part: Extract<Part, { type: 'finish-step' }>): Promise<void> => {
    await keep();
    const used = usageOf(part.usage);
    usage = added(usage, used);
    await send({ sessionUpdate: 'usage_update', ...(await session.use(used)) });
  };
  const say = (kind: 'agent_message_chunk' | 'agent_thought_chunk', text: string): Promise<void> =>
    text === ''
      ? Promise.resolve()
      : send({ sessionUpdate: kind, content: { type: 'text', text }, messageId: step.messageId });

  return {
    tools: calls.tools,
    finishReason: () => finishReason,
    usage: () => usage,
    take: async (part) => {
      step.record.take(part);
      switch (part.type) {
        case 'start-step':
          step = { messageId: session.nextMessageId(), record: stepRecord() };
          return undefined;
        case 'text-delta':
          return say('agent_message_chunk', part.text);
        case 'reasoning-delta':
          return say('agent_thought_chunk', part.text);
        case 'tool-call':
          return announce(part);
        case 'tool-error':
          return refuse(part);
        case 'finish-step':
          return finishStep(part);
        case 'finish':
          finishReason = part.finishReason;
          return part.finishReason === 'other' && part.rawFinishReason === undefined
            ? fail(new InterruptedStreamError())
            : undefined;
        case 'error':
          return fail(part.error);
        default:
          return undefined;
      }
    },
    close: async (reason) => {
      await calls.closeOpen(reason);
      await keep();
    },
  };
}

/** Unique in the session, and the same when its history is replayed; the model's own identifiers need not be unique. */
function callId({ messageId }: Step, toolCallId: string): string {
  return `${messageId}.${toolCallId}`;
}
