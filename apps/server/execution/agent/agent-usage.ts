/** What an agent uses, as it tells it over the protocol, and the end of what its run may use. contract 3 (request_usage), 8 (limits). */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import {
  boundsOf,
  overBudget,
  readMeter,
  sessionOpened,
  addUsage,
  usedBy,
  type Meter,
  type RunBounds,
  type RunLimits,
  type UsageReport,
} from '#agents';
import type { Config } from '../../config/config.ts';
import type { ClaimedRun } from '../../store/runs/runs.ts';

/** The bounds of a run, and whose they are. */
export function runBounds(
  { runTokensMax, runCostMax, runTimeoutMs }: Pick<Config, 'runTokensMax' | 'runCostMax' | 'runTimeoutMs'>,
  { limits }: Pick<ClaimedRun, 'limits'>,
): RunBounds {
  return boundsOf(
    { tokens: runTokensMax, cost: runCostMax, minutes: runTimeoutMs / 60_000 },
    limits === undefined ? {} : (JSON.parse(limits) as RunLimits),
  );
}

export interface RunUsage {
  /** An execution has a session: totals that it tells are of this one. */
  sessionOpened(sessionId: string): void;
  take(update: SessionUpdate): void;
  /** The agent's answer to a prompt, which may tell what the turn took. */
  turnEnded(response: unknown): void;
  /** Why nothing further may be started; undefined while it may. */
  refusal(): string | undefined;
  /** The count, where it has changed since it was stored. */
  unstored(): Meter | undefined;
  stored(meter: Meter): void;
}

/** Counts for one execution, from what the earlier ones have left; `onOver` is called at most once, with words for the run's owner. */
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
  const tell = (telling: UsageReport | undefined): void => {
    if (telling === undefined) return;
    meter = addUsage(meter, telling);
    const message = isOver ? undefined : overBudget(bounds, usedBy(meter), 'working');
    if (message === undefined) return;
    isOver = true;
    onOver(message);
  };
  return {
    sessionOpened: (sessionId) => {
      meter = sessionOpened(meter, sessionId);
    },
    take: (update) => tell(usageIn(update)),
    turnEnded: (response) => tell(usageOfTurn(response)),
    refusal: () => overBudget(bounds, usedBy(meter), 'starting'),
    unstored: () => (meter === written ? undefined : meter),
    stored: (now) => {
      written = now;
    },
  };
}

/**
 * What an update tells of use; undefined: nothing. The protocol knows the fullness of the context and the session's cost; an agent that
 * counts tokens tells the session's total as `_meta.millwright.usage.totalTokens`.
 */
export function usageIn(update: SessionUpdate): UsageReport | undefined {
  if (update.sessionUpdate !== 'usage_update') return undefined;
  const { used, cost, _meta } = update;
  return {
    contextTokens: used,
    sessionTokens: numberIn(memberOf(memberOf(_meta, 'millwright'), 'usage'), 'totalTokens'),
    cost: cost ?? undefined,
  };
}

/** What the answer to a prompt tells of its turn; undefined: nothing. It is no part of the protocol's first version yet, and agents send it. */
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
