/**
 * Where the model of the built-in agent is, from the variables that the service hands on to it; the agent reads them
 * alike. explanation: Built-in agent.
 */

/** What MILLWRIGHT_AGENT_… variables mean together. */
export type ModelChoice =
  | { kind: 'demo' }
  | { kind: 'endpoint'; endpoint: ModelEndpoint }
  | { kind: 'wrong'; variable: string; rule: string };

export interface ModelEndpoint {
  provider: 'openai-compatible' | 'anthropic';
  /** Without a slash at its end. */
  baseUrl: string;
  modelId: string;
  /** Absent for endpoints that want none. */
  key?: string;
}

/** Addresses of providers that need none to be given. */
const DEFAULT_URLS = {
  'openai-compatible': 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
} as const;

/** What configures a model, for people. */
export const HOW_TO_CONFIGURE_A_MODEL =
  'set MILLWRIGHT_AGENT_BASE_URL (an OpenAI-compatible endpoint), MILLWRIGHT_AGENT_MODEL and, where the ' +
  'endpoint wants one, MILLWRIGHT_AGENT_API_KEY; ' +
  'for Anthropic MILLWRIGHT_AGENT_PROVIDER=anthropic, MILLWRIGHT_AGENT_MODEL and MILLWRIGHT_AGENT_API_KEY';

/** The model that the variables choose; what is wrong with them names variable and rule, never a value. */
export function modelChoice(variables: Readonly<Record<string, string | undefined>>): ModelChoice {
  const read = (name: string): string | undefined => nonEmpty(variables[`MILLWRIGHT_AGENT_${name}`]);
  const model = read('MODEL');
  const provider = providerOf(read('PROVIDER'), model, read);
  if (provider === undefined) return wrong('PROVIDER', 'must be one of openai-compatible, anthropic, demo');
  if (provider === 'demo')
    return model === undefined || model === 'demo' || read('PROVIDER') === 'demo'
      ? { kind: 'demo' }
      : wrong(
          'MODEL',
          'names a model, but neither MILLWRIGHT_AGENT_BASE_URL nor MILLWRIGHT_AGENT_API_KEY says where it is',
        );
  const key = read('API_KEY');
  if (model === undefined) return wrong('MODEL', 'must name the model, because an endpoint is configured');
  if (provider === 'anthropic' && key === undefined)
    return wrong('API_KEY', 'must hold the key of the Anthropic endpoint');
  const baseUrl = baseUrlOf(provider, read('BASE_URL'));
  if (baseUrl === undefined)
    return wrong('BASE_URL', 'must be an http or https URL without credentials, query and fragment');
  return { kind: 'endpoint', endpoint: { provider, baseUrl, modelId: model, ...(key === undefined ? {} : { key }) } };
}

function providerOf(
  named: string | undefined,
  model: string | undefined,
  read: (name: string) => string | undefined,
): ModelEndpoint['provider'] | 'demo' | undefined {
  if (named !== undefined)
    return named === 'openai-compatible' || named === 'anthropic' || named === 'demo' ? named : undefined;
  if (model === 'demo') return 'demo';
  if (read('BASE_URL') !== undefined) return 'openai-compatible';
  if (read('API_KEY') === undefined) return 'demo';
  return model?.startsWith('claude') === true ? 'anthropic' : 'openai-compatible';
}

function baseUrlOf(provider: ModelEndpoint['provider'], text: string | undefined): string | undefined {
  if (text === undefined) return DEFAULT_URLS[provider];
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password, search, hash } = new URL(text);
  if ((protocol !== 'http:' && protocol !== 'https:') || [username, password, search, hash].some((part) => part !== ''))
    return undefined;
  const url = text.replace(/\/+$/, '');
  // Anthropic's own tools want the host only, the agent's want the version too: both spellings work.
  return provider === 'anthropic' && !url.endsWith('/v1') ? `${url}/v1` : url;
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function wrong(name: string, rule: string): ModelChoice {
  return { kind: 'wrong', variable: `MILLWRIGHT_AGENT_${name}`, rule };
}
