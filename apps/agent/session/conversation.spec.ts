/** Conversations that end anywhere, and what a model gets to read of long ones. */
import type { ModelMessage } from 'ai';
import { fitted } from '../model/context-window.ts';
import { closed } from './conversation.ts';

const user = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const calls = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  content: ids.map((toolCallId) => ({ type: 'tool-call', toolCallId, toolName: 'bash', input: {} })),
});
const answers = (...results: [id: string, text: string][]): ModelMessage => ({
  role: 'tool',
  content: results.map(([toolCallId, value]) => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'bash',
    output: { type: 'text', value },
  })),
});

/** Each tool message as the identifiers it answers; `!` marks an answer that says that there is none. */
function shape(messages: readonly ModelMessage[]): string[] {
  return messages.map((message) => {
    if (message.role !== 'tool') return message.role;
    return message.content
      .map((part) =>
        part.type === 'tool-result' ? `${part.output.type === 'error-text' ? '!' : ''}${part.toolCallId}` : '',
      )
      .join(' ');
  });
}

it.each<{ messages: ModelMessage[]; becomes: string[]; why: string }>([
  { messages: [], becomes: [], why: 'nothing' },
  {
    messages: [user('a'), calls('1'), answers(['1', 'x']), user('b')],
    becomes: ['user', 'assistant', '1', 'user'],
    why: 'all is well',
  },
  { messages: [user('a'), calls('1', '2')], becomes: ['user', 'assistant', '!1 !2'], why: 'the end is missing' },
  {
    messages: [user('a'), calls('1', '2'), user('b')],
    becomes: ['user', 'assistant', '!1 !2', 'user'],
    why: 'the answers are missing in the middle',
  },
  {
    messages: [user('a'), calls('1', '2'), answers(['2', 'x']), user('b')],
    becomes: ['user', 'assistant', '!1 2', 'user'],
    why: 'one of two answers',
  },
  {
    messages: [user('a'), calls('1'), answers(['9', 'x'])],
    becomes: ['user', 'assistant', '!1'],
    why: 'an answer to another call',
  },
  { messages: [user('a'), answers(['1', 'x']), user('b')], becomes: ['user', 'user'], why: 'an answer to nothing' },
  {
    messages: [calls('1'), answers(['1', 'x']), calls('1')],
    becomes: ['assistant', '1', 'assistant', '!1'],
    why: 'the same identifier twice',
  },
])('every call has one answer: $why', ({ messages, becomes }) => {
  expect(shape(closed(messages))).toEqual(becomes);
  expect(closed(closed(messages))).toEqual(closed(messages));
});

describe('a conversation that is too long', () => {
  const long = 'x'.repeat(10_000);
  const messages = [
    user('a'),
    calls('1'),
    answers(['1', long]),
    calls('2'),
    answers(['2', long]),
    calls('3'),
    answers(['3', long]),
  ];
  const lengths = (all: readonly ModelMessage[]): number[] =>
    all.filter(({ role }) => role === 'tool').map((message) => JSON.stringify(message).length);

  it('loses what tools answered, the oldest first, and no more than has to go', () => {
    const [first = 0, second = 0, third = 0] = lengths(fitted(messages, 10_000));
    expect(first).toBeLessThan(500);
    expect([second, third].every((length) => length > 10_000)).toBe(true);
  });

  it('keeps the answers that the model is about to read', () => {
    expect(lengths(fitted(messages, 10)).map((length) => length > 10_000)).toEqual([false, false, true]);
  });

  it('is left alone while it fits', () => {
    expect(fitted(messages, 100_000)).toEqual(messages);
  });
});
