/** Tells a client what happened in a session before: the updates of earlier turns, in order. */
import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk';
import type { ModelMessage } from 'ai';
import { announced, ended } from '../turn/tool-call-updates.ts';
import { callsOf, type ToolResultPart } from './conversation.ts';
import type { Session } from './session.ts';
import { plan, planEntries } from '../tools/plan.ts';

/**
 * The updates that a client would have seen, without those in between. Texts come whole; of tool calls, how they ended.
 */
export async function* history({ messages, tools, allowedPaths }: Session): AsyncGenerator<SessionUpdate> {
  for (const [index, message] of messages.entries()) {
    const messageId = `m${index}`;
    yield* said(message, messageId);
    for (const call of callsOf(message)) {
      const id = `${messageId}.${call.toolCallId}`;
      const tool = tools.find(({ name }) => name === call.toolName);
      yield announced({ id, toolName: call.toolName, input: call.input }, tool, allowedPaths);
      yield ended(id, outcomeOf(answerTo(call.toolCallId, messages[index + 1])));
      if (call.toolName === plan.name) yield { sessionUpdate: 'plan', entries: planEntries(call.input) };
    }
  }
}

function* said(message: ModelMessage, messageId: string): Generator<SessionUpdate> {
  if (message.role !== 'user' && message.role !== 'assistant') return;
  const parts =
    typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : message.content;
  for (const part of parts) {
    const own = message.role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
    if (part.type === 'text') yield { sessionUpdate: own, content: { type: 'text', text: part.text }, messageId };
    if (part.type === 'reasoning')
      yield { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: part.text }, messageId };
    if (part.type === 'file' && typeof part.data === 'string')
      yield { sessionUpdate: own, content: fileBlock(part.data, part.mediaType), messageId };
  }
}

function fileBlock(data: string, mimeType: string): ContentBlock {
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  return { type: 'resource', resource: { uri: 'attachment:', blob: data, mimeType } };
}

function answerTo(toolCallId: string, message: ModelMessage | undefined): ToolResultPart['output'] | undefined {
  if (message?.role !== 'tool') return undefined;
  return message.content.find(
    (part): part is ToolResultPart => part.type === 'tool-result' && part.toolCallId === toolCallId,
  )?.output;
}

function outcomeOf(output: ToolResultPart['output'] | undefined): { text: string; isError: boolean } {
  if (output?.type === 'text') return { text: output.value, isError: false };
  return { text: output?.type === 'error-text' ? output.value : '', isError: true };
}
