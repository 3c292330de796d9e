/** Tokens and money that a turn and a session have cost. */
import type { LanguageModelUsage } from 'ai';
import type { Prices } from '../config/config.ts';

/**
 * Counts of tokens, named as the protocol names them. `inputTokens` includes those read from and written to a cache.
 */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  cachedReadTokens: number;
  cachedWriteTokens: number;
  /** Part of `outputTokens`. */
  thoughtTokens: number;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  cachedReadTokens: 0,
  cachedWriteTokens: 0,
  thoughtTokens: 0,
};

/** Usage of one model call; counts that the endpoint does not report are zero. */
export function usageOf(told: LanguageModelUsage): Usage {
  const [inputTokens, outputTokens] = [told.inputTokens ?? 0, told.outputTokens ?? 0];
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cachedReadTokens: told.inputTokenDetails.cacheReadTokens ?? 0,
    cachedWriteTokens: told.inputTokenDetails.cacheWriteTokens ?? 0,
    thoughtTokens: told.outputTokenDetails.reasoningTokens ?? 0,
  };
}

/** The sum, count by count. */
export function added(one: Usage, other: Usage): Usage {
  const names = Object.keys(NO_USAGE) as (keyof Usage)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as unknown as Usage;
}

/** Money for so many tokens; undefined when no prices are configured. */
export function costOf(usage: Usage, prices: Prices | undefined): { amount: number; currency: string } | undefined {
  if (prices === undefined) return undefined;
  const fresh = Math.max(0, usage.inputTokens - usage.cachedReadTokens);
  const amount =
    (fresh * prices.input + usage.cachedReadTokens * prices.cachedInput + usage.outputTokens * prices.output) /
    1_000_000;
  return { amount: Number(amount.toFixed(6)), currency: prices.currency };
}
