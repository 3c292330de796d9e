/**
 * How many failed authentications one client may cause at one webhook. spec: Authentication rule 5; contract §5.4.
 */
import { FAILURES_PER_MINUTE_MAX } from './limits.ts';
import { tryAcquire } from './windows.ts';

/**
 * Failure times by key, least recently failing first. Held by the caller, one per process; `spendFailure` keeps it in
 * bounds.
 */
export type FailureBudgets = Map<string, readonly number[]>;

export type FailureVerdict = { withinBudget: true } | { withinBudget: false; retryAfterSeconds: number };

/**
 * The key of a budget. A webhook UID holds no space, so that keys of different pairs differ. `addressKey`: see
 * `addressKeyOf`.
 */
export function failureKey(webhookUid: string, addressKey: string): string {
  return `${webhookUid} ${addressKey}`;
}

/**
 * Forgotten at once: the first key of a map is only found behind the places of all that were deleted before it, so that
 * it is looked for seldom.
 */
const SHARE_FORGOTTEN = 1 / 16;

/**
 * Records one failure of `key` in `budgets` (changed in place; nothing else is) and says whether it is within
 * `perMinute` (20). A failure over the budget is not recorded: the wait that was announced stays true. Beyond
 * `maxKeys` the least recently failing keys are forgotten (a sixteenth at once), so that an attacker with many
 * addresses costs bounded memory. Ask only after a failure: a valid delivery is never refused because of somebody's
 * failures.
 */
export function spendFailure(
  budgets: FailureBudgets,
  key: string,
  nowMs: number,
  bounds: { maxKeys: number; perMinute?: number },
): FailureVerdict {
  const window = budgets.get(key) ?? [];
  const acquired = tryAcquire(window, nowMs, bounds.perMinute ?? FAILURES_PER_MINUTE_MAX);
  budgets.delete(key);
  budgets.set(key, acquired.ok ? acquired.window : window);
  if (budgets.size > bounds.maxKeys)
    forgetOldest(budgets, bounds.maxKeys - Math.floor(bounds.maxKeys * SHARE_FORGOTTEN));
  return acquired.ok ? { withinBudget: true } : { withinBudget: false, retryAfterSeconds: acquired.retryAfterSeconds };
}

function forgetOldest(budgets: FailureBudgets, sizeMax: number): void {
  for (const oldest of budgets.keys()) {
    if (budgets.size <= sizeMax) return;
    budgets.delete(oldest);
  }
}
