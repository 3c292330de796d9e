/** OpenAI's responses, as a fake endpoint speaks them. */
import type { Answer, AskedMessage, Protocol } from './fake-model-server.ts';

interface WireItem {
  type?: string;
  role?: string;
  content?: string | { type: string; text?: string }[];
  name?: string;
  call_id?: string;
  /** Of a tool that takes JSON, and of one that takes free text. */
  arguments?: string;
  input?: string;
  output?: string | { text?: string }[];
  /** Of tools that are told in the conversation. */
  tools?: WireTool[];
}

interface WireTool {
  type: string;
  name?: string;
  /** Of a group. */
  tools?: WireTool[];
}

export const responses: Protocol = {
  name: 'responses',
  matches: (path) => path.endsWith('/responses'),
  read: (body) => {
    const input = body['input'] as string | WireItem[];
    const items: WireItem[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
    const isSystem = ({ role }: WireItem): boolean => role === 'system' || role === 'developer';
    return {
      model: String(body['model']),
      stream: body['stream'] === true,
      system: [(body['instructions'] ?? '') as string, ...items.filter(isSystem).map(textOf)].join('\n'),
      messages: items.filter((item) => !isSystem(item)).flatMap(asked),
      tools: [...((body['tools'] ?? []) as WireTool[]), ...items.flatMap(({ tools = [] }) => tools)].flatMap(toolNames),
    };
  },
  stream: (answer, { model }) => [
    event('response.created', { response: { ...head(model), status: 'in_progress', output: [] } }),
    ...itemsOf(answer).flatMap(streamedItem),
    event('response.completed', { response: whole(answer, model) }),
  ],
  whole: (answer, { model }) => whole(answer, model),
  error: (status, message) => ({
    error: { message, type: status === 401 ? 'invalid_request_error' : 'server_error', param: null, code: null },
  }),
  streamedError: (message) =>
    event('response.failed', {
      response: { ...head('none'), status: 'failed', error: { code: 'server_error', message } },
    }),
};

function toolNames({ name, type, tools }: WireTool): string[] {
  return tools?.flatMap(toolNames) ?? [name ?? type];
}

function event(type: string, members: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

function head(model: string): Record<string, unknown> {
  return { id: 'resp_fake', object: 'response', created_at: 1, model };
}

function whole(answer: Answer, model: string): Record<string, unknown> {
  const { input, output, cached = 0 } = answer.usage ?? { input: 100, output: 10 };
  return {
    ...head(model),
    status: answer.finish === 'length' ? 'incomplete' : 'completed',
    output: itemsOf(answer),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
}

type OutputItem = { type: string; id: string } & Record<string, unknown>;

function itemsOf({ reasoning, text, tools = [] }: Answer): OutputItem[] {
  const summary = [{ type: 'summary_text', text: reasoning }];
  const content = [{ type: 'output_text', text, annotations: [] }];
  return [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', id: 'rs_fake', summary }]),
    ...(text === undefined ? [] : [{ type: 'message', id: 'msg_fake', role: 'assistant', content }]),
    ...tools.map(({ name, input }, index) => ({
      type: 'function_call',
      id: `fc_${index}`,
      call_id: `call_${index}`,
      name,
      arguments: typeof input === 'string' ? input : JSON.stringify(input),
    })),
  ];
}

function streamedItem(item: OutputItem, index: number): string[] {
  const place = { output_index: index, item_id: item.id };
  const [part] = item.type === 'message' ? (item['content'] as { text: string }[]) : [];
  return [
    event('response.output_item.added', { output_index: index, item: part ? { ...item, content: [] } : item }),
    ...(part ? [event('response.output_text.delta', { ...place, content_index: 0, delta: part.text })] : []),
    event('response.output_item.done', { output_index: index, item }),
  ];
}

function asked(item: WireItem): AskedMessage[] {
  const { type = 'message', role = 'user', name = '', call_id: id = '' } = item;
  if (type === 'message')
    return [{ role: role === 'assistant' ? 'assistant' : 'user', text: textOf(item), calls: [], files: [] }];
  if (type === 'function_call' || type === 'custom_tool_call')
    return [{ role: 'assistant', text: '', calls: [{ id, name, input: inputOf(item) }], files: [] }];
  if (!type.endsWith('_output')) return [];
  const { output = '' } = item;
  const text = typeof output === 'string' ? output : output.map((part) => part.text ?? '').join('');
  return [{ role: 'tool', text, calls: [], files: [] }];
}

function inputOf({ arguments: json, input }: WireItem): unknown {
  return json === undefined ? input : (JSON.parse(json) as unknown);
}

function textOf({ content }: WireItem): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text = '' }) => text).join('');
}
