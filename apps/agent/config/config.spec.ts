/** What the environment means: which endpoint, which credentials, and which problems. */
import { type Endpoint, readConfig } from './config.ts';

type Variables = Record<string, string>;

const OWN = { MILLWRIGHT_AGENT_BASE_URL: 'http://127.0.0.1:1/v1', MILLWRIGHT_AGENT_MODEL: 'm' };

it.each<{ environment: Variables; endpoint: Endpoint | undefined; why: string }>([
  { environment: {}, endpoint: undefined, why: 'nothing set: the demo model' },
  {
    environment: { OPENAI_API_KEY: 'k', MILLWRIGHT_AGENT_MODEL: 'demo' },
    endpoint: undefined,
    why: 'the demo model by name, whatever else is there',
  },
  {
    environment: { ...OWN, MILLWRIGHT_AGENT_PROVIDER: 'demo' },
    endpoint: undefined,
    why: 'the demo model as the provider',
  },
  {
    environment: OWN,
    endpoint: { provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', modelId: 'm' },
    why: 'an address alone speaks chat completions, without a key',
  },
  {
    environment: { ...OWN, MILLWRIGHT_AGENT_BASE_URL: 'https://llm.example.com/v1//' },
    endpoint: { provider: 'openai-compatible', baseUrl: 'https://llm.example.com/v1', modelId: 'm' },
    why: 'slashes at the end do not count',
  },
  {
    environment: { OPENAI_API_KEY: 'k', MILLWRIGHT_AGENT_MODEL: 'm' },
    endpoint: {
      provider: 'openai-compatible',
      baseUrl: 'https://api.openai.com/v1',
      modelId: 'm',
      credential: { kind: 'key', value: 'k' },
    },
    why: "the provider's own key",
  },
  {
    environment: { ...OWN, MILLWRIGHT_AGENT_API_KEY: ' mine ', OPENAI_API_KEY: 'k' },
    endpoint: {
      provider: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:1/v1',
      modelId: 'm',
      credential: { kind: 'key', value: 'mine' },
    },
    why: 'ours win, without blanks around them',
  },
  {
    environment: { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'o', MILLWRIGHT_AGENT_MODEL: 'claude-x' },
    endpoint: {
      provider: 'anthropic',
      baseUrl: 'https://api.anthropic.com/v1',
      modelId: 'claude-x',
      credential: { kind: 'key', value: 'k' },
    },
    why: 'the name of the model decides between two',
  },
  {
    environment: { ANTHROPIC_AUTH_TOKEN: 't', ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', MILLWRIGHT_AGENT_MODEL: 'm' },
    endpoint: {
      provider: 'anthropic',
      baseUrl: 'http://127.0.0.1:1/v1',
      modelId: 'm',
      credential: { kind: 'token', value: 't' },
    },
    why: "Anthropic's tools leave the version out",
  },
  {
    environment: {
      MILLWRIGHT_AGENT_PROVIDER: 'anthropic',
      MILLWRIGHT_AGENT_API_KEY: 'k',
      MILLWRIGHT_AGENT_MODEL: 'm',
      MILLWRIGHT_AGENT_BASE_URL: 'http://127.0.0.1:1/v1',
    },
    endpoint: {
      provider: 'anthropic',
      baseUrl: 'http://127.0.0.1:1/v1',
      modelId: 'm',
      credential: { kind: 'key', value: 'k' },
    },
    why: 'a named provider',
  },
])('finds the endpoint: $why', ({ environment, endpoint }) => {
  const read = readConfig(environment);
  expect(read.ok ? read.config.endpoint : read.problems).toEqual(endpoint);
});

it.each<{ environment: Variables; names: string; why: string }>([
  { environment: { MILLWRIGHT_AGENT_PROVIDER: 'gpt' }, names: 'MILLWRIGHT_AGENT_PROVIDER', why: 'no such provider' },
  { environment: { OPENAI_API_KEY: 'hunter2' }, names: 'MILLWRIGHT_AGENT_MODEL', why: 'a key without a model' },
  {
    environment: { MILLWRIGHT_AGENT_MODEL: 'hunter2' },
    names: 'MILLWRIGHT_AGENT_MODEL',
    why: 'a model without an endpoint',
  },
  {
    environment: { MILLWRIGHT_AGENT_PROVIDER: 'anthropic', MILLWRIGHT_AGENT_MODEL: 'm' },
    names: 'MILLWRIGHT_AGENT_API_KEY',
    why: 'Anthropic wants a key',
  },
  {
    environment: { ...OWN, MILLWRIGHT_AGENT_BASE_URL: 'https://user:hunter2@example.com/' },
    names: 'MILLWRIGHT_AGENT_BASE_URL',
    why: 'credentials in an address end up in messages',
  },
  {
    environment: { MILLWRIGHT_AGENT_PRICE_INPUT: '1' },
    names: 'MILLWRIGHT_AGENT_PRICE_OUTPUT',
    why: 'half of a price',
  },
  {
    environment: { MILLWRIGHT_AGENT_PRICE_INPUT: 'hunter2', MILLWRIGHT_AGENT_PRICE_OUTPUT: '1' },
    names: 'MILLWRIGHT_AGENT_PRICE_INPUT',
    why: 'no amount',
  },
  { environment: { MILLWRIGHT_AGENT_STEPS_MAX: '0' }, names: 'MILLWRIGHT_AGENT_STEPS_MAX', why: 'too small' },
  {
    environment: { MILLWRIGHT_AGENT_DEMO_STEPS: 'yes' },
    names: 'MILLWRIGHT_AGENT_DEMO_STEPS',
    why: 'neither true nor false',
  },
  {
    environment: { MILLWRIGHT_AGENT_API_KEY_FILE: '/nowhere/hunter2' },
    names: 'MILLWRIGHT_AGENT_API_KEY_FILE',
    why: 'no such file',
  },
])('reports a problem by name and without values: $why', ({ environment, names }) => {
  const read = readConfig(environment);
  const problems = read.ok ? '' : read.problems.join('\n');
  expect(problems).toContain(names);
  expect(problems).not.toContain('hunter2');
});

it('gives tools everything but the credentials of the model and the settings of the agent', () => {
  const read = readConfig({
    ...OWN,
    OPENAI_API_KEY: 'paid',
    ANTHROPIC_API_KEY: 'of the run',
    PATH: '/bin',
    MILLWRIGHT_RUN_ID: 'r',
    EMPTY: '',
  });
  expect(read.ok && read.config.toolEnvironment).toEqual({
    ANTHROPIC_API_KEY: 'of the run',
    PATH: '/bin',
    MILLWRIGHT_RUN_ID: 'r',
    EMPTY: '',
  });
});
