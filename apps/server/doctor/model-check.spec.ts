/** What `doctor` asks of the model's endpoint, and that it asks the one that runs will use. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { modelChoice } from '#agents';
import { readConfig as readAgentConfig } from '../../agent/config/config.ts';
import { readConfig } from '../config/config.ts';
import { BUILT_IN_AGENT } from '../execution/agent/agents.ts';
import type { Remark } from './findings.ts';
import { model } from './model-check.ts';

const VALUES: Readonly<Record<string, readonly (string | undefined)[]>> = {
  PROVIDER: [undefined, 'openai-compatible', 'anthropic', 'demo', 'other'],
  BASE_URL: [undefined, 'http://127.0.0.1:1/', 'https://a.example/v1', 'https://u:p@a.example', 'nonsense'],
  MODEL: [undefined, 'demo', 'm', 'claude-x'],
  API_KEY: [undefined, 'a-key'],
};

it('the service and the built-in agent read every combination of the variables alike', () => {
  let combinations: Record<string, string>[] = [{}];
  for (const [name, values] of Object.entries(VALUES)) {
    combinations = combinations.flatMap((before) =>
      values.map((value) => (value === undefined ? before : { ...before, [`MILLWRIGHT_AGENT_${name}`]: value })),
    );
  }
  expect(combinations).toHaveLength(200);
  for (const variables of combinations) {
    const theirs = readAgentConfig({ HOME: '/', ...variables });
    const ours = modelChoice(variables);
    const endpoint = theirs.ok ? theirs.config.endpoint : undefined;
    const expected = !theirs.ok ? 'wrong' : endpoint === undefined ? 'demo' : 'endpoint';
    expect([variables, ours.kind]).toEqual([variables, expected]);
    if (ours.kind === 'endpoint') {
      const { provider, baseUrl, modelId, key } = ours.endpoint;
      expect({ provider, baseUrl, modelId, key }).toEqual({
        provider: endpoint?.provider,
        baseUrl: endpoint?.baseUrl,
        modelId: endpoint?.modelId,
        key: endpoint?.credential?.value,
      });
    }
  }
});

describe('an endpoint that', () => {
  let endpoint: Server;
  let asked: string[] = [];
  let answer: { status: number; body: string };
  beforeAll(async () => {
    endpoint = createServer((request, response) => {
      asked.push([request.url, request.headers.authorization ?? request.headers['x-api-key']].join(' '));
      response
        .writeHead(answer.status, answer.status === 302 ? { location: 'http://hidden.example/' } : {})
        .end(answer.body);
    });
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => endpoint.close(resolve)));

  const told = async (more: Record<string, string> = {}): Promise<string> => {
    asked = [];
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/v1`;
    const config = readConfig({
      MILLWRIGHT_AGENT_BASE_URL: url,
      MILLWRIGHT_AGENT_MODEL: 'm',
      MILLWRIGHT_AGENT_API_KEY: 'hidden-key',
      ...more,
    });
    const remarks: Remark[] = await model({ config, faulty: new Set(), builtInAgent: BUILT_IN_AGENT, nowMs: Date.now });
    const text = remarks
      .map(({ level, message, wayOut }) => `${level}: ${message}${wayOut === undefined ? '' : ` → ${wayOut}`}`)
      .join('\n');
    expect(text).not.toContain('hidden'); // neither our key nor anything that the endpoint said
    return text;
  };

  it.each<[status: number, body: string, words: RegExp]>([
    [200, '{"data": [{"id": "m"}]}', /^ok: http:\/\/127\.0\.0\.1:\d+ is reached and takes the credentials$/],
    [200, '{"data": [{"id": "hidden"}]}', /^warning: .* does not list the model of MILLWRIGHT_AGENT_MODEL/],
    [200, '{"data": [{"id": "hidden"}], "has_more": true}', /^ok: .* is reached and takes/],
    [200, '{"data": [null, 7]}', /^warning: .* does not list the model/],
    [200, 'hidden', /^ok: .* is reached and takes/],
    [401, 'hidden', /^problem: .* refuses the credentials \(401\) → set MILLWRIGHT_AGENT_API_KEY/],
    [404, 'hidden', /^ok: .* is reached; it does not list its models/],
    [302, 'hidden', /^problem: .* answers with a redirect/],
    [429, 'hidden', /^warning: .* too many requests/],
    [503, 'hidden', /^problem: .* is reached, but fails \(503\)/],
  ])('answers %i %s', async (status, body, words) => {
    answer = { status, body };
    expect(await told()).toMatch(words);
    expect(asked).toEqual(['/v1/models Bearer hidden-key']);
  });

  it('speaks the other protocol is asked with its header, and one that is not there is unreachable', async () => {
    answer = { status: 403, body: '' };
    expect(await told({ MILLWRIGHT_AGENT_PROVIDER: 'anthropic' })).toMatch(
      /^problem: .* refuses the credentials \(403\)/,
    );
    expect(asked).toEqual(['/v1/models hidden-key']);
    expect(await told({ MILLWRIGHT_AGENT_BASE_URL: 'http://127.0.0.1:9' })).toMatch(
      /^problem: http:\/\/127\.0\.0\.1:9 cannot be reached \(.+\) → check MILLWRIGHT_AGENT_BASE_URL/,
    );
  });
});
