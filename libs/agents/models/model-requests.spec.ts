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
