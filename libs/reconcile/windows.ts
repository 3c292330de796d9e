/** Knows when a sync policy lets definitions apply. Windows are of UTC. contract 9. */
import { nextTick, readCron, ticksBetween, type CronFields } from '#definitions';
import type { SyncWindow } from './sync-policy.ts';

const MINUTE_MS = 60_000;
/** Steps from one border of a window to the next that are looked at: a policy that opens later than that is as good as closed. */
const STEPS_MAX = 2_000;

/** A time at which nothing applies. `opensAtMs` is absent when that does not end within sight. */
export interface Closure {
  opensAtMs?: number;
}

interface Span {
  fields: CronFields;
  durationMs: number;
}

/** Why nothing may apply now; undefined while something may. A window whose schedule cannot be read is no window. */
export function closureAt(windows: readonly SyncWindow[] | undefined, nowMs: number): Closure | undefined {
  if (windows === undefined || windows.length === 0) return undefined;
  const denied = spansOf(windows, 'deny');
  const allowed = windows.some(({ kind }) => kind === 'allow') ? spansOf(windows, 'allow') : undefined;
  const opensAtMs = opening(denied, allowed, nowMs);
  if (opensAtMs === nowMs) return undefined;
  return opensAtMs === undefined ? {} : { opensAtMs };
}

/** The first time from `fromMs` on at which something may apply. */
function opening(denied: readonly Span[], allowed: readonly Span[] | undefined, fromMs: number): number | undefined {
  let atMs = fromMs;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const deniedUntilMs = Math.max(...denied.map((span) => endOf(span, atMs) ?? 0), 0);
    const isAllowed = allowed === undefined || allowed.some((span) => endOf(span, atMs) !== undefined);
    if (deniedUntilMs === 0 && isAllowed) return atMs;
    if (deniedUntilMs > 0) atMs = deniedUntilMs;
    else {
      const next = Math.min(...(allowed ?? []).map(({ fields }) => nextTick(fields, atMs) ?? Infinity));
      if (!Number.isFinite(next)) return undefined;
      atMs = next;
    }
  }
  return undefined;
}

/** When a window that is open at `atMs` closes, as far as it has opened by then; undefined while it is closed. */
function endOf({ fields, durationMs }: Span, atMs: number): number | undefined {
  const { latestMs } = ticksBetween(fields, atMs - durationMs, atMs);
  return latestMs === undefined ? undefined : latestMs + durationMs;
}

function spansOf(windows: readonly SyncWindow[], wanted: SyncWindow['kind']): Span[] {
  return windows.flatMap(({ kind, schedule, durationMinutes }) => {
    const reading = readCron(schedule);
    return kind === wanted && reading.ok ? [{ fields: reading.fields, durationMs: durationMinutes * MINUTE_MS }] : [];
  });
}
