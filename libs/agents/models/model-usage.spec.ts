/** What an answer tells of its use, whole and streamed, however it is cut. */
import { countedCall, modelPrices, pricesOf, type PricedModels } from './model-prices.ts';
import type { ModelApi } from './model-apis.ts';
import { ModelUsageReader } from './model-usage.ts';
import { UsageEventFilter } from './usage-events.ts';

const events = (...values: unknown[]): string =>
  values.map((value) => `event: x\ndata: ${JSON.stringify(value)}\n\n`).join('');

const CASES: { api: ModelApi; what: string; text: string; is: [input: number, cached: number, output: number] }[] = [
  {
    api: 'anthropic',
    what: 'an answer',
    text: JSON.stringify({
      content: [{ type: 'tool_use', input: { usage: { input_tokens: 999_999 } } }],
      usage: { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 7 },
    }),
    is: [115, 100, 7],
  },
  {
    api: 'anthropic',
    what: 'a stream',
    text: events(
      { type: 'message_start', message: { usage: { input_tokens: 10, cache_read_input_tokens: 3, output_tokens: 1 } } },
      { type: 'content_block_delta', delta: { text: '"usage":{"input_tokens":9}' } },
      { type: 'message_delta', usage: { output_tokens: 42 } },
    ),
    is: [13, 3, 42],
  },
  {
    api: 'openai',
    what: 'an answer',
    text: '{"usage":{"prompt_tokens":3,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}',
    is: [3, 2, 4],
  },
  {
    api: 'openai',
    what: 'a stream',
    text: events({ choices: [{}], usage: null }, { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } }),
    is: [3, 0, 4],
  },
  {
    api: 'openai',
    what: 'a stream of responses',
    text: events(
      { type: 'response.created', response: { usage: null } },
      {
        type: 'response.completed',
        response: {
          output: ['x'.repeat(50_000)],
          usage: { input_tokens: 5, input_tokens_details: { cached_tokens: 4 }, output_tokens: 6 },
        },
      },
    ),
    is: [5, 4, 6],
  },
  {
    api: 'gemini',
    what: 'a stream',
    text: events(
      { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 } },
      { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 8, thoughtsTokenCount: 20, totalTokenCount: 33 } },
    ),
    is: [5, 0, 28],
  },
  {
    api: 'gemini',
    what: 'a list',
    text: '[{"usageMetadata":{"promptTokenCount":5}},{"usageMetadata":{"candidatesTokenCount":2}}]',
    is: [5, 0, 2],
  },
];

it.each(CASES)('$what of $api tells $is', ({ api, what, text, is }) => {
  const bytes = Buffer.from(text);
  for (const piece of [1, 5, 64, bytes.length]) {
    const reader = new ModelUsageReader(api, what.startsWith('a stream'));
    for (let at = 0; at < bytes.length; at += piece) reader.push(bytes.subarray(at, at + piece));
    const { inputTokens, cachedTokens, outputTokens } = reader.usage() ?? {};
    expect([inputTokens, cachedTokens, outputTokens]).toEqual(is);
  }
});

it.each(['{"choices":[]}', '{"usage":null}', '{"usage":"many"}', '{"usage":{"prompt_tokens":-1}}', 'no JSON'])(
  '%s tells nothing',
  (text) => {
    const reader = new ModelUsageReader('openai', false);
    reader.push(Buffer.from(text));
    expect(reader.usage()).toBeUndefined();
  },
);

it('the event that only tells the use is taken out, however it is cut, and everything else stays', () => {
  const usage = events({ choices: [], usage: { prompt_tokens: 1 } });
  const rest = [
    events({ choices: [{ delta: { content: '"usage"' } }] }),
    ': ping\r\n\r\n',
    'data: [DONE]\n\n',
    'data: cut',
  ];
  const text = Buffer.from(`${rest[0]}${usage}${rest.slice(1).join('')}`);
  for (const piece of [1, 3, text.length]) {
    const filter = new UsageEventFilter();
    const passed: Uint8Array[] = [];
    for (let at = 0; at < text.length; at += piece) passed.push(filter.push(text.subarray(at, at + piece)));
    expect(Buffer.concat([...passed, filter.end()]).toString()).toBe(rest.join(''));
  }
});

it('costs what the operator has said', () => {
  const prices = modelPrices({
    MILLWRIGHT_AGENT_PRICE_INPUT: '2',
    MILLWRIGHT_AGENT_PRICE_CACHED_INPUT: '0.5',
    MILLWRIGHT_AGENT_PRICE_OUTPUT: '8',
    MILLWRIGHT_AGENT_PRICE_CURRENCY: 'EUR',
  });
  const used = { inputTokens: 100, cachedTokens: 40, outputTokens: 10 };
  expect(countedCall(used, prices)).toEqual({ tokens: 110, micros: 220, currency: 'EUR' });
  expect(countedCall(used)).toEqual({ tokens: 110 });
  expect(modelPrices({ MILLWRIGHT_AGENT_PRICE_INPUT: '2' })).toBeUndefined();
});

it.each([
  ['claude-haiku-4-5', 'claude-*haiku*'],
  ['models/claude-opus-4-5', 'claude-*'],
  // A budget has to hold for what nobody has thought of.
  ['gpt-9', 'claude-*'],
  ['', 'claude-*'],
])('%s costs what the first entry that names it says, and the most where none does', (model, models) => {
  const entry = (name: string, output: number): PricedModels => ({
    models: name,
    input: 1,
    cachedInput: 1,
    output,
    currency: 'USD',
  });
  expect(pricesOf([entry('claude-*haiku*', 5), entry('claude-*', 25)], model)?.output).toBe(
    entry(models, models === 'claude-*' ? 25 : 5).output,
  );
  expect(pricesOf([], model)).toBeUndefined();
});
