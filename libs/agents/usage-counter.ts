/**
 * What an agent uses, as it reports it over the protocol, and the end of what its run may use. contract §3.5, §8.3.
 */
import { boundsOf, overBudget, type RunBounds, type RunLimits } from './limits.ts';
import {
  addCounted,
  addUsage,
  readMeter,
  sessionOpened,
  usedBy,
  type CountedCall,
  type Meter,
  type Used,
  type UsageReport,
} from './usage.ts';

/** What the operator allows any run. */
export interface OperatorBounds {
  runTokensMax?: number;
  runCostMax?: number;
  runTimeoutMs: number;
}

/** The bounds of a run, and whose they are. `limits`: what its automation says, as JSON text. */
export function runBounds(
  { runTokensMax, runCostMax, runTimeoutMs }: OperatorBounds,
  { limits }: { limits?: string },
): RunBounds {
  return boundsOf(
    { tokens: runTokensMax, cost: runCostMax, minutes: runTimeoutMs / 60_000 },
    limits === undefined ? {} : (JSON.parse(limits) as RunLimits),
  );
}

export interface RunUsage {
  /** An execution has a session: totals that it reports are of this one. */
  sessionOpened(sessionId: string): void;
  take(update: unknown): void;
  /** A call of a model that a broker has counted. */
  counted(call: CountedCall): void;
  /** The agent's answer to a prompt, which may say what the turn used. */
  turnEnded(response: unknown): void;
  /** Why nothing further may be started; undefined while it may. */
  refusal(): string | undefined;
  /** What this execution has used by now, of what is known. */
  usedHere(): Used;
  /** The count, where it has changed since it was stored. */
  unstored(): Meter | undefined;
  stored(meter: Meter): void;
}

/**
 * Counts for one execution, from what the earlier ones have left; `onOver` is called at most once, with words for the
 * run's owner.
 */
export function runUsage({
  stored,
  bounds,
  onOver,
}: {
  stored: string | undefined;
  bounds: RunBounds;
  onOver: (message: string) => void;
}): RunUsage {
  let meter = readMeter(stored);
  let written = meter;
  let isOver = false;
  const before = usedBy(meter);
  const count = (report: UsageReport | undefined): void => {
    if (report !== undefined) advance(addUsage(meter, report));
  };
  const advance = (next: Meter): void => {
    meter = next;
    const message = isOver ? undefined : overBudget(bounds, usedBy(meter), 'working');
    if (message === undefined) return;
    isOver = true;
    onOver(message);
  };
  return {
    sessionOpened: (sessionId) => {
      meter = sessionOpened(meter, sessionId);
    },
    take: (update) => count(usageIn(update)),
    counted: (call) => advance(addCounted(meter, call, before)),
    turnEnded: (response) => count(usageOfTurn(response)),
    refusal: () => overBudget(bounds, usedBy(meter), 'starting'),
    usedHere: () => usedSince(before, usedBy(meter)),
    unstored: () => (meter === written ? undefined : meter),
    stored: (now) => {
      written = now;
    },
  };
}

function usedSince(before: Used, now: Used): Used {
  const grown = (from = 0, to = 0): number => Math.max(0, to - from);
  return {
    tokens: grown(before.tokens, now.tokens),
    costMicros: grown(before.costMicros, now.costMicros),
    ...(now.currency === undefined ? {} : { currency: now.currency }),
  };
}

/**
 * What an update reports of use; undefined: nothing. The protocol knows the fullness of the context and the session's
 * cost; an agent that counts tokens reports the session's total as `_meta.millwright.usage.totalTokens`.
 */
export function usageIn(update: unknown): UsageReport | undefined {
  if (memberOf(update, 'sessionUpdate') !== 'usage_update') return undefined;
  const own = memberOf(memberOf(update, '_meta'), 'millwright');
  return {
    contextTokens: memberOf(update, 'used') as UsageReport['contextTokens'],
    sessionTokens: numberIn(memberOf(own, 'usage'), 'totalTokens'),
    cost: (memberOf(update, 'cost') as UsageReport['cost'] | null) ?? undefined,
  };
}

/**
 * What the answer to a prompt reports of its turn; undefined: nothing. It is no part of the protocol's first version
 * yet, and agents send it.
 */
export function usageOfTurn(response: unknown): UsageReport | undefined {
  const turnTokens = numberIn(memberOf(response, 'usage'), 'totalTokens');
  return turnTokens === undefined ? undefined : { turnTokens };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function numberIn(value: unknown, name: string): number | undefined {
  const found = memberOf(value, name);
  return typeof found === 'number' ? found : undefined;
}
