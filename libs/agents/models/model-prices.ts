/** What a call of a model costs, by the prices that the operator has set. contract §10.3 (Model calls). */
import type { CountedCall } from '../usage.ts';
import { isModelAllowed } from './model-requests.ts';
import type { ModelUsage } from './model-usage.ts';

/** Money per million tokens, which is millionths of it per token. */
export interface ModelPrices {
  input: number;
  cachedInput: number;
  output: number;
  currency: string;
}

/** Undefined: none are set, or they are no prices, of which the agent tells. */
export function modelPrices(variables: Readonly<Record<string, string | undefined>>): ModelPrices | undefined {
  const amount = (name: string): number | undefined => {
    const text = variables[`MILLWRIGHT_AGENT_PRICE_${name}`]?.trim() ?? '';
    return /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
  };
  const [input, output] = [amount('INPUT'), amount('OUTPUT')];
  if (input === undefined || output === undefined) return undefined;
  const currency = variables['MILLWRIGHT_AGENT_PRICE_CURRENCY']?.trim() ?? '';
  return {
    input,
    output,
    cachedInput: amount('CACHED_INPUT') ?? input,
    currency: currency === '' ? 'USD' : currency,
  };
}

/** Prices of some models; `*` stands for any letters. */
export interface PricedModels extends ModelPrices {
  models: string;
}

/**
 * What a model costs: by the first entry that names it, and by the dearest where none does, for a budget has to hold
 * for every model.
 */
export function pricesOf(entries: readonly PricedModels[], model: string): ModelPrices | undefined {
  const found = entries.find(({ models }) => isModelAllowed([models], model));
  const dearest = (one: PricedModels, other: PricedModels): PricedModels =>
    one.output > other.output || (one.output === other.output && one.input >= other.input) ? one : other;
  return found ?? (entries.length === 0 ? undefined : entries.reduce(dearest));
}

/** A call as it counts for its run. */
export function countedCall(
  { inputTokens, cachedTokens, outputTokens }: ModelUsage,
  prices?: ModelPrices,
): CountedCall {
  const tokens = inputTokens + outputTokens;
  if (prices === undefined) return { tokens };
  const fresh = Math.max(0, inputTokens - cachedTokens);
  const micros = fresh * prices.input + cachedTokens * prices.cachedInput + outputTokens * prices.output;
  return { tokens, micros, currency: prices.currency };
}
