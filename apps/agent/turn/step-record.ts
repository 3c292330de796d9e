/**
 * What one call of the model has brought so far, as messages of the conversation; complete at any moment, for a turn
 * may be cut off at any.
 */
import type { ModelMessage, TextStreamPart, ToolSet } from 'ai';
import { closed, type ToolResultPart } from '../session/conversation.ts';

type AssistantPart = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>[number];

type ProviderOptions = ModelMessage['providerOptions'];

/** Text or thinking that is still being written. */
interface Open {
  type: 'text' | 'reasoning';
  text: string;
  providerOptions?: ProviderOptions;
}

export interface StepRecord {
  /** Takes a part of the stream; those that leave nothing in the conversation are ignored. */
  take(part: TextStreamPart<ToolSet>): void;
  /** Notes the answer to a call. */
  answer(toolCallId: string, toolName: string, output: ToolResultPart['output']): void;
  /** The messages; empty when nothing came. */
  messages(): ModelMessage[];
}

/** The record of one step. */
export function stepRecord(): StepRecord {
  const parts: AssistantPart[] = [];
  const open = new Map<string, Open>();
  const answers: ToolResultPart[] = [];
  const begin = (id: string, type: Open['type']): void => {
    const part: Open = { type, text: '' };
    open.set(`${type} ${id}`, part);
    parts.push(part);
  };
  const grow = (id: string, type: Open['type'], text: string, metadata: ProviderOptions): void => {
    const part = open.get(`${type} ${id}`);
    if (part === undefined) return;
    part.text += text;
    // Signatures of thinking come with its end; without them a provider does not take it back.
    if (metadata !== undefined) part.providerOptions = metadata;
  };
  return {
    take: (part) => {
      switch (part.type) {
        case 'text-start':
          return begin(part.id, 'text');
        case 'text-delta':
          return grow(part.id, 'text', part.text, part.providerMetadata);
        case 'text-end':
          return grow(part.id, 'text', '', part.providerMetadata);
        case 'reasoning-start':
          return begin(part.id, 'reasoning');
        case 'reasoning-delta':
          return grow(part.id, 'reasoning', part.text, part.providerMetadata);
        case 'reasoning-end':
          return grow(part.id, 'reasoning', '', part.providerMetadata);
        case 'tool-call':
          parts.push({
            type: 'tool-call',
            toolCallId: part.toolCallId,
            toolName: part.toolName,
            input: objectOf(part.input),
            providerOptions: part.providerMetadata,
          });
          return undefined;
        default:
          return undefined;
      }
    },
    answer: (toolCallId, toolName, output) => void answers.push({ type: 'tool-result', toolCallId, toolName, output }),
    messages: () => {
      const content = parts.filter((part) => part.type !== 'text' || part.text !== '');
      if (content.length === 0) return [];
      return closed([
        { role: 'assistant', content },
        { role: 'tool', content: answers },
      ]);
    },
  };
}

/** Input that was no JSON object cannot be sent back to a provider. */
function objectOf(input: unknown): unknown {
  return typeof input === 'object' && input !== null ? input : {};
}
