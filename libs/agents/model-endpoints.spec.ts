/** Which model the variables of the built-in agent choose, and what is said of those that choose none. */
import { modelChoice } from './model-endpoints.ts';

const KEY = 'hidden-word';

it.each<[why: string, variables: Record<string, string>, choice: object]>([
  ['nothing is configured', {}, { kind: 'demo' }],
  ['blank is unset', { MODEL: ' ', BASE_URL: '' }, { kind: 'demo' }],
  ['demo by its name', { MODEL: 'demo', API_KEY: KEY }, { kind: 'demo' }],
  ['demo by its provider', { PROVIDER: 'demo', MODEL: 'x', BASE_URL: 'http://a' }, { kind: 'demo' }],
  [
    'an endpoint of one’s own',
    { MODEL: 'm', BASE_URL: 'http://127.0.0.1:11434/v1/' },
    {
      kind: 'endpoint',
      endpoint: { provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', modelId: 'm' },
    },
  ],
  [
    'a key alone means its provider',
    { MODEL: 'm', API_KEY: KEY },
    {
      kind: 'endpoint',
      endpoint: { provider: 'openai-compatible', baseUrl: 'https://api.openai.com/v1', modelId: 'm', key: KEY },
    },
  ],
  [
    'a model’s name tells its provider',
    { MODEL: 'claude-x', API_KEY: KEY },
    {
      kind: 'endpoint',
      endpoint: { provider: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', modelId: 'claude-x', key: KEY },
    },
  ],
  [
    'both spellings of an address',
    { PROVIDER: 'anthropic', MODEL: 'm', API_KEY: KEY, BASE_URL: 'https://a.example' },
    { kind: 'endpoint', endpoint: { provider: 'anthropic', baseUrl: 'https://a.example/v1', modelId: 'm', key: KEY } },
  ],
  ['a model nowhere', { MODEL: 'm' }, { kind: 'wrong', variable: 'MILLWRIGHT_AGENT_MODEL' }],
  ['no model', { BASE_URL: 'http://a' }, { kind: 'wrong', variable: 'MILLWRIGHT_AGENT_MODEL' }],
  ['no such provider', { PROVIDER: KEY, MODEL: 'm' }, { kind: 'wrong', variable: 'MILLWRIGHT_AGENT_PROVIDER' }],
  [
    'a provider that wants a key',
    { PROVIDER: 'anthropic', MODEL: 'm' },
    { kind: 'wrong', variable: 'MILLWRIGHT_AGENT_API_KEY' },
  ],
  [
    'credentials in the address',
    { MODEL: 'm', BASE_URL: `https://u:${KEY}@a` },
    { kind: 'wrong', variable: 'MILLWRIGHT_AGENT_BASE_URL' },
  ],
  ['no address', { MODEL: 'm', BASE_URL: KEY }, { kind: 'wrong', variable: 'MILLWRIGHT_AGENT_BASE_URL' }],
  [
    'another protocol',
    { MODEL: 'm', BASE_URL: `ftp://${KEY}` },
    { kind: 'wrong', variable: 'MILLWRIGHT_AGENT_BASE_URL' },
  ],
])('%s', (_why, variables, choice) => {
  const made = modelChoice(
    Object.fromEntries(Object.entries(variables).map(([name, value]) => [`MILLWRIGHT_AGENT_${name}`, value])),
  );
  expect(made).toMatchObject(choice);
  if (made.kind === 'wrong') expect(JSON.stringify(made)).not.toContain(KEY); // rules, never values
});
