/** Anthropic's messages, as a fake endpoint speaks them. */
import type { Answer, AskedMessage, Protocol } from './fake-model-server.ts';

interface WirePart {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  content?: string | WirePart[];
  source?: { media_type: string };
}

interface WireMessage {
  role: 'user' | 'assistant';
  content: string | WirePart[];
}

export const anthropicMessages: Protocol = {
  name: 'anthropic-messages',
  matches: (path) => path.endsWith('/messages'),
  read: (body) => ({
    model: String(body['model']),
    stream: body['stream'] === true,
    system: textOf((body['system'] ?? '') as string | WirePart[]),
    messages: (body['messages'] as WireMessage[]).flatMap(asked),
    tools: ((body['tools'] ?? []) as { name: string }[]).map(({ name }) => name),
  }),
  stream: (answer, { model }) => {
    const blocks = blocksOf(answer);
    const { input, output, cached } = usageOf(answer);
    return [
      event('message_start', {
        message: {
          ...messageHead(model),
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: input, cache_read_input_tokens: cached, output_tokens: 1 },
        },
      }),
      ...blocks.flatMap(streamedBlock),
      event('message_delta', {
        delta: { stop_reason: finishOf(answer), stop_sequence: null },
        usage: { output_tokens: output },
      }),
      event('message_stop', {}),
    ];
  },
  whole: (answer, { model }) => {
    const { input, output, cached } = usageOf(answer);
    return {
      ...messageHead(model),
      content: blocksOf(answer),
      stop_reason: finishOf(answer),
      stop_sequence: null,
      usage: { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output },
    };
  },
  error: (status, message) => ({
    type: 'error',
    error: { type: status === 401 ? 'authentication_error' : 'api_error', message },
  }),
  streamedError: (message) => event('error', { error: { type: 'api_error', message } }),
};

function event(type: string, members: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

function messageHead(model: string): Record<string, unknown> {
  return { id: 'msg_fake', type: 'message', role: 'assistant', model };
}

type Block =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown };

function blocksOf({ reasoning, text, tools = [] }: Answer): Block[] {
  return [
    ...(reasoning === undefined ? [] : [{ type: 'thinking' as const, thinking: reasoning, signature: 'signed' }]),
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...tools.map(({ name, input }, index) => ({ type: 'tool_use' as const, id: `toolu_${index}`, name, input })),
  ];
}

function streamedBlock(block: Block, index: number): string[] {
  const start = (content_block: unknown): string => event('content_block_start', { index, content_block });
  const delta = (part: unknown): string => event('content_block_delta', { index, delta: part });
  const stop = event('content_block_stop', { index });
  switch (block.type) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        delta({ type: 'thinking_delta', thinking: block.thinking }),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ];
    case 'text':
      return [start({ type: 'text', text: '' }), delta({ type: 'text_delta', text: block.text }), stop];
    case 'tool_use': {
      const input = typeof block.input === 'string' ? block.input : JSON.stringify(block.input);
      const middle = Math.floor(input.length / 2);
      return [
        start({ ...block, input: {} }),
        ...[input.slice(0, middle), input.slice(middle)].map((partial_json) =>
          delta({ type: 'input_json_delta', partial_json }),
        ),
        stop,
      ];
    }
  }
}

/** Results of tools stand in user messages here; they are told apart. */
function asked({ role, content }: WireMessage): AskedMessage[] {
  const parts: WirePart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const results = parts
    .filter(({ type }) => type === 'tool_result')
    .map((part) => message('tool', textOf(part.content ?? '')));
  const rest = parts.filter(({ type }) => type !== 'tool_result');
  if (rest.length === 0) return results;
  const calls = rest
    .filter(({ type }) => type === 'tool_use')
    .map(({ id = '', name = '', input }) => ({ id, name, input }));
  const files = rest.flatMap(({ source }) => (source === undefined ? [] : [source.media_type]));
  return [...results, { ...message(role, textOf(rest)), calls, files }];
}

function message(role: AskedMessage['role'], text: string): AskedMessage {
  return { role, text, calls: [], files: [] };
}

function textOf(content: string | WirePart[]): string {
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('');
}

function finishOf({ finish = 'done', tools = [] }: Answer): string {
  if (finish !== 'done') return finish === 'length' ? 'max_tokens' : 'refusal';
  return tools.length > 0 ? 'tool_use' : 'end_turn';
}

/** Here the tokens that were read from the cache are not part of the others. */
function usageOf({ usage: { input, output, cached = 0 } = { input: 100, output: 10 } }: Answer): {
  input: number;
  output: number;
  cached: number;
} {
  return { input: input - cached, output, cached };
}
