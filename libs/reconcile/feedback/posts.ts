/**
 * When something is posted to a forge, and what becomes of a post that was not taken: the state that is wanted is
 * stored, and posted until the forge has it. contract §9.9 (Feedback in pull requests).
 */
import { retryDelayMs } from '../passes/pace.ts';

/** A comment is edited at most this often, in milliseconds. */
export const COMMENT_EVERY_MS = 1_000;

/** Milliseconds until a comment may be edited again; 0: now. */
export function commentDelayMs(editedAtMs: number | undefined, nowMs: number): number {
  if (editedAtMs === undefined || editedAtMs > nowMs) return 0;
  return Math.max(0, editedAtMs + COMMENT_EVERY_MS - nowMs);
}

/**
 * Why a forge did not take a request. `away`: not reached, broken, or an answer that is none. `slow-down`: too much was
 * asked. `denied`: the credential is not taken, or may not do this. `missing`: there is no such repository, commit or
 * comment. `refused`: this very request will never be taken.
 */
export type ForgeFault = 'away' | 'slow-down' | 'denied' | 'missing' | 'refused';

/** An answer as far as it decides. */
export interface ForgeAnswer {
  /** 0: there was none. */
  status: number;
  /** Milliseconds that it asks to wait. */
  retryAfterMs?: number;
  /** Whether it says that the credential has used up what it may ask. */
  isSpent: boolean;
}

/** Undefined: it was taken. */
export function faultOf({ status, retryAfterMs, isSpent }: ForgeAnswer): ForgeFault | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status === 429 || (status === 403 && (isSpent || retryAfterMs !== undefined))) return 'slow-down';
  if (status === 401 || status === 403) return 'denied';
  if (status === 404 || status === 410) return 'missing';
  if (status === 400 || status === 409 || status === 422) return 'refused';
  return 'away';
}

/** Longest that a forge can have us wait: an hour, which is what the quotas of forges are counted over. */
export const WAIT_MS_MAX = 3_600_000;
/** What is denied is for people to mend; it is tried again this often. */
const DENIED_MS = 60_000;

/** Milliseconds until a forge is asked again, after so many failures in a row. */
export function forgeDelayMs(
  fault: ForgeFault,
  { failures, retryAfterMs, random01 }: { failures: number; retryAfterMs?: number; random01: number },
): number {
  const usual = Math.max(retryDelayMs(failures, random01), fault === 'denied' ? DENIED_MS : 0);
  return retryAfterMs === undefined ? usual : Math.min(WAIT_MS_MAX, Math.max(usual, retryAfterMs));
}

/** Milliseconds of a Retry-After header, in seconds or as a date, or of a time of reset in seconds since 1970. */
export function retryAfterOf(
  { retryAfter, reset }: { retryAfter?: string; reset?: string },
  nowMs: number,
): number | undefined {
  const text = retryAfter?.trim();
  if (text !== undefined && /^\d{1,9}$/.test(text)) return bounded(Number(text) * 1_000);
  const date = text === undefined || text === '' ? Number.NaN : Date.parse(text);
  if (!Number.isNaN(date)) return bounded(date - nowMs);
  if (reset !== undefined && /^\d{1,12}$/.test(reset.trim())) return bounded(Number(reset) * 1_000 - nowMs);
  return undefined;
}

function bounded(ms: number): number {
  return Math.min(WAIT_MS_MAX, Math.max(0, ms));
}
