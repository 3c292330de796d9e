/**
 * The driver of a conversation against an agent in memory: what it hears when, what it answers when, and what it tells
 * in which order.
 */
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type AgentContext,
  type InitializeResponse,
  type McpServer,
  type PromptResponse,
  type RequestPermissionResponse,
  type SessionConfigOption,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import { BUILT_IN_HARNESS, type LaunchProfile } from '#agents';
import { CANCEL_ASK_MS } from '#runs';
import { failedServers, httpRefused } from './agent-mcp-servers.ts';
import { AgentConversation, type AgentConversationDeps, type AgentTask } from './agent-conversation.ts';

const PROFILE: LaunchProfile = {
  id: BUILT_IN_HARNESS,
  command: [],
  env: {},
  credentials: [],
  modelVia: { kind: 'option' },
  resume: 'resume',
  concurrentPrompt: true,
  systemPromptVia: 'prefix',
  skillFolders: [],
  endpoints: [],
  endpointVariables: [],
  models: [],
  install: '',
};
const shortened = (text: string, lengthMax: number): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Agent {
  /** Everything that it was asked and told, in order. */
  heard: string[];
  prompt(client: AgentContext, text: string): Promise<PromptResponse['stopReason']>;
  modes?: SessionModeState;
  initialize?: Partial<InitializeResponse>;
  authenticate?(methodId: string): void;
  meta?: Record<string, unknown>;
  /** Models that its sessions offer; the first is chosen. */
  models?: readonly string[];
  /** Throws where it does not take a model. */
  choose?(model: string): void;
}

/** An option of a session as agents have it for their models: a list, in groups. */
const optionsOf = (models: readonly string[]): SessionConfigOption[] => [
  {
    type: 'select',
    id: 'which',
    category: 'model',
    name: 'Model',
    currentValue: models[0] ?? '',
    options: [{ group: 'all', name: 'All', options: models.map((value) => ({ value, name: value })) }],
  },
];

/** A conversation with an agent of the test's; answers what it heard, what was heard of it, and how it ended. */
function conversing(own: Agent, around: Partial<AgentConversationDeps> = {}, task: Partial<AgentTask> = {}) {
  const [there, back] = [new TransformStream<Uint8Array, Uint8Array>(), new TransformStream<Uint8Array, Uint8Array>()];
  agent({ name: 'test' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: {},
      ...own.initialize,
    }))
    .onRequest(methods.agent.authenticate, ({ params }) => {
      own.heard.push(`authenticate ${params.methodId}`);
      own.authenticate?.(params.methodId);
      return {};
    })
    .onRequest(methods.agent.session.new, ({ params }) => {
      if (params.mcpServers.length > 0) own.heard.push(`servers ${params.mcpServers.map(({ name }) => name).join()}`);
      const options = own.models && { configOptions: optionsOf(own.models) };
      return { sessionId: 's', modes: own.modes, _meta: own.meta, ...options };
    })
    .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
      own.heard.push(`${params.configId} ${String(params.value)}`);
      own.choose?.(String(params.value));
      return { configOptions: [] };
    })
    .onRequest(methods.agent.session.setMode, ({ params }) => {
      own.heard.push(`mode ${params.modeId}`);
      return {};
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
      own.heard.push(`prompt ${text}`);
      return { stopReason: await own.prompt(client, text) };
    })
    .onNotification(methods.agent.session.cancel, () => void own.heard.push('cancel'))
    .connect(ndJsonStream(back.writable, there.readable));
  const cancelling = new AbortController();
  const updates: string[] = [];
  const conversation = new AgentConversation(
    { profile: PROFILE, cwd: '/', mcpServers: [], ...task },
    {
      input: back.readable,
      output: there.writable,
      cancel: cancelling.signal,
      onUpdate: (update) =>
        void updates.push(
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
            ? update.content.text
            : update.sessionUpdate,
        ),
      onSession: () => Promise.resolve(),
      onAnswer: () => undefined,
      onServers: (refused, said) =>
        void updates.push(
          ...[httpRefused('builtin', refused, shortened), failedServers(said, shortened)].filter(
            (text) => text !== undefined,
          ),
        ),
      first: () => Promise.resolve({ text: 'first', isPlan: false }),
      next: () => Promise.resolve(undefined),
      decide: () => Promise.resolve(undefined),
      ...around,
    },
  );
  return { conversation, updates, cancel: () => cancelling.abort() };
}

const raise = (): never => {
  throw new Error('aborted');
};
const eventuallyIn = async (conversation: AgentConversation): Promise<void> => {
  while (!conversation.isInTurn()) await pause(5);
};

const say = (client: AgentContext, text: string): Promise<void> =>
  client.notify(methods.client.session.update, {
    sessionId: 's',
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
  });
const ask = async (client: AgentContext): Promise<string> => {
  const { outcome }: RequestPermissionResponse = await client.request(methods.client.session.requestPermission, {
    sessionId: 's',
    toolCall: { toolCallId: 'c' },
    options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }],
  });
  return outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
};

it('what an agent says or asks between two turns is not heard; what its work took is', async () => {
  const own: Agent = {
    heard: [],
    prompt: async (client, text) => {
      await say(client, `${text} answered`);
      if (text === 'first') setTimeout(() => void late(client), 20);
      return 'end_turn';
    },
  };
  const late = async (client: AgentContext): Promise<void> => {
    await say(client, 'late');
    await client.notify(methods.client.session.update, {
      sessionId: 's',
      update: { sessionUpdate: 'usage_update', used: 1, size: 2 },
    });
    own.heard.push(await ask(client));
  };
  const more = ['second'];
  let decided = 0;
  const { conversation, updates } = conversing(own, {
    next: async () => {
      await pause(100);
      const text = more.shift();
      return text === undefined ? undefined : { text, isPlan: false };
    },
    decide: () => Promise.resolve(String((decided += 1))),
  });
  expect(await conversation.ended).toEqual({ kind: 'stopped', reason: 'end_turn', answer: 'second answered' });
  expect(updates).toEqual(['first answered', 'usage_update', 'second answered']);
  expect(own.heard).toEqual(['prompt first', 'cancelled', 'prompt second']);
  expect(decided).toBe(0);
});

it('a cancel answers what is asked first, then asks the agent to stop; later answers change nothing', async () => {
  const own: Agent = {
    heard: [],
    prompt: async (client) => {
      own.heard.push(await ask(client));
      await pause(50);
      await say(client, 'after the cancel');
      return 'end_turn';
    },
  };
  const { conversation, cancel } = conversing(own, {
    decide: (_request, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(undefined));
        setTimeout(cancelNow, 20);
      }),
  });
  const cancelNow = (): void => cancel();
  expect(await conversation.ended).toEqual({ kind: 'cancelled' });
  expect(own.heard).toEqual(['prompt first', 'cancelled', 'cancel']);
});

describe('an interrupt', () => {
  const untilCancelled = async (own: Agent): Promise<void> => {
    while (!own.heard.includes('cancel')) await pause(5);
  };
  const working = (stop: () => PromptResponse['stopReason']): Agent => {
    const own: Agent = {
      heard: [],
      prompt: async (_client, text) => {
        if (text !== 'first') return 'end_turn';
        await untilCancelled(own);
        return stop();
      },
    };
    return own;
  };

  it.each([
    ['with the word for it', () => 'cancelled' as const],
    ['with an error', (): never => raise()],
    ['as if it were done', () => 'end_turn' as const],
  ])('ends a turn %s, and what comes next is told in the same session', async (_how, stop) => {
    const own = working(stop);
    const waited: boolean[] = [];
    const { conversation } = conversing(own, {
      next: async (_isGone, gone) => {
        waited.push(gone !== undefined);
        return waited.length === 1 ? { text: 'second', isPlan: false } : undefined;
      },
    });
    await eventuallyIn(conversation);
    conversation.interrupt();
    conversation.interrupt();
    expect(await conversation.ended).toEqual({ kind: 'stopped', reason: 'end_turn', answer: '' });
    expect(own.heard).toEqual(['prompt first', 'cancel', 'prompt second']);
    expect(waited).toEqual([true, false]);
  });

  it('answers what is asked first; without a next message the turn counts as interrupted', async () => {
    const own: Agent = {
      heard: [],
      prompt: async (client) => {
        own.heard.push(await ask(client));
        await untilCancelled(own);
        return 'cancelled';
      },
    };
    const { conversation } = conversing(own, {
      decide: (_request, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(undefined));
          setTimeout(() => conversation.interrupt(), 20);
        }),
    });
    expect(await conversation.ended).toEqual({ kind: 'interrupted', by: 'agent' });
    expect(own.heard).toEqual(['prompt first', 'cancelled', 'cancel']);
  });

  it('before the first prompt reaches the agent behind it', async () => {
    const own = working(() => 'cancelled');
    const { conversation } = conversing(own);
    conversation.interrupt();
    expect(await conversation.ended).toEqual({ kind: 'interrupted', by: 'agent' });
    expect(own.heard).toEqual(['prompt first', 'cancel']);
  });

  it('that an agent ignores ends it after as long as a cancel', async () => {
    const own: Agent = { heard: [], prompt: () => new Promise(() => undefined) };
    const { conversation } = conversing(own);
    await eventuallyIn(conversation);
    const since = performance.now();
    conversation.interrupt();
    expect(await conversation.ended).toEqual({ kind: 'interrupted', by: 'force' });
    expect(performance.now() - since).toBeGreaterThan(CANCEL_ASK_MS - 100);
  });
});

it('a question that is open when its turn ends is nobody’s any more', async () => {
  let left = false;
  const own: Agent = {
    heard: [],
    prompt: (client) =>
      Promise.race([ask(client).then(() => 'end_turn' as const), pause(30).then(() => 'end_turn' as const)]),
  };
  const { conversation } = conversing(own, {
    decide: (_request, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(void (left = true)))),
  });
  expect((await conversation.ended).kind).toBe('stopped');
  expect(left).toBe(true);
});

it('an agent that refuses a prompt in the middle of its work is told it when it has ended', async () => {
  let isBusy = false;
  const own: Agent = {
    heard: [],
    prompt: async (client, text) => {
      if (isBusy) throw new Error('busy');
      isBusy = true;
      await pause(60);
      isBusy = false;
      await say(client, `${text};`);
      return 'end_turn';
    },
  };
  const { conversation, updates } = conversing(own);
  while (!conversation.isInTurn()) await pause(1);
  conversation.say({ text: 'second', isPlan: false });
  expect(await conversation.ended).toMatchObject({ kind: 'stopped', answer: 'second;' });
  expect(own.heard).toEqual(['prompt first', 'prompt second', 'prompt second']);
  expect(updates).toEqual(['first;', 'second;']);
});

describe('the way of authenticating that a profile names', () => {
  const methodsOffered = { authMethods: [{ id: 'key', name: 'By key' }] };
  const profile = { ...PROFILE, id: 'house', credentials: ['HOUSE_KEY'], auth: 'key' };

  it.each([
    { why: 'is chosen where the agent has it', offered: methodsOffered, heard: ['authenticate key', 'prompt first'] },
    {
      why: 'is left where it has not',
      offered: { authMethods: [{ id: 'browser', name: 'By browser' }] },
      heard: ['prompt first'],
    },
    { why: 'is left where it has none', offered: {}, heard: ['prompt first'] },
  ])('$why', async ({ offered, heard }) => {
    const own: Agent = { heard: [], initialize: offered, prompt: () => Promise.resolve('end_turn') };
    expect((await conversing(own, {}, { profile }).conversation.ended).kind).toBe('stopped');
    expect(own.heard).toEqual(heard);
  });

  it('and that the agent refuses ends in words that name the credentials', async () => {
    const refuse = (): never => {
      throw new RequestError(-32_603, 'the key is bad');
    };
    const own: Agent = {
      heard: [],
      initialize: methodsOffered,
      authenticate: refuse,
      prompt: () => Promise.resolve('end_turn'),
    };
    expect(await conversing(own, {}, { profile }).conversation.ended).toMatchObject({
      kind: 'failed',
      errorCode: 'environment_setup_failed',
      said: 'the key is bad',
      message: expect.stringMatching(/^the agent house wants credentials \(HOUSE_KEY\): .*managed secret/),
    });
    expect(own.heard).toEqual(['authenticate key']);
  });
});

describe('MCP servers', () => {
  const mcpServers: McpServer[] = [
    { name: 'program', command: '/bin/x', args: [], env: [] },
    { type: 'http', name: 'far', url: 'https://mcp.example', headers: [] },
  ];
  const prompt: Agent['prompt'] = () => Promise.resolve('end_turn');

  it('over HTTP are left out, and that is said, where the agent does not take them', async () => {
    const [takes, not]: Agent[] = [
      { heard: [], prompt, initialize: { agentCapabilities: { mcpCapabilities: { http: true } } } },
      { heard: [], prompt },
    ];
    const [heard, told] = [
      conversing(takes as Agent, {}, { mcpServers }),
      conversing(not as Agent, {}, { mcpServers }),
    ];
    await Promise.all([heard.conversation.ended, told.conversation.ended]);
    expect([takes?.heard[0], heard.updates]).toEqual(['servers program,far', []]);
    expect([not?.heard[0], told.updates]).toEqual([
      'servers program',
      [
        expect.stringMatching(
          /^the agent builtin works without the MCP server far: it takes only servers that are programs/,
        ),
      ],
    ]);
  });

  it('that could not be started are said, with short reasons, whatever the agent makes of the list', async () => {
    const listed = [
      { name: 'tiny', status: 'connected' },
      { name: 'lost\nserver', status: 'failed', message: 'its command is not installed' },
      { name: 'long', status: 'failed', message: 'x'.repeat(5_000) },
      { name: 7, status: 'failed' },
      null,
      'x',
    ];
    const own: Agent = { heard: [], prompt, meta: { millwright: { mcpServers: listed } } };
    const { conversation, updates } = conversing(own);
    await conversation.ended;
    expect(updates).toEqual([
      'MCP servers that could not be started: lost server (its command is not installed), long ' +
        `(${'x'.repeat(200)}…); the agent works without them`,
    ]);
    const odd = conversing({ heard: [], prompt, meta: { millwright: { mcpServers: 'none' } } });
    expect([(await odd.conversation.ended).kind, odd.updates]).toEqual(['stopped', []]);
  });
});

describe('session modes', () => {
  const modes = (...ids: string[]): SessionModeState => ({
    currentModeId: ids[0] as string,
    availableModes: ids.map((id) => ({ id, name: id })),
  });
  const rows: [
    why: string,
    modes: SessionModeState | undefined,
    mode: string | undefined,
    plans: boolean[],
    heard: (string | RegExp)[],
  ][] = [
    [
      'the profile’s, once',
      modes('default', 'auto'),
      'auto',
      [false, false],
      ['mode auto', 'prompt first', 'prompt second'],
    ],
    ['none that the agent has not', modes('default'), 'auto', [false], ['prompt first']],
    ['none where it is in it', modes('auto'), 'auto', [false], ['prompt first']],
    [
      'its own for planning, and back',
      modes('default', 'plan'),
      undefined,
      [true, false],
      ['mode plan', 'prompt first', 'mode default', 'prompt second'],
    ],
    ['words where it has none', undefined, 'auto', [true, false], [/^prompt Make a plan[^]*first$/, 'prompt second']],
  ];
  it.each(rows)('%s', async (_why, offered, mode, plans, heard) => {
    const own: Agent = { heard: [], modes: offered, prompt: () => Promise.resolve('end_turn') };
    const messages = plans.map((isPlan, at) => ({ text: ['first', 'second'][at] ?? '', isPlan }));
    const { conversation } = conversing(
      own,
      {
        first: async () => messages[0] as { text: string; isPlan: boolean },
        next: async () => messages.splice(1, 1)[0],
      },
      { mode },
    );
    await conversation.ended;
    expect(own.heard).toHaveLength(heard.length);
    own.heard.forEach((text, at) => expect(text).toMatch(heard[at] as string));
  });
});

describe('a model that is asked for', () => {
  const own = (more: Partial<Agent>): Agent => ({
    heard: [],
    models: ['one', 'two'],
    prompt: () => Promise.resolve('end_turn'),
    ...more,
  });
  const outcome = async (it: Agent, modelId: string, profile = PROFILE): Promise<unknown> =>
    conversing(it, {}, { modelId, profile }).conversation.ended;
  const refuses = (): never => {
    throw RequestError.invalidParams();
  };
  const member: LaunchProfile = {
    ...PROFILE,
    modelVia: { kind: 'member', of: 'CONFIG', model: 'model', effort: 'effort' },
  };

  it('is chosen where it is another one', async () => {
    const [other, same] = [own({}), own({})];
    await outcome(other, 'two');
    await outcome(same, 'one');
    expect([other.heard, same.heard]).toEqual([['which two', 'prompt first'], ['prompt first']]);
  });

  it('and that the agent does not offer ends in words that name those that it does', async () => {
    expect(await outcome(own({ choose: refuses }), 'three')).toMatchObject({
      kind: 'failed',
      message: 'the agent builtin does not take the model "three"; it offers one, two',
    });
  });

  it('and was told in the configuration is left alone, also where no session offers any', async () => {
    const [listed, none] = [own({ models: ['one'] }), own({ models: undefined })];
    expect(await outcome(listed, 'one[high]', member)).toMatchObject({ kind: 'stopped' });
    expect(await outcome(none, 'one[high]', member)).toMatchObject({ kind: 'stopped' });
    expect([listed.heard, none.heard]).toEqual([['prompt first'], ['prompt first']]);
  });
});
