/** What each agent gets in place of its keys, and where its calls go. */
import { MODEL_KEY_VARIABLES } from '#definitions';
import { formatTarget } from '#isolation';
import { LAUNCH_PROFILES } from '../built-in-profiles.ts';
import { profilesWith, type LaunchProfile, type OwnProfile } from '../launch-profiles.ts';
import { BROKER_ORIGIN, modelAccess, modelHosts, type ModelAccess, type ModelAccessRequest } from './model-access.ts';
import { isModelAllowed } from './model-requests.ts';

const KEY = 'sk-the-real-key-0123456789';

function access(profile: string | OwnProfile | LaunchProfile, more: Partial<ModelAccessRequest> = {}): ModelAccess {
  const found =
    typeof profile === 'string'
      ? (LAUNCH_PROFILES.find(({ id }) => id === profile) ?? builtIn())
      : profilesWith([profile]).find(({ id }) => id === profile.id);
  if (found === undefined) throw new Error('no such profile');
  let made = 0;
  return modelAccess({
    profile: found,
    builtIn: {},
    secrets: {},
    exposed: new Set(),
    newPlaceholder: () => `placeholder-${(made += 1)}`,
    ...more,
  });
}

const builtIn = (): LaunchProfile =>
  ({
    ...profilesWith([{ id: 'x', command: ['x'], modelVia: { kind: 'option' } }]).at(-1),
    id: 'builtin',
  }) as LaunchProfile;

describe('an agent', () => {
  it.each([
    { id: 'claude', key: 'ANTHROPIC_API_KEY', variable: 'ANTHROPIC_BASE_URL', at: 'https://api.anthropic.com' },
    { id: 'claude', key: 'ANTHROPIC_AUTH_TOKEN', variable: 'ANTHROPIC_BASE_URL', at: 'https://api.anthropic.com' },
    { id: 'codex', key: 'OPENAI_API_KEY', variable: 'OPENAI_BASE_URL', at: 'https://api.openai.com/v1' },
    { id: 'qwen', key: 'OPENAI_API_KEY', variable: 'OPENAI_BASE_URL', at: 'https://api.openai.com/v1' },
    {
      id: 'gemini',
      key: 'GEMINI_API_KEY',
      variable: 'GOOGLE_GEMINI_BASE_URL',
      at: 'https://generativelanguage.googleapis.com',
    },
  ])('$id with $key as a secret has a placeholder and the broker', ({ id, key, variable, at }) => {
    const { routes, env, direct } = access(id, { secrets: { [key]: KEY, OTHER: 'other-secret' } });
    expect(routes).toMatchObject([
      { baseUrl: at, keys: [{ placeholder: 'placeholder-1', value: KEY }], isTrusted: true },
    ]);
    const address = `${BROKER_ORIGIN}/models/${routes[0]?.id}`;
    expect(env).toEqual({
      [key]: 'placeholder-1',
      [variable]: address,
      ...(id === 'codex' ? { CODEX_CONFIG: expect.any(String) } : {}),
    });
    expect(direct).toEqual([]);
  });

  it.each(['OPENAI_API_KEY', 'CODEX_API_KEY'])('codex takes %s from its variable each time, and no file', (key) => {
    const { env } = access(
      { id: 'codex', env: { CODEX_CONFIG: '{"model":"theirs","web_search":"off"}' } },
      { modelId: 'gpt-5.2-codex[high]', secrets: { [key]: KEY } },
    );
    const address = `${BROKER_ORIGIN}/models/openai`;
    expect(JSON.parse(env['CODEX_CONFIG'] ?? '')).toEqual({
      model: 'gpt-5.2-codex',
      model_reasoning_effort: 'high',
      web_search: 'off',
      openai_base_url: address,
      model_provider: 'millwright',
      model_providers: {
        millwright: {
          name: 'OpenAI',
          base_url: address,
          env_key: key,
          wire_api: 'responses',
          supports_websockets: false,
        },
      },
    });
  });

  it('codex is where its own configuration says', () => {
    const config = { openai_base_url: 'https://models.test/v1' };
    const { routes } = access(
      { id: 'codex', env: { CODEX_CONFIG: JSON.stringify(config) } },
      { secrets: { OPENAI_API_KEY: KEY } },
    );
    expect(routes.map(({ baseUrl }) => baseUrl)).toEqual(['https://models.test/v1']);
  });

  it('opencode is told of each provider that has a key, in one value beside what the operator has in it', () => {
    const { routes, env } = access(
      { id: 'opencode', env: { OPENCODE_CONFIG_CONTENT: '{"theme":"x","provider":{"google":{"name":"G"}}}' } },
      { secrets: { GEMINI_API_KEY: KEY, OPENROUTER_API_KEY: `${KEY}-2` } },
    );
    expect(routes.map(({ id }) => id)).toEqual(['google', 'openrouter']);
    expect(JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '')).toEqual({
      theme: 'x',
      provider: {
        google: { name: 'G', options: { baseURL: `${BROKER_ORIGIN}/models/google` } },
        openrouter: { options: { baseURL: `${BROKER_ORIGIN}/models/openrouter` } },
      },
    });
    expect(Object.values(env).join()).not.toContain(KEY);
  });

  it('goes where the operator says, with the operator’s key', () => {
    const { routes } = access({
      id: 'claude',
      env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4000/' },
      secretEnv: { ANTHROPIC_API_KEY: KEY },
    });
    expect(routes).toMatchObject([{ baseUrl: 'http://127.0.0.1:4000', keys: [{ value: KEY }], isTrusted: true }]);
  });

  it('goes where a secret of the run says only as far as the run may', () => {
    const found = access('qwen', { secrets: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'https://models.test/v1' } });
    expect(found.routes).toMatchObject([{ baseUrl: 'https://models.test/v1', isTrusted: false }]);
    expect(modelHosts(found, () => false)).toEqual({ trusted: [], further: [] });
    expect(modelHosts(found, () => true).further.map(({ host }) => formatTarget(host, 443))).toEqual([
      'models.test:443',
    ]);
  });

  it('without a key at an endpoint that wants none has a placeholder all the same', () => {
    const { routes, env } = access({
      id: 'qwen',
      env: { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1' },
      credentials: [],
    });
    expect(routes[0]?.keys).toEqual([{ placeholder: 'placeholder-1' }]);
    expect(env['OPENAI_API_KEY']).toBe('placeholder-1');
  });

  it('with its key exposed on purpose reaches its model itself', () => {
    const found = access('claude', { secrets: { ANTHROPIC_API_KEY: KEY }, exposed: new Set(['ANTHROPIC_API_KEY']) });
    expect(found).toMatchObject({ routes: [], env: {} });
    expect(found.direct.map(({ host }) => formatTarget(host, 443))).toEqual(['api.anthropic.com:443']);
  });

  it('of the operator’s own holds its keys itself, unless its endpoints are said', () => {
    const own = { id: 'ours', command: ['ours'], modelVia: { kind: 'option' }, endpoints: ['models.test'] } as const;
    expect(access(own).direct).toHaveLength(1);
    const bound = access(
      {
        ...own,
        models: [
          {
            id: 'm',
            apis: ['openai'],
            keys: ['OUR_KEY'],
            address: { variable: 'OUR_URL' },
            at: 'https://models.test/v1',
            usual: ['*'],
            small: [],
          },
        ],
      },
      { secrets: { OUR_KEY: KEY } },
    );
    expect(bound.env).toEqual({ OUR_KEY: 'placeholder-1', OUR_URL: `${BROKER_ORIGIN}/models/m` });
  });

  it('of the service has the operator’s model, its prices outside, and no key', () => {
    const { routes, env } = access(builtIn(), {
      builtIn: {
        MILLWRIGHT_AGENT_BASE_URL: 'https://models.test/v1',
        MILLWRIGHT_AGENT_MODEL: 'm-1',
        MILLWRIGHT_AGENT_API_KEY: KEY,
        MILLWRIGHT_AGENT_PRICE_INPUT: '1',
        MILLWRIGHT_AGENT_PRICE_OUTPUT: '2',
      },
    });
    expect(routes).toMatchObject([
      { models: ['m-1'], baseUrl: 'https://models.test/v1', prices: [{ models: '*', input: 1, output: 2 }] },
    ]);
    expect(env).toEqual({
      MILLWRIGHT_AGENT_PROVIDER: 'openai-compatible',
      MILLWRIGHT_AGENT_BASE_URL: `${BROKER_ORIGIN}/models/model`,
      MILLWRIGHT_AGENT_API_KEY: 'placeholder-1',
    });
  });
});

it('takes for keys of models in definitions what it takes for keys of models in profiles', () => {
  const keys = LAUNCH_PROFILES.flatMap(({ models }) => models.flatMap((binding) => binding.keys));
  expect([...MODEL_KEY_VARIABLES]).toEqual([...new Set(keys)].sort());
});

describe('the models of a run', () => {
  it.each([
    { id: 'claude', asked: 'claude-opus-4-5', model: 'claude-opus-4-5-20251101', is: true },
    { id: 'claude', asked: 'claude-sonnet-4-5', model: 'claude-haiku-4-5', is: true },
    { id: 'claude', asked: 'claude-sonnet-4-5', model: 'claude-opus-4-5', is: false },
    { id: 'claude', asked: 'sonnet[1m]', model: 'claude-sonnet-4-5', is: true },
    { id: 'claude', asked: undefined, model: 'claude-opus-4-5', is: true },
    { id: 'claude', asked: undefined, model: 'gpt-5', is: false },
    { id: 'opencode', asked: 'anthropic/claude-haiku-4-5', model: 'claude-haiku-4-5', is: true },
    { id: 'gemini', asked: 'gemini-2.5-pro', model: 'gemini-2.5-flash-lite', is: true },
    { id: 'gemini', asked: 'gemini-2.5-flash', model: 'gemini-2.5-pro', is: false },
    { id: 'codex', asked: 'gpt-5.2-codex[high]', model: 'gpt-5.2-codex', is: true },
    { id: 'qwen', asked: '*', model: 'gpt-5', is: false },
  ])('$id, asked for $asked, may use $model: $is', ({ id, asked, model, is }) => {
    const keys = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY'];
    const { routes } = access(id, { modelId: asked, secrets: Object.fromEntries(keys.map((key) => [key, KEY])) });
    expect(routes.some(({ models }) => isModelAllowed(models, model))).toBe(is);
  });

  it('are also those that the operator says', () => {
    const own: OwnProfile = {
      id: 'claude',
      env: { ANTHROPIC_SMALL_FAST_MODEL: 'house-small' },
      secretEnv: { ANTHROPIC_API_KEY: KEY },
      modelPatterns: ['house-*'],
    };
    const models = access(own, { modelId: 'house-large' }).routes[0]?.models ?? [];
    expect(['house-small', 'house-large', 'house-x'].map((name) => isModelAllowed(models, name))).toEqual([
      true,
      true,
      true,
    ]);
  });
});
