/** OpenAI's chat completions, as a fake endpoint speaks them. */
import type { Answer, AskedMessage, Protocol } from './fake-model-server.ts';

interface WireMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content?:
    | string
    | { type: string; text?: string; image_url?: { url: string }; file?: { file_data: string } }[]
    | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

export const chatCompletions: Protocol = {
  name: 'chat-completions',
  matches: (path) => path.endsWith('/chat/completions'),
  read: (body) => {
    const messages = body['messages'] as WireMessage[];
    const isSystem = ({ role }: WireMessage): boolean => role === 'system' || role === 'developer';
    return {
      model: String(body['model']),
      stream: body['stream'] === true,
      system: messages.filter(isSystem).map(textOf).join('\n'),
      messages: messages.filter((message) => !isSystem(message)).map(asked),
      tools: ((body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name),
    };
  },
  stream: (answer, { model }) => {
    const chunk = (delta: unknown, finish: string | null = null, more = {}): string => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      const body = { id: 'chatcmpl-fake', object: 'chat.completion.chunk', created: 1, model, choices, ...more };
      return `data: ${JSON.stringify(body)}\n\n`;
    };
    const usage = {
      id: 'chatcmpl-fake',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [],
      usage: usageOf(answer),
    };
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(answer.reasoning === undefined ? [] : [chunk({ reasoning_content: answer.reasoning })]),
      ...(answer.text === undefined ? [] : [chunk({ content: answer.text })]),
      ...toolCalls(answer).flatMap((call, index) =>
        halves(call.function.arguments).map((part, half) =>
          chunk({
            tool_calls: [
              {
                index,
                ...(half === 0 ? { id: call.id, type: 'function' } : {}),
                function: { ...(half === 0 ? { name: call.function.name } : {}), arguments: part },
              },
            ],
          }),
        ),
      ),
      chunk({}, finishOf(answer)),
      `data: ${JSON.stringify(usage)}\n\n`,
      'data: [DONE]\n\n',
    ];
  },
  whole: (answer, { model }) => ({
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1,
    model,
    usage: usageOf(answer),
    choices: [
      {
        index: 0,
        finish_reason: finishOf(answer),
        message: {
          role: 'assistant',
          content: answer.text ?? null,
          ...(toolCalls(answer).length === 0 ? {} : { tool_calls: toolCalls(answer) }),
        },
      },
    ],
  }),
  error: (status, message) => ({
    error: { message, type: status === 401 ? 'invalid_request_error' : 'server_error', code: null },
  }),
  streamedError: (message) => `data: ${JSON.stringify({ error: { message, type: 'server_error', code: null } })}\n\n`,
};

function asked({ role, content, tool_calls: calls = [] }: WireMessage): AskedMessage {
  const parts = Array.isArray(content) ? content : [];
  return {
    role: role as AskedMessage['role'],
    text: textOf({ role, content }),
    calls: calls.map((call) => ({
      id: call.id,
      name: call.function.name,
      input: JSON.parse(call.function.arguments) as unknown,
    })),
    files: parts.flatMap((part) => /^data:([^;]+);/.exec(part.image_url?.url ?? part.file?.file_data ?? '')?.[1] ?? []),
  };
}

function textOf({ content }: WireMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('');
}

function toolCalls({
  tools = [],
}: Answer): { id: string; type: 'function'; function: { name: string; arguments: string } }[] {
  // The same identifiers in every answer: some endpoints do that, and clients must stand it.
  return tools.map(({ name, input }, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
  }));
}

function finishOf({ finish = 'done', tools = [] }: Answer): string {
  if (finish !== 'done') return finish === 'length' ? 'length' : 'content_filter';
  return tools.length > 0 ? 'tool_calls' : 'stop';
}

function usageOf({
  usage: { input, output, cached = 0 } = { input: 100, output: 10 },
}: Answer): Record<string, unknown> {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** Arguments come in pieces. */
function halves(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
