/** The agent with model endpoints of both providers: a fake server on loopback speaks their protocols. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import {
  agentFolders,
  type AgentFolders,
  type AgentProcess,
  startAgent,
} from '../../../test/support/agents/agent-process.ts';
import { SUITE_AGENT } from '../../../test/support/agents/suite-agent.ts';
import { startConnectProxy } from '../../../test/support/network/connect-proxy.ts';
import { freePort } from '../../../test/support/network/ports.ts';
import {
  type FakeModelServer,
  type Reply,
  type Script,
  startFakeModelServer,
} from '../../../test/support/models/fake-model-server.ts';
import { BUILT_IN_AGENT } from '../../server/execution/agent/agents.ts';

const KEY = 'sk-very-secret-key-4711';
const PROVIDERS = ['openai-compatible', 'anthropic'] as const;

type Provider = (typeof PROVIDERS)[number];

let server: FakeModelServer;
beforeAll(async () => {
  server = await startFakeModelServer([]);
});
afterAll(() => server.close());

/** Settings under which each of these tests can be made; retries are asked for at once by the fake server. */
const SETTINGS = {
  MILLWRIGHT_AGENT_API_KEY: KEY,
  MILLWRIGHT_AGENT_MODEL: 'fake-1',
  MILLWRIGHT_AGENT_RETRIES_MAX: '2',
  MILLWRIGHT_AGENT_STEPS_MAX: '5',
  MILLWRIGHT_AGENT_CONTEXT_TOKENS: '50000',
  MILLWRIGHT_AGENT_PRICE_INPUT: '2',
  MILLWRIGHT_AGENT_PRICE_CACHED_INPUT: '0.5',
  MILLWRIGHT_AGENT_PRICE_OUTPUT: '10',
};

function start(folders: AgentFolders, provider: Provider, more: Record<string, string> = {}): Promise<AgentProcess> {
  return startAgent(folders, {
    ...SETTINGS,
    MILLWRIGHT_AGENT_PROVIDER: provider,
    MILLWRIGHT_AGENT_BASE_URL: `${server.url}/v1`,
    ...more,
  });
}

describe.each(PROVIDERS)('%s', (provider) => {
  let folders: AgentFolders;
  let agent: AgentProcess;
  let workspace: string;
  beforeAll(async () => {
    folders = await agentFolders();
    agent = await start(folders, provider);
  });
  beforeEach(async () => {
    agent.forget();
    agent.decide = () => 'allow_once';
    workspace = await mkdtemp(join(folders.workspace, 'run-'));
  });
  afterAll(async () => {
    await agent.stop();
    await folders.remove();
  });

  /** A session whose model answers so. */
  const opened = async (script: Script, mode: 'ask' | 'auto' = 'ask'): Promise<string> => {
    server.script = script;
    return (await agent.open({ cwd: workspace, mode })).sessionId;
  };

  it('makes a file with a tool, and a follow-up keeps the conversation', async () => {
    const sessionId = await opened([
      {
        reasoning: 'A file is wanted.',
        text: 'I write it.',
        tools: [{ name: 'write', input: { path: 'hello.txt', content: 'Hello!\n' } }],
      },
      { text: 'Done.' },
      { text: 'It said Hello.' },
    ]);

    const first = await agent.prompt(sessionId, 'Make hello.txt');
    expect(first).toMatchObject({
      stopReason: 'end_turn',
      usage: { inputTokens: 200, outputTokens: 20, totalTokens: 220 },
      _meta: { millwright: { modelId: 'fake-1' } },
    });
    expect(readFileSync(join(workspace, 'hello.txt'), 'utf8')).toBe('Hello!\n');
    expect(agent.said()).toBe('I write it.Done.');
    expect(agent.updates.filter(({ sessionUpdate }) => sessionUpdate === 'agent_thought_chunk')).toHaveLength(1);
    expect(agent.calls()).toMatchObject([
      { name: 'write', kind: 'edit', title: 'Write hello.txt', status: 'completed' },
    ]);
    expect(agent.asked.map(({ toolCall }) => toolCall.title)).toEqual(['Write hello.txt']);

    await agent.prompt(sessionId, 'What did it say?');
    const last = server.requests.at(-1);
    expect(last?.messages.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Make hello.txt'],
      ['assistant', 'I write it.'],
      ['tool', 'wrote 7 bytes to hello.txt'],
      ['assistant', 'Done.'],
      ['user', 'What did it say?'],
    ]);
    // Anthropic takes thoughts back only as it signed them.
    if (provider === 'anthropic') expect(JSON.stringify(last?.body['messages'])).toContain('"signature":"signed"');
    expect(last?.tools).toEqual(['bash', 'read', 'write', 'edit', 'glob', 'grep', 'plan', 'report_artifact']);
    expect(last?.headers[provider === 'anthropic' ? 'x-api-key' : 'authorization']).toBe(
      provider === 'anthropic' ? KEY : `Bearer ${KEY}`,
    );
  });

  it('stands identifiers of calls that repeat, and carries out several calls in order', async () => {
    const sessionId = await opened(
      [
        {
          tools: [
            { name: 'bash', input: { command: 'echo one > log' } },
            { name: 'bash', input: { command: 'echo two >> log' } },
          ],
        },
        { tools: [{ name: 'bash', input: { command: 'cat log' } }] },
        { text: 'ok' },
      ],
      'auto',
    );
    await agent.prompt(sessionId, 'go');
    expect(agent.calls().map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect(agent.calls().at(-1)?.text).toBe('one\ntwo');
    expect(server.requests.at(-1)?.messages.at(-1)?.text).toBe('one\ntwo');
  });

  it('is told when a call is not permitted, and goes on', async () => {
    const sessionId = await opened([
      { tools: [{ name: 'bash', input: { command: 'touch made' } }] },
      { text: 'Then not.' },
    ]);
    agent.decide = () => 'reject_once';
    expect((await agent.prompt(sessionId, 'go')).stopReason).toBe('end_turn');
    expect(existsSync(join(workspace, 'made'))).toBe(false);
    expect(server.requests.at(-1)?.messages.at(-1)?.text).toContain('not permitted');
    expect(agent.calls()).toMatchObject([{ status: 'failed' }]);
  });

  it('is told when a call has the wrong form, names no tool, or is no JSON, and goes on', async () => {
    const sessionId = await opened(
      [
        {
          tools: [
            { name: 'bash', input: { comand: 'ls' } },
            { name: 'fly', input: {} },
            { name: 'read', input: '{"path": ' },
          ],
        },
        { text: 'Sorry.' },
      ],
      'auto',
    );
    expect((await agent.prompt(sessionId, 'go')).stopReason).toBe('end_turn');
    expect(agent.said()).toBe('Sorry.');
    expect(agent.calls().map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
    expect(server.requests.at(-1)?.messages.filter(({ role }) => role === 'tool')).toHaveLength(3);
  });

  it.each<{ finish: 'length' | 'refusal'; stopReason: string; why: string }>([
    { finish: 'length', stopReason: 'max_tokens', why: 'the answer was cut at its bound' },
    { finish: 'refusal', stopReason: 'refusal', why: 'the provider refused' },
  ])('stops with $stopReason: $why', async ({ finish, stopReason }) => {
    const sessionId = await opened([{ text: 'Well', finish }]);
    expect((await agent.prompt(sessionId, 'go')).stopReason).toBe(stopReason);
  });

  it('stops at the bound of steps', async () => {
    const sessionId = await opened([{ tools: [{ name: 'glob', input: { pattern: '*' } }] }]);
    expect((await agent.prompt(sessionId, 'go')).stopReason).toBe('max_turn_requests');
    expect(server.requests).toHaveLength(5);
  });

  it.each<{ reply: Reply; says: RegExp; kind: string; why: string }>([
    {
      reply: { fault: 'status', status: 401, message: `Incorrect API key provided: ${KEY}` },
      says: /refused the credentials .*MILLWRIGHT_AGENT_API_KEY/,
      kind: 'credentials',
      why: 'wrong key, repeated by the endpoint',
    },
    {
      reply: { fault: 'status', status: 404, message: 'model not found' },
      says: /404.*model not found.*MILLWRIGHT_AGENT_MODEL/,
      kind: 'not_found',
      why: 'unknown model',
    },
    {
      reply: { fault: 'status', status: 429, message: 'slow down' },
      says: /429.*slow down/,
      kind: 'rate_limited',
      why: 'rate limit',
    },
    {
      reply: { fault: 'status', status: 500, message: 'oops' },
      says: /500.*oops/,
      kind: 'unavailable',
      why: 'failure of the endpoint',
    },
    {
      reply: { fault: 'status', status: 400, message: 'too long' },
      says: /400.*too long/,
      kind: 'refused',
      why: 'request that it does not take',
    },
    { reply: { fault: 'page' }, says: /MILLWRIGHT_AGENT_BASE_URL|broke off/, kind: '', why: 'a page for people' },
    {
      reply: { fault: 'malformed', text: 'Be' },
      says: /not an answer of a model/,
      kind: 'malformed',
      why: 'no JSON in the stream',
    },
    {
      reply: { fault: 'unfinished', text: 'Be' },
      says: /broke off/,
      kind: 'broken_off',
      why: 'the stream ends without an end',
    },
    { reply: { fault: 'cut', text: 'Be' }, says: /broke off/, kind: 'broken_off', why: 'the connection is lost' },
    {
      reply: { fault: 'stream-error', message: 'overloaded' },
      says: /overloaded/,
      kind: '',
      why: 'an error inside the stream',
    },
  ])('fails in words: $why', async ({ reply, says, kind }) => {
    const sessionId = await opened([reply]);
    const error = await agent.prompt(sessionId, 'go').then(
      () => undefined,
      (reason: { message: string; data: { kind: string } }) => reason,
    );
    expect(error?.message).toMatch(says);
    if (kind !== '') expect(error?.data.kind).toBe(kind);
    expect(JSON.stringify(error) + agent.errors()).not.toContain(KEY);
    server.script = [{ text: 'Here again.' }];
    expect((await agent.prompt(sessionId, 'again')).stopReason).toBe('end_turn');
    expect(
      server.requests
        .at(-1)
        ?.messages.filter(({ role }) => role === 'user')
        .map(({ text }) => text)
        .join(),
    ).toContain('go');
  });

  it('tries again after a rate limit, as often as it may', async () => {
    const busy: Reply = { fault: 'status', status: 429 };
    const sessionId = await opened([busy, busy, { text: 'Now.' }]);
    expect((await agent.prompt(sessionId, 'go')).stopReason).toBe('end_turn');
    expect(agent.said()).toBe('Now.');
    server.script = [busy];
    await expect(agent.prompt(sessionId, 'go')).rejects.toMatchObject({
      data: { kind: 'rate_limited', retryable: true },
    });
    expect(server.requests).toHaveLength(3);
  });

  it('can be cancelled while the model is silent', async () => {
    const sessionId = await opened([{ fault: 'stall', text: 'I begin' }, { text: 'ok' }]);
    const turn = agent.prompt(sessionId, 'go');
    await agent.until(() => agent.said() === 'I begin');
    await agent.agent.notify('session/cancel', { sessionId });
    expect((await turn).stopReason).toBe('cancelled');
    await agent.prompt(sessionId, 'and now?');
    expect(server.requests.at(-1)?.messages.map(({ text }) => text)).toEqual(['go', 'I begin', 'and now?']);
  });

  it('passes images and attached texts on', async () => {
    const sessionId = await opened([{ text: 'Seen.' }]);
    await agent.prompt(sessionId, [
      { type: 'text', text: 'Look' },
      { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'attached' } },
      { type: 'resource', resource: { uri: 'file:///b.bin', blob: 'AAAA', mimeType: 'application/octet-stream' } },
      { type: 'resource_link', name: 'c', uri: 'file:///c.txt' },
    ]);
    const [message] = server.requests[0]?.messages ?? [];
    expect(message?.files).toEqual(['image/png']);
    expect(message?.text).toContain('Look');
    expect(message?.text).toContain('<resource uri="file:///a.txt">\nattached');
    expect(message?.text).toContain('file:///b.bin');
    expect(message?.text).toContain('file:///c.txt');
  });

  it('counts tokens and money over the session', async () => {
    const sessionId = await opened([{ text: 'a', usage: { input: 1_000, cached: 400, output: 100 } }]);
    const cost = (600 * 2 + 400 * 0.5 + 100 * 10) / 1_000_000;
    expect(await agent.prompt(sessionId, 'one')).toMatchObject({
      usage: { inputTokens: 1_000, cachedReadTokens: 400 },
      _meta: { millwright: { cost: { amount: cost, currency: 'USD' } } },
    });
    await agent.prompt(sessionId, 'two');
    expect(agent.updates.findLast(({ sessionUpdate }) => sessionUpdate === 'usage_update')).toMatchObject({
      used: 1_100,
      size: 50_000,
      cost: { amount: 2 * cost, currency: 'USD' },
      _meta: { millwright: { usage: { inputTokens: 2_000, outputTokens: 200, totalTokens: 2_200 } } },
    });
  });
});

describe('an endpoint', () => {
  let folders: AgentFolders;
  beforeEach(async () => {
    folders = await agentFolders();
    server.script = [{ text: 'ok' }];
  });
  afterEach(() => folders.remove());

  const withAgent = async (
    more: Record<string, string>,
    use: (agent: AgentProcess, sessionId: string) => Promise<void>,
  ): Promise<void> => {
    const agent = await start(folders, 'openai-compatible', more);
    try {
      await use(agent, (await agent.open({ mode: 'auto' })).sessionId);
    } finally {
      await agent.stop();
    }
  };

  it('that is down is named, with what to check', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}/v1`;
    await withAgent(
      { MILLWRIGHT_AGENT_BASE_URL: nobody, MILLWRIGHT_AGENT_RETRIES_MAX: '0' },
      async (agent, sessionId) => {
        const failure = {
          message: expect.stringMatching(/cannot be reached \(ECONNREFUSED\).*MILLWRIGHT_AGENT_BASE_URL/),
          data: { kind: 'unreachable', retryable: true },
        };
        await expect(agent.prompt(sessionId, 'go')).rejects.toMatchObject(failure);
        expect(agent.errors()).toBe(''); // it is not tried again
      },
    );
  });

  it('that cannot answer now is tried again, which is said once a turn, without its address', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}/hidden`;
    await withAgent(
      { MILLWRIGHT_AGENT_BASE_URL: nobody, MILLWRIGHT_AGENT_RETRIES_MAX: '1' },
      async (agent, sessionId) => {
        await expect(agent.prompt(sessionId, 'go')).rejects.toMatchObject({ data: { kind: 'unreachable' } });
        expect(agent.errors()).toBe(
          'millwright-agent: the model endpoint cannot be reached (ECONNREFUSED); trying again, once\n',
        );
      },
    );
    await withAgent({}, async (agent, sessionId) => {
      server.script = [{ fault: 'status', status: 503 }, { fault: 'status', status: 503 }, { text: 'ok' }] as Script;
      await agent.prompt(sessionId, 'go');
      expect([agent.said(), agent.errors()]).toEqual([
        'ok',
        'millwright-agent: the model endpoint answered 503; trying again, up to 2 times\n',
      ]);
    });
  }, 120_000);

  it('that is silent is given up, before its answer and in the middle of it', () =>
    withAgent({ MILLWRIGHT_AGENT_SILENCE_SECONDS: '1' }, async (agent, sessionId) => {
      server.script = [{ fault: 'hang' }, { fault: 'stall', text: 'Be' }];
      const failure = {
        message: expect.stringMatching(/sent nothing for 1 s/),
        data: { kind: 'silent', retryable: true },
      };
      await expect(agent.prompt(sessionId, 'go')).rejects.toMatchObject(failure);
      await expect(agent.prompt(sessionId, 'go')).rejects.toMatchObject(failure);
    }));

  it('that wants no key gets none, and the model that the client chooses', () =>
    withAgent({ MILLWRIGHT_AGENT_API_KEY: '' }, async (agent, sessionId) => {
      await agent.agent.request('session/set_config_option', { sessionId, configId: 'model', value: 'fake-2' });
      await agent.prompt(sessionId, 'go');
      expect(server.requests[0]).toMatchObject({ model: 'fake-2' });
      expect(server.requests[0]?.headers.authorization).toBeUndefined();
    }));

  it('is reached through the proxy that the environment names', async () => {
    const proxy = await startConnectProxy();
    await withAgent({ HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url }, async (agent, sessionId) => {
      await agent.prompt(sessionId, 'go');
      expect(proxy.targets).toEqual([new URL(server.url).host]);
      expect(agent.said()).toBe('ok');
    });
    await proxy.close();
  });

  it('with a proxy the service starts it without a warning of what node calls experimental', () => {
    const [program, ...argv] = SUITE_AGENT.command;
    const { status, stderr } = spawnSync(program ?? '', argv, {
      env: { PATH: process.env['PATH'], HTTPS_PROXY: 'http://127.0.0.1:1' },
      input: '',
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(BUILT_IN_AGENT.command.filter((word) => word.startsWith('--'))).toEqual(
      SUITE_AGENT.command.filter((word) => word.startsWith('--disable')),
    );
  });

  it('keeps its key: commands do not find it in their environment', () =>
    withAgent({ OPENAI_API_KEY: KEY, MARK: 'here' }, async (agent, sessionId) => {
      server.script = [{ tools: [{ name: 'bash', input: { command: 'env' } }] }, { text: 'ok' }];
      await agent.prompt(sessionId, 'go');
      expect(agent.calls()[0]?.text).toContain('MARK=here');
      expect(JSON.stringify(agent.updates)).not.toContain(KEY);
      expect(JSON.stringify(agent.updates)).not.toContain('MILLWRIGHT_AGENT_');
    }));
});
