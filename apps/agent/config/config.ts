/**
 * What the agent takes from its environment: which model, how to reach it, what it costs. Problems name variables,
 * never values.
 */
import { readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { endpointOf, providerOf } from './model-endpoint.ts';
import { amount, flag, oneOf, type Values, wholeNumber } from './variables.ts';

export type ReasoningLevel = 'low' | 'medium' | 'high';

/** A model behind an HTTP interface. */
export interface Endpoint {
  provider: 'openai-compatible' | 'anthropic';
  /** Without a slash at its end. */
  baseUrl: string;
  /** Sent as the provider's key header, or as a bearer token; absent for endpoints that want none. */
  credential?: { kind: 'key' | 'token'; value: string };
  modelId: string;
}

/** Money per million tokens. */
export interface Prices {
  input: number;
  cachedInput: number;
  output: number;
  /** ISO 4217 code or another unit. */
  currency: string;
}

export interface AgentConfig {
  /** Undefined: the demo model. */
  endpoint: Endpoint | undefined;
  /** Whether the demo model does what `demo` blocks in a prompt say. Whoever sets it allows prompts to run commands. */
  demoSteps: boolean;
  reasoning: ReasoningLevel | undefined;
  /** Tokens that fit into the model's context. */
  contextTokens: number;
  /** Tokens of one answer; undefined: the provider's own bound. */
  outputTokensMax: number | undefined;
  /** Calls of the model in one turn. */
  stepsMax: number;
  /** Further attempts after a rate limit or a failure of the endpoint. */
  retriesMax: number;
  /** Seconds without a byte from the endpoint until it counts as hanging. */
  silenceSecondsMax: number;
  prices: Prices | undefined;
  /** Folder whose `.millwright-agent` stores the transcripts. */
  home: string;
  /** Temporary folder, which file tools may use beside the working folder. */
  tmp: string;
  /**
   * What commands and MCP servers find in their environment: everything but the model's credentials and the agent's own
   * settings.
   */
  toolEnvironment: Readonly<Record<string, string>>;
}

export type ReadConfig = { ok: true; config: AgentConfig } | { ok: false; problems: readonly string[] };

/** A context that today's models have; a wrong guess costs an early shortening or an error that says so. */
const CONTEXT_TOKENS_DEFAULT = 128_000;

/** Long enough for a real task, and a stop for a model that goes in circles. */
const STEPS_MAX_DEFAULT = 200;

/** With the pauses between them (2 s, doubled) about half a minute: a hiccup is bridged, an outage is reported. */
const RETRIES_MAX_DEFAULT = 4;

/** Models that think before the first word need minutes; proxies that died need no more. */
const SILENCE_SECONDS_DEFAULT = 300;

/**
 * Environment → configuration, or every problem at once. Reads the file that MILLWRIGHT_AGENT_API_KEY_FILE names, once.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): ReadConfig {
  const problems: string[] = [];
  const values: Values = {
    get: (name) => nonEmpty(environment[name]),
    report: (problem) => void problems.push(problem),
  };
  const own = {
    ...values,
    get: (name: string) => (name === 'MILLWRIGHT_AGENT_API_KEY' ? ownKey(values) : values.get(name)),
  };
  const provider = providerOf(own);
  const endpoint = provider === 'demo' ? undefined : endpointOf(provider, own);
  const config: AgentConfig = {
    endpoint,
    demoSteps: flag(values, 'MILLWRIGHT_AGENT_DEMO_STEPS'),
    reasoning: oneOf(values, 'MILLWRIGHT_AGENT_REASONING', ['low', 'medium', 'high']),
    contextTokens: wholeNumber(values, 'MILLWRIGHT_AGENT_CONTEXT_TOKENS', { min: 1_000 }) ?? CONTEXT_TOKENS_DEFAULT,
    outputTokensMax: wholeNumber(values, 'MILLWRIGHT_AGENT_OUTPUT_TOKENS_MAX', { min: 1 }),
    stepsMax: wholeNumber(values, 'MILLWRIGHT_AGENT_STEPS_MAX', { min: 1 }) ?? STEPS_MAX_DEFAULT,
    retriesMax: wholeNumber(values, 'MILLWRIGHT_AGENT_RETRIES_MAX', { min: 0 }) ?? RETRIES_MAX_DEFAULT,
    silenceSecondsMax: wholeNumber(values, 'MILLWRIGHT_AGENT_SILENCE_SECONDS', { min: 1 }) ?? SILENCE_SECONDS_DEFAULT,
    prices: pricesOf(values),
    home: values.get('HOME') ?? homedir(),
    tmp: values.get('TMPDIR') ?? tmpdir(),
    toolEnvironment: toolEnvironment(environment, endpoint),
  };
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config: Object.freeze(config) };
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

/** The key itself, or the content of its file; a pipe (`/dev/fd/3`) keeps it out of `/proc/<pid>/environ`. */
function ownKey(values: Values): string | undefined {
  const path = values.get('MILLWRIGHT_AGENT_API_KEY_FILE');
  if (path === undefined) return values.get('MILLWRIGHT_AGENT_API_KEY');
  try {
    const key = nonEmpty(readFileSync(path, 'utf8'));
    if (key === undefined) values.report('MILLWRIGHT_AGENT_API_KEY_FILE names a file without a key');
    return key;
  } catch {
    values.report('MILLWRIGHT_AGENT_API_KEY_FILE names a file that cannot be read');
    return undefined;
  }
}

function pricesOf(values: Values): Prices | undefined {
  const input = amount(values, 'MILLWRIGHT_AGENT_PRICE_INPUT');
  const output = amount(values, 'MILLWRIGHT_AGENT_PRICE_OUTPUT');
  const cachedInput = amount(values, 'MILLWRIGHT_AGENT_PRICE_CACHED_INPUT');
  if (input === undefined && output === undefined && cachedInput === undefined) return undefined;
  if (input === undefined || output === undefined) {
    values.report('MILLWRIGHT_AGENT_PRICE_INPUT and MILLWRIGHT_AGENT_PRICE_OUTPUT must be given together');
    return undefined;
  }
  return {
    input,
    output,
    cachedInput: cachedInput ?? input,
    currency: values.get('MILLWRIGHT_AGENT_PRICE_CURRENCY') ?? 'USD',
  };
}

const CREDENTIAL_VARIABLES = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];

function toolEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  endpoint: Endpoint | undefined,
): Record<string, string> {
  const key = endpoint?.credential?.value;
  const readVariables = Object.entries(environment).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    if (value === undefined || name.startsWith('MILLWRIGHT_AGENT_')) return false;
    // A run may set such a variable for its own tests; only the credential of this model is withheld.
    return !(CREDENTIAL_VARIABLES.includes(name) && value.trim() === key);
  });
  return Object.fromEntries(readVariables);
}
