/**
 * A webhook's rate slots: 60 authenticated deliveries a minute, in memory a ring that is changed in place, in the log
 * what survives restarts. spec: Limits; contract §5.6 (Slots).
 */
import { DELIVERIES_PER_MINUTE_MAX, RATE_WINDOW_MS } from './limits.ts';
import { retryAfterSeconds } from './windows.ts';

export type SlotResult =
  | { ok: true }
  /** `waitMs`: until a slot is free, exactly; `retryAfterSeconds`: the same as it is announced. */
  | { ok: false; waitMs: number; retryAfterSeconds: number };

const ACQUIRED: SlotResult = { ok: true };

/**
 * The times of the last 60 slots. A slot is free where fewer than 60 of them lie in (now − 60 s, now]; more than those
 * 60 need not be remembered, because the sixty-first is older than all of them. A clock that went backwards leaves
 * times in the future: up to one window ahead they still count, farther ones do not, so that nobody waits longer than
 * two minutes because of it.
 */
export class SlotRing {
  private readonly times: number[];
  /** Where the oldest stands, as long as the clock only went forwards. */
  private oldest = 0;

  /** `slotTimes`: those of the log, in any order, as they count at `nowMs`. */
  constructor(slotTimes: readonly number[] = [], nowMs = 0) {
    this.times = slotTimes
      .filter((at) => counts(at, nowMs))
      .sort((a, b) => a - b)
      .slice(-DELIVERIES_PER_MINUTE_MAX);
  }

  /** Takes a slot at `nowMs` (database time), or none. `retryAfterSeconds`: rounded up, at least 1. */
  take(nowMs: number): SlotResult {
    const { times } = this;
    for (let step = 0; step < times.length; step += 1) {
      const at = (this.oldest + step) % times.length;
      if (counts(times[at] as number, nowMs)) continue;
      times[at] = nowMs;
      this.oldest = (at + 1) % times.length;
      return ACQUIRED;
    }
    if (times.length < DELIVERIES_PER_MINUTE_MAX) {
      times.push(nowMs);
      return ACQUIRED;
    }
    const waitMs = Math.min(...times) + RATE_WINDOW_MS - nowMs;
    return { ok: false, waitMs, retryAfterSeconds: retryAfterSeconds(waitMs) };
  }

  /** Whether no slot counts: it may be forgotten. */
  isIdle(nowMs: number): boolean {
    return !this.times.some((at) => counts(at, nowMs));
  }
}

/** The time of the only slot, as most of tens of thousands of webhooks have, or a ring. */
type SlotWindow = number | SlotRing;

/** The time of no slot: it never counts. */
const NEVER = -Infinity;

/** The slots of webhooks that may count: what a ring for each would say, in a quarter of its memory for one slot. */
export class SlotWindows {
  private readonly windows = new Map<string, SlotWindow>();

  /** Webhooks whose slots are known. */
  get size(): number {
    return this.windows.size;
  }

  has(webhookUid: string): boolean {
    return this.windows.has(webhookUid);
  }

  /** `slotTimes`: those of the log, in any order, as they count at `nowMs`. */
  set(webhookUid: string, slotTimes: readonly number[], nowMs: number): void {
    const [only = NEVER] = slotTimes;
    if (slotTimes.length > 1) this.windows.set(webhookUid, new SlotRing(slotTimes, nowMs));
    else this.windows.set(webhookUid, counts(only, nowMs) ? only : NEVER);
  }

  /** Takes a slot of a webhook, or none; see `SlotRing`. Undefined: its slots are not known. */
  take(webhookUid: string, nowMs: number): SlotResult | undefined {
    const window = this.windows.get(webhookUid);
    if (window === undefined) return undefined;
    if (typeof window !== 'number') return window.take(nowMs);
    if (!counts(window, nowMs)) {
      this.windows.set(webhookUid, nowMs);
      return ACQUIRED;
    }
    const ring = new SlotRing([window], nowMs);
    this.windows.set(webhookUid, ring);
    return ring.take(nowMs);
  }

  delete(webhookUid: string): void {
    this.windows.delete(webhookUid);
  }

  clear(): void {
    this.windows.clear();
  }

  /** Forgets webhooks none of whose slots counts. */
  deleteIdle(nowMs: number): void {
    for (const [uid, window] of this.windows)
      if (typeof window === 'number' ? !counts(window, nowMs) : window.isIdle(nowMs)) this.windows.delete(uid);
  }
}

/** Whether a slot that was taken `at` a time is one of the sixty of a minute. */
function counts(at: number, nowMs: number): boolean {
  return at > nowMs - RATE_WINDOW_MS && at <= nowMs + RATE_WINDOW_MS;
}
