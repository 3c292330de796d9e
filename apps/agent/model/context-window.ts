/** Fits a conversation into the model's context: what tools answered long ago goes first. */
import type { ModelMessage } from 'ai';
import type { ToolResultPart } from '../session/conversation.ts';

/** Characters a token, estimated low over code and prose: only the endpoint knows the real count. */
const CHARACTERS_PER_TOKEN = 3;

/** Part of the context that the conversation may fill; instructions, tools and the answer need the rest. */
const SHARE = 0.75;

const LEFT_OUT = '(This output was left out to save space. Call the tool again if you need it.)';

/**
 * The same messages, with the oldest tool outputs replaced by a remark until they fit. May stay too long when the rest
 * alone is.
 */
export function fitted(messages: readonly ModelMessage[], contextTokens: number): ModelMessage[] {
  let excess =
    messages.reduce((sum, message) => sum + sizeOf(message), 0) - contextTokens * SHARE * CHARACTERS_PER_TOKEN;
  return messages.map((message, index) => {
    // The answers of the last step are what the model is about to read.
    if (excess <= 0 || message.role !== 'tool' || index === messages.length - 1) return message;
    const shortened = {
      ...message,
      content: message.content.map((part) => (part.type === 'tool-result' ? withoutOutput(part) : part)),
    };
    excess -= sizeOf(message) - sizeOf(shortened);
    return shortened;
  });
}

function withoutOutput(part: ToolResultPart): ToolResultPart {
  const shortened: ToolResultPart = { ...part, output: { type: 'text', value: LEFT_OUT } };
  return sizeOf(part) > sizeOf(shortened) ? shortened : part;
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}
