/** The messages of a session, and what must be true of them before a model may read them. */
import type { ModelMessage, ToolModelMessage } from 'ai';

export type ToolResultPart = Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>;

/** Placeholder for a missing tool result. */
const NEVER_ANSWERED =
  'This call has no result: the turn was interrupted before it ended. It may have taken effect in part.';

/**
 * The same messages with exactly one answer to each tool call: providers refuse a conversation with an open one, and a
 * turn may end anywhere.
 */
export function closed(messages: readonly ModelMessage[]): ModelMessage[] {
  const whole: ModelMessage[] = [];
  let open: ToolResultPart[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      // An answer to nothing is left out.
      if (open.length > 0) whole.push({ role: 'tool', content: answered(message, open) });
      open = [];
      continue;
    }
    if (open.length > 0) whole.push({ role: 'tool', content: open });
    whole.push(message);
    open = callsOf(message).map(neverAnswered);
  }
  return open.length > 0 ? [...whole, { role: 'tool', content: open }] : whole;
}

function answered({ content }: ToolModelMessage, open: readonly ToolResultPart[]): ToolResultPart[] {
  const results = content.filter((part) => part.type === 'tool-result');
  return open.map((missing) => results.find(({ toolCallId }) => toolCallId === missing.toolCallId) ?? missing);
}

/** The tool calls in a message. */
export function callsOf(message: ModelMessage): { toolCallId: string; toolName: string; input: unknown }[] {
  if (message.role !== 'assistant' || typeof message.content === 'string') return [];
  return message.content.filter((part) => part.type === 'tool-call');
}

function neverAnswered({ toolCallId, toolName }: { toolCallId: string; toolName: string }): ToolResultPart {
  return { type: 'tool-result', toolCallId, toolName, output: { type: 'error-text', value: NEVER_ANSWERED } };
}
