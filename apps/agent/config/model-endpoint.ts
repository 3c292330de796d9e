/**
 * Which model endpoint the environment means: the agent's own variables first, then those that the providers' tools
 * use.
 */
import type { Endpoint } from './config.ts';
import { oneOf, type Values } from './variables.ts';

type Provider = Endpoint['provider'];

const DEFAULT_URLS: Readonly<Record<Provider, string>> = {
  'openai-compatible': 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
};

/** The provider that is named, or that the other variables point to; `demo` when nothing does. */
export function providerOf(values: Values): Provider | 'demo' {
  const named = oneOf(values, 'MILLWRIGHT_AGENT_PROVIDER', ['openai-compatible', 'anthropic', 'demo']);
  if (named !== undefined) return named;
  const model = values.get('MILLWRIGHT_AGENT_MODEL');
  if (model === 'demo') return 'demo';
  if (values.get('MILLWRIGHT_AGENT_BASE_URL') !== undefined) return 'openai-compatible';
  const has = (...names: string[]): boolean => names.some((name) => values.get(name) !== undefined);
  const isClaude = model?.startsWith('claude') === true;
  if (isClaude && has('MILLWRIGHT_AGENT_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN')) return 'anthropic';
  if (has('MILLWRIGHT_AGENT_API_KEY', 'OPENAI_API_KEY', 'OPENAI_BASE_URL')) return 'openai-compatible';
  if (has('ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL')) return 'anthropic';
  if (model !== undefined)
    values.report(
      'MILLWRIGHT_AGENT_MODEL names a model, but neither MILLWRIGHT_AGENT_BASE_URL nor MILLWRIGHT_AGENT_API_KEY ' +
        'says where it is',
    );
  return 'demo';
}

/** Address, credential and model of a provider; undefined and reported when something is missing. */
export function endpointOf(provider: Provider, values: Values): Endpoint | undefined {
  const modelId = values.get('MILLWRIGHT_AGENT_MODEL');
  if (modelId === undefined)
    values.report('MILLWRIGHT_AGENT_MODEL must name the model, because an endpoint is configured');
  const credential = credentialOf(provider, values);
  if (credential === undefined && provider === 'anthropic')
    values.report('MILLWRIGHT_AGENT_API_KEY must hold the key of the Anthropic endpoint');
  const baseUrl = baseUrlOf(provider, values);
  return modelId === undefined || baseUrl === undefined
    ? undefined
    : { provider, baseUrl, modelId, ...(credential === undefined ? {} : { credential }) };
}

function credentialOf(provider: Provider, values: Values): Endpoint['credential'] {
  const key =
    values.get('MILLWRIGHT_AGENT_API_KEY') ??
    values.get(provider === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY');
  if (key !== undefined) return { kind: 'key', value: key };
  const token = provider === 'anthropic' ? values.get('ANTHROPIC_AUTH_TOKEN') : undefined;
  return token === undefined ? undefined : { kind: 'token', value: token };
}

function baseUrlOf(provider: Provider, values: Values): string | undefined {
  const theirs = provider === 'anthropic' ? 'ANTHROPIC_BASE_URL' : 'OPENAI_BASE_URL';
  const name = values.get('MILLWRIGHT_AGENT_BASE_URL') === undefined ? theirs : 'MILLWRIGHT_AGENT_BASE_URL';
  const text = values.get(name);
  if (text === undefined) return DEFAULT_URLS[provider];
  if (!isPlainHttpUrl(text)) {
    values.report(`${name} must be an http or https URL without credentials, query and fragment`);
    return undefined;
  }
  const url = text.replace(/\/+$/, '');
  // Anthropic's own tools want the host only, the AI SDK wants the version too: both spellings work.
  return provider === 'anthropic' && !url.endsWith('/v1') ? `${url}/v1` : url;
}

function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return (
    (protocol === 'http:' || protocol === 'https:') && [username, password, search, hash].every((part) => part === '')
  );
}
