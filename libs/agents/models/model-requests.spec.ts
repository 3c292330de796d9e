/** What a body may say, however it is written and cut; which requests and models a run may ask for. */
import { JsonMembers } from './json-members.ts';
import { modelOperation, type ModelApi } from './model-apis.ts';
import { isModelAllowed, ModelRequestReader, type ReadModelRequest } from './model-requests.ts';

const CHAT = { api: 'openai', kind: 'generate', asksForUsage: true } as const;
const MESSAGES = { api: 'anthropic', kind: 'generate', asksForUsage: false } as const;

function read(text: string | Buffer, operation: typeof CHAT | typeof MESSAGES = MESSAGES, piece = 7): ReadModelRequest {
  const reader = new ModelRequestReader(operation);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) reader.push(bytes.subarray(at, at + piece));
  return reader.end();
}

describe('the model of a body', () => {
  it.each([
    ['{"model":"m-1"}', 'it comes first'],
    [
      '  {"messages":[{"model":"other"},[["x"]],1.5e-3,true,null],"model" : "m-1" }\n',
      'it comes last, and lists before',
    ],
    ['{"a":{"model":"other","b":"}{\\""},"model":"m-1"}', 'another one lies deeper'],
    ['{"mod\\u0065l":"m-1"}', 'its name is escaped'],
    ['{"model":"m\\u002d1"}', 'it is escaped itself'],
    ['{"text":"\\\\\\" model \\": é 𝄞","model":"m-1"}', 'there is text that looks like it'],
  ])('of %s is found, because %s', (text) => {
    for (const piece of [1, 2, 3, 1_000])
      expect(read(text, MESSAGES, piece)).toEqual({ ok: true, request: { model: 'm-1', hidesUsage: false } });
  });

  it.each([
    ['{"model":"m-1","model":"m-2"}', 'servers differ in which one counts'],
    ['{"model":"m-1","mod\\u0065l":"m-2"}', 'an escaped name is the same'],
    ['{"model":"m-1","Model":"m-2"}', 'some servers do not tell the cases apart'],
    ['{"MODEL":"m-2"}', 'the same'],
    ['{"model":["m-1"]}', 'it is no text'],
    ['{"messages":[]}', 'there is none'],
    ['{"model":"m-1","mcp_servers":[{"url":"https://evil.test"}]}', 'the provider would call others'],
    ['{"model":"m-1","background":true}', 'it would work on where nothing is counted'],
    ['{"model":"m-1","Background":true}', 'the same in another case'],
    ['["model","m-1"]', 'it is no object'],
    ['{"model":"m-1"', 'it does not end'],
    ['{"model":"m-1"}{"model":"m-2"}', 'there are two'],
    ['{"model":"m-1"} x', 'something stands behind it'],
    ['{"model":"m-1",}', 'a comma stands at its end'],
    ["{'model':'m-1'}", 'these are no quotes'],
    ['{"model":"m-1"/**/}', 'a comment is none of it'],
    ['\ufeff{"model":"m-1"}', 'a mark stands before it'],
    ['{"a":[}],"model":"m-1"}', 'brackets do not match'],
    ['{"a":"\n","model":"m-1"}', 'a line ends in a text'],
    [`${'{"a":'.repeat(600)}1${'}'.repeat(600)}`, 'it is too deep'],
    [Buffer.from('{"model":"m-1"}', 'utf16le'), 'it is written in another way'],
  ] as [string | Buffer, string][])('of %s is refused, because %s', (text) => {
    expect(read(text)).toMatchObject({ ok: false });
  });

  it('is found in a large body without holding it', () => {
    const members = new JsonMembers(([name]) => name === 'model');
    const piece = Buffer.from(`"${'x'.repeat(65_000)}",`);
    members.push(Buffer.from('{"messages":['));
    for (let count = 0; count < 200; count += 1) members.push(piece);
    members.push(Buffer.from('0],"model":"m-1"}'));
    expect(members.isWhole()).toBe(true);
    expect(members.found.map(({ text }) => text)).toEqual(['"m-1"']);
  });
});

describe('the use of a stream', () => {
  const edited = (text: string): unknown => {
    const result = read(text, CHAT);
    if (!result.ok || result.request.edit === undefined) return result;
    const { start, end, text: put } = result.request.edit;
    const bytes = Buffer.from(text);
    return JSON.parse(Buffer.concat([bytes.subarray(0, start), Buffer.from(put), bytes.subarray(end)]).toString());
  };

  it.each([
    [
      '{"é":"𝄞","model":"m","stream":true}',
      { é: '𝄞', model: 'm', stream: true, stream_options: { include_usage: true } },
    ],
    [
      '{"model":"m","stream_options":{"a":1},"stream":true,"n":1}',
      { model: 'm', stream: true, stream_options: { a: 1, include_usage: true }, n: 1 },
    ],
    [
      '{"model":"m","stream":true,"stream_options":null}',
      { model: 'm', stream: true, stream_options: { include_usage: true } },
    ],
  ])('of %s is asked for', (text, expected) => {
    expect(edited(text)).toEqual(expected);
  });

  it.each(['{"model":"m"}', '{"model":"m","stream":true,"stream_options":{"include_usage":true}}'])(
    'of %s is told already',
    (text) => {
      expect(read(text, CHAT)).toEqual({ ok: true, request: { model: 'm', hidesUsage: false } });
    },
  );
});

describe('a request', () => {
  const all: ModelApi[] = ['openai', 'anthropic', 'gemini'];
  it.each([
    ['POST', '/v1/messages', 'anthropic', 'generate'],
    ['POST', '/messages', 'anthropic', 'generate'],
    ['POST', '/v1/messages/count_tokens', 'anthropic', 'count'],
    ['POST', '/v1/chat/completions', 'openai', 'generate'],
    ['POST', '/responses', 'openai', 'generate'],
    ['GET', '/v1/models', 'openai', 'list'],
    ['POST', '/v1beta/models/gemini-2.5-pro:streamGenerateContent', 'gemini', 'generate'],
    ['POST', '/models/gemini-2.5-pro:countTokens', 'gemini', 'count'],
  ])('%s %s may be sent', (method, path, api, kind) => {
    expect(modelOperation(all, method, path)).toMatchObject({ api, kind });
  });

  it.each([
    ['GET', '/v1/messages'],
    ['POST', '/v1/files'],
    ['GET', '/v1/files/x/content'],
    ['POST', '/v1/messages/batches'],
    ['POST', '/v1/messages/'],
    ['POST', '/v1/messages/../files'],
    ['POST', '/v1//messages'],
    ['POST', '/v1/%6dessages'],
    ['POST', '/v1/organizations/api_keys'],
    ['DELETE', '/v1/models/m'],
    ['POST', '/v1beta/models/m:generateContent/x'],
    ['POST', '/v1beta/cachedContents'],
    ['POST', '/upload/v1beta/files'],
    ['POST', ''],
  ])('%s %s may not', (method, path) => {
    expect(modelOperation(all, method, path)).toBeUndefined();
  });

  it.each([
    [['m-1'], 'm-1', true],
    [['m-1'], 'm-10', false],
    [['m-1'], 'M-1', false],
    [['claude-*haiku*'], 'claude-haiku-4-5', true],
    [['claude-*haiku*'], 'claude-3-5-haiku-20241022', true],
    [['claude-*haiku*'], 'claude-opus-4', false],
    [['gemini-*'], 'models/gemini-2.5-pro', true],
    [['a*a'], 'a', false],
    [['*'], 'x/y', true],
    [[], 'm-1', false],
  ])('with the models %j may name %s: %s', (patterns, model, is) => {
    expect(isModelAllowed(patterns, model)).toBe(is);
  });
});

describe('a provider that would go elsewhere for the run', () => {
  const body = (more: unknown): string => JSON.stringify({ model: 'm-1', ...(more as object) });
  const long = 'A'.repeat(40_000);
  const machine = (type: string): unknown => ({
    type: 'auto',
    network_policy: { type, allowed_domains: ['evil.test'] },
  });
  it.each([
    ['an MCP server of the interface of responses', { tools: [{ type: 'mcp', server_url: 'https://evil.test' }] }],
    ['its connector', { tools: [{ type: 'x', connector_id: 'c' }] }],
    ['one in a group', { tools: [{ type: 'namespace', tools: [{ type: 'mcp' }] }] }],
    ['one that is told in the conversation', { input: [{ type: 'additional_tools', tools: [{ type: 'MCP' }] }] }],
    ['a fetching tool of messages', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
    ['addresses in texts of gemini', { tools: [{ urlContext: {} }] }],
    ['the same in its other spelling', { tools: [{ url_context: {} }] }],
    ['MCP servers of gemini', { tools: [{ mcpServers: [{ streamableHttpTransport: { url: 'https://evil.test' } }] }] }],
    ['the same in its other spelling', { tools: [{ mcp_servers: [{ name: 'x' }] }] }],
    ['an interface to look things up', { tools: [{ retrieval: { externalApi: { endpoint: 'https://evil.test' } } }] }],
    [
      'a picture in a prompt that is kept',
      { prompt: { id: 'p', variables: { x: { image_url: 'https://evil.test' } } } },
    ],
    ['an image of a chat', { messages: [{ content: [{ image_url: { url: 'https://evil.test/?s' } }] }] }],
    ['an image of responses', { input: [{ content: [{ type: 'input_image', image_url: 'https://evil.test/' }] }] }],
    ['a file of responses', { input: [{ content: [{ type: 'input_file', file_url: ' HTTP://evil.test/' }] }] }],
    ['an image of messages', { messages: [{ content: [{ source: { type: 'url', url: '//evil.test/' } }] }] }],
    ['one in a result', { messages: [{ content: [{ content: [{ source: { url: 'https://evil.test' } }] }] }] }],
    ['a file of gemini', { contents: [{ parts: [{ fileData: { fileUri: 'gs://evil/x' } }] }] }],
    ['a long address', { messages: [{ content: [{ image_url: { url: `https://evil.test/${long}` } }] }] }],
  ])('is not asked to: %s', (_what, more) => {
    for (const piece of [1, 7, 100_000])
      expect(read(body(more), MESSAGES, piece)).toMatchObject({
        ok: false,
        reason: expect.stringContaining('its provider would'),
      });
  });

  it.each([
    ['of the tool that runs code', { type: 'code_interpreter', container: machine('allowlist') }],
    ['of a shell', { type: 'shell', environment: machine('allowlist') }],
    ['of a kind that is new', { type: 'shell', environment: { type: 'container_auto', network_policy: 'all' } }],
  ])('has no machine that reaches hosts for the run: one %s', (_what, tool) => {
    for (const piece of [1, 100_000])
      expect(read(body({ tools: [tool] }), MESSAGES, piece)).toMatchObject({
        ok: false,
        reason: expect.stringContaining('a machine of its provider'),
      });
  });

  it.each([
    ['a machine without a network', { tools: [{ type: 'code_interpreter', container: machine('disabled') }] }],
    ['a machine of which nothing is said', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
    [
      'a tool of the run that speaks of one',
      { tools: [{ type: 'function', parameters: { properties: { container: machine('allowlist') } } }] },
    ],
    ['a call that says that it is not in the background', { background: false }],
    ['the same by saying nothing', { background: null }],
    ['a file that is there', { messages: [{ content: [{ image_url: { url: `data:image/png;base64,${long}` } }] }] }],
    ['a small one', { input: [{ content: [{ image_url: 'data:image/png;base64,AA==' }] }] }],
    ['a tool of the run with such words', { tools: [{ type: 'function', parameters: { properties: { url: {} } } }] }],
    [
      'addresses that the run gave its own tools',
      { messages: [{ content: [{ input: { source: { url: 'https://a' } } }] }] },
    ],
    ['the same of gemini', { contents: [{ parts: [{ functionCall: { args: { image_url: 'https://a' } } }] }] }],
    ['text about them', { messages: [{ content: '{"image_url":"https://evil.test"}' }] }],
    ['a search', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ])('stays where it is: %s', (_what, more) => {
    for (const piece of [1, 100_000]) expect(read(body(more), MESSAGES, piece)).toMatchObject({ ok: true });
  });
});
