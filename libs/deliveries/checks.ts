/**
 * In which order a delivery is checked in each authentication mode. spec: Request rules, Errors; contract §5.2.
 */
import type { AuthMode } from '#definitions';

/**
 * The steps behind "POST" (405) and "known and enabled" (404), which come first for every mode:
 * - `credential`: token in header or path; 401, before the body is read.
 * - `size`: more than `BODY_BYTES_MAX` declared or counted; 413. In token modes an authenticated 413 takes a slot, in
 *   signature mode it comes before authentication and spends the failure budget instead.
 * - `signature`: over the raw bytes of the whole body; 401.
 * - `rate`: a slot in the last minute; 429 with Retry-After.
 * - `json`: UTF-8 and exactly one JSON text; 400, the slot is kept.
 * - `identity`: names the delivery; never refuses, a known identity is answered 202 as a Duplicate.
 */
export type CheckName = 'credential' | 'size' | 'signature' | 'rate' | 'json' | 'identity';

const TOKEN_CHECKS: readonly CheckName[] = ['credential', 'size', 'rate', 'json', 'identity'];

/** The checks of each mode, in order. The ingress walks this list and stops at the first refusal. */
export const CHECKS: Readonly<Record<AuthMode, readonly CheckName[]>> = {
  token: TOKEN_CHECKS,
  url_token: TOKEN_CHECKS,
  signature: ['size', 'signature', 'rate', 'json', 'identity'],
};
