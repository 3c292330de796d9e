/** The language model of a session, from the configuration; packages of a provider are loaded only when it is used. */
import type { LanguageModel, ModelMessage, SystemModelMessage } from 'ai';
import type { AgentConfig, Endpoint, ReasoningLevel } from '../config/config.ts';
import { DEMO_MODEL_ID, demoModel } from '../demo/demo-model.ts';
import { type Fetch, withIdleTimeout } from './fetch.ts';

/** Name under which options for an OpenAI-compatible endpoint are passed on. */
const COMPATIBLE = 'endpoint';

/** Tokens for thinking; the AI SDK turns them into adaptive thinking for models that want that. */
const THINKING_TOKENS: Readonly<Record<ReasoningLevel, number>> = { low: 4_096, medium: 16_384, high: 32_768 };

/** Marks a cache breakpoint for the provider: each step of a turn repeats the whole prompt prefix. */
const CACHE_MARK = { anthropic: { cacheControl: { type: 'ephemeral' as const } } };

/** The identifier of the model that sessions begin with. */
export function configuredModelId({ endpoint }: AgentConfig): string {
  return endpoint?.modelId ?? DEMO_MODEL_ID;
}

/** The model with this identifier at the configured endpoint; the demo model when none is configured. */
export async function modelOf(config: AgentConfig, modelId: string, fetch: Fetch): Promise<LanguageModel> {
  const { endpoint } = config;
  if (endpoint === undefined) return demoModel({ mayTakeSteps: config.demoSteps });
  const timedFetch = withIdleTimeout(fetch, config.silenceSecondsMax);
  return endpoint.provider === 'anthropic'
    ? anthropic(endpoint, modelId, timedFetch)
    : compatible(endpoint, modelId, timedFetch);
}

async function compatible({ baseUrl, credential }: Endpoint, modelId: string, fetch: Fetch): Promise<LanguageModel> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    name: COMPATIBLE,
    baseURL: baseUrl,
    apiKey: credential?.value,
    includeUsage: true,
    fetch,
  })(modelId);
}

async function anthropic({ baseUrl, credential }: Endpoint, modelId: string, fetch: Fetch): Promise<LanguageModel> {
  const { createAnthropic } = await import('@ai-sdk/anthropic');
  const key = credential?.kind === 'token' ? { authToken: credential.value } : { apiKey: credential?.value };
  return createAnthropic({ baseURL: baseUrl, fetch, ...key })(modelId);
}

/** Options that only one kind of provider understands. */
export function providerOptions({
  endpoint,
  reasoning,
}: AgentConfig): Record<string, Record<string, string | { type: string; budgetTokens: number }>> {
  if (endpoint === undefined || reasoning === undefined) return {};
  if (endpoint.provider === 'anthropic')
    return { anthropic: { thinking: { type: 'enabled', budgetTokens: THINKING_TOKENS[reasoning] } } };
  return { [COMPATIBLE]: { reasoningEffort: reasoning } };
}

/** The instructions as a message that may be cached. */
export function systemMessage(text: string): SystemModelMessage {
  return { role: 'system', content: text, providerOptions: CACHE_MARK };
}

/** The messages, the last of them marked for the cache. */
export function withCacheMark(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message, index) =>
    index === messages.length - 1
      ? { ...message, providerOptions: { ...message.providerOptions, ...CACHE_MARK } }
      : message,
  );
}
